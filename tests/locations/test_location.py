import numpy as np
import pytest
from sklearn.neighbors import KNeighborsRegressor

from condensity.locations import location
from condensity.locations.location import (
    RegressorLocation,
    constant_location,
    linear_location,
    repetitions,
)
from problems import random_sample


def sample(dy=2):
    s = random_sample(3, n=30, dx=4, dy=dy)
    return s.X, s.Y, s.weight


def test_without_a_location_residuals_are_deviations_from_the_mean():
    X, Y, weight = sample()
    found = constant_location(X, Y, weight)
    np.testing.assert_allclose(weight @ found.residuals, 0, atol=1e-15)
    np.testing.assert_allclose(found.at(X[:3]) + found.residuals[:3], Y[:3])
    assert found.directions.shape == (0, 4)


@pytest.mark.parametrize("penalty", [1e-3, 0.5])
def test_residuals_of_a_plane_are_those_of_fits_without_the_sample(monkeypatch, penalty):
    monkeypatch.setattr(location, "PENALTIES", (penalty,))
    X, Y, weight = sample()
    found = linear_location(X, Y, weight)
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        np.testing.assert_allclose(
            found.residuals[i], Y[i] - ridge(X[rest], Y[rest], weight[rest], penalty)(X[i])
        )
    np.testing.assert_allclose(found.at(X), ridge(X, Y, weight, penalty)(X))


def test_labelled_samples_are_left_out_together(monkeypatch):
    monkeypatch.setattr(location, "PENALTIES", (0.1,))
    X, Y, weight = sample()
    labels = np.arange(len(X)) % 4
    found = linear_location(X, Y, weight, labels)
    for j in range(4):
        rest, left = labels != j, labels == j
        exact = Y[left] - ridge(X[rest], Y[rest], weight[rest], 0.1)(X[left])
        np.testing.assert_allclose(found.residuals[left], exact, rtol=1e-8)


def ridge(X, Y, weight, penalty):
    """Weighted least squares with a free intercept, by the normal equations."""
    design = np.column_stack([np.ones(len(X)), X])
    gram = design.T @ (weight[:, None] * design) + penalty * np.diag([0, *np.ones(X.shape[1])])
    coef = np.linalg.solve(gram, design.T @ (weight[:, None] * Y))
    return lambda x: coef[0] + x @ coef[1:]


def test_the_penalty_is_the_one_with_the_smallest_residuals(monkeypatch):
    X, Y, weight = sample(dy=1)
    chosen = linear_location(X, Y, weight).residuals
    for penalty in location.PENALTIES:
        monkeypatch.setattr(location, "PENALTIES", (penalty,))
        other = linear_location(X, Y, weight).residuals
        assert (weight @ chosen**2 <= weight @ other**2 + 1e-12).all()


def test_a_plane_depends_on_x_through_its_directions_alone():
    X, Y, weight = sample()
    found = linear_location(X, Y, weight)
    D = found.directions
    np.testing.assert_allclose(D @ D.T, np.eye(2), atol=1e-12)
    moved = X + np.random.default_rng(0).standard_normal(X.shape) @ (np.eye(4) - D.T @ D)
    np.testing.assert_allclose(found.at(moved), found.at(X), atol=1e-10)


def test_more_inputs_than_samples_leave_finite_residuals():
    rng = np.random.default_rng(0)
    found = linear_location(
        rng.standard_normal((6, 20)), rng.standard_normal((6, 1)), np.full(6, 1 / 6)
    )
    assert np.isfinite(found.residuals).all()


def sheet(n=60, seed=0):
    """Two outputs of which one combination is almost settled by x, and their weights."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5))
    noise = rng.standard_normal(n)
    along, across = X[:, 0] + noise, X @ [0.3, 1.0, -0.5, 0.0, 0.2] + 1e-4 * rng.standard_normal(n)
    turn = np.array([[0.8, -0.6], [0.6, 0.8]])
    weight = rng.uniform(0.5, 1.5, n)
    return X, np.column_stack([along, across]) @ turn, weight / weight.sum(), turn


def test_what_holds_outputs_on_a_sheet_is_not_shrunk_away():
    X, Y, weight, turn = sheet()
    left = linear_location(X, Y, weight).residuals @ turn.T
    spread = np.sqrt(weight @ left**2)
    assert 0.8 < spread[0] < 1.4
    assert spread[1] < 2e-4  # and not a thousandth of the first


def test_outputs_that_are_turned_have_a_location_that_is_turned():
    X, Y, weight, turn = sheet()
    plain, turned = linear_location(X, Y, weight), linear_location(X, Y @ turn, weight)
    np.testing.assert_allclose(turned.at(X), plain.at(X) @ turn, atol=1e-9)
    np.testing.assert_allclose(turned.residuals, plain.residuals @ turn, atol=1e-9)


@pytest.mark.parametrize("counts", [(1, 1, 1), (1, 3, 2), (2, 3, 2), (6, 10, 15), (19, 20, 21)])
def test_repetitions_are_the_smallest_whole_numbers_with_the_ratios_of_the_weights(counts):
    weight = np.array(counts) / sum(counts)  # with rounding errors
    np.testing.assert_array_equal(repetitions(weight), counts)
    np.testing.assert_array_equal(repetitions(7 * weight), counts)


@pytest.mark.parametrize("weight", [(1, np.sqrt(2)), (1, 1 + 1e-6), (101, 100), (1, 1e7)])
def test_weights_without_small_whole_ratios_have_no_repetitions(weight):
    assert repetitions(np.array(weight)) is None


def test_a_regressor_without_weights_is_fitted_to_repeated_rows():
    X, Y, _ = sample()
    counts = np.array([2, 3, 4] * 10)
    labels = np.arange(30) % 3
    found = RegressorLocation(KNeighborsRegressor(4))(X, Y, counts / counts.sum(), labels)

    def repeated(rows):
        copies = np.repeat(rows, counts[rows])
        return KNeighborsRegressor(4).fit(X[copies], Y[copies])

    np.testing.assert_allclose(found.at(X + 0.1), repeated(np.arange(30)).predict(X + 0.1))
    for label in range(3):
        left, rest = np.flatnonzero(labels == label), np.flatnonzero(labels != label)
        exact = Y[left] - repeated(rest).predict(X[left])
        np.testing.assert_allclose(found.residuals[left], exact)


def test_a_regressor_without_weights_refuses_weights_that_are_not_whole_numbers():
    X, Y, weight = sample()
    with pytest.raises(ValueError, match="KNeighborsRegressor does not accept sample_weight"):
        RegressorLocation(KNeighborsRegressor(4))(X, Y, weight)
