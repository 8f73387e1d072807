"""Tests of calibration: their statistics and their levels."""

import itertools

import numpy as np
import pytest
from scipy import stats

from condensity.metrics import christoffersen_test, kupiec_test, pit_test
from condensity.metrics.calibration_tests import _anderson_darling_cdf


def test_kupiec_is_the_likelihood_ratio():
    hits = np.array([True] * 7 + [False] * 43)
    expected = 2 * (stats.binom.logpmf(7, 50, 7 / 50) - stats.binom.logpmf(7, 50, 0.05))
    found = kupiec_test(hits, 0.05)
    assert found.statistic == pytest.approx(expected)
    assert found.pvalue == pytest.approx(stats.chi2.sf(expected, 1))
    assert kupiec_test([False] * 20, 0.05).statistic == pytest.approx(-40 * np.log(0.95))


def test_christoffersen_is_the_likelihood_ratio_of_a_chain():
    hits = np.random.default_rng(0).random(80) < 0.3
    counts = np.zeros((2, 2))
    for before, now in itertools.pairwise(hits):
        counts[int(before), int(now)] += 1

    def log_likelihood(p):  # p[i]: probability of a violation after state i
        return sum(counts[i, 1] * np.log(p[i]) + counts[i, 0] * np.log(1 - p[i]) for i in (0, 1))

    free = log_likelihood(counts[:, 1] / counts.sum(axis=1))
    same = log_likelihood([counts[:, 1].sum() / 79] * 2)
    assert christoffersen_test(hits).statistic == pytest.approx(2 * (free - same))
    both = christoffersen_test(hits, 0.2)
    assert both.statistic == pytest.approx(2 * (free - log_likelihood([0.2, 0.2])))
    assert both.pvalue == pytest.approx(stats.chi2.sf(both.statistic, 2))


@pytest.mark.parametrize(
    "test", [lambda h: kupiec_test(h, 0.2), lambda h: christoffersen_test(h, 0.2)]
)
def test_coverage_tests_reject_at_their_level_and_find_what_is_wrong(test):
    rng = np.random.default_rng(0)
    right = [test(rng.random(300) < 0.2).pvalue for _ in range(400)]
    wrong = [test(rng.random(300) < 0.35).pvalue for _ in range(50)]
    assert 0.02 < np.mean(np.array(right) < 0.05) < 0.09
    assert np.mean(np.array(wrong) < 0.05) > 0.95


def test_kolmogorov_and_smirnov_are_those_of_scipy():
    u = np.random.default_rng(0).random(40)
    expected = stats.kstest(u, "uniform")
    assert pit_test(u) == pytest.approx((expected.statistic, expected.pvalue))


def test_the_statistic_of_anderson_and_darling_is_that_of_a_loop():
    u = np.random.default_rng(0).random(30)
    s = np.sort(u)
    loop = sum((2 * i - 1) * (np.log(s[i - 1]) + np.log(1 - s[30 - i])) for i in range(1, 31))
    assert pit_test(u, "ad").statistic == pytest.approx(-30 - loop / 30)
    assert pit_test(np.zeros(3), "ad").pvalue == 0.0
    assert _anderson_darling_cdf(0.01) == 0.0
    assert pit_test(np.arange(0.5, 30) / 30, "ad").pvalue > 0.99


@pytest.mark.parametrize("z", [0.3, 0.8, 1.5, 2.5, 4.0, 6.0])
def test_the_limit_of_anderson_and_darling_is_an_inverted_characteristic_function(z):
    j, t = np.arange(1, 2000)[:, None], np.linspace(1e-6, 150, 6001)
    rest = np.exp(1j * t / 2000)  # the mean of the terms that are left out
    phi = rest * np.exp(-0.5 * np.log(1 - 2j * t / (j * (j + 1))).sum(axis=0))
    above = 0.5 + np.trapezoid((np.exp(-1j * t * z) * phi).imag / t, t) / np.pi
    assert 1 - _anderson_darling_cdf(z) == pytest.approx(above, abs=2e-5)


def test_wrong_arguments_of_tests_are_refused():
    with pytest.raises(ValueError, match="True and False"):
        kupiec_test([0.1, 0.2], 0.1)
    with pytest.raises(ValueError, match="at least 2"):
        christoffersen_test([True])
    with pytest.raises(ValueError, match=r"in \[0, 1\]"):
        pit_test([0.1, 1.2])
    with pytest.raises(ValueError, match="method must be one of 'ks', 'ad'"):
        pit_test([0.1], "cvm")
