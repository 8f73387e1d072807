"""The Gaussian process against loops, differences and fits without the samples left out."""

import numpy as np
import pytest

from condensity.fitting import gaussian_process as gp
from condensity.fitting.gaussian_process import (
    Hyperparameters,
    SmoothFunction,
    choose_hyperparameters,
    covariances,
    fit_process,
    fit_sparse_process,
    negative_log_likelihood,
)
from problems import random_sample

CHOSEN = Hyperparameters(np.array([0.7, 1.5, 3.0, 1.1]), 0.3, 0.05)


def covariance(x, other, lengths, slope):
    """The formula of the module at one pair of inputs; complex parameters are allowed."""
    bell = linear = 0.0
    for a, b, length in zip(x, other, lengths, strict=True):
        bell += (a - b) ** 2 / length**2
        linear += a * b
    return np.exp(-bell / 2) + slope * linear + 1.0


def loops(X, centers, lengths, slope):
    return np.array([[covariance(x, c, lengths, slope) for c in centers] for x in X])


def log_determinant(K):
    """By elimination without conjugates, so that the complex step works."""
    K, total = K.copy(), 0.0
    for i in range(len(K)):
        total += np.log(K[i, i])
        for j in range(i + 1, len(K)):
            K[j] = K[j] - K[j, i] / K[i, i] * K[i]
    return total


def minus_log_posterior(logs, X, Y, noise_shape):
    """The formula of the module with the normal prior, by loops."""
    lengths, slope, noise = np.exp(logs[:-2]), np.exp(logs[-2]), np.exp(logs[-1])
    K = loops(X, X, lengths, slope)
    for i in range(len(X)):
        K[i, i] += noise * noise_shape[i]
    n, dy = Y.shape
    value = dy / 2 * log_determinant(K)
    value += n / 2 * log_determinant(Y.T @ np.linalg.solve(K, Y.astype(K.dtype)))
    for log in logs[:-2]:
        value += ((log - np.log(2.0 * np.sqrt(X.shape[1]))) / 1.5) ** 2 / 2
    return value


def problem(dy, n=14, dx=3):
    sample = random_sample(dy, n=n, dx=dx, dy=dy)
    rng = np.random.default_rng(dy)
    logs = rng.normal([*np.zeros(dx), -1.0, -2.0], 0.4)
    Y = sample.Y - sample.weight @ sample.Y
    return logs, sample.X, Y, rng.uniform(0.3, 3.0, n)


@pytest.mark.parametrize("dx", [3, 8])  # distances by differences, and by a matrix product
def test_covariances_are_those_of_the_formula(dx):
    rng = np.random.default_rng(0)
    X, centers, lengths = rng.normal(size=(5, dx)), rng.normal(size=(4, dx)), rng.uniform(1, 3, dx)
    found = covariances(X, centers, lengths, 0.3)
    np.testing.assert_allclose(found, loops(X, centers, lengths, 0.3), rtol=1e-12)


@pytest.mark.parametrize("dy", [1, 2])
def test_the_likelihood_is_that_of_the_formula(dy):
    args = problem(dy)
    value, _ = negative_log_likelihood(*args)
    assert value == pytest.approx(minus_log_posterior(*args), rel=1e-9)


def test_the_likelihood_is_that_of_a_normal_distribution_with_the_best_covariance_of_outputs():
    logs, X, Y, shape = problem(2)
    n, dy = Y.shape
    K = loops(X, X, np.exp(logs[:-2]), np.exp(logs[-2])) + np.diag(np.exp(logs[-1]) * shape)
    best = Y.T @ np.linalg.solve(K, Y) / n
    joint = np.kron(best, K)
    y = Y.T.ravel()
    exact = 0.5 * (np.linalg.slogdet(joint)[1] + y @ np.linalg.solve(joint, y))
    prior = (logs[:-2] - np.log(2 * np.sqrt(3))) / 1.5
    constant = n * dy / 2 * (1 - np.log(n))
    value, _ = negative_log_likelihood(logs, X, Y, shape)
    assert value == pytest.approx(exact - constant + prior @ prior / 2, rel=1e-9)


