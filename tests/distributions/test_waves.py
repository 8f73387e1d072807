"""Answers from characteristic functions, compared with sums over Gaussians and with quadrature."""

import numpy as np
import pytest
from scipy.stats import norm

from condensity._utils import numerics
from condensity.distributions import Block, BoundedMixture, Bounds, Mixture
from condensity.distributions import _waves as waves
from condensity.distributions._quantiles import quantile

ROWS = 6


def averaged(seed=0, widths=(0.3, 0.5), shifts=1.0, kernels=30):
    """Two configurations, each with kernels and a background, with their own shifts."""
    rng, blocks = np.random.default_rng(seed), []
    for width in widths:
        shift = shifts * rng.standard_normal((ROWS, 1))
        weights = 0.5 * rng.dirichlet(np.full(kernels + 1, 0.3), ROWS)
        parts = ((slice(0, -1), kernels, width), (slice(-1, None), 1, 1.0))
        for part, count, sd in parts:
            centers = rng.standard_normal((count, 1)) if count > 1 else np.zeros((1, 1))
            blocks.append(Block(weights[:, part], centers, np.full((1, 1), sd), shift, plain=True))
    return Mixture.of_normalised(blocks)


def gaussians(mixture, i):
    """Weights, means and standard deviations of row i."""
    return np.concatenate(
        [
            [(w, c + (0 if b.shift is None else b.shift[i, 0]), b.factor[0, 0]) for w, c in pairs]
            for b in mixture.blocks
            for pairs in [list(zip(b.weights[i], b.centers[:, 0], strict=True))]
        ]
    ).T


def pdf_by_loops(mixture, y):
    rows = [gaussians(mixture, i) for i in range(len(mixture))]
    return np.array([[np.sum(w * norm.pdf(t, mu, sd)) for t in y] for w, mu, sd in rows])


@pytest.mark.parametrize("reach", [4.0, 12.0, 60.0])
@pytest.mark.parametrize("widths", [(0.3, 0.5), (0.1, 1.0)])
def test_densities_on_a_grid_are_correct_in_the_tails_too(reach, widths):
    mixture, y = averaged(widths=widths, kernels=150), np.linspace(-reach, reach, 161)
    found, expected = mixture.pdf_on(y), pdf_by_loops(mixture, y)
    seen = expected > 1e-300
    np.testing.assert_allclose(found[seen], expected[seen], rtol=1e-6)
    assert (found[~seen] <= 1e-290).all()
    assert (waves.pdf_on(mixture.blocks, y)[0] > 0).any()  # the series is used


def test_tails_of_kernels_without_a_background_are_correct():
    rng = np.random.default_rng(1)
    shift = rng.standard_normal((2, ROWS, 1))
    weights = np.log(rng.dirichlet(np.ones(40), ROWS))
    centers = rng.standard_normal((20, 1))
    mixture = Mixture(
        [
            Block(weights[:, :20], centers, np.full((1, 1), 0.2), shift[0]),
            Block(weights[:, 20:], centers, np.full((1, 1), 0.2), shift[1]),
        ]
    )
    y = np.linspace(-9, 9, 201)
    expected = pdf_by_loops(mixture, y)
    seen = expected > 1e-300
    np.testing.assert_allclose(mixture.pdf_on(y)[seen], expected[seen], rtol=1e-6)


def test_large_grids_are_divided_into_pieces(monkeypatch):
    mixture, y = averaged(), np.linspace(-3, 3, 300)
    whole = mixture.pdf_on(y)
    monkeypatch.setattr(numerics, "BLOCK", 100 * 1024)
    np.testing.assert_allclose(mixture.pdf_on(y), whole, rtol=1e-9)


def test_a_far_grid_and_far_rows_do_not_lose_digits():
    far = averaged().moved(np.array([0.0, 1e3, 1e6, 0.0, 1e9, 0.0])[:, None])
    for y in (1e6 + np.linspace(-3, 3, 50), np.append(np.linspace(-3, 3, 50), 1e9)):
        expected = pdf_by_loops(far, y)[:4]
        seen = expected > 1e-300
        np.testing.assert_allclose(far.pdf_on(y)[:4][seen], expected[seen], rtol=1e-6)


def test_grids_may_be_empty_or_infinite():
    mixture = averaged()
    assert mixture.pdf_on(np.empty(0)).shape == (ROWS, 0)
    assert mixture[:0].pdf_on([0.0, 1.0]).shape == (0, 2)
    np.testing.assert_array_equal(mixture.pdf_on([-np.inf, np.inf]), 0.0)


