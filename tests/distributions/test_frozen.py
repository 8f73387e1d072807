"""One density in scipy's words, against scipy's own Gaussians."""

import numpy as np
import pytest
from scipy import stats

from condensity.distributions.block import Block
from condensity.distributions.bounded import BoundedMixture, Bounds
from condensity.distributions.mixture import Mixture
from mixtures import gaussians, random_mixture


def one_gaussian(mean=1.0, sd=2.0):
    return Mixture([Block(np.zeros((1, 1)), np.full((1, 1), mean), np.full((1, 1), sd))])


def of_row(mixture, i, method, y):
    """A linear functional of row i, component by component."""
    parts = gaussians(mixture, i)
    return sum(w * getattr(stats.norm(m[0], np.sqrt(c[0, 0])), method)(y) for w, m, c in parts)


def laws():
    """Ours and scipy's, on the line, above zero, below five and in (0, 1)."""
    normal = one_gaussian()
    mapped = [
        (
            BoundedMixture(normal, Bounds(np.zeros(1), np.full(1, np.inf))),
            stats.lognorm(2, 0, np.e),
        ),
        (
            BoundedMixture(one_gaussian(0.0, 1e-9), Bounds(np.zeros(1), np.ones(1))),
            stats.norm(0.5, 0.25e-9),  # so narrow that the map is a line
        ),
    ]
    return [(normal, stats.norm(1, 2)), *mapped]


@pytest.mark.parametrize("method", ["pdf", "cdf", "sf"])
def test_each_row_is_the_sum_of_its_gaussians(method):
    mixture, y = random_mixture(0), np.linspace(-9, 9, 12).reshape(3, 4)
    for i in range(3):
        ours = getattr(mixture.frozen(i), method)(y)
        np.testing.assert_allclose(ours, of_row(mixture, i, method, y), rtol=1e-11)


@pytest.mark.parametrize(("ours", "scipys"), laws()[:2], ids=["normal", "log-normal"])
def test_answers_are_those_of_scipy(ours, scipys):
    law, x = ours.frozen(), np.array([[-3.0, 0.1], [1.0, 7.5]])
    q = np.array([[0.0, 1e-9, 0.3], [0.5, 0.999, 1.0]])
    for method in ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf"):
        theirs = getattr(scipys, method)(x)
        np.testing.assert_allclose(getattr(law, method)(x), theirs, rtol=1e-12, atol=1e-300)
    for method in ("ppf", "isf"):
        np.testing.assert_allclose(getattr(law, method)(q), getattr(scipys, method)(q), rtol=1e-9)
    for method in ("mean", "var", "std", "median", "support"):
        theirs = getattr(scipys, method)()
        np.testing.assert_allclose(getattr(law, method)(), theirs, rtol=1e-12)
    np.testing.assert_allclose(law.interval([0.5, 0.9]), scipys.interval([0.5, 0.9]))


def test_bounds_end_the_support():
    ours, near = laws()[2]
    law = ours.frozen()
    assert law.support() == (0, 1)
    np.testing.assert_array_equal(law.pdf([-1.0, 0.0, 1.0, 2.0]), 0)
    np.testing.assert_array_equal(law.cdf([-1.0, 0.0, 1.0, 2.0]), [0, 0, 1, 1])
    assert law.ppf(0.975) == pytest.approx(near.ppf(0.975), rel=1e-12)


def test_shapes_are_scipy_s_and_numbers_give_numbers():
    law, scipys = one_gaussian().frozen(), stats.norm(1, 2)
    for method in ("pdf", "cdf", "ppf", "isf"):
        for argument in (0.3, [0.3], np.full((2, 0), 0.3), np.full((2, 1, 3), 0.3)):
            ours, theirs = (getattr(each, method)(argument) for each in (law, scipys))
            assert np.shape(ours) == np.shape(theirs)
            assert type(ours) is type(theirs)


def test_values_that_have_no_answer_are_answered_as_scipy_does():
    law, scipys = one_gaussian().frozen(), stats.norm(1, 2)
    odd, levels = [np.nan, -np.inf, np.inf], [np.nan, -0.1, 1.1]
    for method in ("pdf", "logpdf", "cdf", "sf"):
        np.testing.assert_array_equal(getattr(law, method)(odd), getattr(scipys, method)(odd))
    for method in ("ppf", "isf"):
        np.testing.assert_array_equal(getattr(law, method)(levels), np.full(3, np.nan))


def test_the_upper_tail_keeps_its_digits():
    law = one_gaussian().frozen()
    assert law.isf(1e-200) == pytest.approx(stats.norm(1, 2).isf(1e-200), rel=1e-12)
    mixture = random_mixture(1)
    for q in (1e-100, 0.2, 0.9):
        assert mixture.frozen(2).sf(mixture.frozen(2).isf(q)) == pytest.approx(q, rel=1e-9)


def test_draws_have_the_shape_asked_for_and_the_law():
    law = random_mixture(2).frozen(1)
    draws = law.rvs(size=(40, 50), random_state=0)
    assert draws.shape == (40, 50)
    assert stats.kstest(draws.ravel(), law.cdf).pvalue > 0.01
    np.testing.assert_array_equal(draws, law.rvs((40, 50), np.random.default_rng(0)))
    assert isinstance(law.rvs(random_state=1), float)
    assert law.rvs(3, random_state=1).shape == (3,)


def test_expectations_are_moments_and_probabilities():
    law = random_mixture(3).frozen(0)
    assert law.expect() == pytest.approx(law.mean(), rel=1e-9)
    second = law.expect(lambda y: (y - law.mean()) ** 2)
    assert second == pytest.approx(law.var(), rel=1e-8)
    assert law.expect(lambda y: 1.0, lb=-1, ub=2) == pytest.approx(law.cdf(2) - law.cdf(-1))
    assert law.expect(lambda y: 1.0, lb=0.5, conditional=True) == pytest.approx(1)
    assert law.expect(lb=2, ub=1) == 0
    scipys = stats.norm(1, 2)
    one = one_gaussian().frozen()
    theirs = scipys.expect(np.cos, lb=-1, ub=3, conditional=True)
    assert one.expect(np.cos, lb=-1, ub=3, conditional=True) == pytest.approx(theirs, rel=1e-9)


def test_many_values_are_answered_in_pieces(monkeypatch):
    mixture, y = random_mixture(4), np.linspace(-5, 5, 101)
    whole = mixture.frozen(1).cdf(y)
    monkeypatch.setattr("condensity._utils.numerics.BLOCK", 500)
    np.testing.assert_array_equal(mixture.frozen(1).cdf(y), whole)


def test_it_is_one_density_of_one_output():
    with pytest.raises(
        ValueError, match=r"one output, but the densities have 2.*dist.marginal\(j\)"
    ):
        random_mixture(0, dy=2).frozen(0)
    with pytest.raises(IndexError, match="out of bounds"):
        random_mixture(0).frozen(3)
    from condensity.distributions.frozen import Frozen

    with pytest.raises(ValueError, match=r"got 3: choose a row with dist.frozen\(i\)"):
        Frozen(random_mixture(0))
    assert repr(random_mixture(0).frozen(-1)) == "Frozen(7 components on (-inf, inf))"
