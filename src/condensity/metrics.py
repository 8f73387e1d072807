"""Losses and diagnostics of conditional densities, exact wherever a closed form exists.

The squared loss is the paper's Error_CDE, ``1/2 int p(y|x)^2 dy - p(y_i|x_i)`` averaged over the
samples.  The loss that the literature calls CDE loss is twice as large.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np
from scipy.integrate import quad
from scipy.special import binom, chdtrc, xlogy

from condensity._typing import Array, Mask
from condensity._utils.dask_collections import is_dask
from condensity._utils.extras import require
from condensity._utils.parameters import check_option, check_rng
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

__all__ = [
    "CalibrationTest",
    "christoffersen_test",
    "crps",
    "hpd_coverage",
    "kupiec_test",
    "log_loss",
    "pit",
    "pit_test",
    "reliability_by_group",
    "squared_loss",
    "subspace_error",
]


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


class CalibrationTest(NamedTuple):
    """Statistic of a test of calibration and its p-value.

    Parameters
    ----------
    statistic : float
        The statistic; larger values speak against calibration.
    pvalue : float
        Probability of a statistic that is at least as large if the densities are calibrated.

    See Also
    --------
    kupiec_test : Test of the share of violations.
    pit_test : Test of uniform PIT values.

    Examples
    --------
    >>> from condensity.metrics import kupiec_test
    >>> kupiec_test([True] * 10 + [False] * 90, 0.1).pvalue
    1.0
    """

    statistic: float
    pvalue: float


def kupiec_test(violations: Any, probability: float) -> CalibrationTest:
    """Test of unconditional coverage: whether the share of violations is as predicted.

    The likelihood-ratio test of Kupiec [1]_, with one degree of freedom.

    Parameters
    ----------
    violations : array-like of bool of shape (n,)
        Whether each value lies outside its region, or beyond its quantile.
    probability : float
        Predicted probability of a violation, strictly between 0 and 1.

    Returns
    -------
    CalibrationTest
        Statistic and p-value; the p-value is asymptotic.

    See Also
    --------
    christoffersen_test : Test whether the violations are independent, too.
    pit_test : The same question for all levels at once.

    References
    ----------
    .. [1] P. H. Kupiec, "Techniques for verifying the accuracy of risk measurement models," Journal
       of Derivatives 3(2), 1995.

    Examples
    --------
    >>> from condensity.datasets import toy_b
    >>> from condensity.metrics import kupiec_test
    >>> X, y = toy_b().sample(1000, random_state=0)
    >>> limit = toy_b().conditional(X).quantile(0.95)
    >>> kupiec_test(y > limit, 0.05).pvalue > 0.01
    True
    """
    hits, p = _violations(violations), checks.probability(probability)
    statistic = 2 * (_log_likelihood(hits, hits.mean()) - _log_likelihood(hits, p))
    return _chi_squared(statistic, 1)


def christoffersen_test(violations: Any, probability: float | None = None) -> CalibrationTest:
    """Test of conditional coverage: whether violations are independent of the one before.

    The likelihood-ratio test of Christoffersen [1]_ for values in the order of time.  With a
    ``probability``, it tests independence and coverage together, with two degrees of freedom;
    without one, it tests independence only, with one degree of freedom.

    Parameters
    ----------
    violations : array-like of bool of shape (n,)
        Whether each value lies outside its region, or beyond its quantile, in the order of time.
    probability : None or float, default=None
        Predicted probability of a violation, strictly between 0 and 1.

    Returns
    -------
    CalibrationTest
        Statistic and p-value; the p-value is asymptotic.

    See Also
    --------
    kupiec_test : Coverage only.

    References
    ----------
    .. [1] P. F. Christoffersen, "Evaluating interval forecasts," International Economic Review
       39(4), 1998.

    Examples
    --------
    >>> from condensity.metrics import christoffersen_test
    >>> in_clusters = ([True] * 5 + [False] * 45) * 4
    >>> christoffersen_test(in_clusters).pvalue < 0.001
    True
    """
    hits = _violations(violations)
    if len(hits) < 2:
        raise ValueError(f"violations must have at least 2 values, got {len(hits)}: pass more")
    now, before = hits[1:], hits[:-1]
    groups = [now[before], now[~before]]
    apart = sum(_log_likelihood(own, own.mean()) for own in groups if len(own))
    together = _log_likelihood(now, now.mean())
    if probability is None:
        return _chi_squared(2 * (apart - together), 1)
    p = checks.probability(probability)
    return _chi_squared(2 * (apart - _log_likelihood(now, p)), 2)


def pit_test(values: Any, method: str = "ks") -> CalibrationTest:
    """Test whether PIT values are uniform on [0, 1], as those of calibrated densities are.

    Parameters
    ----------
    values : array-like of shape (n,)
        Values of ``pit`` or ``hpd_coverage`` for independent samples that the model has not seen.
    method : {"ks", "ad"}, default="ks"
        "ks": Kolmogorov-Smirnov, with the exact p-value.  "ad": Anderson-Darling, which regards the
        tails more, with the asymptotic p-value [1]_ (right to 0.01 from n = 10 on).

    Returns
    -------
    CalibrationTest
        Statistic and p-value.

    See Also
    --------
    pit : The values.
    reliability_by_group : Coverage in groups of samples.

    References
    ----------
    .. [1] T. W. Anderson, D. A. Darling, "Asymptotic theory of certain goodness of fit criteria
       based on stochastic processes," Annals of Mathematical Statistics 23(2), 1952.

    Examples
    --------
    >>> from condensity.datasets import toy_b
    >>> from condensity.metrics import pit, pit_test
    >>> X, y = toy_b().sample(500, random_state=0)
    >>> values = pit(toy_b().conditional(X), y)
    >>> pit_test(values).pvalue > 0.01, pit_test(values**2, "ad").pvalue < 0.01
    (True, True)
    """
    u = np.sort(checks.as_numbers(values, "values"))
    if u.ndim != 1 or not len(u) or not ((u >= 0) & (u <= 1)).all():
        raise ValueError(
            f"values must be one-dimensional, in [0, 1], got shape {u.shape}: pass one column of "
            "pit(dist, Y)"
        )
    check_option("method", method, ("ks", "ad"))
    if method == "ks":
        from scipy.stats import kstest  # slow to import

        found = kstest(u, "uniform")
        return CalibrationTest(float(found.statistic), float(found.pvalue))
    odd = 2 * np.arange(1, len(u) + 1) - 1
    with np.errstate(divide="ignore"):
        statistic = -len(u) - float(odd @ (np.log(u) + np.log1p(-u[::-1]))) / len(u)
    return CalibrationTest(statistic, 1 - _anderson_darling_cdf(statistic))


def reliability_by_group(
    dist: Distribution,
    Y: Any,
    groups: Any,
    levels: Any = (0.5, 0.8, 0.9),
    region: str = "interval",
    random_state: Any = None,
) -> dict[str, Any]:
    """Coverage of regions in groups of samples, which shows where a model is not reliable.

    Parameters
    ----------
    dist : Distribution
        The m densities that ``predict_dist`` returns.
    Y : array-like of shape (m, dy)
        Observed values, one row for each density.  For one output, (m,) is accepted.
    groups : array-like of shape (m,)
        Label of the group of each row.
    levels : sequence of float, default=(0.5, 0.8, 0.9)
        Levels of the regions.
    region : {"interval", "hpd"}, default="interval"
        Central intervals of one output, or highest-density regions.
    random_state : None, int, RandomState or Generator, default=None
        Source of the draws for highest-density regions of several outputs.

    Returns
    -------
    dict of ndarray
        Columns of a table with one row for each group and level: "group", "level", "n",
        "coverage", "standard_error" (of the coverage, if the level is right), "pvalue" (of
        ``kupiec_test``).

    See Also
    --------
    condensity.conformal.Conformal : Regions with guaranteed coverage in groups.

    Examples
    --------
    >>> from condensity.datasets import toy_b
    >>> from condensity.metrics import reliability_by_group
    >>> X, y = toy_b().sample(1000, random_state=0)
    >>> table = reliability_by_group(toy_b().conditional(X), y, X[:, 1] > 0, levels=[0.9])
    >>> table["coverage"].round(1)
    array([0.9, 0.9])
    """
    check_option("region", region, ("interval", "hpd"))
    if region == "hpd":
        scores = hpd_coverage(dist, Y, random_state)
    else:
        checks.one_output(_check_distribution(dist).n_outputs, "region='interval'")
        scores = np.abs(2 * pit(dist, Y) - 1)
    scores, groups = np.asarray(scores), np.asarray(groups)
    if groups.shape != scores.shape:
        raise ValueError(
            f"groups must have shape {scores.shape}, one label for each density, got {groups.shape}"
        )
    rows = []
    for label in np.unique(groups):
        for level in np.atleast_1d(checks.levels_of(levels, "levels")):
            hit = scores[groups == label] <= level
            error = np.sqrt(level * (1 - level) / len(hit))
            test = kupiec_test(~hit, 1 - level)
            rows.append((label, level, len(hit), hit.mean(), error, test.pvalue))
    names = ("group", "level", "n", "coverage", "standard_error", "pvalue")
    return {name: np.array([row[k] for row in rows]) for k, name in enumerate(names)}


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


def _violations(violations: Any) -> Mask:
    """One truth value for each sample, at least one."""
    hits = np.asarray(violations)
    if hits.ndim != 1 or not len(hits) or not np.isin(hits, (0, 1)).all():
        raise ValueError(
            "violations must be a one-dimensional array of True and False, one for each sample, "
            f"got shape {hits.shape} and type {hits.dtype}: pass (y < lower) | (y > upper)"
        )
    return hits.astype(bool)


def _log_likelihood(hits: Mask, p: float) -> float:
    """Log-likelihood of independent violations with probability p; 0 log 0 is 0."""
    count = hits.sum()
    return float(xlogy(count, p) + xlogy(len(hits) - count, 1 - p))


def _chi_squared(statistic: float, degrees: int) -> CalibrationTest:
    statistic = max(statistic, 0.0)
    return CalibrationTest(statistic, float(chdtrc(degrees, statistic)))


def _anderson_darling_cdf(z: float) -> float:
    """``P(A <= z)`` for the limit ``A = sum_j X_j^2 / (j (j + 1))`` with X_j ~ N(0, 1).

    The series of Anderson and Darling; its terms alternate and fall fast.
    """
    if not z > 0.02:
        return 0.0
    if z > 50:
        return 1.0
    total = 0.0
    for j in range(20):
        rate = (4 * j + 1) ** 2 * np.pi**2 / (8 * z)
        integral = quad(_anderson_darling_term, 0, np.inf, args=(z, rate), epsrel=1e-10)[0]
        total += binom(-0.5, j) * (4 * j + 1) * integral
    return float(np.clip(np.sqrt(2 * np.pi) / z * total, 0.0, 1.0))


def _anderson_darling_term(w: float, z: float, rate: float) -> float:
    return float(np.exp(z / (8 * (w**2 + 1)) - rate * (w**2 + 1)))


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
