"""The resolution of y, and the smallest useful kernel width.

If values repeat, the squared loss has no lower bound: the narrower the kernels on a repeated value,
the better the score.  So no kernel is narrower than half the distance between neighbouring values.
Kernels of that width, one step apart, add up to a curve that is flat to 1.5 per cent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from condensity._typing import Array, Mask

#: A value is an atom if it holds this share of the sample and this number of effective samples.
ATOM_SHARE, ATOM_COUNT = 0.05, 4


@dataclass(frozen=True, eq=False)
class RecordedValues:
    """The distinct values of one output and their shares."""

    values: Array  # (m,) increasing
    share: Array  # (m,) sums to one
    n_effective: float

    @classmethod
    def of(cls, values: Array, weight: Array) -> RecordedValues:
        """Count the ``values`` (n,) with their ``weight`` (n,), which sums to one."""
        distinct, where = np.unique(values, return_inverse=True)
        share = np.bincount(where, weights=weight).astype(float)
        return cls(distinct, share, 1.0 / float(np.sum(weight**2)))

    @property
    def step(self) -> float:
        """The median over the samples of the distance to the nearest other value."""
        gaps = np.diff(self.values)
        nearest = np.minimum(np.r_[np.inf, gaps], np.r_[gaps, np.inf])
        order = np.argsort(nearest, kind="stable")
        middle = int(np.searchsorted(np.cumsum(self.share[order]), 0.5))
        return float(nearest[order[min(middle, len(order) - 1)]])

    @property
    def atom(self) -> tuple[float, float] | None:
        """The most frequent value and its share, if the share is too large for chance."""
        k = int(np.argmax(self.share))
        return (float(self.values[k]), float(self.share[k])) if self._atoms()[k] else None

    @property
    def atoms(self) -> Array:
        """All values whose share is too large for chance, in increasing order."""
        return self.values[self._atoms()]

    @property
    def discrete(self) -> bool:
        """Whether most of the sample lies on atoms, and there is more than one."""
        atoms = self._atoms()
        return bool(atoms.sum() > 1 and self.share[atoms].sum() > 0.5)

    def _atoms(self) -> Mask:
        return self.share > max(ATOM_SHARE, ATOM_COUNT / self.n_effective)

    @property
    def least_bandwidth(self) -> float:
        """The smallest width of a kernel on this output.

        An atom rewards narrow kernels even if the other values lie close together.  With an atom,
        the floor is at least half the normal-reference bandwidth of the distinct values.
        """
        floor = 0.5 * self.step
        return floor if self.atom is None else max(floor, 0.5 * self._reference_bandwidth())

    def _reference_bandwidth(self) -> float:
        quartiles = np.percentile(self.values, [25, 75])
        spread = min(self.values.std(), float(np.diff(quartiles)[0]) / 1.34)
        return float(0.9 * spread * len(self.values) ** -0.2)
