"""Outer products of gradients against plain loops and known truth."""

import numpy as np
import pytest

from condensity.data.sample import Sample
from condensity.subspaces import gradients
from condensity.subspaces.gradients import (
    LEAST_RIDGE,
    RIDGE,
    cosines_and_sines,
    gradient_directions,
    local_gradients,
)
from problems import random_sample


def slopes_by_loops(X, F, weight, points, Z):
    """A ridge regression around every point, with centred sums."""
    out = []
    for j in points:
        kernel = np.array([np.exp(-0.5 * np.sum((z - Z[j]) ** 2)) for z in Z]) * weight
        kernel /= kernel.sum()
        x0, f0 = kernel @ X, kernel @ F
        S = sum(k * np.outer(x - x0, x - x0) for k, x in zip(kernel, X, strict=True))
        c = sum(k * np.outer(x - x0, f - f0) for k, x, f in zip(kernel, X, F, strict=True))
        ridge = RIDGE * np.trace(S) / X.shape[1] + LEAST_RIDGE
        out.append(np.linalg.solve(S + ridge * np.eye(X.shape[1]), c))
    return np.array(out)


@pytest.mark.parametrize("block", [2**22, 200, 1])
def test_local_slopes_equal_plain_loops(block, monkeypatch):
    monkeypatch.setattr(gradients, "BLOCK", block)
    s = random_sample(0, 30, 3, 2)
    Z = s.X @ np.diag([1.0, 0.3, 0.0])
    points = np.array([0, 4, 5, 17, 29])
    found = local_gradients(s.X, s.Y, s.weight, points, Z)
    np.testing.assert_allclose(found, slopes_by_loops(s.X, s.Y, s.weight, points, Z), atol=1e-12)


def test_a_sample_far_from_all_others_has_no_slope():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [100.0, 100.0]])
    F = np.array([[0.0], [1.0], [2.0], [5.0]])
    slopes = local_gradients(X, F, np.full(4, 0.25), np.arange(4), X)
    assert abs(slopes[3]).max() < 1e-6
    assert slopes[0, 0, 0] > 0.1


def test_cosines_and_sines_of_all_outputs():
    v = np.array([[0.3, -1.0]])
    expected = [f(t * y) for f in (np.cos, np.sin) for y in (0.3, -1.0) for t in (0.5, 1, 1.5, 2)]
    np.testing.assert_allclose(cosines_and_sines(v), [expected])


def standardised(n, dx, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, dx))
    return (X - X.mean(0)) / X.std(0), rng


def test_a_plane_is_found_exactly_by_the_mean():
    X, _ = standardised(60, 4)
    b = np.array([1.0, -2.0, 0.0, 0.5])
    y = X @ b
    s = Sample(X, (y / y.std())[:, None], np.full(60, 1 / 60))
    values, W = gradient_directions(s, s.Y, 1)
    # The ridge of the regressions bends the slopes a little.
    assert abs(W[0] @ b) / np.linalg.norm(W[0]) / np.linalg.norm(b) > 0.999
    assert values[0] > 50 * values[1]
    assert (np.diff(values) <= 0).all()
    Z = X @ W.T
    np.testing.assert_allclose(Z.T @ Z / 60, np.eye(4), atol=1e-10)
    assert (s.Y[:, 0] @ Z >= 0).all()


def test_functions_of_y_tell_directions_of_the_spread():
    X, rng = standardised(400, 4)
    y = np.exp(X[:, 1]) * rng.standard_normal(400)
    y /= y.std()
    s = Sample(X, y[:, None], np.full(400, 1 / 400))
    _, W = gradient_directions(s, cosines_and_sines(s.Y), 1)
    assert abs(W[0, 1]) / np.linalg.norm(W[0]) > 0.97


def test_adapted_kernels_find_what_wide_ones_do_not(monkeypatch):
    X, rng = standardised(200, 6)
    y = np.cos(2 * X[:, 0]) + 0.1 * rng.standard_normal(200)
    s = Sample(X, (y / y.std())[:, None], np.full(200, 1 / 200))
    error = {}
    for steps in (0, 12):
        monkeypatch.setattr(gradients, "N_STEPS", steps)
        _, W = gradient_directions(s, s.Y, 1)
        error[steps] = 1 - abs(W[0, 0]) / np.linalg.norm(W[0])
    assert error[12] < 0.005 < error[0]


def test_regressions_around_some_of_the_samples_are_enough():
    X, rng = standardised(300, 4)
    y = X[:, 0] ** 2 + 0.1 * rng.standard_normal(300)
    s = Sample(X, y[:, None], np.full(300, 1 / 300))
    _, W = gradient_directions(s, s.Y, 1, 50)
    assert abs(W[0, 0]) / np.linalg.norm(W[0]) > 0.99
    assert (gradient_directions(s, s.Y, 1)[1] != W).any()
