"""One-dimensional mixtures, compared with quadrature, loops and known results."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

from condensity.distributions import _levelsets as levelsets
from condensity.distributions import _quantiles as quantiles
from condensity.distributions import _univariate as univariate
from condensity.distributions._levelsets import hdr, hpd_level, modes
from condensity.distributions._quantiles import quantile
from condensity.distributions._univariate import UnivariateMixtures, cdf, pdf, prob

quick = settings(max_examples=15, deadline=None, derandomize=True)


def mixture(weights, means, sds):
    """Components of one row, or of several rows given as nested lists."""
    weights, means, sds = (np.atleast_2d(np.asarray(a, dtype=float)) for a in (weights, means, sds))
    return UnivariateMixtures(weights / weights.sum(axis=1, keepdims=True), means, sds)


def random_rows(seed, rows=4, width=5, *, spread=3.0):
    rng = np.random.default_rng(seed)
    return mixture(
        rng.gamma(0.7, size=(rows, width)),
        spread * rng.normal(size=(rows, width)),
        np.exp(0.6 * rng.normal(size=(rows, width))),
    )


def crps(c, y):
    """CRPS from mean distances."""
    return univariate.distance(c, y) - 0.5 * univariate.mean_difference(c)


def row_pdf(c, i, y):
    """Density of row i, component by component."""
    means, sds = (np.broadcast_to(a, c.weights.shape)[i] for a in (c.means, c.sds))
    return sum(
        w * stats.norm.pdf(y, m, s) for w, m, s in zip(c.weights[i], means, sds, strict=True)
    )


def integrate(f, c, i, lower=None, upper=None):
    """Integral of f, split at the components so that quad finds all of them."""
    means, sds = (np.broadcast_to(a, c.weights.shape)[i] for a in (c.means, c.sds))
    lower = (means - 12 * sds).min() if lower is None else lower
    upper = (means + 12 * sds).max() if upper is None else upper
    inner = (means[:, None] + sds[:, None] * [-6, -2, 0, 2, 6]).ravel()
    cuts = np.unique(np.concatenate([[lower, upper], inner[(inner > lower) & (inner < upper)]]))
    return sum(quad(f, a, b, epsabs=1e-12)[0] for a, b in pairwise(cuts))


seeds = st.integers(0, 10_000)


# -- density and distribution function ---------------------------------------------------------


@quick
@given(seeds)
def test_pdf_is_the_sum_of_its_gaussians(seed):
    c = random_rows(seed)
    y = np.random.default_rng(seed + 1).normal(size=4) * 4
    np.testing.assert_allclose(pdf(c, y), [row_pdf(c, i, y[i]) for i in range(4)], rtol=1e-12)


def test_cdf_integrates_the_pdf():
    c = random_rows(1)
    y = np.array([-2.0, 0.3, 1.0, 4.0])
    expected = [integrate(lambda t, i=i: row_pdf(c, i, t), c, i, upper=y[i]) for i in range(4)]
    np.testing.assert_allclose(cdf(c, y), expected, atol=1e-10)


def test_shared_means_and_sds_equal_repeated_ones():
    rng = np.random.default_rng(3)
    weights, means, sds = rng.dirichlet(np.ones(4), 6), rng.normal(size=(1, 4)), np.ones((1, 4))
    shared = UnivariateMixtures(weights, means, sds)
    full = UnivariateMixtures(weights, np.repeat(means, 6, axis=0), np.repeat(sds, 6, axis=0))
    y = rng.normal(size=6)
    for f in (pdf, cdf, crps, hpd_level):
        np.testing.assert_allclose(f(shared, y), f(full, y), rtol=1e-12, atol=1e-15)
    q = np.array([0.1, 0.8])
    np.testing.assert_allclose(quantile(shared, q), quantile(full, q), rtol=1e-13)
    for a, b in zip(hdr(shared, 0.7), hdr(full, 0.7), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_prob_is_accurate_in_both_tails():
    c = mixture([[1.0], [1.0], [1.0]], [[0.0]], [[1.0]])
    lower, upper = np.array([10.0, -11.0, -np.inf]), np.array([11.0, -10.0, np.inf])
    tail = stats.norm.sf(10.0) - stats.norm.sf(11.0)
    np.testing.assert_allclose(prob(c, lower, upper), [tail, tail, 1.0], rtol=1e-12)


def test_prob_is_a_difference_of_cdf_values():
    c = random_rows(8)
    lower, upper = np.array([-3.0, -1.0, 0.0, 2.0]), np.array([-1.0, 1.0, 0.0, 5.0])
    np.testing.assert_allclose(prob(c, lower, upper), cdf(c, upper) - cdf(c, lower), atol=1e-14)


def survival(c, y):
    """1 - F, accurate in the tail: the distribution function of the mirrored mixture."""
    return cdf(UnivariateMixtures(c.weights, -c.means, c.sds), -y)


# -- quantiles -----------------------------------------------------------------------------------


@quick
@given(seeds, st.floats(1e-6, 1 - 1e-6))
def test_quantile_inverts_the_cdf(seed, q):
    c = random_rows(seed)
    np.testing.assert_allclose(cdf(c, quantile(c, np.array([q]))[:, 0]), q, rtol=1e-12)


def test_quantile_is_accurate_in_both_tails():
    c = random_rows(2)
    levels = np.array([1e-200, 1e-12, 1 - 1e-12])
    low, lower, upper = quantile(c, levels).T
    np.testing.assert_allclose(cdf(c, low), 1e-200, rtol=1e-9)
    np.testing.assert_allclose(cdf(c, lower), 1e-12, rtol=1e-11)
    np.testing.assert_allclose(survival(c, upper), 1 - levels[2], rtol=1e-11)


def test_quantile_of_one_gaussian_is_the_normal_quantile():
    q = np.array([1e-9, 0.2, 0.5, 0.99])
    c = mixture([1.0, 0.0], [3.0, -1e6], [2.0, 5.0])
    np.testing.assert_allclose(quantile(c, q)[0], stats.norm.ppf(q, 3.0, 2.0), rtol=1e-14)


def test_quantile_on_both_sides_of_an_empty_gap():
    c = mixture([0.25, 0.75], [0.0, 1e7], [1e-3, 1.0])
    y = quantile(c, np.array([0.1, 0.5]))[0]
    np.testing.assert_allclose(y, [stats.norm.ppf(0.4) * 1e-3, 1e7 + stats.norm.ppf(1 / 3)])


def test_quantile_of_a_smooth_mixture_takes_few_evaluations(monkeypatch):
    calls, evaluate = [], quantiles._tail_pdf_slope
    monkeypatch.setattr(
        quantiles, "_tail_pdf_slope", lambda *a: calls.append(len(a[2])) or evaluate(*a)
    )
    c = random_rows(0)
    wide = UnivariateMixtures(c.weights, c.means, np.maximum(c.sds, 1.0))
    quantile(wide, np.array([0.05, 0.5, 0.9]))
    assert sum(calls) <= 5 * 3 * len(c)  # five for each row and level


def test_quantile_in_a_very_narrow_component():
    """The bracket converges to a component of any width."""
    c = mixture([0.3, 0.4, 0.3], [-1.0, 0.0, 1.3], [0.1, 1e-60, 0.1])
    y = quantile(c, np.array([0.45]))
    np.testing.assert_allclose(y / 1e-60, stats.norm.ppf(0.15 / 0.4), rtol=1e-6)


@pytest.mark.parametrize("unit", [1e-160, 1e-150, 1e-30, 1e30, 1e140])
def test_quantile_in_any_unit(unit):
    q = np.array([0.1, 0.3, 0.5, 0.9])
    plain = mixture([0.5, 0.5], [-1.0, 2.0], [1.0, 0.1])
    scaled = mixture([0.5, 0.5], [-unit, 2 * unit], [unit, unit / 10])
    np.testing.assert_allclose(quantile(scaled, q) / unit, quantile(plain, q), rtol=1e-12)


def test_quantile_levels_zero_and_one_are_infinite():
    np.testing.assert_array_equal(
        quantile(random_rows(4), np.array([0.0, 1.0])), [[-np.inf, np.inf]] * 4
    )


@pytest.mark.parametrize("q", [-0.1, 1.5, np.nan, 90])
def test_quantile_refuses_invalid_probabilities(q):
    with pytest.raises(ValueError, match="pass probabilities"):
        quantile(random_rows(0), np.array([0.5, q]))


# -- CRPS ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shared", [False, True])
def test_crps_integrates_the_squared_error_of_the_cdf(shared):
    c = random_rows(5)
    c = UnivariateMixtures(c.weights, c.means[:1], c.sds[:1]) if shared else c
    y = np.array([-3.0, 0.1, 2.0, 30.0])

    def loss(t, i):
        return (cdf(c.take([i]), np.array([t]))[0] - (y[i] <= t)) ** 2

    expected = [
        integrate(lambda t, i=i: loss(t, i), c, i, upper=y[i])
        + integrate(lambda t, i=i: loss(t, i), c, i, lower=y[i], upper=max(y[i] + 1, 40.0))
        for i in range(4)
    ]
    np.testing.assert_allclose(crps(c, y), expected, rtol=1e-7)


@pytest.mark.parametrize("shared", [False, True])
def test_crps_in_pieces_equals_crps_at_once(shared, monkeypatch):
    c, y = random_rows(6, rows=7), np.linspace(-3, 3, 7)
    c = UnivariateMixtures(c.weights, c.means[:1], c.sds[:1]) if shared else c
    expected = crps(c, y)
    monkeypatch.setattr("condensity._utils.numerics.BLOCK", 40)
    np.testing.assert_allclose(crps(c, y), expected, rtol=1e-13)


# -- modes ---------------------------------------------------------------------------------------


def local_maxima(c, i, n=40_001):
    """Maxima of the density on a fine grid."""
    y = np.linspace((c.means[i] - c.sds[i]).min(), (c.means[i] + c.sds[i]).max(), n)
    p = row_pdf(c, i, y)
    return y[1:-1][(p[1:-1] > p[:-2]) & (p[1:-1] >= p[2:])], y[1] - y[0]


@quick
@given(seeds)
def test_modes_are_the_maxima_of_a_fine_grid(seed):
    c = random_rows(seed, rows=2)
    for i, found in enumerate(modes(c)):
        expected, step = local_maxima(c, i)
        assert len(found) == len(expected)
        np.testing.assert_allclose(np.sort(found), expected, atol=step)


@quick
@given(seeds)
def test_modes_come_highest_first_and_are_stationary(seed):
    c = random_rows(seed, rows=1)
    (found,) = modes(c)
    heights = row_pdf(c, 0, found)
    assert (np.diff(heights) <= 0).all()
    h = 1e-5 * c.sds.min()
    slope = (row_pdf(c, 0, found + h) - row_pdf(c, 0, found - h)) / (2 * h)
    assert (np.abs(slope) < 1e-6 * heights / c.sds.min()).all()


@pytest.mark.parametrize(("gap", "count"), [(1.0, 1), (1.999, 1), (2.001, 2), (2.1, 2), (9.0, 2)])
def test_two_equal_gaussians_are_bimodal_beyond_two_sds(gap, count):
    (found,) = modes(mixture([1, 1], [10.0, 10.0 + 0.5 * gap], [0.5, 0.5]))
    assert len(found) == count


def test_modes_far_apart_are_all_found():
    centers = np.array([-1e6, 0.0, 3e7])
    (found,) = modes(mixture([0.2, 0.5, 0.3], centers, [1e-2, 1.0, 1e-2]))
    np.testing.assert_allclose(found, [3e7, -1e6, 0.0], atol=1e-8)


@pytest.mark.parametrize(("place", "sd"), [(0.74, 0.06), (-0.74, 0.06), (0.9, 0.013)])
def test_a_narrow_component_does_not_hide_the_mode_of_a_wide_one(place, sd):
    (found,) = modes(mixture([0.06, 0.94], [0.0, place], [2.0, sd]))
    np.testing.assert_allclose(found, [place, 0.0], atol=1e-2)


def test_components_of_weight_zero_have_no_modes_and_no_level():
    c = mixture([[1.0, 0.0], [1.0, 1.0]], [[2.0, 50.0]] * 2, [[1.0, 1e-3]] * 2)
    first, second = modes(c)
    np.testing.assert_allclose(first, [2.0], rtol=1e-14)
    np.testing.assert_allclose(second, [50.0, 2.0], rtol=1e-14)
    np.testing.assert_allclose(hpd_level(c, np.array([50.0, 50.0])), [1.0, 0.0], atol=1e-7)


# -- highest-density regions ---------------------------------------------------------------------


@quick
@given(seeds, st.sampled_from([0.05, 0.5, 0.9, 0.999]))
def test_hdr_contains_its_level_and_all_points_of_higher_density(seed, level):
    c = random_rows(seed, rows=3)
    for i, region in enumerate(hdr(c, level)):
        row = c.take([i] * len(region))
        assert (np.diff(region.ravel()) > 0).all()
        np.testing.assert_allclose(
            (cdf(row, region[:, 1]) - cdf(row, region[:, 0])).sum(), level, atol=1e-13
        )
        edge = row_pdf(c, i, region.ravel())
        np.testing.assert_allclose(edge, edge[0], rtol=1e-9)
        y = np.linspace(c.means[i].min() - 9, c.means[i].max() + 9, 5001)
        inside = ((y[:, None] >= region[:, 0]) & (y[:, None] <= region[:, 1])).any(axis=1)
        p = row_pdf(c, i, y)
        assert (p[inside] >= edge[0] * (1 - 1e-9)).all()
        assert (p[~inside] <= edge[0] * (1 + 1e-9)).all()


def test_hdr_of_one_gaussian_is_central():
    (region,) = hdr(mixture([1.0], [3.0], [2.0]), 0.9)
    np.testing.assert_allclose(region, [stats.norm.interval(0.9, 3.0, 2.0)], rtol=1e-12)


@pytest.mark.parametrize("gap", [8.0, 1e3, 1e8])
def test_hdr_of_two_peaks_is_two_intervals(gap):
    (region,) = hdr(mixture([1, 1], [0.0, gap], [1.0, 1.0]), 0.8)
    np.testing.assert_allclose(region[0], stats.norm.interval(0.8), rtol=1e-3)
    np.testing.assert_allclose(region[1] - gap, stats.norm.interval(0.8), rtol=1e-3)


def test_hdr_contains_extreme_levels():
    c = mixture([1, 2], [0.0, 1.0], [1.0, 1.0])
    ((small,),) = hdr(c, 1e-5)
    np.testing.assert_allclose(prob(c, *small[:, None]), 1e-5, rtol=1e-3)
    ((large,),) = hdr(c, 1 - 1e-12)
    outside = cdf(c, large[:1]) + survival(c, large[1:])
    np.testing.assert_allclose(outside, 1e-12, rtol=1e-2)


@pytest.mark.parametrize("level", [0.0, 1.0, 90, np.nan])
def test_hdr_refuses_levels_outside_the_open_unit_interval(level):
    with pytest.raises(ValueError, match=r"pass a probability such as 0\.9"):
        hdr(random_rows(0), level)


@quick
@given(seeds, st.floats(-8, 8))
def test_hpd_level_is_the_mass_of_higher_density(seed, y):
    c = random_rows(seed, rows=1)
    grid = np.linspace(-40, 40, 400_001)
    p = row_pdf(c, 0, grid)
    expected = p[p >= row_pdf(c, 0, y)].sum() * (grid[1] - grid[0])
    np.testing.assert_allclose(hpd_level(c, np.array([y])), expected, atol=2e-3)


@quick
@given(seeds, st.floats(0.01, 0.99))
def test_hpd_level_at_the_ends_of_an_hdr_is_its_level(seed, level):
    c = random_rows(seed, rows=2)
    for i, region in enumerate(hdr(c, level)):
        ends = region.ravel()
        np.testing.assert_allclose(hpd_level(c.take([i] * len(ends)), ends), level, atol=1e-11)


def test_hpd_level_is_zero_at_the_mode_and_one_in_the_tails():
    c = random_rows(13)
    top = np.array([found[0] for found in modes(c)])
    np.testing.assert_allclose(hpd_level(c, top), 0.0, atol=1e-7)
    for far in (1e3, -1e200, np.inf):
        np.testing.assert_allclose(hpd_level(c, np.full(4, far)), 1.0, rtol=1e-14)


def test_hpd_level_of_draws_is_uniform():
    c = random_rows(17, rows=1)
    rng = np.random.default_rng(0)
    k = rng.choice(5, 2000, p=c.weights[0])
    y = rng.normal(c.means[0, k], c.sds[0, k])
    levels = hpd_level(c.take(np.zeros(2000, dtype=int)), y)
    assert stats.kstest(levels, "uniform").pvalue > 0.01


def test_level_sets_are_equivariant_under_shift_and_scale():
    c = random_rows(19)
    moved = UnivariateMixtures(c.weights, 5.0 + 1e-6 * c.means, 1e-6 * c.sds)
    for f in (modes, lambda c: hdr(c, 0.6)):
        for a, b in zip(f(c), f(moved), strict=True):
            np.testing.assert_allclose(5.0 + 1e-6 * a, b, rtol=1e-13)


def test_row_parts_do_not_change_level_sets(monkeypatch):
    c, y = random_rows(23, rows=9), np.linspace(-4, 4, 9)
    expected = modes(c), hdr(c, 0.8), hpd_level(c, y)
    monkeypatch.setattr("condensity._utils.numerics.BLOCK", 1000)
    assert len(levelsets._parts(c)) > 1
    for a, b in zip((modes(c), hdr(c, 0.8), hpd_level(c, y)), expected, strict=True):
        for u, v in zip(a, b, strict=True):
            np.testing.assert_allclose(u, v, rtol=1e-12)
