import numpy as np
import pytest
from scipy.integrate import dblquad, quad

import oracles
from condensity.fitting.kernels import gaussian, squared_distances
from condensity.fitting.moments import Moments, lebesgue, moments
from problems import random_sample, random_subspace

SIGMA_Z, SIGMA_Y = 0.8, 0.5


def moments_of(sample, W, centers, rows=slice(None)):
    part = sample[rows]
    phi_z = gaussian(squared_distances(part.X @ W.T, sample.X[centers] @ W.T), SIGMA_Z)
    phi_y = gaussian(squared_distances(part.Y, sample.Y[centers]), SIGMA_Y)
    return moments(phi_z, phi_y, lebesgue(sample.Y[centers], SIGMA_Y), part.weight)


@pytest.mark.parametrize("dy", [1, 2])
def test_moments_are_the_double_sums_of_the_paper(dy):
    sample, W = random_sample(0, dy=dy), random_subspace(0, 2, 4)
    ours = moments_of(sample, W, slice(0, 6))
    G, h = oracles.G_and_h(
        W, sample.X, sample.Y, sample.X[:6], sample.Y[:6], SIGMA_Z, SIGMA_Y, sample.weight
    )
    np.testing.assert_allclose(ours.G, G, rtol=1e-12)
    np.testing.assert_allclose(ours.h, h, rtol=1e-12)


@pytest.mark.parametrize("cut", [1, 7, 22])
def test_moments_of_folds_add_up_to_the_whole_sample(cut):
    sample, W = random_sample(1), random_subspace(1, 2, 4)
    whole = moments_of(sample, W, slice(0, 5))
    a = moments_of(sample, W, slice(0, 5), slice(0, cut))
    b = moments_of(sample, W, slice(0, 5), slice(cut, None))
    pooled = a + b
    np.testing.assert_allclose(pooled.zz, whole.zz, rtol=1e-13)
    np.testing.assert_allclose(pooled.h, whole.h, rtol=1e-13)
    assert pooled.n == pytest.approx(whole.n)
    left = whole - b
    np.testing.assert_allclose(left.zz, a.zz, atol=1e-14)
    np.testing.assert_allclose(left.h, a.h, atol=1e-14)
    assert left.n == pytest.approx(a.n)


def test_keep_equals_moments_of_these_centers_only():
    sample, W = random_sample(2), random_subspace(2, 2, 4)
    kept = np.array([0, 2, 5])
    few, all_six = moments_of(sample, W, kept), moments_of(sample, W, np.arange(6))
    np.testing.assert_allclose(all_six.keep(kept).G, few.G, rtol=1e-14)
    np.testing.assert_allclose(all_six.keep(kept).h, few.h, rtol=1e-14)


def test_loss_is_the_quadratic_form_for_every_column():
    rng = np.random.default_rng(3)
    zz, yy = (A @ A.T for A in rng.standard_normal((2, 3, 3)))
    m = Moments(zz, yy, rng.standard_normal(3), 1.0)
    alphas = rng.standard_normal((3, 4))
    by_hand = [a @ (zz * yy) @ a / 2 - m.h @ a for a in alphas.T]
    np.testing.assert_allclose(m.loss(alphas), by_hand)
    assert m.loss(alphas[:, 0]) == pytest.approx(by_hand[0])


def test_lebesgue_is_the_integral_over_one_output():
    V = np.array([[0.3], [-0.4]])

    def product(y):
        return np.prod([np.exp(-((y - v) ** 2) / (2 * 0.36)) for v in V[:, 0]])

    assert lebesgue(V, 0.6)[0, 1] == pytest.approx(quad(product, -8, 8)[0], rel=1e-9)


def test_lebesgue_is_the_integral_over_two_outputs():
    V = np.array([[0.3, 0.1], [-0.4, 0.2]])

    def product(a, b):
        return np.prod([np.exp(-((a - v[0]) ** 2 + (b - v[1]) ** 2) / (2 * 0.36)) for v in V])

    integral = dblquad(product, -4, 4, -4, 4, epsabs=1e-9)[0]
    assert lebesgue(V, 0.6)[0, 1] == pytest.approx(integral, rel=1e-7)
