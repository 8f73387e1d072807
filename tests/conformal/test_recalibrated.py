"""Recalibrated densities against quadrature of the definition, on a fine grid."""

import numpy as np
import pytest
from scipy import stats

from condensity import LSCDE
from condensity.conformal import RecalibratedDistribution, calibrate
from condensity.datasets import toy_b
from condensity.distributions import BoundedMixture, Bounds, ChunkedDistribution, Mixture
from condensity.metrics import pit, pit_test
from mixtures import random_mixture

M = 3
LEVELS, VALUES = np.array([0, 0.25, 0.4, 0.75, 1]), np.array([0, 0.4, 0.5, 0.675, 1])
SLOPES = np.diff(VALUES) / np.diff(LEVELS)


def bounded():
    free = random_mixture(1).stretch(np.array([0.3]))
    return BoundedMixture(free, Bounds(np.zeros(1), np.full(1, np.inf)))


def chunked():
    dist = random_mixture(0)
    rows = np.arange(float(M))
    return ChunkedDistribution(rows, lambda own: dist[own.astype(int)], 10**5, 1)


CASES = {"mixture": lambda: random_mixture(0), "bounded": bounded, "chunked": chunked}


@pytest.fixture(params=CASES)
def dist(request):
    return RecalibratedDistribution(CASES[request.param](), LEVELS, VALUES)


def grid(dist, i, *cuts):
    """Nodes and weights between the edges of the bins and ``cuts``, for row i."""
    levels = np.concatenate([np.logspace(-13, -2, 40), np.linspace(0.02, 0.5, 25)])
    levels = np.unique(np.concatenate([levels, 1 - levels, LEVELS[1:-1]]))
    edges = np.unique([*dist.dist.quantile(levels)[i], *cuts])
    x, w = np.polynomial.legendre.leggauss(20)
    half = np.diff(edges)[:, None] / 2
    return (edges[:-1, None] + half * (1 + x)).ravel(), (half * w).ravel()


def definition(dist, i, y):
    """R(F(y)) and R'(F(y)) p(y) of row i, from the old density."""
    old = dist.dist.compute()[i]
    F = old[np.zeros(len(y), dtype=int)].cdf(y)
    bins = [max(k for k in range(4) if LEVELS[k] <= f) for f in F]
    return VALUES[bins] + SLOPES[bins] * (F - LEVELS[bins]), SLOPES[bins] * old.pdf_on(y)[0]


def test_densities_and_distribution_functions_are_the_definition(dist):
    y = np.linspace(0.05, 4, 60)
    for i in range(M):
        F, p = definition(dist, i, y)
        np.testing.assert_allclose(dist.pdf_on(y)[i], p, rtol=1e-9)
        for k in (3, 30, 50):
            point = np.full(M, y[k])
            assert dist.cdf(point)[i] == pytest.approx(F[k], rel=1e-9)
            assert dist.pdf(point)[i] == pytest.approx(p[k], rel=1e-9)


def test_quantiles_invert_the_distribution_function(dist):
    levels = np.array([1e-9, 0.05, 0.3, 0.5, 0.77, 0.99])
    for level, points in zip(levels, dist.quantile(levels).T, strict=True):
        np.testing.assert_allclose(dist.cdf(points), level, rtol=1e-8)
    np.testing.assert_array_equal(dist.quantile(0.3), dist.quantile(levels)[:, 2])
    with pytest.raises(ValueError, match="quantile level"):
        dist.quantile(1.5)


