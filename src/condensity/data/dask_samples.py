"""Samples in parts that may be on many machines: Dask arrays and data frames.

A pass over the samples is one task for each part and a tree of sums.  What comes back is a few
matrices and, once, the samples that all is chosen with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from condensity._typing import Indices, Mask
from condensity._utils.extras import require
from condensity._utils.validation import check_sample
from condensity.data.bounded_targets import take_off_bounds
from condensity.data.chunks import InMemoryChunks, Totals, sum_chunks
from condensity.data.sample import Sample
from condensity.data.subsample import RowHashes, row_hashes, smallest_hashes

#: Results that are put together by one task.
FAN_IN = 8
#: Equal samples beyond so many are one with the weight of several.
MOST_COPIES = 1000


@dataclass(frozen=True, eq=False)
class ChunkValidator:
    """What every part has to pass."""

    name: str  # of the estimator
    bounds: Any

    def __call__(self, place: int, X: Any, y: Any, weight: Any) -> Sample:
        """A part as arrays, its weights as they came."""
        if not len(X):
            dy = 1 if y.ndim == 1 else y.shape[1]
            return Sample(np.empty((0, X.shape[1])), np.empty((0, dy)), np.empty(0))
        try:
            X, Y, weight, _ = check_sample(self.name, X, y, weight, part=True)
            return Sample(X, take_off_bounds(self.bounds, Y, weight)[0], weight)
        except ValueError as error:
            raise ValueError(f"part {place} of the samples: {error}") from None


@dataclass(frozen=True, eq=False)
class HashSample:
    """Samples with small tickets, and what they were drawn from."""

    sample: Sample  # different ones, with the weight of all that are equal to them
    count: Indices  # how many these are
    hashes: RowHashes
    n: int  # samples there were
    weight: float  # of all of them
    more: bool = False  # whether others were left

    def __add__(self, other: HashSample) -> HashSample:
        a, b = self.sample, other.sample
        both = Sample(np.r_[a.X, b.X], np.r_[a.Y, b.Y], np.r_[a.weight, b.weight])
        return HashSample(
            both,
            np.r_[self.count, other.count],
            np.r_[self.hashes, other.hashes],
            self.n + other.n,
            self.weight + other.weight,
            self.more or other.more,
        )

    def best(self, most: int) -> HashSample:
        """The ``most`` smallest tickets, equal samples as one."""
        rows = smallest_hashes(self.hashes, most)
        found, first, which = np.unique(self.hashes[rows], return_index=True, return_inverse=True)
        s = self.sample[rows]
        weight = np.bincount(which, weights=s.weight).astype(float)
        count = np.bincount(which, weights=self.count[rows]).astype(np.intp)
        more = self.more or len(rows) < len(self.hashes)
        some = Sample(s.X[first], s.Y[first], weight)
        return HashSample(some, count, found, self.n, self.weight, more)

    def repeated(self) -> Sample:
        """Every sample as often as it was there, within reason: folds count samples."""
        times = np.clip(self.count, 1, MOST_COPIES)
        rows = np.repeat(np.arange(len(times)), times)
        s = self.sample[rows]
        return Sample(s.X, s.Y, s.weight / times[rows])


@dataclass(frozen=True, eq=False)
class DaskChunks:
    """Samples in parts, those whose tickets are larger than ``last``."""

    blocks: Sequence[Any]  # (place, X, y, weight) each, delayed
    gate: ChunkValidator
    seed: int
    last: int = 0

    def draw(self, count: int) -> HashSample:
        """At most ``count`` samples that differ, the same in whatever parts they come."""
        each = partial(_draw, self.gate, self.seed, count)
        found: HashSample = self._gather(each, partial(_best, count))
        return found

    def total(self, of: Callable[[Sample], Totals]) -> Totals:
        """The sums that ``of`` makes of some samples, over all that are left."""
        totals: Totals = self._gather(
            partial(_total, self.gate, self.seed, self.last, of), sum_chunks
        )
        return totals

    def _gather(self, each: Callable[..., Any], together: Callable[[Any], Any]) -> Any:
        dask = require("dask", "dask")
        call = dask.delayed(_call)
        # One object in the graph, however many parts there are.
        first, then = (dask.delayed(f, traverse=False) for f in (each, together))
        level = [call(first, *block) for block in self.blocks]
        while len(level) > 1:
            groups = [level[i : i + FAN_IN] for i in range(0, len(level), FAN_IN)]
            level = [call(then, group) for group in groups]
        # Tasks may be threads of this process: the limit is set once, around all of them.
        with threadpool_limits(limits=1, user_api="blas"):
            return dask.compute(level[0])[0]


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


def _draw(gate: ChunkValidator, seed: int, count: int, *block: Any) -> HashSample:
    sample = gate(*block)
    some = sample[np.flatnonzero(sample.weight)]
    own, once = row_hashes(some.X, some.Y, seed), np.ones(len(some), dtype=np.intp)
    return HashSample(some, once, own, len(sample), float(some.weight.sum())).best(count)


def _best(count: int, draws: Sequence[HashSample]) -> HashSample:
    return sum(draws[1:], draws[0]).best(count)


def _total(
    gate: ChunkValidator, seed: int, last: int, of: Callable[[Sample], Totals], *block: Any
) -> Totals:
    sample = gate(*block)
    left: Mask = row_hashes(sample.X, sample.Y, seed) > np.uint64(last)
    return InMemoryChunks(sample, left & (sample.weight > 0)).total(of)
