"""How far p(y|x) moves with each control: what the page lists first.

The influence of an input is the total variation ``1/2 int |p(y|x) - p(y|x')| dy`` between the
densities where it stands at its lower and at its upper decile, all else as it is in a sample, and
the mean of that over samples and outputs: 0 where nothing moves, 1 where nothing overlaps.  A flag
is moved from 0 to 1, a column of categories from the most frequent one to others, of which the
one counts that moves most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from condensity._typing import Array
from condensity.distributions.base import Distribution

#: Points at which densities are compared, and Gaussians that may be evaluated in all.
GRID, BUDGET = 128, 10**8


@dataclass(frozen=True, eq=False)
class Move:
    """Inputs that go from one place to another together, (k,) each."""

    inputs: Sequence[int]
    start: Array
    end: Array

    def ends(self, rows: Array) -> Array:
        """The rows with these inputs at the start, then at the end: (2 m, dx)."""
        two = np.vstack([rows, rows])
        two[: len(rows), self.inputs], two[len(rows) :, self.inputs] = self.start, self.end
        return two


def influence(
    at: Callable[[Array], Distribution],
    rows: Array,
    moves: Sequence[Sequence[Move]],
    ranges: Array,
    *,
    width: int,
) -> Array:
    """Influence of each control, the most that its moves have: (len(moves),).

    ``rows`` (m, dx) are samples, ``ranges`` (dy, 2) where outputs lie, ``width`` the number of
    Gaussians in each answer.
    """
    count = sum(map(len, moves))
    rows = rows[: max(2, min(24, BUDGET // (2 * count * len(ranges) * GRID * width)))]

    def moved(move: Move) -> float:
        if np.all(move.start == move.end):
            return 0.0
        pairs = zip(at(move.ends(rows)).marginals(), ranges, strict=True)
        return float(np.mean([_moved(marginal, ends) for marginal, ends in pairs]))

    return np.array([max(map(moved, some), default=0.0) for some in moves])


def _moved(marginal: Distribution, ends: Array) -> float:
    """Mean total variation between the first half of the rows and the second."""
    edges = np.linspace(ends[0], ends[1], GRID + 1)
    step = edges[1] - edges[0]
    first, second = np.split(marginal.pdf_on(edges[:-1] + step / 2), 2)
    return float(np.minimum(1.0, 0.5 * step * np.abs(first - second).sum(axis=1)).mean())