def test_distribution_functions_around_points():
    mixture, u, x = averaged(), np.linspace(-2, 3, ROWS), np.linspace(-20, 20, 41)
    found, rest = waves.cdf_around(mixture.blocks, u, x)
    assert not len(rest)
    for i in range(ROWS):
        w, mu, sd = gaussians(mixture, i)
        expected = [np.sum(w * norm.cdf(u[i] + t, mu, sd)) for t in x]
        np.testing.assert_allclose(found[i], expected, atol=1e-13)
    np.testing.assert_allclose(mixture.cdf_around(u, x[:2]), found[:, :2], atol=1e-13)


@pytest.mark.parametrize("scale", [None, np.linspace(0.5, 2, ROWS)])
def test_sign_of_a_difference(scale):
    a = averaged(0)
    b = averaged(1)
    if scale is not None:
        blocks = (Block(b.weights, b.centers, b.factor, b.shift, scale, True) for b in b.blocks)
        b = Mixture.of_normalised(list(blocks))
    found = a.sign_mean(b)
    for i in range(ROWS):
        w, mu, sd = gaussians(a, i)
        v, nu, sd2 = gaussians(b, i)
        if scale is not None:
            shift = np.concatenate([np.full(len(p.centers), p.shift[i, 0]) for p in b.blocks])
            nu, sd2 = shift + scale[i] * (nu - shift), scale[i] * sd2
        z = (mu[:, None] - nu) / np.hypot(sd[:, None], sd2)
        assert found[i] == pytest.approx(w @ (2 * norm.cdf(z) - 1) @ v, abs=1e-13)


def test_starts_of_quantiles_are_near_and_save_no_digits():
    mixture, q = averaged(kernels=300), np.array([1e-8, 0.05, 0.5, 0.9, 1 - 1e-6])
    starts, c = waves.quantile_starts(mixture.blocks, q), mixture.components("a test")
    exact = quantile(c, q)
    np.testing.assert_allclose(starts, exact, atol=1e-6)
    np.testing.assert_allclose(quantile(c, q, starts), exact, atol=1e-12)
    np.testing.assert_allclose(quantile(c, q, starts + 0.5), exact, atol=1e-12)


def test_rows_with_few_and_with_many_frequencies_have_their_own_series():
    need = np.array([10.0, 12.0, 1e9, 300.0, np.inf])
    shared, rest = waves.groups(need, 1000.0)
    np.testing.assert_array_equal(np.concatenate(shared), [0, 1, 3])
    np.testing.assert_array_equal(rest, [2, 4])
    assert [len(rows) for rows in shared] == [2, 1]


def panels(*cuts):
    """Nodes and weights of a Gauss-Legendre rule from -25 to 25; panels end at ``cuts``."""
    edges = np.unique([*np.linspace(-25, 25, 301), *cuts])
    x, share = np.polynomial.legendre.leggauss(12)
    half = np.diff(edges) / 2
    nodes = edges[:-1, None] + half[:, None] * (1 + x)
    return nodes.ravel(), (half[:, None] * share).ravel()


@pytest.mark.parametrize("bounds", [(0.0, np.inf), (-np.inf, 2.0), (-1.0, 3.0)])
@pytest.mark.parametrize("widths", [(0.3, 0.5), (0.1, 1.0)])
def test_crps_and_moments_of_averaged_models_with_bounds(bounds, widths):
    bounds = Bounds(*(np.array([end]) for end in bounds))
    dist = BoundedMixture(averaged(widths=widths), bounds)
    points = dist.quantile([0.2, 0.5, 0.99]).T
    scores = np.array([dist.crps(own) for own in points])
    cuts = bounds.free(points[..., None])[..., 0]
    for i in range(0, ROWS, 2):
        w, mu, sd = gaussians(dist.free, i)
        u, share = panels(*cuts[:, i])
        z = (u[:, None] - mu) / sd
        p, F, S = norm.pdf(z) / sd @ w, norm.cdf(z) @ w, norm.sf(z) @ w
        y = bounds.bounded(u[:, None])[:, 0]
        mean = share @ (p * y)
        assert dist.mean()[i] == pytest.approx(mean, rel=1e-12)
        assert dist.var()[i] == pytest.approx(share @ (p * (y - mean) ** 2), rel=1e-11)
        slope = share * np.exp(-bounds.log_volume(u[:, None]))
        for cut, found in zip(cuts[:, i], scores[:, i], strict=True):
            assert found == pytest.approx(slope @ np.where(u < cut, F, S) ** 2, rel=1e-11)
