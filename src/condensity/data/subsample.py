"""Samples drawn by what is in them, not by where they stand.

Every row gets a ticket, a pseudo-random number that its values and a seed settle; the rows with the
smallest tickets are drawn.  The draw is the same in any order of the rows, equal rows are drawn
together, and the draw from many parts is a draw from what was drawn in each of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from condensity._typing import Array, Indices

RowHashes = NDArray[np.uint64]

_STEP, _FIRST, _SECOND = (
    np.uint64(c) for c in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


def row_hashes(X: Array, Y: Array, seed: int) -> RowHashes:
    """A number for each row of ``X`` (n, dx) and ``Y`` (n, dy) together: (n,)."""
    found = np.full(len(X), seed, dtype=np.uint64)
    for column in (*X.T, *Y.T):
        bits = (column + 0.0).view(np.uint64)  # the two zeros are equal, their bits are not
        found = _scramble(found * _STEP + bits)
    return found


def _scramble(numbers: RowHashes) -> RowHashes:
    """A bijection of 64-bit numbers after which neighbours have nothing in common."""
    numbers = numbers + _STEP
    numbers = (numbers ^ (numbers >> np.uint64(30))) * _FIRST
    numbers = (numbers ^ (numbers >> np.uint64(27))) * _SECOND
    return numbers ^ (numbers >> np.uint64(31))


def smallest_hashes(hashes: RowHashes, count: int) -> Indices:
    """The rows with the ``count`` smallest different tickets, in increasing order."""
    if len(hashes) <= count:
        return np.arange(len(hashes))
    # Equal rows share a ticket: look a little further until there are enough different ones.
    reach = count
    while True:
        reach = min(2 * reach, len(hashes))
        smallest = np.unique(np.partition(hashes, reach - 1)[:reach])
        if len(smallest) > count or reach == len(hashes):
            last = smallest[min(count, len(smallest)) - 1]
            return np.flatnonzero(hashes <= last)
