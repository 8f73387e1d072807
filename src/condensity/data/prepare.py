"""Training data: validated, subsampled, standardised, with folds and centres drawn.

Model selection uses at most ``subsample`` samples.  The remaining ones are kept in chunks; the
final fit sums over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import ceil
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from condensity._typing import Array, Indices, Mask
from condensity._utils.dask_collections import delayed_chunks, empty_header, is_dask
from condensity._utils.parallel import Mapper
from condensity._utils.parameters import check_count, check_option
from condensity._utils.validation import (
    check_enough,
    check_folds,
    check_sample,
    check_usable,
    check_varies,
    column_names,
)
from condensity.data.bounded_targets import check_bounds, take_off_bounds
from condensity.data.chunks import (
    Extent,
    InMemoryChunks,
    RemainingSamples,
    SampleChunks,
    StandardisedChunks,
)
from condensity.data.dask_samples import ChunkValidator, DaskChunks
from condensity.data.folds import (
    FoldedSample,
    draw_centers,
    draw_folds,
    fold_weights,
    is_contingency_table,
)
from condensity.data.outliers import Limits, OrdinaryChunks, Outliers, count_outliers
from condensity.data.sample import UNITS, Sample, Scaling, canonical
from condensity.data.subsample import row_hashes, smallest_hashes
from condensity.distributions.bounded import Bounds


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Samples for model selection with their folds and centres, and the remaining samples."""

    sample: Sample  # distinct rows in the units of the data
    centers: Indices  # the rows that carry a centre
    partitions: Sequence[Array]  # weights of the rows within folds, (folds, n); empty without cv
    labels: Indices | None  # (n,) folds given by the caller: rows of one fold belong together
    x_scaling: Scaling
    y_scaling: Scaling
    remaining: RemainingSamples | None  # outputs standardised
    bounds: Bounds | None  # of y; the sample then holds y in its unbounded coordinate
    y_axes: int  # 1 or 2, as y was given
    header: Any  # an object with the names and the number of the inputs
    n_given: int  # number of samples that were given
    outliers: Outliers | None  # samples that are left out
    auto_centers: bool = False  # whether the number of centres may follow that of the samples

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return int(self.sample.Y.shape[1])

    @property
    def active(self) -> Mask:
        """The inputs that vary, (dx,)."""
        return self.x_scaling.varies

    @property
    def folds(self) -> Array:
        """Weights within the folds of the first partition, (folds, n); one fold without cv."""
        if self.partitions:
            return self.partitions[0]
        return np.asarray(self.sample.weight[None] / self.sample.weight.sum())

    @property
    def by_cells(self) -> bool:
        """Whether equal samples lie in different folds: the rows are the cells of a table."""
        return bool(((self.folds > 0).sum(axis=0) > 1).any())

    def input_range(self) -> Array:
        """The smallest and the largest value of each input over all samples, (2, dx)."""
        extent = Extent.of(self.sample)
        if self.remaining is not None:
            (rest,) = self.remaining.rows.total(lambda chunk: [Extent.of(chunk)])
            extent = extent + rest
        return np.stack([extent.low, extent.high])

    @cached_property
    def standardised(self) -> Sample:
        """The sample with standardised inputs and outputs."""
        X, Y = self.x_scaling.apply(self.sample.X), self.y_scaling.apply(self.sample.Y)
        return Sample(X, Y, self.sample.weight)

    @cached_property
    def y_standardised(self) -> Sample:
        """The sample with standardised outputs; its inputs are in the units of the data."""
        return replace(self.sample, Y=self.standardised.Y)

    @cached_property
    def folded(self) -> FoldedSample:
        """The standardised sample, ordered by the folds of the first partition."""
        return FoldedSample.cut(self.standardised, self.folds, self.centers)


