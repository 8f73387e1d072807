"""More samples than the subsample: drawn from those that remain, by a hash of each row.

Model selection uses a subsample.  What depends on the number of samples, such as bandwidths, is
then selected again with many more of them.  These are gathered from the remaining samples, whatever
holds them, and become a part of the training data.  Sums over the others are still possible.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from condensity._typing import Array, Mask
from condensity.data.chunks import InMemoryChunks, RemainingSamples, SampleChunks, Totals
from condensity.data.folds import draw_centers
from condensity.data.prepare import TrainingData
from condensity.data.sample import Sample, canonical
from condensity.data.subsample import row_hashes


@dataclass(frozen=True, eq=False)
class LargeSample:
    """Training data with more samples, and those among them that the subsample contains."""

    data: TrainingData
    held: Array  # (n,) the weights of the samples of the subsample; 0 for the others
    drawn: RemainingSamples  # the additional samples, in memory


def enlarge(data: TrainingData, most: int, n_centers: int, rng: np.random.Generator) -> LargeSample:
    """The training data with about ``most`` additional samples, or all that remain."""
    assert data.remaining is not None
    rows, share, own = data.remaining.rows, data.remaining.share, data.sample
    seed = int(rng.integers(2**63))
    part = min(1.0, most / max(1, data.n_given - len(own)))
    chunks, total = rows.total(partial(_draw, seed, part))
    more, _, _ = canonical(*(np.concatenate(column) for column in zip(*chunks, strict=True)))
    drawn_share = sum(float(weight.sum()) for _, _, weight in chunks) / total * (1.0 - share)
    Y = data.y_scaling.mean + data.y_scaling.sd * more.Y
    both, origin, group = canonical(
        np.r_[own.X, more.X],
        np.r_[own.Y, Y],
        np.r_[share * own.weight, drawn_share * more.weight],
    )
    held = np.where(np.bincount(group, weights=origin < len(own)) > 0, both.weight, 0.0)
    drawn = RemainingSamples(InMemoryChunks(more), share / (share + drawn_share))
    rest = None
    if part < 1.0:
        rest = RemainingSamples(OtherChunks(rows, seed, part), share + drawn_share)
    larger = replace(
        data,
        sample=both,
        centers=draw_centers(both.weight, min(n_centers, len(both)), rng),
        partitions=[np.stack([held, both.weight - held])],
        remaining=rest,
    )
    return LargeSample(larger, held, drawn)


@dataclass(frozen=True, eq=False)
class OtherChunks:
    """Samples that were not drawn."""

    rows: SampleChunks
    seed: int
    part: float

    def total(self, of: Callable[[Sample], Totals]) -> Totals:
        """The sums of ``of`` over the samples that were not drawn."""
        return self.rows.total(partial(_others, self.seed, self.part, of))


def _draw(seed: int, part: float, chunk: Sample) -> Totals:
    """The samples of a chunk that are drawn, as a list of one item, and the weight of the chunk."""
    drawn = chunk[np.flatnonzero(_is_drawn(seed, part, chunk))]
    return [[(drawn.X, drawn.Y, drawn.weight)], float(chunk.weight.sum())]


def _others(seed: int, part: float, of: Callable[[Sample], Totals], chunk: Sample) -> Totals:
    return of(chunk[np.flatnonzero(~_is_drawn(seed, part, chunk))])


def _is_drawn(seed: int, part: float, chunk: Sample) -> Mask:
    """Whether samples are among the ``part`` with the smallest hashes, (m,)."""
    if part >= 1.0:
        return np.ones(len(chunk), dtype=bool)
    return np.asarray(row_hashes(chunk.X, chunk.Y, seed) < np.uint64(part * 2.0**64))
