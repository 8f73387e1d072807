"""The likelihood of a smooth mean and variance against loops, a normal density and differences."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import matrix_normal, multivariate_normal

from condensity.fitting.process_likelihood import (
    CONSTANT,
    FLOOR,
    N_FEATURES,
    PRIOR_MEANS,
    PRIOR_SDS,
    Features,
    ProcessLikelihood,
    first_parameters,
    random_frequencies,
)

W = np.array([[0.8, -0.3, 0.1, 0.5], [0.2, 0.9, -0.6, 0.1]])


def a_likelihood(dy, n=12, counts=None):
    rng = np.random.default_rng(dy)
    X, Y = rng.standard_normal((n, 4)), rng.standard_normal((n, dy))
    return ProcessLikelihood(X, Y, np.ones(n) if counts is None else counts)


def some_parameters(seed=3):
    rng = np.random.default_rng(seed)
    return np.append(PRIOR_MEANS + 0.3 * rng.standard_normal(4), rng.standard_normal(N_FEATURES))


def features(problem, logs, which):
    """The features of m (0) or log v (1), in plain loops."""
    length, height = np.exp(logs[which]), np.exp(logs[2 + which])
    omega, half = random_frequencies(len(W))[which], N_FEATURES // 2
    out = np.empty((len(problem.X), N_FEATURES))
    for i, j in np.ndindex(len(problem.X), half):
        angle = omega[j] @ (W @ problem.X[i]) / length
        out[i, j] = height * np.cos(angle) / np.sqrt(half)
        out[i, half + j] = height * np.sin(angle) / np.sqrt(half)
    return out


def covariance_and_rest(problem, parameters):
    """The covariance between samples, and the terms of the parameters alone."""
    logs, c = parameters[:4], parameters[4:]
    R, P = features(problem, logs, 1), features(problem, logs, 0)
    v = np.exp(R @ c) + FLOOR
    K = P @ P.T + CONSTANT**2 + np.diag(v)
    H = np.eye(N_FEATURES) + problem.Y.shape[1] / 2 * R.T @ R
    rest = np.linalg.slogdet(H)[1] / 2 + c @ c / 2
    return K, rest + np.sum(((logs - PRIOR_MEANS) / PRIOR_SDS) ** 2) / 2


def test_one_output_has_the_likelihood_of_a_normal_distribution_of_the_best_scale():
    problem, parameters = a_likelihood(1), some_parameters()
    y, n = problem.Y[:, 0], len(problem.Y)
    K, rest = covariance_and_rest(problem, parameters)
    scale = y @ np.linalg.solve(K, y) / n
    log_density = multivariate_normal(np.zeros(n), scale * K).logpdf(y)
    constant = n / 2 * (1.0 + np.log(2 * np.pi))
    expected = (rest - log_density - constant) / n
    assert problem.at(W, parameters)[0] == pytest.approx(expected, rel=1e-9)


def test_several_outputs_have_the_likelihood_of_a_matrix_normal_distribution():
    problem, parameters = a_likelihood(3), some_parameters()
    K, rest = covariance_and_rest(problem, parameters)
    n = len(problem.Y)
    S = problem.Y.T @ np.linalg.solve(K, problem.Y) / n
    log_density = matrix_normal(rowcov=K, colcov=S).logpdf(problem.Y)
    constant = 3 * n / 2 * (1.0 + np.log(2 * np.pi))
    expected = (rest - log_density - constant) / n
    assert problem.at(W, parameters)[0] == pytest.approx(expected, rel=1e-9)


def test_a_count_of_two_is_a_repeated_sample():
    counts = np.array([1, 2, 1, 1, 2, 1, 1, 1, 1, 1, 1, 2.0])
    counted, parameters = a_likelihood(2, counts=counts), some_parameters()
    each = np.repeat(np.arange(12), counts.astype(int))
    repeated = ProcessLikelihood(counted.X[each], counted.Y[each], np.ones(len(each)))
    values = [problem.at(W, parameters)[0] for problem in (counted, repeated)]
    assert values[0] == pytest.approx(values[1], rel=1e-9)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("relation", ["equal", "affine", "more outputs than samples", "constant"])
def test_related_outputs_have_a_finite_likelihood(relation):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 4))
    y = X[:, :1] - X[:, :1].mean()
    Y = {
        "equal": np.hstack([y, y]),
        "affine": np.hstack([y, y**2, 2 * y - y**2]),
        "more outputs than samples": rng.standard_normal((20, 24)),
        "constant": np.zeros((20, 2)),
    }[relation]
    problem = ProcessLikelihood(X, Y, np.ones(20))
    for seed in range(20):
        parameters = some_parameters(seed)
        parameters[:4] = PRIOR_MEANS + PRIOR_SDS * rng.standard_normal(4)
        value, *slopes = problem.at(W, parameters)
        assert np.isfinite(value)
        assert all(np.isfinite(slope).all() for slope in slopes)


@pytest.mark.parametrize("dy", [1, 2])
def test_derivatives_equal_differences(dy):
    counts = np.linspace(0.5, 1.5, 12)
    problem, parameters, step = a_likelihood(dy, counts=counts), some_parameters(), 1e-6
    _, by_W, by_parameters = problem.at(W, parameters)
    for place in np.ndindex(W.shape):
        E = np.zeros(W.shape)
        E[place] = step
        ahead, behind = problem.at(W + E, parameters)[0], problem.at(W - E, parameters)[0]
        assert by_W[place] == pytest.approx((ahead - behind) / (2 * step), abs=1e-7)
    for k in range(len(parameters)):
        e = step * (np.arange(len(parameters)) == k)
        ahead, behind = problem.at(W, parameters + e)[0], problem.at(W, parameters - e)[0]
        assert by_parameters[k] == pytest.approx((ahead - behind) / (2 * step), abs=1e-7)


def test_the_features_approximate_a_gaussian_covariance():
    """The mean over the frequencies is a Gaussian function of the distance."""
    omega, z = random_frequencies(1)[0], np.array([0.0, 0.7, 1.5])
    covariance = np.mean(np.cos(omega[:, 0] * (z[:, None] - z)[..., None]), axis=-1)
    expected = np.exp(-((z[:, None] - z) ** 2) / 2)
    assert np.abs(covariance - expected).max() < 2 / np.sqrt(N_FEATURES)


def test_the_variance_of_the_samples_is_found():
    """With the best parameters, log v is a line if the logarithm of the variance is one."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, (400, 3))
    Y = (np.sin(X[:, 0]) + np.exp(0.7 * X[:, 0]) * rng.standard_normal(400))[:, None]
    problem = ProcessLikelihood(X, Y, np.ones(400))
    direction = np.eye(3)[:1]
    best = minimize(
        lambda p: problem.at(direction, p)[::2], first_parameters(), jac=True, method="L-BFGS-B"
    ).x
    omega = random_frequencies(1)[1]
    log_v = Features.of(X[:, :1], omega, *np.exp(best[[1, 3]])).values @ best[4:]
    assert np.corrcoef(log_v, X[:, 0])[0, 1] > 0.95
    assert np.polyfit(X[:, 0], log_v, 1)[0] == pytest.approx(1.4, abs=0.3)


