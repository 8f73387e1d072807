"""Losses of conditional densities at observed values, exact wherever a closed form exists.

The squared loss is the paper's Error_CDE, ``1/2 int p(y|x)^2 dy - p(y_i|x_i)`` averaged over the
samples.  The loss that the literature calls CDE loss is twice as large.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from condensity._utils.dask_collections import is_dask
from condensity._utils.extras import require
from condensity._utils.validation import check_weight
from condensity.distributions import _checks as checks
from condensity.distributions.base import Distribution
from condensity.distributions.chunked import ChunkedDistribution
from condensity.metrics.arguments import check_distribution


def squared_loss(dist: Distribution, Y: Any, sample_weight: Any = None) -> float:
    """Mean squared loss of conditional densities, the paper's Error_CDE.

    ``mean_i [1/2 int p_i(y)^2 dy - p_i(y_i)]``.  Lower is better.  It estimates
    ``1/2 int (p - p*)^2`` up to a constant that depends only on the true density p*.  The
    difference between two estimates is therefore half the difference between their squared L2
    distances to the truth.

    Parameters
    ----------
    dist : Distribution
        The m densities that ``predict_dist`` returns.
    Y : array-like of shape (m, dy)
        Observed values, one row for each density.  For one output, (m,) is accepted.  Densities of
        a Dask collection need a Dask collection.
    sample_weight : float or array-like of shape (m,), default=None
        Weights of the samples.  None gives all samples the same weight.

    Returns
    -------
    float
        The weighted mean over the samples.  Its unit is one over the product of the units of the
        outputs.

    See Also
    --------
    log_loss : The loss that penalises low densities at the observed values most.
    condensity.scorers.neg_squared_loss : The same as a scorer of scikit-learn.

    References
    ----------
    .. [1] V. Tangkaratt, N. Xie, M. Sugiyama, "Conditional density estimation with dimensionality
       reduction via squared-loss conditional entropy minimization," Neural Computation 27(1), 2015.

    Examples
    --------
    >>> from condensity.datasets import toy_b
    >>> from condensity.metrics import squared_loss
    >>> X, y = toy_b().sample(1000, random_state=0)
    >>> round(squared_loss(toy_b().conditional(X), y), 2)
    -0.56
    """
    return _mean(squared_loss_by_row(dist, Y), sample_weight)


def squared_loss_by_row(dist: Distribution, Y: Any) -> Any:
    """Squared loss of each density at its sample, ``1/2 int p_i(y)^2 dy - p_i(y_i)``: (m,)."""
    dist = check_distribution(dist)
    if isinstance(dist, ChunkedDistribution):  # computes each chunk once for both terms
        return dist.ask(squared_loss_by_row, checks.rows_of(Y, len(dist), dist.n_outputs))
    with np.errstate(invalid="ignore"):
        loss: Any = 0.5 * dist.squared_norm() - dist.pdf(Y)  # a Dask array for lazy densities
    if isinstance(loss, np.ndarray) and np.isnan(loss).any():
        raise ValueError(
            "a density is too large for a floating-point number in the units of y: "
            "multiply y by a factor before the fit, or use log_loss"
        )
    return loss


def log_loss(dist: Distribution, Y: Any, sample_weight: Any = None) -> float:
    """Mean negative log-likelihood, ``mean_i -log p_i(y_i)``.

    Lower is better.

    Parameters
    ----------
    dist : Distribution
        The m densities that ``predict_dist`` returns.
    Y : array-like of shape (m, dy)
        Observed values, one row for each density.  For one output, (m,) is accepted.  Densities of
        a Dask collection need a Dask collection.
    sample_weight : float or array-like of shape (m,), default=None
        Weights of the samples.  None gives all samples the same weight.

    Returns
    -------
    float
        The weighted mean over the samples; infinite if a value lies at or beyond a bound.

    See Also
    --------
    squared_loss : A loss that rare outliers influence less.
    condensity.scorers.neg_log_loss : The same as a scorer of scikit-learn.

    References
    ----------
    .. [1] T. Gneiting, A. E. Raftery, "Strictly proper scoring rules, prediction, and estimation,"
       Journal of the American Statistical Association 102(477), 2007.

    Examples
    --------
    >>> from condensity.datasets import toy_b
    >>> from condensity.metrics import log_loss
    >>> X, y = toy_b().sample(1000, random_state=0)
    >>> round(log_loss(toy_b().conditional(X), y), 2)
    0.04
    """
    return _mean(-check_distribution(dist).log_pdf(Y), sample_weight)


def crps(dist: Distribution, Y: Any, sample_weight: Any = None) -> float:
    """Mean continuous ranked probability score, for one output.

    ``mean_i int (F_i(t) - 1[y_i <= t])^2 dt``, where F_i is the distribution function of density i.
    Lower is better.  The score of a distribution that is concentrated in one point is the absolute
    error.

    Parameters
    ----------
    dist : Distribution
        The m densities that ``predict_dist`` returns, of one output.
    Y : array-like of shape (m,)
        Observed values, one for each density.
    sample_weight : float or array-like of shape (m,), default=None
        Weights of the samples.  None gives all samples the same weight.

    Returns
    -------
    float
        The weighted mean over the samples, in the unit of y.

    Raises
    ------
    ValueError
        If the densities have several outputs.  Pass one of ``dist.marginals()`` then.

    See Also
    --------
    condensity.distributions.Distribution.crps : The scores of the single rows.
    condensity.scorers.neg_crps : The same as a scorer of scikit-learn.

    References
    ----------
    .. [1] T. Gneiting, A. E. Raftery, "Strictly proper scoring rules, prediction, and estimation,"
       Journal of the American Statistical Association 102(477), 2007.

    Examples
    --------
    >>> from condensity.datasets import toy_b
    >>> from condensity.metrics import crps
    >>> X, y = toy_b().sample(1000, random_state=0)
    >>> round(crps(toy_b().conditional(X), y), 2)
    0.14
    """
    return _mean(check_distribution(dist).crps(Y), sample_weight)


def _mean(values: Any, sample_weight: Any) -> float:
    """Weighted mean of the losses of all rows; those of a ``LazyDistribution`` are computed."""
    if is_dask(values, sample_weight):
        values, sample_weight = require("dask", "dask").compute(values, sample_weight)
    return float(np.average(values, weights=check_weight(sample_weight, len(values))))
