"""Conformity scores: the level of the smallest region of a density that ends at y.

The score lies in [0, 1]; it is uniform if the density is right.  Two kinds of regions are used.

| method     | region of level t               | score of y                                  |
|------------|---------------------------------|---------------------------------------------|
| "quantile" | central interval                | ``1 - 2 min(P(Y <= y), P(Y >= y))``, >= 0   |
| "hpd"      | highest-density region          | ``P(p(Y) >= p(y))``                         |

For several outputs the second score is a share of draws from the density.  The draws are made
independently of y, so the scores of new samples have the distribution of those for calibration.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from condensity._typing import Array, Indices
from condensity._utils.numerics import row_blocks
from condensity.distributions.base import Distribution

#: Smallest level of a region: a region of level zero is a single point.
LEAST_LEVEL = 1e-9
#: Regions of a level above this are unlimited: their probability is one but for rounding errors.
MOST_LEVEL = 1 - 1e-12
#: Draws whose densities are computed at once.
DRAWS = 1 << 12


class Conformity(Protocol):
    """Scores and regions of the densities of some rows."""

    def score(self, Y: Array) -> Array:
        """Scores of one point for each row, ``Y`` (m, dy): (m,)."""

    def regions(self, levels: Array) -> list[Array]:
        """For each row, the intervals with a score up to its level, for ``levels`` (m,)."""

    def heights(self, levels: Array) -> Array:
        """For each row, the density at the end of its region, for ``levels`` (m,)."""


class CentralIntervals:
    """Scores of central intervals; one output."""

    def __init__(self, dist: Distribution) -> None:
        self.dist = dist

    def score(self, Y: Array) -> Array:
        """Scores of one point for each row: (m,)."""
        below = self.dist.prob(-np.inf, Y[:, 0])
        # prob leaves the lower end out, and y may have a probability of its own.
        above = self.dist.prob(np.nextafter(Y[:, 0], -np.inf), np.inf)
        return np.asarray(np.maximum(1 - 2 * np.minimum(below, above), 0.0))

    def regions(self, levels: Array) -> list[Array]:
        """Intervals of each row."""
        out = np.empty((len(levels), 1, 2))
        for level, rows in _by_level(levels):
            tail = (1 - min(level, 1.0)) / 2
            out[rows, 0] = self.dist[rows].quantile([tail, 1 - tail])
        return list(out)

    def heights(self, levels: Array) -> Array:
        """Densities at the ends of the regions: (m,)."""
        raise ValueError(
            "central intervals do not end at one density: use method='hpd', or interval(level)"
        )


class DensestRegions:
    """Scores of highest-density regions; one output."""

    def __init__(self, dist: Distribution) -> None:
        self.dist = dist

    def score(self, Y: Array) -> Array:
        """Scores of one point for each row: (m,)."""
        return self.dist.hpd_level(Y)

    def regions(self, levels: Array) -> list[Array]:
        """Intervals of each row."""
        out: list[Any] = [None] * len(levels)
        for level, rows in _by_level(levels):
            if level > MOST_LEVEL:
                found = list(self.dist[rows].quantile([0.0, 1.0])[:, None, :])
            else:
                found = self.dist[rows].hdr(max(level, LEAST_LEVEL))
            for row, region in zip(rows, found, strict=True):
                out[row] = region
        return out

    def heights(self, levels: Array) -> Array:
        """Densities at the ends of the regions: (m,)."""
        ends = np.array([region[0] for region in self.regions(levels)])
        finite = np.isfinite(ends)
        points = np.where(finite[:, 0], ends[:, 0], np.where(finite[:, 1], ends[:, 1], 0.0))
        return np.where(levels > MOST_LEVEL, 0.0, self.dist.pdf(points))


class DrawnRegions:
    """Scores of highest-density regions of several outputs, from draws of each density."""

    def __init__(self, dist: Distribution, n_draws: int, rng: np.random.Generator) -> None:
        logs = log_densities(dist, dist.sample(n_draws, rng))
        self.dist, self.log_densities = dist, -np.sort(-logs, axis=1)  # the densest first

    def score(self, Y: Array) -> Array:
        """Scores of one point for each row: (m,)."""
        return np.asarray((self.log_densities >= self.dist.log_pdf(Y)[:, None]).mean(axis=1))

    def regions(self, levels: Array) -> list[Array]:
        """Intervals of each row."""
        raise ValueError(
            "regions of several outputs are not intervals: use contains(Y, level) or "
            "density_threshold(level), or fit one output at a time"
        )

    def heights(self, levels: Array) -> Array:
        """The score of y is at most k / n exactly if p(y) exceeds the density of draw k + 1."""
        n = self.log_densities.shape[1]
        k = np.floor(np.minimum(levels, 1.0) * n + 1e-9).astype(int)
        rows = np.arange(len(levels))
        heights = np.exp(self.log_densities[rows, np.minimum(k, n - 1)])
        return np.where(k >= n, 0.0, heights)


def conformity_of(
    method: str, dist: Distribution, n_draws: int, rng: np.random.Generator
) -> Conformity:
    """Scores and regions of ``dist``, for the method "hpd" or "quantile"."""
    if method == "quantile":
        return CentralIntervals(dist)
    return DensestRegions(dist) if dist.n_outputs == 1 else DrawnRegions(dist, n_draws, rng)


def log_densities(dist: Distribution, draws: Array) -> Array:
    """Log densities of ``draws`` (m, n, dy) of each row: (m, n)."""
    m, n, dy = draws.shape
    out = np.empty((m, n))
    for part in row_blocks(n, max(1, m), DRAWS):
        rows = np.repeat(np.arange(m), part.stop - part.start)
        out[:, part] = dist[rows].log_pdf(draws[:, part].reshape(-1, dy)).reshape(m, -1)
    return out


def _by_level(levels: Array) -> list[tuple[float, Indices]]:
    """Rows with the same level, for each level."""
    return [(float(level), np.flatnonzero(levels == level)) for level in np.unique(levels)]
