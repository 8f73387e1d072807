"""The way in: from what the caller gives to the samples that all is chosen with.

Of more samples than that, the others wait: coefficients are fitted to them as well, part by part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from condensity._typing import Array, Indices
from condensity._utils.dask_collections import delayed_chunks, empty_header, is_dask
from condensity._utils.parallel import Mapper
from condensity._utils.parameters import check_count
from condensity._utils.validation import check_folds, check_sample, column_names
from condensity.data.bounded_targets import check_bounds, take_off_bounds
from condensity.data.chunks import InMemoryChunks, SampleChunks
from condensity.data.dask_samples import ChunkValidator, DaskChunks
from condensity.data.sample import Sample
from condensity.data.subsample import row_hashes, smallest_hashes
from condensity.distributions.bounded import Bounds


@dataclass(frozen=True, eq=False)
class Taken:
    """Training data past the gate."""

    X: Array  # (n, dx)
    Y: Array  # (n, dy)
    weight: Array  # (n,)
    folds: int | Indices | None  # how many, or the fold of each sample; None: nothing is held out
    y_axes: int
    names: Sequence[str] | None  # of the inputs
    n_all: int  # samples that were given
    header: Any  # tells names and number of the inputs
    bounds: Bounds | None  # of y, which is then in its free coordinate
    others: SampleChunks | None = None  # those that nothing is chosen with
    share: float = 1.0  # of the weight of all that were given


def take_in(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    cv: Any,
    bounds: Any,
    subsample: int | None,
    seed: int,
    mapper: Mapper = map,
) -> Taken:
    """Pass the gate, and draw at most ``subsample`` samples that differ."""
    if is_dask(X, y, sample_weight):
        if subsample is None:
            raise TypeError(
                f"{type(estimator).__name__} can take Dask collections only with a subsample that "
                "all is chosen with, got none: pass X.compute() and y.compute()"
            )
        return _from_parts(estimator, X, y, sample_weight, cv, bounds, subsample, seed)
    names, header = column_names(X), X
    X, Y, weight, y_axes = check_sample(estimator, X, y, sample_weight)
    folds = None if cv is None else check_folds(cv, X, Y, weight)
    Y, limits = take_off_bounds(bounds, Y, weight)
    if subsample is None or len(X) <= subsample:
        return Taken(X, Y, weight, folds, y_axes, names, len(X), header, limits)
    rows = np.flatnonzero(weight)
    rows = rows[smallest_hashes(row_hashes(X, Y, seed)[rows], subsample)]
    left = weight > 0
    left[rows] = False
    others = InMemoryChunks(Sample(X, Y, weight), left, mapper) if left.any() else None
    return Taken(
        X[rows],
        Y[rows],
        weight[rows],
        folds[rows] if isinstance(folds, np.ndarray) else folds,
        y_axes,
        names,
        len(X),
        header,
        limits,
        others,
        _share(weight[rows], float(weight.sum())),
    )


def _from_parts(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    cv: Any,
    bounds: Any,
    subsample: int,
    seed: int,
) -> Taken:
    """The same for samples that Dask holds."""
    if not (cv is None or isinstance(cv, Integral)):
        raise ValueError(f"cv must be a number of folds for Dask collections, got {cv!r}")
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, got None")
    parts = DaskChunks(
        delayed_chunks(X, y, sample_weight), ChunkValidator(type(estimator).__name__, bounds), seed
    )
    draw = parts.draw(subsample)
    some = draw.repeated()
    if not len(some):
        raise ValueError(f"none of the {draw.n} samples has any weight: there is nothing to learn")
    others = replace(parts, last=int(draw.hashes.max())) if draw.more else None
    return Taken(
        some.X,
        some.Y,
        some.weight,
        None if cv is None else check_count("cv", cv, low=2, why=" (folds)"),
        y.ndim,
        column_names(X),
        draw.n,
        empty_header(X),
        None if bounds is None else check_bounds(bounds, some.Y.shape[1]),
        others,
        _share(some.weight, draw.weight),
    )


def _share(part: Array, total: float) -> float:
    """The share of a part that is not all, whatever rounding makes of it."""
    return min(float(part.sum() / total), 1.0 - 1e-15)
