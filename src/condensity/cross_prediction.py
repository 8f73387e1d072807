"""Densities of samples by models that have not seen them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from condensity._typing import Indices
from condensity._utils.composites import predict_dist
from condensity._utils.dask_collections import is_dask
from condensity._utils.parallel import parallel_map
from condensity._utils.validation import check_same_length
from condensity.distributions.base import Distribution
from condensity.distributions.concatenated import concatenate_rows

__all__ = ["cross_val_predict_dist"]


def cross_val_predict_dist(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    groups: Any = None,
    n_jobs: int | None = None,
    params: dict[str, Any] | None = None,
) -> Distribution:
    """Predict the density of each sample by a model that has not seen it.

    A clone of the estimator is fitted without each fold and predicts the densities of the fold.
    This is ``cross_val_predict`` of scikit-learn for densities: use the result for calibration
    plots, residuals and losses by row.

    Parameters
    ----------
    estimator : estimator
        Estimator with ``predict_dist``, a pipeline that ends in one, or a search over one.  It need
        not be fitted, and it is not changed.
    X : array-like of shape (n, dx)
        Inputs.
    y : array-like of shape (n,) or (n, dy)
        Targets.
    cv : None, int, splitter or iterable, default=None
        Folds, as in scikit-learn: None means 5 consecutive folds.  Pass ``KFold(5, shuffle=True)``
        if the order of the rows has a meaning.  Each sample must be in exactly one fold.
    groups : array-like of shape (n,), default=None
        Labels of samples that belong together, for splitters such as ``GroupKFold``.
    n_jobs : None or int, default=None
        Number of workers.  The result does not depend on it.
    params : dict, default=None
        Further arguments of ``fit``, for instance ``{"sample_weight": weight}``.  Those with one
        value for each sample are cut to the samples of the fit.

    Returns
    -------
    Distribution
        One density for each row of ``X``, in their order.  The models of different folds may have
        different Gaussians, so it is a ``ConcatenatedDistribution``.

    See Also
    --------
    predict_dist : Densities of a fitted estimator or composite.
    condensity.distributions.concatenate_rows : How the folds are put together.

    Notes
    -----
    The rows are predicted by different models: a loss that is computed from all of them at once is
    the mean over folds weighted by their sizes.

    Examples
    --------
    >>> from condensity import LSCDE, cross_val_predict_dist
    >>> from condensity.datasets import toy_b
    >>> from condensity.metrics import pit
    >>> X, y = toy_b().sample(100, random_state=0)
    >>> model = LSCDE(bandwidth=0.5, penalty=0.01, random_state=0)
    >>> dist = cross_val_predict_dist(model, X, y, cv=4)
    >>> len(dist), bool(0.4 < pit(dist, y).mean() < 0.6)
    (100, True)
    """
    if is_dask(X, y):
        raise TypeError(
            "cross_val_predict_dist takes data in memory, got a Dask collection: compute() X and y "
            "first"
        )
    check_same_length(X, y)
    splits = _splits(cv, X, y, groups)
    predict = partial(_predict_fold, estimator, X, y, params or {})
    dists = list(parallel_map(n_jobs)(predict, splits))
    return concatenate_rows(dists, [held_out for _, held_out in splits])


def _splits(cv: Any, X: Any, y: Any, groups: Any) -> list[tuple[Indices, Indices]]:
    """Rows for the fit and rows to predict, of each fold."""
    from sklearn.model_selection import check_cv

    splits = [
        (np.asarray(train), np.asarray(held_out))
        for train, held_out in check_cv(cv).split(X, y, groups)
    ]
    times = np.bincount(np.concatenate([held_out for _, held_out in splits]), minlength=len(y))
    if not (times == 1).all():
        row = int(np.argmax(times != 1))
        raise ValueError(
            f"cv must hold out every sample exactly once, but sample {row} is in {times[row]} "
            "folds: pass a splitter such as KFold(5) or GroupKFold(5)"
        )
    for fold, (train, held_out) in enumerate(splits):
        shared = np.intersect1d(train, held_out)
        if len(shared):
            raise ValueError(
                f"fold {fold} of cv predicts sample {shared[0]}, which is in its training rows "
                "too: pass folds whose training rows do not contain the rows that are held out"
            )
    return splits


def _predict_fold(
    estimator: Any, X: Any, y: Any, params: dict[str, Any], split: tuple[Indices, Indices]
) -> Any:
    train, held_out = split
    own = {name: _cut(value, train, len(y)) for name, value in params.items()}
    model = clone(estimator).fit(_safe_indexing(X, train), _safe_indexing(y, train), **own)
    return predict_dist(model, _safe_indexing(X, held_out))


def _cut(value: Any, train: Indices, n: int) -> Any:
    """The values of the samples of a fit; a value that belongs to no samples is left as it is."""
    by_sample = not isinstance(value, str | dict) and hasattr(value, "__len__") and len(value) == n
    return _safe_indexing(value, train) if by_sample else value
