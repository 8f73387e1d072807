"""A sample as the estimators see it: a weighted empirical measure in standardised units.

Rows are put in a canonical order and equal ones are merged, with their weights added.  What is
computed from the measure is then the same to the last bit whatever the order of the rows, and
whether a row was repeated or given an integer weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from condensity._typing import Array, Indices, Mask


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows with weights that sum to one."""

    X: Array  # (n, dx)
    Y: Array  # (n, dy)
    weight: Array  # (n,) > 0

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, rows: slice | Indices) -> Sample:
        """The part of the measure on ``rows``; its weights are not brought back to one."""
        return Sample(self.X[rows], self.Y[rows], self.weight[rows])


def canonical(X: Array, Y: Array, weight: Array) -> tuple[Sample, Indices, Indices]:
    """Sort the rows, drop those without weight, merge those that are equal.

    Returns
    -------
    measure : Sample of distinct rows
    origin : (n,)
        The rows of ``X`` with weight, in the order of the measure.
    group : (n,)
        The row of the measure that each of them went into: 0, 0, 1, 2, ...
    """
    rows = np.hstack([X, Y])
    origin = np.lexsort((weight, *rows.T[::-1]))
    origin = origin[weight[origin] > 0]
    rows = rows[origin]
    new = np.r_[True, np.any(rows[1:] != rows[:-1], axis=1)]
    first = origin[new]
    merged = np.add.reduceat(weight[origin], np.flatnonzero(new))
    return Sample(X[first], Y[first], merged / merged.sum()), origin, np.cumsum(new) - 1


@dataclass(frozen=True, eq=False)
class Scaling:
    """``(values - mean) / sd`` column by column; a constant column becomes zero and stays so."""

    mean: Array  # (d,)
    sd: Array  # (d,) zero marks a constant column

    @classmethod
    def of(cls, values: Array, weight: Array) -> Scaling:
        """Weighted mean and standard deviation (ddof 0) of the columns of ``values`` (n, d)."""
        mean = weight @ values
        deviation = values - mean
        # In units of the largest deviation no square can overflow or vanish.
        unit = np.abs(deviation).max(axis=0)
        unit[unit == 0] = 1.0
        sd = unit * np.sqrt(weight @ (deviation / unit) ** 2)
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
