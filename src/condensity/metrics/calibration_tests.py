"""Tests whether densities are calibrated: the share of violations, their order, PIT values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import quad
from scipy.special import binom, chdtrc, xlogy

from condensity._typing import Mask
from condensity._utils.parameters import check_option
from condensity.distributions import _checks as checks


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
