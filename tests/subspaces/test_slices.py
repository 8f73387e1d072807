import numpy as np
import pytest
from scipy.linalg import sqrtm

import oracles
from condensity.data.sample import Sample
from condensity.subspaces.slices import (
    directional_kernel,
    save_kernel,
    sir_kernel,
    sliced_directions,
    slices,
    whitening,
)
from problems import random_sample


def standardised(seed=0, n=40, dx=4, dy=1):
    sample = random_sample(seed, n, dx, dy)
    mean = sample.weight @ sample.X
    sd = np.sqrt(sample.weight @ (sample.X - mean) ** 2)
    return Sample((sample.X - mean) / sd, sample.Y, sample.weight)


def test_slices_have_equal_size_and_are_ordered():
    y = np.random.default_rng(0).standard_normal(23)
    labels = slices(y, np.ones(23), 4)
    assert sorted(np.bincount(labels)) == [5, 6, 6, 6]
    assert (np.diff(labels[np.argsort(y)]) >= 0).all()


def test_slices_keep_equal_values_together():
    y = np.array([0.0] * 7 + [1.0, 2.0, 3.0])
    assert slices(y, np.ones(10), 5).tolist() == [0] * 7 + [1, 2, 2]
    assert slices(y > 0, np.ones(10), 5).tolist() == [0] * 7 + [1] * 3


def test_integer_weights_act_like_repeated_samples():
    rng = np.random.default_rng(1)
    y, weight = rng.standard_normal(30), rng.integers(1, 5, 30)
    rows = np.repeat(np.arange(30), weight)
    np.testing.assert_array_equal(
        slices(y, weight.astype(float), 6)[rows], slices(y[rows], np.ones(len(rows)), 6)
    )


@pytest.mark.parametrize("seed", range(3))
def test_whitened_samples_have_unit_covariance(seed):
    s = standardised(seed)
    Z = s.X @ whitening(s.X, s.weight)
    np.testing.assert_allclose((Z.T * s.weight) @ Z, np.eye(4), atol=1e-12)


def test_a_singular_covariance_gets_a_ridge():
    s = standardised()
    X = np.column_stack([s.X, s.X[:, 0]])  # one input twice
    A = whitening(X, s.weight)
    assert np.isfinite(A).all()
    covariance = (X.T * s.weight) @ X
    np.testing.assert_allclose(A @ A.T @ (covariance + 0.01 * np.eye(5)), np.eye(5), atol=1e-10)


@pytest.mark.parametrize("dy", [1, 2])
def test_kernels_equal_sums_over_slices(dy):
    s = standardised(dy=dy)
    root = np.linalg.inv(sqrtm(np.einsum("i,ij,ik->jk", s.weight, s.X, s.X)))
    Z = s.X @ root
    for kernel in (sir_kernel, save_kernel):
        exact = 0.0
        for y in s.Y.T:
            for p, mean, spread in oracles.slice_moments(Z, y, s.weight, 5):
                gap = np.eye(4) - spread
                term = np.outer(mean, mean) if kernel is sir_kernel else gap @ gap
                exact += p * term / dy
        labels = [slices(y, s.weight, 5) for y in s.Y.T]
        found = np.mean([kernel(Z, s.weight, own) for own in labels], axis=0)
        np.testing.assert_allclose(found, exact, atol=1e-12)
        values, W = sliced_directions(s, labels, kernel)
        np.testing.assert_allclose(values, np.sort(np.linalg.eigvalsh(exact))[::-1], atol=1e-12)
        # Each direction solves the eigenvalue problem in the coordinates of x.
        for value, w in zip(values, W, strict=True):
            v = np.linalg.solve(root, w)
            np.testing.assert_allclose(exact @ v, value * v, atol=1e-10)
            assert v @ v == pytest.approx(1)


@pytest.mark.parametrize("dy", [1, 2])
def test_directional_regression_equals_a_double_sum_over_slices(dy):
    s = standardised(dy=dy)
    Z = s.X @ np.linalg.inv(sqrtm(np.einsum("i,ij,ik->jk", s.weight, s.X, s.X)))
    exact = 0.0
    for y in s.Y.T:
        moments = oracles.slice_moments(Z, y, s.weight, 5)
        for p, mean, spread in moments:
            for q, other_mean, other_spread in moments:
                # (x - x')(x - x')^T has this mean for independent x and x' in the two slices.
                apart = mean - other_mean
                gap = 2 * np.eye(4) - (spread + other_spread + np.outer(apart, apart))
                exact += p * q * gap @ gap / dy
    labels = [slices(y, s.weight, 5) for y in s.Y.T]
    found = np.mean([directional_kernel(Z, s.weight, own) for own in labels], axis=0)
    np.testing.assert_allclose(found, exact, atol=1e-12)


def test_directions_are_uncorrelated_of_unit_variance_and_grow_with_the_first_output():
    s = standardised(3, dy=2)
    labels = [slices(y, s.weight, 5) for y in s.Y.T]
    _, W = sliced_directions(s, labels, sir_kernel)
    Z = s.X @ W.T
    np.testing.assert_allclose((Z.T * s.weight) @ Z, np.eye(4), atol=1e-10)
    assert ((s.weight * s.Y[:, 0]) @ Z >= 0).all()


def test_a_direction_without_variance_has_eigenvalue_zero():
    s = standardised(n=100)
    flat = Sample(np.column_stack([s.X, s.X[:, 0] - s.X[:, 1]]), s.Y, s.weight)  # dependent
    labels = [slices(flat.Y[:, 0], s.weight, 4)]
    null = np.array([1, -1, 0, 0, -1]) / np.sqrt(3)
    for kernel in (sir_kernel, save_kernel, directional_kernel):
        values, W = sliced_directions(flat, labels, kernel)
        informative = W[values > 1e-6 * values[0]]
        assert len(informative) <= 4
        np.testing.assert_allclose(informative @ null, 0, atol=1e-6)


def test_a_single_sample_is_white_already():
    A = whitening(np.zeros((1, 3)), np.ones(1))
    np.testing.assert_allclose(A @ A.T, np.eye(3), atol=1e-12)
