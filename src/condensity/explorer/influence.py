"""How far p(y|x) moves with each input: what the page lists first.

The influence of input j is the total variation ``1/2 int |p(y|x) - p(y|x')| dy`` between the
densities where x_j stands at its lower and at its upper decile, all else as it is in a sample, and
the mean of that over samples and outputs: 0 where nothing moves, 1 where nothing overlaps.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from condensity.core.kernels import Array
from condensity.core.parted import Distribution

#: Points at which densities are compared, and Gaussians that may be evaluated in all.
GRID, BUDGET = 128, 10**8


def influence(
    at: Callable[[Array], Distribution],
    rows: Array,
    deciles: tuple[Array, Array],
    ranges: Array,
    *,
    width: int,
) -> Array:
    """Influence of each input, (dx,).

    ``rows`` (m, dx) are samples, ``deciles`` the lower and the upper one of each input, ``ranges``
    (dy, 2) where outputs lie, ``width`` the number of Gaussians in each answer.
    """
    dx, dy = rows.shape[1], len(ranges)
    rows = rows[: max(2, min(24, BUDGET // (2 * dx * dy * GRID * width)))]
    out = np.zeros(dx)
    for j in np.flatnonzero(deciles[1] > deciles[0]):
        low, high = (np.where(np.arange(dx) == j, end, rows) for end in deciles)
        dist = at(np.vstack([low, high]))
        out[j] = np.mean([_moved(dist, k, ends) for k, ends in enumerate(ranges)])
    return out


def _moved(dist: Distribution, output: int, ends: Array) -> float:
    """Mean total variation between the first half of the rows and the second."""
    edges = np.linspace(ends[0], ends[1], GRID + 1)
    step = edges[1] - edges[0]
    marginal = dist if dist.n_outputs == 1 else dist.marginal(output)
    first, second = np.split(marginal.pdf_on(edges[:-1] + step / 2), 2)
    return float(np.minimum(1.0, 0.5 * step * np.abs(first - second).sum(axis=1)).mean())
