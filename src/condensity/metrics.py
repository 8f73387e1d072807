"""Losses and diagnostics of conditional densities, exact wherever a closed form exists.

The squared loss is the paper's Error_CDE, ``1/2 int p(y|x)^2 dy - p(y_i|x_i)`` averaged over the
samples.  The loss that the literature calls CDE loss is twice as large.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from condensity._typing import Array
from condensity._utils.dask_collections import is_dask
from condensity._utils.extras import require
from condensity._utils.parameters import check_rng
from condensity._utils.validation import check_targets, check_weight
from condensity.distributions import _checks as checks
from condensity.distributions.base import Distribution
from condensity.distributions.bounded import BoundedMixture
from condensity.distributions.chunked import ChunkedDistribution
from condensity.distributions.lazy import LazyDistribution
from condensity.distributions.mixture import Mixture
from condensity.subspaces.grassmann import orthonormal, projector_gap

#: A smaller probability of the values between two neighbouring floats is that of a density.
LEAST_JUMP = 1e-9

__all__ = ["crps", "hpd_coverage", "log_loss", "pit", "squared_loss", "subspace_error"]


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
    dist = _check_distribution(dist)
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
    return _mean(-_check_distribution(dist).log_pdf(Y), sample_weight)


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
    return _mean(_check_distribution(dist).crps(Y), sample_weight)


def pit(dist: Distribution, Y: Any, random_state: Any = 0) -> Array:
    """Probability integral transform, ``F_i(y_i)``.

    The values are uniform on [0, 1] if the densities are calibrated.  Many values near 0 and 1 show
    densities that are too narrow.  Where y_i has a positive probability, the value is drawn
    uniformly between ``P(Y < y_i)`` and ``P(Y <= y_i)``; the values are then uniform, too.

    Parameters
    ----------
    dist : Distribution
        The m densities that ``predict_dist`` returns.
    Y : array-like of shape (m, dy)
        Observed values, one row for each density.  For one output, (m,) is accepted.  Densities of
        a Dask collection need a Dask collection.

    random_state : None, int, RandomState or Generator, default=0
        Source of the draws for values with a positive probability.

    Returns
    -------
    ndarray or Dask array of shape (m,) or (m, dy)
        Probabilities.  For several outputs, column j holds those of the marginal of output j.

    See Also
    --------
    hpd_coverage : The corresponding value for highest-density regions.
    condensity.plots.CalibrationDisplay : Plot of these values.

    References
    ----------
    .. [1] T. Gneiting, A. E. Raftery, "Strictly proper scoring rules, prediction, and estimation,"
       Journal of the American Statistical Association 102(477), 2007.

    Examples
    --------
    >>> from condensity.datasets import toy_b
    >>> from condensity.metrics import pit
    >>> X, y = toy_b().sample(1000, random_state=0)
    >>> values = pit(toy_b().conditional(X), y)
    >>> round(float((values < 0.1).mean()), 2)
    0.1
    """
    if _check_distribution(dist).n_outputs == 1:
        below = dist.cdf(Y)
        smooth = isinstance(dist, Mixture | BoundedMixture | LazyDistribution)
        # A generator of its own: draws of y with the same seed must be independent.
        own = check_rng(random_state).spawn(1)[0]
        return below if smooth else below - _parts_of_jumps(dist, Y, own)
    if is_dask(Y):
        columns = [Y[name] for name in Y.columns] if hasattr(Y, "columns") else Y.T
        values = [marginal.cdf(y) for marginal, y in zip(dist.marginals(), columns, strict=True)]
        dask_array: Any = require("dask.array", "dask")
        return cast(Array, dask_array.stack(values, axis=1, allow_unknown_chunksizes=True))
    Y, _ = check_targets(Y, n_outputs=dist.n_outputs)
    pairs = zip(dist.marginals(), Y.T, strict=True)
    return np.stack([marginal.cdf(y) for marginal, y in pairs], axis=1)


def _parts_of_jumps(dist: Distribution, Y: Any, rng: np.random.Generator) -> Array:
    """A random part of the probability of each value, (m,): zero if the value has none."""
    y = checks.rows_of(Y, len(dist), 1)[:, 0]
    jump = dist.prob(np.nextafter(y, -np.inf), y)
    return rng.random(len(y)) * np.where(jump > LEAST_JUMP, jump, 0.0)


def hpd_coverage(dist: Distribution, Y: Any, random_state: Any = None) -> Array:
    """Probability of the highest-density region whose boundary passes through y_i.

    The values are uniform on [0, 1] if the densities are calibrated.  ``y_i`` lies in
    ``hdr(level)`` exactly if its value is at most ``level``.  The mean of
    ``hpd_coverage(dist, Y) <= 0.9`` is therefore the coverage of the 90 % regions.

    Parameters
    ----------
    dist : Distribution
        The m densities that ``predict_dist`` returns.
    Y : array-like of shape (m, dy)
        Observed values, one row for each density.  For one output, (m,) is accepted.  Densities of
        a Dask collection need a Dask collection.
    random_state : None, int, RandomState or Generator, default=None
        Source of the draws that estimate the values for several outputs.

    Returns
    -------
    ndarray or Dask array of shape (m,)
        Probabilities.  They are exact for one output and estimated from samples of the densities
        for several outputs.

    See Also
    --------
    pit : The corresponding value for quantiles.
    condensity.distributions.Distribution.hdr : The regions.

    References
    ----------
    .. [1] R. J. Hyndman, "Computing and graphing highest density regions," The American
       Statistician 50(2), 1996.

    Examples
    --------
    >>> from condensity.datasets import toy_b
    >>> from condensity.metrics import hpd_coverage
    >>> X, y = toy_b().sample(1000, random_state=0)
    >>> values = hpd_coverage(toy_b().conditional(X), y)
    >>> round(float((values <= 0.9).mean()), 2)
    0.9
    """
    return _check_distribution(dist).hpd_level(Y, random_state=random_state)


def subspace_error(A: Any, B: Any) -> float:
    """Distance of two subspaces, ``|P_A - P_B|_F``, the paper's Error_DR.

    P_A and P_B are the orthogonal projectors on the row spaces of A and B.  Between two lines the
    distance is ``sqrt(2) sin(angle)``.  It is at most ``sqrt(da + db)``.

    Parameters
    ----------
    A : array-like of shape (da, dx)
        Linearly independent rows that span the first subspace.  They need not be orthonormal.
    B : array-like of shape (db, dx)
        Linearly independent rows that span the second subspace.

    Returns
    -------
    float
        The distance; 0 if the subspaces are equal.

    Raises
    ------
    ValueError
        If rows are linearly dependent or not finite, or if A and B differ in their columns.

    See Also
    --------
    squared_loss : The error of the density, Error_CDE.

    References
    ----------
    .. [1] V. Tangkaratt, N. Xie, M. Sugiyama, "Conditional density estimation with dimensionality
       reduction via squared-loss conditional entropy minimization," Neural Computation 27(1), 2015.

    Examples
    --------
    >>> from condensity.metrics import subspace_error
    >>> subspace_error([[1.0, 0.0]], [[2.0, 0.0]])
    0.0
    >>> round(subspace_error([[1.0, 0.0]], [[0.0, 1.0]]), 4)
    1.4142
    """
    A, B = _basis("A", A), _basis("B", B)
    if A.shape[1] != B.shape[1]:
        raise ValueError(
            f"A has {A.shape[1]} columns and B {B.shape[1]}: pass subspaces of the same space"
        )
    return projector_gap(A, B)


def _check_distribution(dist: Any) -> Distribution:
    """Return ``dist``, or raise a ``TypeError`` if it is not a ``Distribution``."""
    if not isinstance(dist, Distribution):
        raise TypeError(
            f"dist must be a Distribution, as predict_dist returns it, got {type(dist).__name__}: "
            "pass model.predict_dist(X)"
        )
    return dist


def _basis(name: str, rows: Any) -> Array:
    """Orthonormal rows that span the same subspace as the argument ``name``."""
    rows = np.atleast_2d(np.asarray(rows, dtype=float))
    valid = rows.ndim == 2 and np.isfinite(rows).all()
    if not valid or np.linalg.matrix_rank(rows) < len(rows):
        raise ValueError(
            f"{name} must be a finite matrix with linearly independent rows, got shape "
            f"{rows.shape}: drop the directions that repeat others"
        )
    return orthonormal(rows)


def _mean(values: Any, sample_weight: Any) -> float:
    """Weighted mean of the losses of all rows; those of a ``LazyDistribution`` are computed."""
    if is_dask(values, sample_weight):
        values, sample_weight = require("dask", "dask").compute(values, sample_weight)
    return float(np.average(values, weights=check_weight(sample_weight, len(values))))
