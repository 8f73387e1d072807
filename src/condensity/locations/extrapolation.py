"""Limits of the extrapolation of locations.

Far from the samples a location may grow without limit, and with a bound of y its exponential is
soon absurd.  So its values are limited to the range that they have at the training samples,
extended on both sides by its own length.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from condensity._typing import Array

#: Largest distance of the value of a location from the middle of its range at the training samples,
#: in units of half this range.
REACH = 3.0
#: Smallest half of this range, in standard deviations of y.
LEAST_HALF = 0.1
#: Largest number of samples at which the range is looked up.
RANGE_ROWS = 2000


@dataclass(frozen=True, eq=False)
class LocationRange:
    """The values that a location may have: all within a box around its values at samples.

    A value outside is moved towards the middle until it lies in the box.  All outputs are moved by
    the same factor, so linear relations between them hold for the limited values too.
    """

    middle: Array  # (dy,)
    reach: Array  # (dy,) half the lengths of the box

    @classmethod
    def of(cls, function: Callable[[Array], Array], X: Array) -> LocationRange:
        """The box for a location, from its values at the samples ``X`` (n, dx)."""
        values = function(X[np.linspace(0, len(X) - 1, min(len(X), RANGE_ROWS), dtype=int)])
        low, high = values.min(axis=0), values.max(axis=0)
        half = 0.5 * (high - low)
        return cls(low + half, REACH * np.maximum(half, LEAST_HALF))

    def limit(self, values: Array) -> Array:
        """``values`` (m, dy) within the box; those that are not finite stay."""
        ratio = np.max(np.abs(values - self.middle) / self.reach, axis=1)
        far = np.flatnonzero((ratio > 1.0) & np.isfinite(ratio))
        if not len(far):
            return values
        values = values.copy()
        values[far] = self.middle + (values[far] - self.middle) / ratio[far, None]
        return values
