"""The loss of mean and variance against loops and the complex step."""

import numpy as np

from condensity.fitting.dawid_sebastiani import FLOOR, moment_loss, powers


def loops(q, values, targets):
    """The formula of the module for one sample; complex weights are allowed."""
    total = 0.0
    for j, target in enumerate(targets):
        mean = sum(w * v[j] for w, v in zip(q, values, strict=True))
        square = sum(w * v[j] ** 2 for w, v in zip(q, values, strict=True))
        variance = square - mean**2 + FLOOR
        total += np.log(variance) / 2 + (target - mean) ** 2 / (2 * variance)
    return total / len(targets)


def test_losses_and_slopes_equal_loops():
    rng = np.random.default_rng(0)
    values, targets = rng.standard_normal((5, 3)), rng.standard_normal((4, 3))
    q = rng.dirichlet(np.ones(5), 4)
    losses, slopes = moment_loss(q, powers(values), targets)
    for i in range(4):
        np.testing.assert_allclose(losses[i], loops(q[i], values, targets[i]), rtol=1e-13)
        for k in range(5):
            step = 1e-30j * (np.arange(5) == k)
            slope = loops(q[i] + step, values, targets[i]).imag / 1e-30
            np.testing.assert_allclose(slopes[i, k], slope, rtol=1e-11)


def test_without_spread_the_variance_is_the_floor():
    losses, _ = moment_loss(np.ones((1, 1)), powers(np.array([[2.0]])), np.array([[2.0]]))
    np.testing.assert_allclose(losses, 0.5 * np.log(FLOOR))
