"""A sample as the estimators see it: a weighted empirical measure in standardised units.

Rows are put in a canonical order and equal rows are merged into one that carries their summed
weight.  A fit is then a function of the measure alone: the order of the rows is irrelevant,
integer weights are repetitions, and the copies of a row can never lie on both sides of a fold.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from condensity.core.kernels import Array, Indices, Mask


@dataclass(frozen=True, eq=False)
class Sample:
    """Distinct rows with weights that sum to one."""

    X: Array  # (n, dx)
    Y: Array  # (n, dy)
    weight: Array  # (n,) > 0

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, rows: slice | Indices) -> Sample:
        """The part of the measure on ``rows``; its weights are not brought back to one."""
        return Sample(self.X[rows], self.Y[rows], self.weight[rows])


def distinct(X: Array, Y: Array, weight: Array) -> tuple[Sample, Indices]:
    """Merge equal rows of ``(X, Y)``, drop rows without weight, sort what is left.

    Also answers which row, the first among equals, each row of the sample came from.
    """
    rows = np.hstack([X, Y])
    order = np.lexsort(rows.T[::-1])
    order = order[weight[order] > 0]
    rows = rows[order]
    first = np.r_[True, np.any(rows[1:] != rows[:-1], axis=1)].nonzero()[0]
    merged = np.add.reduceat(weight[order], first)
    origin = order[first]
    return Sample(X[origin], Y[origin], merged / merged.sum()), origin


@dataclass(frozen=True, eq=False)
class Scaling:
    """``(values - mean) / sd`` column by column; a constant column becomes zero and stays so."""

    mean: Array  # (d,)
    sd: Array  # (d,) zero marks a constant column

    @classmethod
    def of(cls, values: Array, weight: Array) -> Scaling:
        """Weighted mean and standard deviation (ddof 0) of the columns of ``values`` (n, d)."""
        mean = weight @ values
        sd = np.sqrt(weight @ (values - mean) ** 2)
        # Spread that rounding alone can produce is no spread: dividing by it would invent data.
        rounding = 8 * np.finfo(float).eps * np.abs(values).max(axis=0)
        return cls(mean, np.where(np.ptp(values, axis=0) > rounding, sd, 0.0))

    @property
    def varies(self) -> Mask:
        """Which columns do, (d,)."""
        return self.sd > 0

    def apply(self, values: Array) -> Array:
        """Standardise ``values`` (m, d)."""
        inverse = np.divide(1.0, self.sd, out=np.zeros_like(self.sd), where=self.varies)
        standardised: Array = (values - self.mean) * inverse
        return standardised
