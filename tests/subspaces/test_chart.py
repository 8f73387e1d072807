import numpy as np
import pytest

from condensity.fitting.sce import SCE
from condensity.subspaces.chart import Chart, minimise, minimise_jointly
from condensity.subspaces.descent import descend
from condensity.subspaces.grassmann import projector_gap
from problems import random_sample, random_subspace


def sce(seed=0, n=60, dx=5):
    sample = random_sample(seed, n=n, dx=dx)
    return SCE.build(sample, sample[:20], sigma_z=0.8, sigma_y=0.5, penalty=0.01)


@pytest.mark.parametrize("n_fixed", [0, 1])
def test_points_of_a_chart_are_orthonormal_and_its_origin_is_the_start(n_fixed):
    W = random_subspace(0, 3, 6)
    chart = Chart.around(W, n_fixed)
    assert chart.size == (3 - n_fixed) * 3
    np.testing.assert_allclose(chart.at(np.zeros(chart.size))[0], W, atol=1e-14)
    far = chart.at(3 * np.random.default_rng(1).standard_normal(chart.size))[0]
    np.testing.assert_allclose(far @ far.T, np.eye(3), atol=1e-12)
    np.testing.assert_array_equal(far[:n_fixed], W[:n_fixed])


def test_a_chart_reaches_subspaces_far_from_its_origin():
    W, goal = random_subspace(0, 2, 5), random_subspace(7, 2, 5)
    chart = Chart.around(W)
    omega = np.linalg.solve(goal @ W.T, goal @ chart.complement.T)
    assert projector_gap(chart.at(omega.ravel())[0], goal) < 1e-12


@pytest.mark.parametrize("n_fixed", [0, 1])
def test_gradient_in_coordinates_equals_finite_differences(n_fixed):
    problem, chart = sce(), Chart.around(random_subspace(0, 2, 5), n_fixed)
    omega = 0.5 * np.random.default_rng(2).standard_normal(chart.size)
    W, root = chart.at(omega)
    gradient = chart.pull(problem.at(W).gradient(), W, root)
    step = 1e-6
    for j, slope in enumerate(gradient):
        nudge = step * (np.arange(chart.size) == j)
        ahead, behind = (problem.at(chart.at(omega + s * nudge)[0]).value for s in (1, -1))
        assert slope == pytest.approx((ahead - behind) / (2 * step), rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("n_fixed", [0, 1])
def test_the_gradient_of_a_function_of_the_basis_equals_finite_differences(n_fixed):
    """The function changes if W is rotated within its row space."""
    chart, rng = Chart.around(random_subspace(0, 3, 6), n_fixed), np.random.default_rng(5)
    slope, bend = rng.standard_normal((2, 3, 6))

    def value(omega):
        W = chart.at(omega)[0]
        return np.sum(slope * W + bend * W**3)

    omega = 0.7 * rng.standard_normal(chart.size)
    W, root = chart.at(omega)
    gradient = chart.pull(slope + 3 * bend * W**2, W, root)
    for j in range(chart.size):
        nudge = 1e-6 * (np.arange(chart.size) == j)
        difference = (value(omega + nudge) - value(omega - nudge)) / 2e-6
        assert gradient[j] == pytest.approx(difference, rel=1e-6, abs=1e-8)


def test_minimise_ends_at_zero_gradient_and_not_above_geodesic_descent():
    problem, W = sce(), random_subspace(3, 2, 5)
    end = minimise(problem, W, max_steps=500)
    found, value = end.W, end.value
    assert 1 < end.n_steps < 500
    assert value == pytest.approx(problem.at(found).value, rel=1e-12)
    chart = Chart.around(found)
    flat = chart.pull(problem.at(found).gradient(), found, np.eye(2))
    assert np.abs(flat).max() < 1e-3 * abs(value)
    geodesic = descend(problem, W, max_steps=50, tol=0.0)
    assert value <= geodesic.point.value + 1e-4 * abs(value)


def test_fixed_rows_do_not_change():
    problem, W = sce(), random_subspace(4, 2, 5)
    end = minimise(problem, W, max_steps=100, n_fixed=1)
    found, value = end.W, end.value
    np.testing.assert_array_equal(found[0], W[0])
    assert value < problem.at(W).value
    same = minimise(problem, W, max_steps=100, n_fixed=2)
    np.testing.assert_array_equal(same.W, W)
    assert same.n_steps == 0


def test_a_subspace_and_parameters_are_minimised_together():
    """The best plane and the best values in it of a quadratic function are known."""
    goal, target = random_subspace(1, 2, 5), np.array([0.3, -0.4, 0.1])

    def function(W, parameters):
        gap = parameters - target * (1.0 + np.sum((W @ goal.T) ** 2))
        value = 3.0 - np.sum((W @ goal.T) ** 2) + gap @ gap
        by_W = -2.0 * (1.0 + 2.0 * gap @ target) * W @ goal.T @ goal
        return value, by_W, 2.0 * gap

    end, found = minimise_jointly(function, random_subspace(4, 2, 5), np.zeros(3), max_steps=200)
    np.testing.assert_allclose(found, 3.0 * target, atol=0.02)
    assert projector_gap(end.W, goal) < 1e-2
    assert end.value == pytest.approx(1.0, abs=1e-4)