def prepare(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    rng: np.random.Generator,
    *,
    cv: Any,
    to_fix: str,
    n_centers: int | str | None = None,
    auto_centers: int = 0,
    n_members: int = 1,
    subsample: int | None = None,
    bounds: Any = None,
    scaling: str = "variance",
    omit_outliers: bool = False,
    mapper: Mapper = map,
) -> TrainingData:
    """Validate the samples of a caller and draw centres and folds.

    Parameters
    ----------
    estimator : estimator
        Its class name appears in error messages.
    X, y, sample_weight : array-like or Dask collections
        The samples as they were passed to ``fit``.
    rng : Generator
        Draws the subsample, the centres and the folds from streams of their own.
    cv : None, int, splitter or iterable of splits
        None: no fold is held out.
    to_fix : str
        The parameters that make cross-validation unnecessary, for error messages.
    n_centers : None, int or "auto"
        Number of centres; None takes every sample.
    auto_centers : int
        Largest number of centres that "auto" takes.
    n_members : int
        Number of members that need a fold of their own; folds are drawn repeatedly.
    subsample : None or int
        Largest number of samples for model selection; None takes all.
    bounds : None, pair or one pair for each output
        Bounds of y.
    scaling : str
        The unit of length of inputs and outputs, one of ``UNITS``.
    omit_outliers : bool
        Whether samples with a value far from all others are left out.
    mapper : callable
        Maps over the chunks of the remaining samples.

    Returns
    -------
    TrainingData
        The samples as all algorithms use them.
    """
    unit = check_option("scaling", scaling, UNITS)
    center_rng, fold_rng, row_rng = rng.spawn(3)
    seed = int(row_rng.integers(2**63))
    if is_dask(X, y, sample_weight):
        rows = _read_dask(estimator, X, y, sample_weight, cv, bounds, subsample, seed)
        header = empty_header(X)
    else:
        rows = _read_arrays(estimator, X, y, sample_weight, cv, bounds, subsample, seed, mapper)
        header = X
    count = _count_centers(n_centers, auto_centers, rows, subsample)
    rows, outliers = _leave_out(rows) if omit_outliers else (rows, None)
    sample, origin, group = canonical(rows.sample.X, rows.sample.Y, rows.sample.weight)
    n_folds = rows.folds if isinstance(rows.folds, int) else None
    check_enough(type(estimator).__name__, len(origin), len(sample), n_folds=n_folds, fix=to_fix)
    x_scaling = Scaling.of(sample.X, sample.weight)
    y_scaling = Scaling.of(sample.Y, sample.weight)
    drawn = None if rows.remaining is None else len(sample)
    check_varies(x_scaling.sd, y_scaling.sd, column_names(X), subsample=drawn)
    x_scaling, y_scaling = (
        s.in_unit(unit, values) for s, values in ((x_scaling, sample.X), (y_scaling, sample.Y))
    )
    centers = draw_centers(sample.weight, min(count, len(sample)), center_rng)
    partitions = _partitions(rows, sample, origin, group, centers, n_members, fold_rng)
    remaining = None
    if rows.remaining is not None:
        remaining = RemainingSamples(StandardisedChunks(rows.remaining, y_scaling), rows.share)
    return TrainingData(
        sample,
        centers,
        partitions,
        partitions[0].argmax(axis=0) if isinstance(rows.folds, np.ndarray) else None,
        x_scaling,
        y_scaling,
        remaining,
        None if bounds is None else check_bounds(bounds, sample.Y.shape[1]),
        rows.y_axes,
        header,
        rows.n_total,
        outliers,
        isinstance(n_centers, str),
    )


class _Rows(NamedTuple):
    """Validated rows for model selection, and the samples that remain."""

    sample: Sample  # rows as they were given, with y in its unbounded coordinate
    folds: int | Indices | None  # number of folds, or the fold of each row; None without cv
    y_axes: int
    n_total: int  # number of samples that were given
    remaining: SampleChunks | None = None  # in the units of the data
    share: float = 1.0  # share of the total weight that is in the sample
    numbers: Indices | None = None  # of the rows as the caller counts them; None if unknown


def _read_arrays(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    cv: Any,
    bounds: Any,
    subsample: int | None,
    seed: int,
    mapper: Mapper,
) -> _Rows:
    """Validate arrays or data frames, and draw at most ``subsample`` distinct samples."""
    X, Y, weight, y_axes = check_sample(estimator, X, y, sample_weight)
    folds = None if cv is None else check_folds(cv, X, Y, weight)
    whole = Sample(X, take_off_bounds(bounds, Y, weight)[0], weight)
    if subsample is None or len(X) <= subsample:
        return _Rows(whole, folds, y_axes, len(X), numbers=np.arange(len(X)))
    rows = np.flatnonzero(weight)
    rows = rows[smallest_hashes(row_hashes(X, whole.Y, seed)[rows], subsample)]
    left = weight > 0
    left[rows] = False
    remaining = InMemoryChunks(whole, left, mapper) if left.any() else None
    if isinstance(folds, np.ndarray):
        folds = folds[rows]
    share = float(weight[rows].sum() / weight.sum())
    return _Rows(whole[rows], folds, y_axes, len(X), remaining, share, rows)