@pytest.mark.parametrize("dy", [1, 2])
def test_the_gradient_of_the_likelihood_agrees_with_the_complex_step(dy):
    logs, *data = problem(dy)
    _, gradient = negative_log_likelihood(logs, *data)
    for i in range(len(logs)):
        step = np.zeros(len(logs), dtype=complex)
        step[i] = 1e-30j
        exact = np.imag(minus_log_posterior(logs + step, *data)) / 1e-30
        assert gradient[i] == pytest.approx(exact, rel=1e-7, abs=1e-9)


def test_the_likelihood_does_not_depend_on_the_basis_of_the_outputs():
    logs, X, Y, shape = problem(2)
    mixed = Y @ np.array([[2.0, 0.3], [-1.0, 0.5]])
    value, gradient = negative_log_likelihood(logs, X, Y, shape)
    other, turned = negative_log_likelihood(logs, X, mixed, shape)
    assert other - value == pytest.approx(len(X) * np.log(1.3), rel=1e-8)  # the determinant
    np.testing.assert_allclose(turned, gradient, rtol=1e-6, atol=1e-9)


def test_the_hyperparameters_are_a_minimum_within_their_bounds():
    sample = random_sample(0, n=40, dx=3)
    found = choose_hyperparameters(sample.X, sample.Y, sample.weight)
    logs = np.log([*found.lengths, found.slope, found.noise])
    data = sample.X, sample.Y - sample.weight @ sample.Y, 1 / (40 * sample.weight)
    least, _ = negative_log_likelihood(logs, *data)
    for i, (low, high) in enumerate([gp.LENGTHS] * 3 + [gp.SLOPES, gp.NOISES]):
        for step in (-0.2, 0.2):
            moved = logs.copy()
            moved[i] = np.clip(moved[i] + step, np.log(low), np.log(high))
            assert negative_log_likelihood(moved, *data)[0] >= least - 1e-4


def test_an_input_without_effect_has_the_longest_length_scale():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] ** 2 + 0.05 * rng.normal(size=80)
    lengths = choose_hyperparameters(X, y[:, None], np.full(80, 1 / 80)).lengths
    assert np.argmax(lengths) == 2
    assert np.argmin(lengths) == 0


def test_many_samples_are_represented_by_evenly_spaced_ones(monkeypatch):
    sample = random_sample(1, n=41, dx=2)
    monkeypatch.setattr(gp, "LIKELIHOOD_ROWS", 21)
    found = choose_hyperparameters(sample.X, sample.Y, sample.weight)
    half = slice(None, None, 2)
    weight = sample.weight[half] / sample.weight[half].sum()
    exact = choose_hyperparameters(sample.X[half], sample.Y[half], weight)
    np.testing.assert_allclose(found.lengths, exact.lengths, rtol=1e-6)
    assert found.noise == pytest.approx(exact.noise, rel=1e-6)


@pytest.fixture
def fixed(monkeypatch):
    """The hyperparameters do not depend on the samples."""
    monkeypatch.setattr(gp, "choose_hyperparameters", lambda *_: CHOSEN)


def mean_at(x, X, Y, variances):
    """The mean of the process at one input, from samples whose noise has these variances."""
    K = loops(X, X, CHOSEN.lengths, CHOSEN.slope) + np.diag(variances)
    ones = np.ones((len(X), 1))
    # Generalised least squares for a constant.
    mean = np.linalg.solve(ones.T @ np.linalg.solve(K, ones), ones.T @ np.linalg.solve(K, Y))[0]
    return mean + loops([x], X, CHOSEN.lengths, CHOSEN.slope)[0] @ np.linalg.solve(K, Y - mean)


@pytest.mark.parametrize("dy", [1, 2])
def test_predictions_are_means_of_the_process(fixed, dy):
    s = random_sample(0, n=15, dy=dy)
    function, _ = fit_process(s.X, s.Y, s.weight, None)
    noise = CHOSEN.noise / (15 * s.weight)
    new = np.random.default_rng(5).normal(size=(4, 4))
    for at in (s.X, new):
        exact = [mean_at(x, s.X, s.Y, noise) for x in at]
        np.testing.assert_allclose(function(at), exact, rtol=1e-8)


