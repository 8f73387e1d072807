"""Influence of each control: how much p(y|x) changes with it.

The influence of an input is the total variation ``1/2 int |p(y|x) - p(y|x')| dy`` between the
densities with this input at its lower and at its upper decile.  The other inputs have the values
of a sample.  The result is the mean over samples and outputs: 0 if nothing changes, 1 if the
densities do not overlap.  A flag moves from 0 to 1.  A column of categories moves from the most
frequent category to each of some others, and the largest change is its influence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from condensity._typing import Array
from condensity.distributions.base import Distribution

#: Number of grid points for the comparison of two densities.
GRID = 128
#: Maximum number of evaluated Gaussians in total.
BUDGET = 10**8


@dataclass(frozen=True, eq=False)
class Move:
    """A joint change of some inputs from one place to another."""

    inputs: Sequence[int]
    start: Array  # (k,)
    end: Array  # (k,)

    def both_ends(self, rows: Array) -> Array:
        """The rows with these inputs at the start, then at the end: (2 m, dx)."""
        both = np.vstack([rows, rows])
        both[: len(rows), self.inputs], both[len(rows) :, self.inputs] = self.start, self.end
        return both


def influence(
    at: Callable[[Array], Distribution],
    rows: Array,
    moves: Sequence[Sequence[Move]],
    ranges: Array,
    *,
    width: int,
    step: Callable[[], None] = lambda: None,
) -> Array:
    """Influence of each control, the largest over its moves: (len(moves),).

    ``rows`` (m, dx) are samples, ``ranges`` (dy, 2) the ranges of the outputs, and ``width`` is the
    number of Gaussians in each density.  ``step`` is called after each control.
    """
    count = sum(map(len, moves))
    rows = rows[: max(2, min(24, BUDGET // (2 * count * len(ranges) * GRID * width)))]

    def change(move: Move) -> float:
        if np.all(move.start == move.end):
            return 0.0
        pairs = zip(at(move.both_ends(rows)).marginals(), ranges, strict=True)
        return float(np.mean([_total_variation(marginal, ends) for marginal, ends in pairs]))

    largest = []
    for of_control in moves:
        largest.append(max(map(change, of_control), default=0.0))
        step()
    return np.array(largest)


def _total_variation(marginal: Distribution, ends: Array) -> float:
    """Mean total variation between the first half of the rows and the second half."""
    edges = np.linspace(ends[0], ends[1], GRID + 1)
    step = edges[1] - edges[0]
    first, second = np.split(marginal.pdf_on(edges[:-1] + step / 2), 2)
    return float(np.minimum(1.0, 0.5 * step * np.abs(first - second).sum(axis=1)).mean())