@pytest.mark.parametrize("noise", ["normal", "t"])
def test_the_kurtosis_tells_heavy_tails_from_a_changing_variance(noise):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((400, 3))
    e = rng.standard_normal(400) if noise == "normal" else rng.standard_t(2, 400)
    problem = ProcessLikelihood(X, (np.sin(X[:, 0]) + np.exp(X[:, 0]) * e)[:, None], np.ones(400))
    direction = np.eye(3)[:1]
    best = minimize(
        lambda p: problem.at(direction, p)[::2], first_parameters(), jac=True, method="L-BFGS-B"
    ).x
    kurtosis = problem.kurtosis(direction, best)
    assert 2.5 < kurtosis < 4.0 if noise == "normal" else kurtosis > 6.0


def test_the_kurtosis_is_that_of_the_residuals_of_the_posterior_mean():
    problem, parameters = a_likelihood(2, n=30), some_parameters()
    K, _ = covariance_and_rest(problem, parameters)
    v = np.exp(features(problem, parameters[:4], 1) @ parameters[4:]) + FLOOR
    residuals = np.diag(v) @ np.linalg.solve(K, problem.Y) / np.sqrt(v)[:, None]
    expected = max(np.mean(r**4) / np.mean(r**2) ** 2 for r in residuals.T)
    assert problem.kurtosis(W, parameters) == pytest.approx(expected, rel=1e-8)
