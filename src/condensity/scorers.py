"""Scorers for ``cross_val_score``, ``GridSearchCV`` and similar tools: higher is better.

Each scorer has the signature ``(estimator, X, y, sample_weight=None)``.  The estimator is a density
estimator, or a pipeline or a search whose last step is one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import MetadataRequest

from condensity._typing import Array
from condensity._utils.composites import density_step
from condensity._utils.validation import check_same_length, check_targets, check_weight
from condensity.distributions.base import Distribution
from condensity.metrics import squared_loss_by_row

__all__ = ["neg_crps", "neg_log_loss", "neg_squared_loss"]

#: Number of rows scored at a time, which limits the memory that the densities take.
SCORED_ROWS = 2000

ScoreFunction = Callable[..., float]


class RoutedScorer:
    """A scorer that tells scikit-learn whether it uses ``sample_weight``."""

    def __init__(self, function: ScoreFunction, sample_weight: bool | str | None = None) -> None:
        self.function, self.sample_weight = function, sample_weight

    def __repr__(self) -> str:
        return f"{self.function.__name__}.set_score_request(sample_weight={self.sample_weight!r})"

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        return self.function(estimator, X, y, sample_weight)

    def get_metadata_routing(self) -> MetadataRequest:
        """The request for ``sample_weight``: True, False, another name, or None (undecided)."""
        request = MetadataRequest(owner=self.function.__name__)
        request.score.add_request(param="sample_weight", alias=self.sample_weight)
        return request

    def set_score_request(self, *, sample_weight: bool | str | None) -> RoutedScorer:
        """The same scorer with another request."""
        return RoutedScorer(self.function, sample_weight)


def _routable(function: ScoreFunction) -> ScoreFunction:
    """The function, with the methods that metadata routing needs."""
    undecided = RoutedScorer(function)
    for method in ("get_metadata_routing", "set_score_request"):
        setattr(function, method, getattr(undecided, method))
    return function


@_routable
def neg_squared_loss(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Negative squared loss, as a scorer.

    ``mean_i [p(y_i | x_i) - 1/2 int p(y | x_i)^2 dy]``.  This is also what the method ``score`` of
    the density estimators in this library returns.

    Parameters
    ----------
    estimator : estimator object
        Fitted density estimator, or a fitted pipeline or search whose last step is one.
    X : array-like of shape (m, dx)
        Inputs.
    y : array-like of shape (m,) or (m, dy)
        Observed outputs.
    sample_weight : float or array-like of shape (m,), default=None
        Weights of the samples.  None gives all samples the same weight.

    Returns
    -------
    float
        The score; higher is better.

    See Also
    --------
    condensity.metrics.squared_loss : The loss of densities that are already computed.

    References
    ----------
    .. [1] V. Tangkaratt, N. Xie, M. Sugiyama, "Conditional density estimation with dimensionality
       reduction via squared-loss conditional entropy minimization," Neural Computation 27(1), 2015.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from condensity import LSCDE
    >>> from condensity.datasets import toy_b
    >>> from condensity.scorers import neg_squared_loss
    >>> X, y = toy_b().sample(100, random_state=0)
    >>> model = LSCDE(bandwidth=0.3, penalty=0.01, random_state=0)
    >>> cross_val_score(model, X, y, cv=3, scoring=neg_squared_loss).shape
    (3,)
    """
    return -_mean_loss(squared_loss_by_row, estimator, X, y, sample_weight)


@_routable
def neg_log_loss(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Mean log-likelihood, ``mean_i log p(y_i | x_i)``, as a scorer.

    Parameters
    ----------
    estimator : estimator object
        Fitted density estimator, or a fitted pipeline or search whose last step is one.
    X : array-like of shape (m, dx)
        Inputs.
    y : array-like of shape (m,) or (m, dy)
        Observed outputs.
    sample_weight : float or array-like of shape (m,), default=None
        Weights of the samples.  None gives all samples the same weight.

    Returns
    -------
    float
        The score; higher is better.

    See Also
    --------
    condensity.metrics.log_loss : The loss of densities that are already computed.

    References
    ----------
    .. [1] T. Gneiting, A. E. Raftery, "Strictly proper scoring rules, prediction, and estimation,"
       Journal of the American Statistical Association 102(477), 2007.

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


@_routable
def neg_crps(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Negative mean CRPS, as a scorer; for one output.

    Parameters
    ----------
    estimator : estimator object
        Fitted density estimator, or a fitted pipeline or search whose last step is one.
    X : array-like of shape (m, dx)
        Inputs.
    y : array-like of shape (m,)
        Observed outputs.
    sample_weight : float or array-like of shape (m,), default=None
        Weights of the samples.  None gives all samples the same weight.

    Returns
    -------
    float
        The score, in the unit of y; higher is better.

    Raises
    ------
    ValueError
        If there are several outputs.

    See Also
    --------
    condensity.metrics.crps : The score of densities that are already computed.

    References
    ----------
    .. [1] T. Gneiting, A. E. Raftery, "Strictly proper scoring rules, prediction, and estimation,"
       Journal of the American Statistical Association 102(477), 2007.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from condensity import LSCDE
    >>> from condensity.datasets import toy_b
    >>> from condensity.scorers import neg_crps
    >>> X, y = toy_b().sample(100, random_state=0)
    >>> model = LSCDE(bandwidth=0.3, random_state=0)
    >>> search = GridSearchCV(model, {"penalty": [0.01, 0.1]}, cv=3, scoring=neg_crps).fit(X, y)
    >>> sorted(search.best_params_)
    ['penalty']
    """
    return -_mean_loss(lambda dist, Y: dist.crps(Y), estimator, X, y, sample_weight)


def _mean_loss(
    loss: Callable[[Distribution, Array], Array], estimator: Any, X: Any, y: Any, weight: Any
) -> float:
    model, inputs = density_step(estimator, X)
    Y, _ = check_targets(y)
    check_same_length(inputs, Y)
    blocks = [slice(start, start + SCORED_ROWS) for start in range(0, len(Y), SCORED_ROWS)]
    losses = [loss(model.predict_dist(_safe_indexing(inputs, rows)), Y[rows]) for rows in blocks]
    return float(np.average(np.concatenate(losses), weights=check_weight(weight, len(Y))))
