"""Scorers for ``cross_val_score``, ``GridSearchCV`` and the like: higher is better.

Each takes ``(estimator, X, y, sample_weight=None)``, where the estimator is one of densities, or a
pipeline or a search that ends in one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from condensity._typing import Array
from condensity._utils.composites import density_step
from condensity._utils.validation import check_same_length, check_targets, check_weight
from condensity.distributions.base import Distribution
from condensity.metrics import squared_loss_by_row

__all__ = ["neg_crps", "neg_log_loss", "neg_squared_loss"]

#: Rows that are answered at a time: densities of many rows would fill the memory.
ROWS = 2000


def neg_squared_loss(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Minus ``condensity.metrics.squared_loss``, what ``score`` of our estimators is.

    Parameters
    ----------
    estimator : fitted estimator of densities, or a pipeline or search that ends in one
    X : array-like (m, dx)
    y : array-like (m,) or (m, dy)
    sample_weight : array-like (m,), optional

    Returns
    -------
    float
    """
    return -_mean_loss(squared_loss_by_row, estimator, X, y, sample_weight)


def neg_log_loss(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Mean of ``log p(y_i | x_i)``; parameters as in :func:`neg_squared_loss`.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from condensity import LSCDE
    >>> from condensity.datasets import toy_b
    >>> from condensity.scorers import neg_log_loss
    >>> X, y = toy_b().sample(100, random_state=0)
    >>> model = LSCDE(bandwidth=0.3, penalty=0.01, random_state=0)
    >>> cross_val_score(model, X, y, cv=3, scoring=neg_log_loss).round(1)
    array([-2.7, -3. , -3.3])
    """
    return -_mean_loss(lambda dist, Y: -dist.log_pdf(Y), estimator, X, y, sample_weight)


def neg_crps(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Minus the mean CRPS, one output; parameters as in :func:`neg_squared_loss`."""
    return -_mean_loss(lambda dist, Y: dist.crps(Y), estimator, X, y, sample_weight)


def _mean_loss(
    loss: Callable[[Distribution, Array], Array], estimator: Any, X: Any, y: Any, weight: Any
) -> float:
    model, inputs = density_step(estimator, X)
    Y, _ = check_targets(y)
    check_same_length(inputs, Y)
    blocks = [slice(start, start + ROWS) for start in range(0, len(Y), ROWS)]
    losses = [loss(model.predict_dist(_safe_indexing(inputs, rows)), Y[rows]) for rows in blocks]
    return float(np.average(np.concatenate(losses), weights=check_weight(weight, len(Y))))