@pytest.mark.parametrize("labels", [None, np.zeros(15, int)])
def test_residuals_are_those_of_fits_without_the_sample(fixed, labels):
    s = random_sample(0, n=15, dy=2)
    _, residuals = fit_process(s.X, s.Y, s.weight, labels)
    noise = CHOSEN.noise / (15 * s.weight)
    for i in range(15):
        rest = np.arange(15) != i
        left = s.Y[i] - mean_at(s.X[i], s.X[rest], s.Y[rest], noise[rest])
        np.testing.assert_allclose(residuals[i], left, rtol=1e-8)


def test_samples_with_the_same_label_are_left_out_together(fixed):
    s = random_sample(0, n=15, dy=2)
    labels = np.arange(15) % 4
    _, residuals = fit_process(s.X, s.Y, s.weight, labels)
    noise = CHOSEN.noise / (15 * s.weight)
    for i in range(15):
        rest = labels != labels[i]
        left = s.Y[i] - mean_at(s.X[i], s.X[rest], s.Y[rest], noise[rest])
        np.testing.assert_allclose(residuals[i], left, rtol=1e-7)


def test_integer_weights_stand_for_repeated_samples(monkeypatch):
    s, times = random_sample(0, n=12), np.arange(12) % 3 + 1
    total = times.sum()
    each = np.repeat(np.arange(12), times)
    # The noise of a sample with the mean weight is that of ``total / 12`` repeated ones.
    noise = {12: 12 / total * CHOSEN.noise, total: CHOSEN.noise}
    monkeypatch.setattr(
        gp,
        "choose_hyperparameters",
        lambda X, *_: Hyperparameters(CHOSEN.lengths, 0.3, noise[len(X)]),
    )
    weighted, _ = fit_process(s.X, s.Y, times / total, None)
    repeated, _ = fit_process(s.X[each], s.Y[each], np.full(total, 1 / total), None)
    new = np.random.default_rng(5).normal(size=(4, 4))
    np.testing.assert_allclose(weighted(new), repeated(new), rtol=1e-8)


def test_predictions_turn_with_the_outputs():
    s = random_sample(2, n=30, dx=3, dy=2)
    mix = np.array([[2.0, 0.3], [-1.0, 0.5]])
    plain, residuals = fit_process(s.X, s.Y, s.weight, None)
    mixed, others = fit_process(s.X, s.Y @ mix, s.weight, None)
    new = np.random.default_rng(5).normal(size=(4, 3))
    # The search for hyperparameters stops at the same place but for rounding.
    np.testing.assert_allclose(mixed(new), plain(new) @ mix, atol=1e-3)
    np.testing.assert_allclose(others, residuals @ mix, atol=1e-3)


def test_a_constant_input_changes_nothing_but_the_prior(fixed):
    s = random_sample(0, n=15, dx=3)
    padded = np.column_stack([s.X, np.zeros(15)])  # as standardised: a constant input is zero
    function, residuals = fit_process(padded, s.Y, s.weight, None)
    K = loops(s.X, s.X, CHOSEN.lengths[:3], CHOSEN.slope)
    inverse = np.linalg.inv(K + np.diag(CHOSEN.noise / (15 * s.weight)))
    mean = inverse.sum(axis=0) @ s.Y / inverse.sum()
    A = inverse @ (s.Y - mean)
    np.testing.assert_allclose(function(padded), mean + K @ A, rtol=1e-8)
    Q = inverse - np.outer(inverse.sum(axis=1), inverse.sum(axis=0)) / inverse.sum()
    np.testing.assert_allclose(residuals, A / np.diag(Q)[:, None], rtol=1e-8)


