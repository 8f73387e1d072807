"""Sums over chunks of samples.

A fit to very many samples needs only sums over them.  ``SampleChunks`` sums a function of a few
hundred samples over all chunks, in memory or in a Dask collection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import Any, Protocol

import numpy as np

from condensity._typing import Array, Mask
from condensity._utils.parallel import Mapper
from condensity.data.sample import Sample, Scaling

#: Number of samples in a chunk: kernels on a few hundred centres then fit into the cache.
CHUNK_ROWS = 512

#: A list of values that can be added, item by item.
Totals = list[Any]


class SampleChunks(Protocol):
    """Samples that can be summed over."""

    def total(self, of: Callable[[Sample], Totals]) -> Totals:
        """The sums of ``of``, which returns sums over the samples it is given, over all samples."""


@dataclass(frozen=True, eq=False)
class InMemoryChunks:
    """Samples in memory, or those that the mask ``counted`` (n,) selects."""

    sample: Sample
    counted: Mask | None = None  # None: all
    mapper: Mapper = map

    def total(self, of: Callable[[Sample], Totals]) -> Totals:
        """Sum over chunks of the samples, with the mapper."""
        starts = range(0, max(1, len(self.sample)), CHUNK_ROWS)
        chunks = [slice(start, start + CHUNK_ROWS) for start in starts]
        return sum_chunks(self.mapper(partial(self._at, of), chunks))

    def _at(self, of: Callable[[Sample], Totals], rows: slice) -> Totals:
        chunk = self.sample[rows]
        return of(chunk if self.counted is None else chunk[self.counted[rows].nonzero()[0]])


@dataclass(frozen=True, eq=False)
class StandardisedChunks:
    """Samples whose outputs are standardised before they are summed."""

    rows: SampleChunks
    y_scaling: Scaling

    def total(self, of: Callable[[Sample], Totals]) -> Totals:
        """The sums of ``of`` over samples with standardised outputs."""
        return self.rows.total(partial(_standardise, self.y_scaling, of))


def _standardise(scaling: Scaling, of: Callable[[Sample], Totals], chunk: Sample) -> Totals:
    return of(replace(chunk, Y=scaling.apply(chunk.Y)))


@dataclass(frozen=True, eq=False)
class RemainingSamples:
    """The samples outside the subsample that is used for model selection."""

    rows: SampleChunks  # outputs standardised, weights in the units of the data
    share: float  # share of the total weight that is in the subsample


@dataclass(frozen=True, eq=False)
class Extent:
    """The smallest and the largest value of each input; of two chunks together with ``+``."""

    low: Array  # (dx,)
    high: Array  # (dx,)

    @classmethod
    def of(cls, sample: Sample) -> Extent:
        """The extent of samples; infinite if there are none."""
        X = sample.X
        return cls(X.min(axis=0, initial=np.inf), X.max(axis=0, initial=-np.inf))

    def __add__(self, other: Extent) -> Extent:
        return Extent(np.minimum(self.low, other.low), np.maximum(self.high, other.high))


def sum_chunks(totals: Iterable[Sequence[Any]]) -> Totals:
    """The sum of each item over all chunks, from first to last."""
    return reduce(lambda left, right: list(map(add, left, right)), map(list, totals))
