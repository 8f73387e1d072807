"""The likelihood of a process on A x against loops, a normal density and differences."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from condensity.fitting.process_likelihood import JITTER, ProcessLikelihood


def a_likelihood(dy, n=12):
    rng = np.random.default_rng(dy)
    X, Y = rng.standard_normal((n, 4)), rng.standard_normal((n, dy))
    return ProcessLikelihood(X, Y - Y.mean(axis=0), rng.uniform(0.5, 2.0, n))


A = np.array([[0.8, -0.3, 0.1, 0.5], [0.2, 0.9, -0.6, 0.1]])
LOGS = np.log([0.4, 1.7])


def covariance(problem):
    n, (noise, height) = len(problem.X), np.exp(LOGS)
    K = np.empty((n, n))
    for i, j in np.ndindex(n, n):
        d = A @ (problem.X[i] - problem.X[j])
        same = noise * problem.noise_shape[i] + JITTER * height
        K[i, j] = height * np.exp(-(d @ d) / 2) + 1.0 + (i == j) * same
    return K


def test_one_output_has_the_likelihood_of_a_normal_distribution_of_the_best_scale():
    problem = a_likelihood(1)
    y, K, n = problem.Y[:, 0], covariance(problem), len(problem.Y)
    scale = y @ np.linalg.solve(K, y) / n
    log_density = multivariate_normal(np.zeros(n), scale * K).logpdf(y)
    value = problem.at(A, LOGS)[0]
    constant = 0.5 * (1.0 + np.log(2 * np.pi) - np.log(n))
    assert value == pytest.approx(-log_density / n - constant, rel=1e-9)


def test_several_outputs_share_the_covariance_between_samples():
    problem = a_likelihood(3)
    K, n = covariance(problem), len(problem.Y)
    S = problem.Y.T @ np.linalg.inv(K) @ problem.Y
    expected = 3 * np.linalg.slogdet(K)[1] / (2 * n) + np.linalg.slogdet(S)[1] / 2
    assert problem.at(A, LOGS)[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("dy", [1, 2])
def test_derivatives_equal_differences(dy):
    problem, step = a_likelihood(dy), 1e-6
    _, by_matrix, by_logs = problem.at(A, LOGS)
    for place in np.ndindex(A.shape):
        E = np.zeros(A.shape)
        E[place] = step
        ahead, behind = problem.at(A + E, LOGS)[0], problem.at(A - E, LOGS)[0]
        assert by_matrix[place] == pytest.approx((ahead - behind) / (2 * step), abs=1e-8)
    for k in range(2):
        e = step * (np.arange(2) == k)
        ahead, behind = problem.at(A, LOGS + e)[0], problem.at(A, LOGS - e)[0]
        assert by_logs[k] == pytest.approx((ahead - behind) / (2 * step), abs=1e-8)


def test_a_rotation_of_the_directions_changes_nothing():
    problem = a_likelihood(1)
    Q = np.array([[0.6, 0.8], [-0.8, 0.6]])
    value, by_matrix, _ = problem.at(A, LOGS)
    rotated, by_rotated, _ = problem.at(Q @ A, LOGS)
    assert rotated == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(by_rotated, Q @ by_matrix, atol=1e-12)