@pytest.mark.parametrize(("n", "dx"), [(3, 1), (3, 4), (10, 40)])
@pytest.mark.parametrize("dy", [1, 2])
def test_few_samples_with_many_inputs_have_finite_residuals(n, dx, dy):
    s = random_sample(0, n=n, dx=dx, dy=dy)
    function, residuals = fit_process(s.X, s.Y, s.weight, None)
    assert isinstance(function, SmoothFunction)
    assert np.isfinite(residuals).all()
    assert np.isfinite(function(10 * s.X)).all()


def test_outputs_that_differ_at_the_same_input_are_averaged():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(20, 2)), 2, axis=0)
    y = np.repeat(np.sin(X[::2, 0]), 2) + np.tile([-0.5, 0.5], 20)
    function, residuals = fit_process(X, y[:, None], np.full(40, 1 / 40), None)
    np.testing.assert_allclose(function(X[::2])[:, 0], np.sin(X[::2, 0]), atol=0.15)
    assert 0.4 < np.sqrt(np.mean(residuals**2)) < 0.8
    # A sample next to its copy is left out with it if they share a label.
    _, together = fit_process(X, y[:, None], np.full(40, 1 / 40), np.arange(40) // 2)
    np.testing.assert_allclose(together[::2] - together[1::2], -1.0, atol=1e-6)


@pytest.mark.parametrize("ratio", [1e4, 1e8])
def test_very_unequal_weights_have_finite_residuals(ratio):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(15, 2)), 2, axis=0)
    Y = rng.normal(size=(30, 1))
    weight = np.where(np.arange(30) < 2, ratio, 1.0)
    function, residuals = fit_process(X, Y, weight / weight.sum(), None)
    assert np.isfinite(residuals).all()
    assert np.isfinite(function(X)).all()


def test_an_output_that_does_not_vary_is_predicted_as_it_is():
    X = random_sample(0, n=12).X
    function, residuals = fit_process(X, np.full((12, 1), 2.0), np.full(12, 1 / 12), None)
    np.testing.assert_allclose(residuals, 0.0, atol=1e-12)
    np.testing.assert_allclose(function(X), 2.0, atol=1e-12)


def test_outputs_that_are_multiples_of_one_another_keep_their_relation():
    s = random_sample(0, n=25, dx=2)
    Y = np.column_stack([s.Y, -3 * s.Y])
    function, residuals = fit_process(s.X, Y, s.weight, None)
    np.testing.assert_allclose(residuals[:, 1], -3 * residuals[:, 0], atol=1e-8)
    new = function(2 * s.X)
    np.testing.assert_allclose(new[:, 1], -3 * new[:, 0], atol=1e-8)


# Few centres


def sparse_mean(x, X, Y, centers, precision):
    """The minimum of the penalised squared error of the module at one input, by its equations."""
    design = np.column_stack([loops(X, centers, CHOSEN.lengths, CHOSEN.slope), np.ones(len(X))])
    penalty = np.zeros((len(centers) + 1,) * 2)  # the mean has none
    penalty[:-1, :-1] = loops(centers, centers, CHOSEN.lengths, CHOSEN.slope)
    solution = np.linalg.solve(
        (design * precision[:, None]).T @ design + penalty, (design * precision[:, None]).T @ Y
    )
    row = np.append(loops([x], centers, CHOSEN.lengths, CHOSEN.slope)[0], 1.0)
    return row @ solution


@pytest.mark.parametrize("labels", [None, np.arange(40) % 4])
@pytest.mark.parametrize("dy", [1, 2])
def test_with_all_samples_as_centres_the_sparse_process_is_the_process(dy, labels):
    s = random_sample(0, n=40, dx=2, dy=dy)
    exact, left = fit_process(s.X, s.Y, s.weight, labels)
    found, residuals = fit_sparse_process(s.X, s.Y, s.weight, labels, 40)
    between = (s.X[:20] + s.X[20:]) / 2
    np.testing.assert_allclose(found(between), exact(between), atol=1e-5)
    np.testing.assert_allclose(residuals, left, atol=1e-6)


