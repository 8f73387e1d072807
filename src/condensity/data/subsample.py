"""Subsampling by a hash of each row, so that row order does not matter.

The hash of a row is a pseudo-random number that depends on its values and a seed.  The rows with
the smallest hashes are drawn.  The draw does not depend on the order of the rows, equal rows are
drawn together, and the draws from several chunks can be merged into the draw from all of them.
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
    """The hash of each row of ``X`` (n, dx) and ``Y`` (n, dy) together: (n,)."""
    hashes = np.full(len(X), seed, dtype=np.uint64)
    for column in (*X.T, *Y.T):
        bits = (column + 0.0).view(np.uint64)  # -0.0 and 0.0 are equal, but differ in their bits
        hashes = _scramble(hashes * _STEP + bits)
    return hashes


def _scramble(numbers: RowHashes) -> RowHashes:
    """A bijection of 64-bit numbers that maps neighbours to unrelated numbers."""
    numbers = numbers + _STEP
    numbers = (numbers ^ (numbers >> np.uint64(30))) * _FIRST
    numbers = (numbers ^ (numbers >> np.uint64(27))) * _SECOND
    return numbers ^ (numbers >> np.uint64(31))


def smallest_hashes(hashes: RowHashes, count: int) -> Indices:
    """The rows with the ``count`` smallest distinct hashes, in increasing order."""
    if len(hashes) <= count:
        return np.arange(len(hashes))
    # Equal rows share a hash: extend the range until there are enough distinct hashes.
    reach = count
    while True:
        reach = min(2 * reach, len(hashes))
        smallest = np.unique(np.partition(hashes, reach - 1)[:reach])
        if len(smallest) > count or reach == len(hashes):
            last = smallest[min(count, len(smallest)) - 1]
            return np.flatnonzero(hashes <= last)
