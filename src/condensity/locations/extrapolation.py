"""Limits of the extrapolation of locations.

Far from the samples a location may grow without limit, and with a bound of y its exponential is
soon absurd.  So its values are limited to the range that they have at the training samples,
extended on both sides by its own length.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from condensity._typing import Array, Indices

#: Half the length of the box of allowed values, in units of half the range of the values at the
#: training samples; both have the same centre.
REACH = 3.0
#: Smallest half of this range, in standard deviations of y.
LEAST_HALF = 0.1
#: Largest number of samples at which the range is looked up.
RANGE_ROWS = 2000


@dataclass(frozen=True, eq=False)
class LocationRange:
    """The values that a location may have: all within a box around its values at samples.

    A value outside is moved towards their mean until it lies in the box.  All outputs are moved by
    the same factor.  The mean satisfies each affine relation between outputs that holds at the
    samples, so the limited values satisfy it too.
    """

    middle: Array  # (dy,) the mean of the values at the samples
    below: Array  # (dy,) distances from the middle to the lower faces of the box ...
    above: Array  # (dy,) ... and to the upper ones

    @classmethod
    def of(cls, function: Callable[[Array], Array], X: Array) -> LocationRange:
        """The box for a location, from its values at the samples ``X`` (n, dx)."""
        values = function(X[np.linspace(0, len(X) - 1, min(len(X), RANGE_ROWS), dtype=int)])
        low, high = values.min(axis=0), values.max(axis=0)
        half, middle = 0.5 * (high - low), values.mean(axis=0)
        offset, reach = low + half - middle, REACH * np.maximum(half, LEAST_HALF)
        return cls(middle, reach - offset, reach + offset)

    def limit(self, values: Array) -> Array:
        """``values`` (m, dy) within the box; those that are not finite stay."""
        offset, shares = self._shares(values)
        far, ratio = _beyond(shares)
        if not len(far):
            return values
        values = values.copy()
        values[far] = self.middle + offset[far] / ratio
        return values

    def gradient(self, values: Array, axis: Array) -> Array:
        """The gradient of ``axis . limit(values)`` with respect to the values, (m, dy).

        With ``o = values - middle``, a value beyond the box becomes ``middle + o / r``.  Here
        ``r = o_j / f`` is the largest ratio, that of output j, and f is constant.  So the gradient
        is ``(axis - (axis . o / o_j) e_j) / r``, which is zero for one output.
        """
        offset, shares = self._shares(values)
        far, ratio = _beyond(shares)
        found = np.tile(axis, (len(values), 1))
        nearest = shares[far].argmax(axis=1)
        o = offset[far]
        found[far, nearest] -= (o / o[np.arange(len(far)), nearest, None]) @ axis
        found[far] /= ratio
        return found

    def _shares(self, values: Array) -> tuple[Array, Array]:
        """Offsets from the middle, and their ratios to the distances of the faces, (m, dy)."""
        offset = values - self.middle
        return offset, np.maximum(offset / self.above, -offset / self.below)


def _beyond(shares: Array) -> tuple[Indices, Array]:
    """The rows with a finite largest ratio above 1, and these ratios, (k, 1)."""
    ratio = np.max(shares, axis=1)
    far = np.flatnonzero((ratio > 1.0) & np.isfinite(ratio))
    return far, ratio[far, None]