def test_the_centres_are_evenly_spaced_samples(fixed):
    s = random_sample(0, n=21, dx=4)
    function, _ = fit_sparse_process(s.X, s.Y, s.weight, None, 6)
    np.testing.assert_array_equal(function.centers, s.X[[0, 4, 8, 12, 16, 20]])
    assert function.coefficients.shape == (6, 1)
    function, _ = fit_sparse_process(s.X, s.Y, s.weight, None, 50)
    np.testing.assert_array_equal(function.centers, s.X)


@pytest.mark.parametrize("dy", [1, 2])
def test_the_sparse_process_has_the_smallest_penalised_error(fixed, dy):
    s = random_sample(0, n=21, dy=dy)
    function, _ = fit_sparse_process(s.X, s.Y, s.weight, None, 6)
    precision = 21 * s.weight / CHOSEN.noise
    new = np.random.default_rng(5).normal(size=(5, 4))
    exact = [sparse_mean(x, s.X, s.Y, s.X[::4], precision) for x in new]
    np.testing.assert_allclose(function(new), exact, rtol=1e-6)


@pytest.mark.parametrize("labels", [None, np.zeros(21, int), np.arange(21) % 4])
@pytest.mark.parametrize("dy", [1, 2])
def test_residuals_of_the_sparse_process_are_those_of_fits_without_the_samples(fixed, dy, labels):
    s = random_sample(0, n=21, dy=dy)
    _, residuals = fit_sparse_process(s.X, s.Y, s.weight, labels, 6)
    precision = 21 * s.weight / CHOSEN.noise
    groups = labels if labels is not None and labels.any() else np.arange(21)
    for i in range(21):
        rest = groups != groups[i]
        # The centres stay: they are places, and their outputs play no part.
        exact = sparse_mean(s.X[i], s.X[rest], s.Y[rest], s.X[::4], precision[rest])
        np.testing.assert_allclose(residuals[i], s.Y[i] - exact, rtol=1e-6, atol=1e-7)


def test_integer_weights_of_the_sparse_process_stand_for_repeated_samples(monkeypatch):
    s, times = random_sample(0, n=12), np.arange(12) % 3 + 1
    total = times.sum()
    each = np.repeat(np.arange(12), times)
    noise = {12: 12 / total * CHOSEN.noise, total: CHOSEN.noise}
    monkeypatch.setattr(
        gp,
        "choose_hyperparameters",
        lambda X, *_: Hyperparameters(CHOSEN.lengths, 0.3, noise[len(X)]),
    )
    weighted, alone = fit_sparse_process(s.X, s.Y, times / total, None, 12)
    uniform = np.full(total, 1 / total)
    repeated, together = fit_sparse_process(s.X[each], s.Y[each], uniform, each, total)
    new = np.random.default_rng(5).normal(size=(4, 4))
    np.testing.assert_allclose(weighted(new), repeated(new), rtol=1e-5)
    np.testing.assert_allclose(alone[each], together, rtol=1e-5)


@pytest.mark.parametrize("dy", [1, 2])
def test_centres_at_the_same_place_do_no_harm(dy):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(10, 1)), 6, axis=0)
    Y = np.sin(2 * X) + 0.3 * rng.normal(size=(60, dy))
    function, residuals = fit_sparse_process(X, Y, np.full(60, 1 / 60), None, 60)
    exact, left = fit_process(X, Y, np.full(60, 1 / 60), None)
    np.testing.assert_allclose(function(X), exact(X), atol=1e-4)
    np.testing.assert_allclose(residuals, left, atol=1e-4)


@pytest.mark.parametrize("ratio", [1e4, 1e8])
def test_very_unequal_weights_have_finite_residuals_of_the_sparse_process(ratio):
    rng = np.random.default_rng(0)
    X, Y = np.repeat(rng.normal(size=(15, 2)), 2, axis=0), rng.normal(size=(30, 1))
    weight = np.where(np.arange(30) < 2, ratio, 1.0)
    for labels in (None, np.arange(30) % 3):
        function, residuals = fit_sparse_process(X, Y, weight / weight.sum(), labels, 10)
        assert np.isfinite(residuals).all()
        assert np.isfinite(function(X)).all()
