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

from condensity._typing import Array
from condensity.data.chunks import InMemoryChunks, RemainingSamples, SampleChunks, Totals
from condensity.data.folds import draw_centers
from condensity.data.prepare import TrainingData
from condensity.data.sample import Sample, canonical
from condensity.data.subsample import row_hashes, smallest_hashes

#: The share of the hashes that is tried first, relative to the one that is expected to suffice.
MARGIN = 1.25


@dataclass(frozen=True, eq=False)
class LargeSample:
    """Training data with more samples, and those among them that the subsample contains."""

    data: TrainingData
    held: Array  # (n,) the weights of the samples of the subsample; 0 for the others
    drawn: RemainingSamples  # the additional samples, in memory


def enlarge(data: TrainingData, most: int, n_centers: int, rng: np.random.Generator) -> LargeSample:
    """The training data with ``most`` additional distinct samples, or all that remain."""
    assert data.remaining is not None
    rows, share, own = data.remaining.rows, data.remaining.share, data.sample
    seed = int(rng.integers(2**63))
    drawn, drawn_share, last = _draw(rows, seed, most, data.n_given - len(own))
    drawn_share *= 1.0 - share
    Y = data.y_scaling.mean + data.y_scaling.sd * drawn.Y
    both, origin, group = canonical(
        np.r_[own.X, drawn.X],
        np.r_[own.Y, Y],
        np.r_[share * own.weight, drawn_share * drawn.weight],
    )
    held = np.where(np.bincount(group, weights=origin < len(own)) > 0, both.weight, 0.0)
    rest = None
    if last is not None:
        rest = RemainingSamples(OtherChunks(rows, seed, last), share + drawn_share)
    larger = replace(
        data,
        sample=both,
        centers=draw_centers(both.weight, min(n_centers, len(both)), rng),
        partitions=[np.stack([held, both.weight - held])],
        remaining=rest,
    )
    remaining = RemainingSamples(InMemoryChunks(drawn), share / (share + drawn_share))
    return LargeSample(larger, held, remaining)


def _draw(
    rows: SampleChunks, seed: int, most: int, n_rows: int
) -> tuple[Sample, float, np.uint64 | None]:
    """The distinct samples with the ``most`` smallest hashes.

    Equal rows have equal hashes, so repeated rows and weights give the same draw.  How many rows
    are equal is not known before, so a share of the hashes is tried first.

    Returns
    -------
    Sample
        The samples.
    float
        Their share of the total weight of ``rows``.
    uint64 or None
        The largest of their hashes; None if they are all samples.
    """
    part = min(1.0, MARGIN * most / max(1, n_rows))
    while True:
        chunks, total = rows.total(partial(_with_small_hashes, seed, part))
        X, Y, weight = (np.concatenate(column) for column in zip(*chunks, strict=True))
        if part >= 1.0 or (len(X) > most and len(np.unique(row_hashes(X, Y, seed))) > most):
            break
        part = min(1.0, 2.0 * part)
    sample, _, _ = canonical(X, Y, weight)
    share = float(weight.sum()) / total
    if len(sample) <= most:
        return sample, share, None
    hashes = row_hashes(sample.X, sample.Y, seed)
    kept = np.sort(smallest_hashes(hashes, most))
    share *= float(sample.weight[kept].sum())
    sample = sample[kept]
    return (
        replace(sample, weight=sample.weight / sample.weight.sum()),
        share,
        hashes[kept].max(),
    )


@dataclass(frozen=True, eq=False)
class OtherChunks:
    """Samples that were not drawn: their hashes are larger than ``last``."""

    rows: SampleChunks
    seed: int
    last: np.uint64

    def total(self, of: Callable[[Sample], Totals]) -> Totals:
        """The sums of ``of`` over the samples that were not drawn."""
        return self.rows.total(partial(_others, self.seed, self.last, of))


def _with_small_hashes(seed: int, part: float, chunk: Sample) -> Totals:
    """The samples with the smallest hashes, as a list of one item, and the weight of the chunk."""
    drawn = chunk
    if part < 1.0:
        limit = np.uint64(part * 2.0**64)
        drawn = chunk[np.flatnonzero(row_hashes(chunk.X, chunk.Y, seed) < limit)]
    return [[(drawn.X, drawn.Y, drawn.weight)], float(chunk.weight.sum())]


def _others(seed: int, last: np.uint64, of: Callable[[Sample], Totals], chunk: Sample) -> Totals:
    return of(chunk[np.flatnonzero(row_hashes(chunk.X, chunk.Y, seed) > last)])
