import numpy as np

import oracles
from condensity.data.sample import Scaling
from condensity.fitting.density import KernelDensity
from problems import random_sample, random_subspace

SIGMA_Z, SIGMA_Y = 0.8, 0.3


def fitted(seed=0, dy=2):
    basis = random_sample(seed, n=9, dy=dy)
    x_scaling = Scaling(np.array([1.0, 2, 3, 4]), np.array([0.5, 1, 2, 4]))
    y_scaling = Scaling(np.arange(dy) + 10.0, np.arange(dy) + 0.5)
    alpha = np.random.default_rng(seed).standard_normal(9)
    W = random_subspace(seed, 2, 4)
    density = KernelDensity.build(
        x_scaling, y_scaling, basis, W=W, alpha=alpha, sigma_z=SIGMA_Z, sigma_y=SIGMA_Y
    )
    return density, basis, W, alpha


def test_the_mixture_is_the_clipped_normalised_estimate_in_the_units_of_the_data():
    density, basis, W, alpha = fitted()
    X = np.random.default_rng(1).standard_normal((5, 4)) + np.arange(1, 5)
    Y = np.random.default_rng(2).standard_normal((5, 2)) + np.arange(10, 12)
    Z = (X - density.x_scaling.mean) / density.x_scaling.sd @ W.T
    V = (Y - density.y_scaling.mean) / density.y_scaling.sd
    by_hand = [
        oracles.conditional_density(v, z, basis.X @ W.T, basis.Y, alpha, SIGMA_Z, SIGMA_Y)
        / np.prod(density.y_scaling.sd)
        for v, z in zip(V, Z, strict=True)
    ]
    np.testing.assert_allclose(density.at(X).pdf(Y), by_hand, rtol=1e-10)


def test_weights_far_from_all_centres_equal_exact_arithmetic():
    from fractions import Fraction

    density, *_ = fitted(dy=1)
    density = type(density)(**density.__dict__ | {"W": np.eye(4)[:2]})  # keeps z exact
    x = density.x_scaling.mean + density.x_scaling.sd * np.array([2.0**20, -(2.0**19), 0, 0])
    z = [Fraction(2**20), Fraction(-(2**19))]
    exponents = [
        -sum((a - Fraction(b)) ** 2 for a, b in zip(z, u, strict=True))
        / (2 * Fraction(SIGMA_Z) ** 2)
        for u in density.U
    ]
    log_w = np.array([float(e - max(exponents)) for e in exponents]) + density.log_alpha
    log_w -= np.log(np.sum(np.exp(log_w)))
    np.testing.assert_allclose(density.at(x[None]).log_weights[0], log_w, rtol=1e-12, atol=1e-8)


def test_the_density_depends_on_x_through_z():
    density, _, W, _ = fitted()
    X = np.random.default_rng(3).standard_normal((6, 4))
    Z = (X - density.x_scaling.mean) / density.x_scaling.sd @ W.T
    np.testing.assert_allclose(density.reduce(X), Z, atol=1e-13)
    Y = density.at(X).mean()
    np.testing.assert_allclose(density.at_reduced(Z).pdf(Y), density.at(X).pdf(Y), rtol=1e-10)


def test_centres_without_weight_are_dropped():
    density, basis, _, alpha = fitted()
    assert len(density.U) == np.count_nonzero(alpha > 0) < len(basis)
