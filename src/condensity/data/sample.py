"""Weighted samples with distinct rows in a canonical order, and their standardisation.

Rows are sorted, and equal rows are merged and their weights added.  Results are then bit-identical
for any order of the rows, and for integer weights in place of repeated rows.
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
        """The sample restricted to ``rows``; its weights are not normalised again."""
        return Sample(self.X[rows], self.Y[rows], self.weight[rows])


def canonical(X: Array, Y: Array, weight: Array) -> tuple[Sample, Indices, Indices]:
    """Sort the rows, drop rows without weight, and merge equal rows.

    Returns
    -------
    measure : Sample
        The distinct rows.
    origin : (n,)
        The rows of ``X`` with positive weight, in the order of the measure.
    group : (n,)
        The row of the measure that each of them belongs to: 0, 0, 1, 2, ...
    """
    rows = np.hstack([X, Y])
    origin = np.lexsort((weight, *rows.T[::-1]))
    origin = origin[weight[origin] > 0]
    rows = rows[origin]
    new = np.r_[True, np.any(rows[1:] != rows[:-1], axis=1)]
    first = origin[new]
    merged = np.add.reduceat(weight[origin], np.flatnonzero(new))
    return Sample(X[first], Y[first], merged / merged.sum()), origin, np.cumsum(new) - 1


#: Units of length of a column: its standard deviation, its range, or the unit of the data.
UNITS = ("variance", "range", "none")


@dataclass(frozen=True, eq=False)
class Scaling:
    """Scaling ``(values - mean) / sd`` of columns; a constant column becomes zero."""

    mean: Array  # (d,)
    sd: Array  # (d,) standard deviation, or another unit of length; zero marks a constant column

    @classmethod
    def of(cls, values: Array, weight: Array) -> Scaling:
        """Weighted mean and standard deviation (ddof 0) of the columns of ``values`` (n, d)."""
        mean = weight @ values
        deviation = values - mean
        # In units of the largest deviation, squares cannot overflow or underflow.
        unit = np.abs(deviation).max(axis=0)
        unit[unit == 0] = 1.0
        sd = unit * np.sqrt(weight @ (deviation / unit) ** 2)
        # A spread as small as rounding errors counts as zero: dividing by it would invent data.
        rounding = 8 * np.finfo(float).eps * np.abs(values).max(axis=0)
        return cls(mean, np.where(np.ptp(values, axis=0) > rounding, sd, 0.0))

    @property
    def varies(self) -> Mask:
        """Which columns vary, (d,)."""
        return self.sd > 0

    def in_unit(self, name: str, values: Array) -> Scaling:
        """The same columns with one of ``UNITS`` as the unit of length, for ``values`` (n, d)."""
        if name == "variance":
            return self
        unit = np.ptp(values, axis=0) if name == "range" else 1.0
        return Scaling(self.mean, np.where(self.varies, unit, 0.0))

    def apply(self, values: Array) -> Array:
        """Standardise ``values`` (m, d)."""
        inverse = np.divide(1.0, self.sd, out=np.zeros_like(self.sd), where=self.varies)
        standardised: Array = (values - self.mean) * inverse
        return standardised