def test_probabilities_keep_their_digits_in_both_tails(dist):
    low, high = dist.quantile([0.1, 0.8]).T
    np.testing.assert_allclose(dist.prob(low, high), 0.7, rtol=1e-9)
    far = dist.dist.quantile([1e-12, 1 - 1e-10]).T
    np.testing.assert_allclose(dist.prob(-np.inf, far[0]), 1.6e-12, rtol=1e-7)
    np.testing.assert_allclose(dist.prob(far[1], np.inf), 1.3e-10, rtol=1e-4)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_moments_are_integrals(dist, order):
    t = float(dist.dist.mean().mean())
    for i in range(M):
        y, w = grid(dist, i, t)
        mass = w * definition(dist, i, y)[1]
        above, below = ((side * (y - t) > 0) for side in (1, -1))
        expected = mass[above] @ np.abs(y[above] - t) ** order
        assert dist.partial_moment(t, order)[i] == pytest.approx(expected, rel=1e-6)
        expected = mass[below] @ np.abs(y[below] - t) ** order
        assert dist.partial_moment(t, order, "lower")[i] == pytest.approx(expected, rel=1e-6)
        mean = mass @ y
        assert dist.mean()[i] == pytest.approx(mean, rel=1e-6)
        assert dist.var()[i] == pytest.approx(mass @ (y - mean) ** 2, rel=1e-5)
        assert dist.cov()[i, 0, 0] == dist.var()[i]


def test_norms_and_entropies_are_integrals(dist):
    for i in range(M):
        y, w = grid(dist, i)
        p = definition(dist, i, y)[1]
        assert dist.squared_norm()[i] == pytest.approx(w @ p**2, rel=1e-6)
        assert dist.entropy()[i] == pytest.approx(-w @ (p * np.log(p)), abs=1e-5)


@pytest.mark.parametrize("shift", [0.0, 1.0, 60.0])
def test_scores_are_integrals(dist, shift):
    points = dist.mean() + shift
    t = float(dist.mean().mean() + 0.2)
    parts = [dist.twcrps(points, t, tail) for tail in ("lower", "upper")]
    np.testing.assert_allclose(sum(parts), dist.crps(points), rtol=1e-7)
    for i in range(M):
        y, w = grid(dist, i, points[i], t)
        F = definition(dist, i, y)[0]
        terms = w * (F - (y > points[i])) ** 2
        beyond = max(points[i] - y.max(), 0.0) if shift < 60 else 0.0
        assert dist.crps(points)[i] == pytest.approx(terms.sum() + beyond, rel=1e-5)
        assert parts[0][i] == pytest.approx(terms[y < t].sum(), rel=1e-5)


def test_draws_have_the_distribution(dist):
    draws = dist.sample(3000, random_state=0)
    assert draws.shape == (M, 3000)
    np.testing.assert_array_equal(draws, dist.sample(3000, random_state=0))
    for i in range(M):
        u = dist[np.full(3000, i)].cdf(draws[i])
        assert stats.kstest(u, "uniform").pvalue > 1e-3
    assert dist.sample(0).shape == (M, 0)


class CountsDraws(Mixture):
    """Counts the draws from a mixture."""

    drawn = 0

    def sample(self, n=1, random_state=None):
        CountsDraws.drawn += n * len(self)
        return super().sample(n, random_state)


@pytest.mark.parametrize("cut", [1e-5, 0.5, 1 - 1e-9])
def test_draws_from_steep_maps_take_few_draws_of_the_old_density(cut):
    levels = np.unique([0, cut, cut + 1e-5 if cut == 0.5 else cut, 1])
    values = np.array([0, 0.2, 0.9, 1]) if cut == 0.5 else np.array([0, 0.4, 1])
    dist = RecalibratedDistribution(CountsDraws(random_mixture(0).blocks), levels, values)
    assert dist.slopes.max() > 1e4
    CountsDraws.drawn = 0
    draws = dist.sample(1000, random_state=0)
    assert CountsDraws.drawn < 20 * M * 1000
    assert np.isfinite(draws).all()
    for own, edges in zip(draws, dist.dist.quantile(levels), strict=True):
        share = (own[:, None] <= edges).mean(axis=0)
        np.testing.assert_allclose(share, values, atol=4 * np.sqrt(0.25 / 1000))
    u = [dist[np.full(1000, i)].cdf(draws[i]) for i in range(M)]
    assert all(stats.kstest(own, "uniform").pvalue > 1e-3 for own in u)
    assert np.abs(np.corrcoef(u) - np.eye(M)).max() < 0.15  # rows are independent


def test_draws_from_a_bin_of_few_floating_point_numbers_are_finite():
    top = RecalibratedDistribution(random_mixture(0), [0, 1 - 2.0**-50, 1], [0, 0.4, 1])
    assert np.isfinite(top.sample(200, random_state=0)).all()


