"""Counts and scores as probabilities of their values."""

import numpy as np
import pytest
from scipy.stats import norm

from condensity.distributions import Block, Mixture
from condensity.metrics import log_loss
from condensity.targets import rounded

MEANS = np.array([3.2, 7.9])


def normal(means=MEANS):
    return Mixture([Block(np.zeros((len(means), 1)), np.zeros((1, 1)), np.eye(1), means[:, None])])


def test_a_value_has_the_probability_of_its_cell():
    found = rounded(normal(), [1, 2, 5, 9])
    edges = np.array([-np.inf, 1.5, 3.5, 7.0, np.inf])
    expected = np.diff(norm.cdf(edges[None] - MEANS[:, None]), axis=1)
    np.testing.assert_allclose(found.masses, expected, atol=1e-14)
    np.testing.assert_array_equal(found.atoms, [1, 2, 5, 9])
    assert found.continuous is None


def test_scores_have_moments_quantiles_and_losses_of_their_own():
    found = rounded(normal(), range(1, 11))
    values = np.arange(1.0, 11.0)
    np.testing.assert_allclose(found.mean(), found.masses @ values)
    np.testing.assert_allclose(found.var(), found.masses @ values**2 - found.mean() ** 2)
    for q in (0.03, 0.5, 0.97):
        reached = np.cumsum(found.masses, axis=1) >= q
        np.testing.assert_array_equal(found.quantile(q), values[reached.argmax(axis=1)])
    y = np.array([4.0, 8.0])
    expected = -np.log(found.masses[[0, 1], [3, 7]]).mean()
    assert log_loss(found, y) == pytest.approx(expected)
    assert log_loss(found, [4.5, 8.0]) == np.inf
    steps = (np.cumsum(found.masses, axis=1) - (values >= y[:, None]))[:, :-1]
    np.testing.assert_allclose(
        found.crps(y), (steps**2).sum(axis=1)
    )  # the ranked probability score


def test_an_automatic_range_covers_all_densities():
    found = rounded(normal(), step=0.5)
    np.testing.assert_allclose(np.diff(found.atoms), 0.5)
    assert found.atoms[0] < 3.2 - 5
    assert found.atoms[-1] > 7.9 + 5
    counts = rounded(normal(), lower=0, upper=12)
    np.testing.assert_array_equal(counts.atoms, np.arange(13.0))
    np.testing.assert_allclose(counts.masses[0, 0], norm.cdf(0.5 - 3.2))


@pytest.mark.parametrize(("step", "digits"), [(0.1, 1), (0.01, 2), (0.5, 1), (5.0, 0), (0.7, None)])
def test_values_of_an_automatic_range_are_the_numbers_of_the_data(step, digits):
    found = rounded(normal(), step=step).atoms
    k = np.rint(found / step)
    if digits is None:
        np.testing.assert_array_equal(found, step * k)
    else:
        read = [float(f"{v:.{digits}f}") for v in found]
        np.testing.assert_array_equal(found, read)


def test_an_observed_decimal_has_a_probability():
    found = rounded(normal(np.array([0.5])), step=0.1)
    for y in (0.3, 0.6, 0.7):
        assert found.pmf(y)[0] == pytest.approx(0.04, rel=0.1)


@pytest.mark.parametrize(
    ("lower", "upper", "step", "expected"),
    [
        (0.3, 0.7, 0.1, [0.3, 0.4, 0.5, 0.6, 0.7]),
        (0.5, 3.5, 1.0, [1.0, 2.0, 3.0]),
        (0.0, 0.6, 0.2, [0.0, 0.2, 0.4, 0.6]),
        (-1.2, 1.2, 0.5, [-1.0, -0.5, 0.0, 0.5, 1.0]),
    ],
)
def test_values_lie_between_the_limits(lower, upper, step, expected):
    found = rounded(normal(), step=step, lower=lower, upper=upper).atoms
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([1], {}, "at least two numbers"),
        ([2, 1], {}, "increasing order"),
        (None, {"step": 0.0}, "step must be > 0"),
        (None, {"step": 1e-6}, "at most 10000 values"),
        (None, {"lower": 0.5, "upper": 1.5}, "fewer than two multiples of 1 from lower=0.5"),
        (None, {"lower": 1e6}, "fewer than two multiples"),
    ],
)
def test_what_is_no_lattice_is_refused(values, options, message):
    with pytest.raises(ValueError, match=message):
        rounded(normal(), values, **options)


def test_several_outputs_are_refused():
    two = Mixture([Block(np.zeros((1, 1)), np.zeros((1, 2)), np.eye(2))])
    with pytest.raises(ValueError, match="one output"):
        rounded(two)
