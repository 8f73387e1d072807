"""Samples in Dask arrays and data frames, whose chunks may be on many machines.

A pass over the samples is one task for each chunk and a tree of sums.  It returns a few matrices;
the first pass returns the subsample for model selection.
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

#: Number of results that one task adds up.
FAN_IN = 8
#: Largest number of copies of equal samples; further ones add to the weight of the copies.
MOST_COPIES = 1000


@dataclass(frozen=True, eq=False)
class ChunkValidator:
    """Validates every chunk."""

    name: str  # of the estimator, for error messages
    bounds: Any

    def __call__(self, number: int, X: Any, y: Any, weight: Any) -> Sample:
        """A chunk as arrays; its weights are not rescaled."""
        if not len(X):
            dy = 1 if y.ndim == 1 else y.shape[1]
            return Sample(np.empty((0, X.shape[1])), np.empty((0, dy)), np.empty(0))
        try:
            X, Y, weight, _ = check_sample(self.name, X, y, weight, part=True)
            return Sample(X, take_off_bounds(self.bounds, Y, weight)[0], weight)
        except ValueError as error:
            raise ValueError(f"chunk {number} of the samples: {error}") from None


@dataclass(frozen=True, eq=False)
class HashSample:
    """The samples with the smallest hashes, and totals over all samples."""

    sample: Sample  # distinct rows, each with the total weight of its copies
    count: Indices  # number of copies
    hashes: RowHashes
    n: int  # number of all samples
    weight: float  # of all samples
    more: bool = False  # whether there are further samples

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
        """The ``most`` distinct samples with the smallest hashes."""
        rows = smallest_hashes(self.hashes, most)
        hashes, first, which = np.unique(self.hashes[rows], return_index=True, return_inverse=True)
        s = self.sample[rows]
        weight = np.bincount(which, weights=s.weight).astype(float)
        count = np.bincount(which, weights=self.count[rows]).astype(np.intp)
        more = self.more or len(rows) < len(self.hashes)
        sample = Sample(s.X[first], s.Y[first], weight)
        return HashSample(sample, count, hashes, self.n, self.weight, more)

    def repeated(self) -> Sample:
        """Every sample with its copies, at most ``MOST_COPIES``: folds count samples."""
        times = np.clip(self.count, 1, MOST_COPIES)
        rows = np.repeat(np.arange(len(times)), times)
        s = self.sample[rows]
        return Sample(s.X, s.Y, s.weight / times[rows])


@dataclass(frozen=True, eq=False)
class DaskChunks:
    """The samples with hashes larger than ``last``."""

    chunks: Sequence[Any]  # (number, X, y, weight) each, delayed
    validate: ChunkValidator
    seed: int
    last: int = 0

    def draw(self, count: int) -> HashSample:
        """At most ``count`` distinct samples; they do not depend on the chunks."""
        each = partial(_draw, self.validate, self.seed, count)
        drawn: HashSample = self._gather(each, partial(_best, count))
        return drawn

    def total(self, of: Callable[[Sample], Totals]) -> Totals:
        """The sums of ``of``, which returns sums over the samples it is given, over all."""
        each = partial(_total, self.validate, self.seed, self.last, of)
        totals: Totals = self._gather(each, sum_chunks)
        return totals

    def _gather(self, each: Callable[..., Any], together: Callable[[Any], Any]) -> Any:
        dask = require("dask", "dask")
        call = dask.delayed(_call)
        # Each function is one object in the graph, not one for each chunk.
        first, then = (dask.delayed(f, traverse=False) for f in (each, together))
        level = [call(first, *chunk) for chunk in self.chunks]
        while len(level) > 1:
            groups = [level[i : i + FAN_IN] for i in range(0, len(level), FAN_IN)]
            level = [call(then, group) for group in groups]
        # Tasks may be threads of this process: the limit is set once, around all of them.
        with threadpool_limits(limits=1, user_api="blas"):
            return dask.compute(level[0])[0]


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


def _draw(validate: ChunkValidator, seed: int, count: int, *chunk: Any) -> HashSample:
    whole = validate(*chunk)
    sample = whole[np.flatnonzero(whole.weight)]
    hashes, once = row_hashes(sample.X, sample.Y, seed), np.ones(len(sample), dtype=np.intp)
    return HashSample(sample, once, hashes, len(whole), float(sample.weight.sum())).best(count)


def _best(count: int, draws: Sequence[HashSample]) -> HashSample:
    return sum(draws[1:], draws[0]).best(count)


def _total(
    validate: ChunkValidator, seed: int, last: int, of: Callable[[Sample], Totals], *chunk: Any
) -> Totals:
    sample = validate(*chunk)
    left: Mask = row_hashes(sample.X, sample.Y, seed) > np.uint64(last)
    return InMemoryChunks(sample, left & (sample.weight > 0)).total(of)