def _read_dask(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    cv: Any,
    bounds: Any,
    subsample: int | None,
    seed: int,
) -> _Rows:
    """Validate Dask collections chunk by chunk, and draw at most ``subsample`` samples."""
    name = type(estimator).__name__
    if subsample is None:
        raise TypeError(
            f"{name} accepts Dask collections only with a subsample for model selection, got none: "
            "pass X.compute() and y.compute()"
        )
    if not (cv is None or isinstance(cv, Integral)):
        raise ValueError(f"cv must be a number of folds for Dask collections, got {cv!r}")
    if y is None:
        raise ValueError(f"{name} requires y to be passed, got None")
    chunks = DaskChunks(delayed_chunks(X, y, sample_weight), ChunkValidator(name, bounds), seed)
    draw = chunks.draw(subsample)
    sample = draw.repeated()
    if not len(sample):
        raise ValueError(f"none of the {draw.n} samples has a positive weight: pass other weights")
    folds = None if cv is None else check_count("cv", cv, low=2, why=" (folds)")
    remaining = replace(chunks, last=int(draw.hashes.max())) if draw.more else None
    share = float(sample.weight.sum() / draw.weight)
    return _Rows(sample, folds, y.ndim, draw.n, remaining, share)


def _leave_out(rows: _Rows) -> tuple[_Rows, Outliers | None]:
    """The rows with outliers given the weight zero, and a record of the outliers."""
    sample, remaining = rows.sample, rows.remaining
    limits = Limits.of(canonical(sample.X, sample.Y, sample.weight)[0])
    beyond = limits.beyond(sample) & (sample.weight > 0)[:, None]
    found = Outliers.of(limits, sample, beyond, rows.numbers)
    weight = np.where(beyond.any(axis=1), 0.0, sample.weight)
    own, rest = float(weight.sum()), 0.0
    if remaining is not None:
        counts, n, rest = remaining.total(partial(count_outliers, limits))
        found = found.and_more(counts, n)
        if n:
            remaining = OrdinaryChunks(remaining, limits) if rest > 0 else None
    if not found.n:
        return rows, None
    sample = replace(sample, weight=weight)
    return rows._replace(sample=sample, remaining=remaining, share=own / (own + rest)), found


def _count_centers(
    n_centers: int | str | None, auto_centers: int, rows: _Rows, subsample: int | None
) -> int:
    """The number of centres to draw."""
    n = rows.n_total
    if n_centers is None:
        return n
    if isinstance(n_centers, str) and n_centers == "auto":
        return min(n, auto_centers)
    why = ", the number of samples, or 'auto'"
    count = check_count("n_centers", n_centers, low=2, high=n, why=why)
    if rows.remaining is not None and count > (subsample or 0):
        raise ValueError(
            f"n_centers={count} is more than subsample={subsample}, from which centres are drawn: "
            "raise subsample"
        )
    return count


def _partitions(
    rows: _Rows,
    sample: Sample,
    origin: Indices,
    group: Indices,
    centers: Indices,
    n_members: int,
    rng: np.random.Generator,
) -> list[Array]:
    """For each partition the share of the distinct rows within its folds, (folds, n)."""
    folds, weight = rows.folds, rows.sample.weight[origin]
    if folds is None:
        return []
    if isinstance(folds, int):
        table = is_contingency_table(sample)
        draw = partial(draw_folds, weight, group, folds, centers=centers, rng=rng, table=table)
        first = draw()
        partitions = [first, *(draw() for _ in range(ceil(n_members / len(first)) - 1))]
    else:
        mass = fold_weights(weight, group, folds[origin])
        if len(mass) < 2:
            raise ValueError(
                f"the {len(sample)} samples of the subsample are all in one fold of cv: "
                "raise subsample"
            )
        partitions = [mass] * ceil(n_members / len(mass))
    for mass in partitions:
        check_usable(mass.sum(axis=0)[centers] > mass[:, centers])
    return [mass / mass.sum() for mass in partitions]
