"""The rows of a caller: validated, and drawn from if there are too many for model selection."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from condensity._typing import Indices
from condensity._utils.dask_collections import delayed_chunks, is_dask
from condensity._utils.parallel import Mapper
from condensity._utils.parameters import check_count
from condensity._utils.validation import check_folds, check_sample
from condensity.data.bounded_targets import take_off_bounds
from condensity.data.chunks import InMemoryChunks, SampleChunks
from condensity.data.dask_samples import ChunkValidator, DaskChunks
from condensity.data.outliers import Limits, OrdinaryChunks, Outliers, count_outliers
from condensity.data.sample import Sample, canonical
from condensity.data.subsample import row_hashes, smallest_hashes


class ValidatedRows(NamedTuple):
    """Validated rows for model selection, and the samples that remain."""

    sample: Sample  # rows as they were given, with y in its unbounded coordinate
    folds: int | Indices | None  # number of folds, or the fold of each row; None without cv
    y_axes: int
    n_total: int  # number of samples that were given
    remaining: SampleChunks | None = None  # in the units of the data
    share: float = 1.0  # share of the total weight that is in the sample
    numbers: Indices | None = None  # of the rows as the caller counts them; None if unknown


def read_rows(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    cv: Any,
    bounds: Any,
    subsample: int | None,
    seed: int,
    mapper: Mapper,
) -> ValidatedRows:
    """Validate the samples of a caller, and draw at most ``subsample`` distinct ones."""
    if is_dask(X, y, sample_weight):
        return _read_dask(estimator, X, y, sample_weight, cv, bounds, subsample, seed)
    return _read_arrays(estimator, X, y, sample_weight, cv, bounds, subsample, seed, mapper)


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
) -> ValidatedRows:
    """Validate arrays or data frames, and draw at most ``subsample`` distinct samples."""
    X, Y, weight, y_axes = check_sample(estimator, X, y, sample_weight)
    folds = None if cv is None else check_folds(cv, X, Y, weight)
    whole = Sample(X, take_off_bounds(bounds, Y, weight)[0], weight)
    if subsample is None or len(X) <= subsample:
        return ValidatedRows(whole, folds, y_axes, len(X), numbers=np.arange(len(X)))
    rows = np.flatnonzero(weight)
    rows = rows[smallest_hashes(row_hashes(X, whole.Y, seed)[rows], subsample)]
    left = weight > 0
    left[rows] = False
    remaining = InMemoryChunks(whole, left, mapper) if left.any() else None
    if isinstance(folds, np.ndarray):
        folds = folds[rows]
    share = float(weight[rows].sum() / weight.sum())
    return ValidatedRows(whole[rows], folds, y_axes, len(X), remaining, share, rows)


def _read_dask(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    cv: Any,
    bounds: Any,
    subsample: int | None,
    seed: int,
) -> ValidatedRows:
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
    return ValidatedRows(sample, folds, y.ndim, draw.n, remaining, share)


def without_outliers(rows: ValidatedRows) -> tuple[ValidatedRows, Outliers | None]:
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
