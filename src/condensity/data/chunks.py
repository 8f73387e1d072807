"""All samples there are, in parts that need never be in one place together.

A fit to very many samples needs only sums over them.  ``SampleChunks`` sums a function of a few
hundred samples over all chunks, wherever these are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import Any, Protocol

from condensity._typing import Mask
from condensity._utils.parallel import Mapper
from condensity.data.sample import Sample, Scaling

#: Samples that are looked at together: kernels on a few hundred centres then fit a cache.
PART = 512

#: Whatever has ``+``, item by item.
Totals = list[Any]


class SampleChunks(Protocol):
    """Samples that can be summed over."""

    def total(self, of: Callable[[Sample], Totals]) -> Totals:
        """The sums that ``of`` makes of some samples, over all."""


@dataclass(frozen=True, eq=False)
class InMemoryChunks:
    """Samples in memory, those that ``counted`` (n,) marks."""

    sample: Sample
    counted: Mask | None = None  # None: all
    mapper: Mapper = map

    def total(self, of: Callable[[Sample], Totals]) -> Totals:
        """Sum over parts of the samples, one after the other or by several threads."""
        starts = range(0, max(1, len(self.sample)), PART)
        parts = [slice(start, start + PART) for start in starts]
        return sum_chunks(self.mapper(partial(self._at, of), parts))

    def _at(self, of: Callable[[Sample], Totals], rows: slice) -> Totals:
        part = self.sample[rows]
        return of(part if self.counted is None else part[self.counted[rows].nonzero()[0]])


@dataclass(frozen=True, eq=False)
class StandardisedChunks:
    """Samples whose outputs are standardised on the way."""

    rows: SampleChunks
    y_scaling: Scaling

    def total(self, of: Callable[[Sample], Totals]) -> Totals:
        """The sums that ``of`` makes of samples with standardised outputs."""
        return self.rows.total(partial(_standardise, self.y_scaling, of))


def _standardise(scaling: Scaling, of: Callable[[Sample], Totals], part: Sample) -> Totals:
    return of(replace(part, Y=scaling.apply(part.Y)))


@dataclass(frozen=True, eq=False)
class RemainingSamples:
    """The samples outside the subsample that is used for model selection."""

    rows: SampleChunks  # outputs standardised, weights in the units of the data
    share: float  # share of the total weight that is in the subsample


def sum_chunks(parts: Iterable[Sequence[Any]]) -> Totals:
    """The sum of each item over all parts, from first to last."""
    return reduce(lambda ours, theirs: list(map(add, ours, theirs)), map(list, parts))