def test_tails_follow_from_the_other_answers(dist):
    shortfall = dist.expected_shortfall(0.3)
    for i in range(M):
        end = float(dist.quantile(0.3)[i])
        y, w = grid(dist, i, end)
        p = definition(dist, i, y)[1]
        below = y < end
        assert shortfall[i] == pytest.approx((w * p * y)[below].sum() / 0.3, rel=1e-6)
    np.testing.assert_allclose(dist.expectile(0.5), dist.mean(), rtol=1e-9)


def test_rows_and_what_is_refused(dist):
    assert len(dist[1:]) == 2
    np.testing.assert_array_equal(dist[1:].mean(), dist.mean()[1:])
    np.testing.assert_allclose(dist.compute().mean(), dist.mean(), rtol=1e-12)
    assert dist.marginal(0) is dist
    questions = (
        lambda: dist.hdr(0.9),
        dist.modes,
        lambda: dist.hpd_level(np.zeros(M)),
        dist.frozen,
        lambda: dist.kl(dist),
    )
    for question in questions:
        with pytest.raises(TypeError, match="not available for recalibrated densities"):
            question()
    with pytest.raises(ValueError, match="none is left"):
        dist.condition(0, 1.0)
    with pytest.raises(ValueError, match="levels must be strictly increasing from 0 to 1"):
        RecalibratedDistribution(dist.dist, [0, 0.5, 0.5, 1], [0, 0.1, 0.2, 1])
    with pytest.raises(ValueError, match="values must be strictly increasing from 0 to 1"):
        RecalibratedDistribution(dist.dist, [0, 0.5, 1], [0, 0.1, 0.9])
    with pytest.raises(ValueError, match="same length, got 3 and 2"):
        RecalibratedDistribution(dist.dist, [0, 0.5, 1], [0, 1])


def test_calibration_makes_pit_values_uniform():
    X, y = toy_b().sample(3000, random_state=0)
    X = X[:, 1:2]
    base = LSCDE(bandwidth=(0.3, 1.5), penalty=0.01, random_state=0).fit(X[:500], y[:500])
    model = calibrate(base, X[500:2500], y[500:2500])
    assert len(model.levels) == 21
    before, after = (pit(m.predict_dist(X[2500:]), y[2500:]) for m in (base, model))
    assert pit_test(before).pvalue < 1e-6
    assert pit_test(after).pvalue > 0.01
    scores = [m.predict_dist(X[2500:]).crps(y[2500:]).mean() for m in (base, model)]
    assert scores[1] < scores[0]
    np.testing.assert_array_equal(model.predict(X[:5]), model.predict_dist(X[:5]).mean())
    assert calibrate(base, X[500:530], y[500:530], n_bins=1).values.tolist() == [0.0, 1.0]
    with pytest.raises(ValueError, match="n_bins must be an integer"):
        calibrate(base, X[:50], y[:50], n_bins=0)


class OneDensity:
    """A model with the same density for every x."""

    def __init__(self, dist):
        self.dist = dist

    def predict_dist(self, X):
        return self.dist[np.zeros(len(X), dtype=int)]


def test_bins_hold_equal_numbers_and_a_part_is_the_identity():
    dist = random_mixture(0, m=1)
    y = dist.quantile([0.1, 0.2, 0.6, 0.65, 0.7])[0]
    model = calibrate(OneDensity(dist), np.zeros((5, 1)), y, n_bins=2)
    np.testing.assert_allclose(model.levels, [0, 0.6, 1])
    np.testing.assert_allclose(model.values, [0, (5 * 0.5 + 2 * 0.6) / 7, 1])


def test_repeated_values_share_a_bin():
    dist = random_mixture(0, m=1)
    y = np.repeat(dist.quantile([0.3, 0.8])[0], [30, 10])
    model = calibrate(OneDensity(dist), np.zeros((40, 1)), y, n_bins=8)
    assert (np.diff(model.levels) > 0).all()
    assert (model.levels[0], model.levels[-1], model.values[-1]) == (0, 1, 1)
    far = calibrate(OneDensity(dist), np.zeros((40, 1)), np.full(40, 1e3), n_bins=8)
    assert far.levels.tolist() == [0, 1]
