"""Mixtures seen through a map: every functional against the definition, by other means."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import dblquad, quad

from condensity.distributions.block import Block
from condensity.distributions.bounded import BoundedMixture, Bounds
from condensity.distributions.mixture import Mixture
from condensity.metrics import crps, pit, squared_loss

INF = np.inf
CASES = {"positive": (0.0, INF), "below": (-INF, 2.0), "share": (-1.0, 3.0), "free": (-INF, INF)}


def free(dy=1, seed=0):
    """Two rows of two blocks: some components narrow, some wide, moved row by row."""
    rng = np.random.default_rng(seed)
    L = np.tril(0.2 * rng.standard_normal((dy, dy))) + 0.3 * np.eye(dy)
    shift = 0.5 * rng.standard_normal((2, dy))
    logs = np.log(rng.random((2, 3)))
    return Mixture(
        [
            Block(logs, rng.standard_normal((3, dy)), L, shift=shift),
            Block(logs[:, :1], np.zeros((1, dy)), 0.9 * np.eye(dy), scale=np.array([1.0, 1.2])),
        ]
    )


def mapped(case):
    a, b = CASES[case]
    return BoundedMixture(free(), Bounds(np.array([a]), np.array([b])))


TAILS = np.logspace(-14, -1.2, 40)
LEVELS = np.concatenate([TAILS, np.linspace(0.07, 0.93, 40), 1 - TAILS[::-1]])


def integral(f, dist, low=-INF, high=INF):
    """A plain rule in panels between quantiles of row 0, which say no more than where it is."""
    x, w = np.polynomial.legendre.leggauss(40)
    edges = dist[0].quantile(LEVELS)[0]
    edges = np.unique(np.clip(np.append(edges, [low, high]), edges[0], edges[-1]))
    edges = edges[(edges >= low) & (edges <= high)]
    half = np.diff(edges) / 2
    y = edges[:-1, None] + half[:, None] * (1 + x)
    return float(np.sum(half[:, None] * w * f(y.ravel()).reshape(y.shape)))


@pytest.mark.parametrize("case", CASES)
def test_coordinates_are_inverse_and_the_slope_is_the_derivative(case):
    a, b = CASES[case]
    bounds = Bounds(np.array([a]), np.array([b]))
    U = np.linspace(-3, 3, 13)[:, None]
    np.testing.assert_allclose(bounds.free(bounds.bounded(U)), U, atol=1e-12)
    slope = (bounds.bounded(U + 1e-6) - bounds.bounded(U - 1e-6))[:, 0] / 2e-6
    np.testing.assert_allclose(np.exp(-bounds.log_volume(U)), slope, rtol=1e-8)


@pytest.mark.parametrize("case", CASES)
def test_the_density_integrates_to_its_distribution_function(case):
    dist = mapped(case)
    pdf = lambda y: dist[0].pdf_on(y)[0]  # noqa: E731
    assert integral(pdf, dist) == pytest.approx(1, abs=1e-9)
    for q in (0.1, 0.5, 0.97):
        y = float(dist[0].quantile(q)[0])
        assert dist[0].cdf([y])[0] == pytest.approx(q, abs=1e-12)
        assert integral(pdf, dist, high=y) == pytest.approx(q, abs=1e-8)
        np.testing.assert_allclose(dist[0].pdf([y]), pdf(np.array([y])), rtol=1e-10)
    a, b = dist.interval(0.8).T
    np.testing.assert_allclose(dist.prob(a, b), 0.8, atol=1e-10)


@pytest.mark.parametrize("case", CASES)
def test_moments_and_squared_norm_are_the_integrals(case):
    dist = mapped(case)[0]
    pdf = lambda y: dist.pdf_on(y)[0]  # noqa: E731
    assert dist.squared_norm()[0] == pytest.approx(integral(lambda y: pdf(y) ** 2, dist))
    mean = integral(lambda y: y * pdf(y), dist)
    assert dist.mean()[0] == pytest.approx(mean, rel=1e-8)
    var = integral(lambda y: (y - mean) ** 2 * pdf(y), dist)
    assert dist.var()[0] == pytest.approx(var, rel=1e-7)
    assert dist.std()[0] == pytest.approx(var**0.5, rel=1e-7)
    assert dist.cov()[0, 0, 0] == pytest.approx(var, rel=1e-7)


@pytest.mark.parametrize("case", CASES)
def test_crps_is_the_integral_of_squared_differences(case):
    dist = mapped(case)[0]
    cdf = lambda t: dist[np.zeros(len(t), int)].cdf(t)  # noqa: E731
    for q in (0.02, 0.6, 0.999):
        y = float(dist.quantile(q)[0])
        left = integral(lambda t: cdf(t) ** 2, dist, high=y)
        right = integral(lambda t: (1 - cdf(t)) ** 2, dist, low=y)
        assert dist.crps([y])[0] == pytest.approx(left + right, abs=1e-8)
        assert crps(dist, [y]) == pytest.approx(left + right, abs=1e-8)


def test_without_bounds_nothing_changes():
    dist, plain, Y = mapped("free"), free(), np.array([0.3, -0.5])
    np.testing.assert_allclose(dist.log_pdf(Y), plain.log_pdf(Y), rtol=1e-12)
    np.testing.assert_allclose(dist.squared_norm(), plain.squared_norm(), rtol=1e-12)
    np.testing.assert_allclose(dist.crps(Y), plain.crps(Y), atol=1e-9)
    np.testing.assert_allclose(dist.mean(), plain.mean(), atol=1e-12)
    np.testing.assert_allclose(dist.var(), plain.var(), rtol=1e-10)
    for ours, theirs in zip(dist.hdr(0.7), plain.hdr(0.7), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_a_single_gaussian_is_the_log_normal():
    one = Mixture([Block(np.zeros((1, 1)), np.full((1, 1), 0.4), np.full((1, 1), 0.7))])
    dist = BoundedMixture(one, Bounds(np.array([1.0]), np.array([INF])))
    known = stats.lognorm(0.7, loc=1.0, scale=np.exp(0.4))
    y = np.array([1.0, 1.3, 2.5, 9.0])
    np.testing.assert_allclose(dist.pdf_on(y)[0], known.pdf(y), rtol=1e-10)
    np.testing.assert_allclose(dist.cdf([2.5]), known.cdf(2.5), rtol=1e-12)
    assert dist.mean()[0] == pytest.approx(known.mean(), rel=1e-10)
    assert dist.var()[0] == pytest.approx(known.var(), rel=1e-9)
    mode = 1 + np.exp(0.4 - 0.49)
    np.testing.assert_allclose(dist.modes()[0], [mode], rtol=1e-10)
    norm = quad(lambda t: known.pdf(t) ** 2, 1, 60)[0]
    assert dist.squared_norm()[0] == pytest.approx(norm, rel=1e-7)


@pytest.mark.parametrize("case", ["positive", "below", "share"])
def test_regions_hold_their_probability_and_end_at_one_height(case):
    dist = mapped(case)
    for i, region in enumerate(dist.hdr(0.8)):
        one = dist[i]
        held = sum(one.prob(low, high)[0] for low, high in region)
        assert held == pytest.approx(0.8, abs=1e-9)
        a, b = CASES[case]
        inner = region[(region > a) & (region < b)]
        heights = one.pdf_on(inner)[0]
        np.testing.assert_allclose(heights, heights[0], rtol=1e-7)
        np.testing.assert_allclose(one.hpd_level([inner[0]]), 0.8, atol=1e-7)
        peak = one.modes()[0][0]
        assert one.pdf([peak])[0] >= one.pdf_on(one.quantile(np.linspace(0.01, 0.99, 99))[0]).max()


@pytest.mark.parametrize("case", CASES)
def test_draws_stay_within_the_bounds_and_follow_the_density(case):
    dist = mapped(case)[0]
    draws = dist.sample(4000, random_state=0)[0]
    a, b = CASES[case]
    assert draws.min() > a
    assert draws.max() < b
    u = dist[np.zeros(4000, int)].cdf(draws)
    assert stats.kstest(u, "uniform").pvalue > 0.01


def test_at_and_beyond_the_bounds_there_is_nothing():
    dist, spread = mapped("share"), []  # half of E|Y - Y'|
    for y, below in ((-1.0, 0), (-2.0, 0), (3.0, 1), (7.0, 1)):
        np.testing.assert_array_equal(dist.pdf([y, y]), 0)
        np.testing.assert_array_equal(dist.pdf_on([y]), 0)
        np.testing.assert_allclose(dist.cdf([y, y]), below, atol=1e-15)
        np.testing.assert_array_equal(dist.hpd_level([y, y]), 1)
        spread.append(np.abs(dist.mean() - y) - dist.crps([y, y]))
    assert (spread[0] > 0).all()
    np.testing.assert_allclose(spread, np.tile(spread[0], (4, 1)), atol=1e-9)


def test_two_outputs_of_which_one_is_bounded():
    bounds = Bounds(np.array([0.0, -INF]), np.array([INF, INF]))
    dist = BoundedMixture(free(dy=2), bounds)
    assert (len(dist), dist.n_outputs) == (2, 2)
    assert "(0.0, inf)" in repr(dist)
    one = dist[0]
    low, high = one.marginal(1).quantile([1e-11, 1 - 1e-11])[0]
    top = float(one.marginal(0).quantile(1 - 1e-9)[0])
    pdf = lambda y, x: one.pdf([[x, y]])[0]  # noqa: E731
    norm = dblquad(lambda y, x: pdf(y, x) ** 2, 1e-9, top, low, high, epsabs=1e-5)[0]
    assert one.squared_norm()[0] == pytest.approx(norm, rel=1e-4)
    draws = one.sample(200_000, random_state=1)[0]
    np.testing.assert_allclose(one.mean()[0], draws.mean(axis=0), rtol=0.02)
    np.testing.assert_allclose(one.cov()[0], np.cov(draws.T), rtol=0.1, atol=0.02)
    np.testing.assert_allclose(one.var()[0], np.diag(one.cov()[0]), rtol=1e-9)
    level = one.hpd_level(draws[:1], n_draws=4000, random_state=0)[0]
    others = one[np.zeros(4000, int)].log_pdf(draws[1:4001])
    assert level == pytest.approx(np.mean(others >= one.log_pdf(draws[:1])), abs=0.04)
    np.testing.assert_allclose(one.marginal(1).cdf([0.3]), one.free.marginal(1).cdf([0.3]))
    peak = one.modes()[0][0]
    here = one.pdf([peak])[0]
    for move in ([0.01, 0], [-0.01, 0], [0, 0.01], [0, -0.01]):
        assert one.pdf([peak + move])[0] < here
    with pytest.raises(ValueError, match="hdr is defined for one output"):
        one.hdr(0.5)


def test_metrics_take_mapped_densities():
    dist, Y = mapped("positive"), np.array([0.5, 1.5])
    assert squared_loss(dist, Y) == pytest.approx(np.mean(0.5 * dist.squared_norm() - dist.pdf(Y)))
    np.testing.assert_array_equal(pit(dist, Y), dist.cdf(Y))


@pytest.mark.parametrize("sd", [0.01, 2.0, 4.0, 6.0])
def test_moments_of_log_normals_of_any_width(sd):
    rows = Block(np.zeros((1, 1)), np.zeros((1, 1)), np.full((1, 1), sd))
    mean, var = np.exp(sd**2 / 2), np.expm1(sd**2) * np.exp(sd**2)
    above = BoundedMixture(Mixture([rows]), Bounds(np.zeros(1), np.full(1, INF)))
    below = BoundedMixture(Mixture([rows]), Bounds(np.full(1, -INF), np.zeros(1)))
    for dist, sign in ((above, 1), (below, -1)):
        assert dist.mean()[0] == pytest.approx(sign * mean, rel=1e-10)
        assert dist.var()[0] == pytest.approx(var, rel=1e-9)


@pytest.mark.parametrize("sd", [0.05, 2.0, 5.0])
def test_moments_between_two_bounds_of_any_width(sd):
    rows = Block(np.zeros((1, 1)), np.full((1, 1), 0.3), np.full((1, 1), sd))
    dist = BoundedMixture(Mixture([rows]), Bounds(np.zeros(1), np.ones(1)))
    e = np.linspace(-12, 12, 200_001)
    density = stats.norm.pdf(e) * (e[1] - e[0])
    y = 1 / (1 + np.exp(-(0.3 + sd * e)))
    assert dist.mean()[0] == pytest.approx(density @ y, abs=1e-9)
    assert dist.var()[0] == pytest.approx(density @ (y - density @ y) ** 2, abs=1e-9)


def test_covariances_of_two_outputs_are_exact():
    """Cov of exp(u1), -exp(-u2) and u3 for one Gaussian, from its moment generating function."""
    S = np.array([[0.5, 0.2, -0.1], [0.2, 0.4, 0.1], [-0.1, 0.1, 0.3]])
    one = Block(np.zeros((1, 1)), np.zeros((1, 3)), np.linalg.cholesky(S))
    bounds = Bounds(np.array([0.0, -INF, -INF]), np.array([INF, 0.0, INF]))
    cov = BoundedMixture(Mixture([one]), bounds).cov()[0]
    root = np.exp((S[0, 0] + S[1, 1]) / 2)
    assert cov[0, 1] == pytest.approx(-root * np.expm1(-S[0, 1]))
    assert cov[0, 2] == pytest.approx(S[0, 2] * np.exp(S[0, 0] / 2))
    assert cov[1, 2] == pytest.approx(S[1, 2] * np.exp(S[1, 1] / 2))
    assert cov[2, 2] == pytest.approx(S[2, 2])


def test_covariance_with_an_output_between_two_bounds():
    S = np.array([[0.5, 0.3], [0.3, 0.4]])
    one = Block(np.zeros((1, 1)), np.zeros((1, 2)), np.linalg.cholesky(S))
    bounds = Bounds(np.array([0.0, -INF]), np.array([1.0, INF]))
    cov = BoundedMixture(Mixture([one]), bounds).cov()[0]
    # Stein: Cov[f(u1), u2] = S12 E f'(u1)
    e = np.linspace(-12, 12, 100_001)
    f = 1 / (1 + np.exp(-(S[0, 0] ** 0.5) * e))
    slope = np.sum(stats.norm.pdf(e) * f * (1 - f)) * (e[1] - e[0])
    assert cov[0, 1] == pytest.approx(S[0, 1] * slope, abs=1e-9)


@pytest.mark.parametrize("sd", [0.7, 5.0])
def test_covariance_of_a_share_and_a_positive_output(sd):
    """Cov[f(u1), exp(u2)] = E exp(u2) (E f(u1 + S12) - E f(u1)): the exponential shifts u1."""
    S = sd**2 * np.array([[0.5, 0.3], [0.3, 1.0]])
    one = Block(np.zeros((1, 1)), np.zeros((1, 2)), np.linalg.cholesky(S))
    bounds = Bounds(np.zeros(2), np.array([1.0, INF]))
    cov = BoundedMixture(Mixture([one]), bounds).cov()[0]
    e = np.linspace(-12, 12, 200_001)
    density = stats.norm.pdf(e) * (e[1] - e[0])
    u = S[0, 0] ** 0.5 * e
    moved = density @ (1 / (1 + np.exp(-u - S[0, 1])) - 1 / (1 + np.exp(-u)))
    assert cov[0, 1] == pytest.approx(np.exp(S[1, 1] / 2) * moved, rel=1e-7)


def test_no_rows_give_empty_answers():
    for case in CASES:
        none = mapped(case)[:0]
        assert none.crps(np.empty(0)).shape == (0,)
        assert none.mean().shape == none.var().shape == none.squared_norm().shape == (0,)
        assert none.sample(3).shape == (0, 3)
        assert none.cov().shape == (0, 1, 1)


def test_draws_and_quantiles_do_not_round_on_to_a_bound():
    wide = Block(np.zeros((1, 1)), np.full((1, 1), 60.0), np.eye(1))
    dist = BoundedMixture(Mixture([wide]), Bounds(np.zeros(1), np.ones(1)))
    draws = dist.sample(100, random_state=0)
    assert (draws < 1).all()
    np.testing.assert_array_equal(dist.quantile([0.0, 1.0]), [[0.0, 1.0]])
