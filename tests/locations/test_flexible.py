"""Locations that depend on all inputs, and the value of a location as one more input."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor

from condensity.data.sample import Sample, Scaling
from condensity.fitting import gaussian_process
from condensity.locations import flexible
from condensity.locations.boosting import BOOSTING
from condensity.locations.flexible import (
    NEGLIGIBLE,
    WeightedFunctions,
    average_weights,
    flexible_location,
    smooth_location,
    tree_location,
)
from condensity.locations.location import (
    LEAST_UNIT,
    PredictedInput,
    linear_location,
    location_of_all,
)
from condensity.locations.location_names import LOCATIONS, check_location
from condensity.lsce.consensus import rescaled_subspace
from condensity.lsce.learning import subspace_containing, subspace_without
from condensity.members.member import MemberView
from problems import random_sample, random_subspace


def curved(n=60, dy=1, seed=0):
    """Outputs that no plane describes, with uneven weights."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    signal = np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] ** 2 + X[:, 0]])[:, :dy]
    weight = rng.uniform(0.5, 1.5, n)
    Y = signal + 0.1 * rng.standard_normal((n, dy))
    return Sample(X, Y, weight / weight.sum())


# The average of locations


def generalised_variance(v, residuals, weight):
    """Determinant of the covariance of a weighted sum of residuals, by loops."""
    n, dy = residuals[0].shape
    covariance = np.zeros((dy, dy))
    for i in range(n):
        row = sum(a * r[i] for a, r in zip(v, residuals, strict=True))
        covariance += weight[i] * np.outer(row, row)
    return np.linalg.det(covariance)


def some_residuals(size, dy, n=25, seed=0):
    rng = np.random.default_rng(seed)
    common, weight = rng.normal(size=(n, dy)), rng.uniform(0.5, 1.5, n)
    spread = [1.0, 0.8, 1.2][:size]
    residuals = [0.7 * common + s * rng.normal(size=(n, dy)) for s in spread]
    return residuals, weight / weight.sum()


@pytest.mark.parametrize("dy", [1, 2])
@pytest.mark.parametrize("size", [2, 3])
def test_the_weights_have_the_smallest_determinant_of_a_fine_grid(size, dy):
    residuals, weight = some_residuals(size, dy)
    steps = range(41)
    grid = [(i, 40 - i) for i in steps] if size == 2 else []
    grid = grid or [(i, j, 40 - i - j) for i in steps for j in steps if i + j <= 40]
    values = {v: generalised_variance(np.array(v) / 40, residuals, weight) for v in grid}
    best = np.array(min(values, key=values.get)) / 40
    found = average_weights(residuals, weight)
    assert found.min() > NEGLIGIBLE  # so that the minimum is inside
    assert found.sum() == pytest.approx(1)
    np.testing.assert_allclose(found, best, atol=0.03)
    assert generalised_variance(found, residuals, weight) <= min(values.values()) * (1 + 1e-6)


@pytest.mark.parametrize("dy", [1, 2])
def test_the_gradient_of_the_mean_variance_agrees_with_differences(monkeypatch, dy):
    losses = []
    monkeypatch.setattr(
        flexible, "minimise_on_simplex", lambda f, k, start: losses.append(f) or np.full(k, 1 / k)
    )
    residuals, weight = some_residuals(3, dy)
    average_weights(residuals, weight)
    v, h = np.array([0.5, 0.2, 0.3]), 1e-3
    value, gradient = losses[0](v)
    assert value == pytest.approx(generalised_variance(v, residuals, weight) ** (1 / dy), rel=1e-8)
    for j, unit in enumerate(np.eye(3)):
        # Differences of order four.
        at = {k: losses[0](v + k * h * unit)[0] for k in (-2, -1, 1, 2)}
        exact = (8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12 * h)
        assert gradient[j] == pytest.approx(exact, rel=1e-7)


def test_the_weights_do_not_depend_on_the_basis_of_the_outputs():
    residuals, weight = some_residuals(3, 2)
    mix = np.array([[2.0, 0.3], [-1.0, 1e-3]])
    plain = average_weights(residuals, weight)
    np.testing.assert_allclose(
        average_weights([r @ mix for r in residuals], weight), plain, atol=1e-4
    )


def test_a_location_that_does_not_help_has_no_weight():
    residuals, weight = some_residuals(2, 1)
    found = average_weights([residuals[0], 10 * residuals[0] + residuals[1]], weight)
    np.testing.assert_array_equal(found, [1.0, 0.0])


@pytest.mark.parametrize("dy", [1, 2])
def test_a_flexible_location_is_the_weighted_sum_of_its_parts(dy):
    s = curved(dy=dy)
    s = replace(s, Y=s.Y + np.sign(s.X[:, 1 : 1 + dy] - 0.3))  # steps are for trees
    parts = [f(s.X, s.Y, s.weight) for f in (linear_location, smooth_location, tree_location)]
    shares = average_weights([part.residuals for part in parts], s.weight)
    found = flexible_location(s.X, s.Y, s.weight)
    new = np.random.default_rng(1).normal(size=(7, 3))
    np.testing.assert_allclose(
        found.residuals, sum(v * p.residuals for v, p in zip(shares, parts, strict=True))
    )
    np.testing.assert_allclose(
        found.at(new), sum(v * p.at(new) for v, p in zip(shares, parts, strict=True))
    )
    assert isinstance(found.at, WeightedFunctions)
    assert len(found.at.functions) == np.count_nonzero(shares) > 1
    best = min(generalised_variance([1], [part.residuals], s.weight) for part in parts)
    assert generalised_variance([1], [found.residuals], s.weight) <= best * (1 + 1e-6)


def test_linear_and_smooth_locations_turn_with_the_outputs():
    s, turn = curved(dy=2), np.array([[0.8, -0.6], [0.6, 0.8]])
    # Trees are fitted to each output, so they do not turn.
    for locator in (linear_location, smooth_location):
        plain, turned = locator(s.X, s.Y, s.weight), locator(s.X, s.Y @ turn, s.weight)
        np.testing.assert_allclose(turned.residuals, plain.residuals @ turn, atol=1e-3)


# Trees


def trees_without(s, labels, label, column, n_trees):
    """A regressor fitted to the other folds."""
    rest = labels != label
    weight = s.weight[rest] / s.weight[rest].mean()
    model = GradientBoostingRegressor(n_estimators=n_trees, random_state=0, **BOOSTING)
    X, Y = (np.round(values * 2**30) / 2**30 for values in (s.X, s.Y))
    return model.fit(X[rest], Y[rest, column], sample_weight=weight)


def errors_left_out(s, labels, n_trees):
    """The residuals of all folds, and their squares relative to the variances."""
    residuals = np.empty_like(s.Y)
    for label in np.unique(labels):
        left = labels == label
        for column in range(s.Y.shape[1]):
            model = trees_without(s, labels, label, column, n_trees)
            residuals[left, column] = s.Y[left, column] - model.predict(s.X[left])
    variances = [np.cov(y, aweights=s.weight, ddof=0) for y in s.Y.T]
    return residuals, np.mean(np.sum(s.weight[:, None] * residuals**2, axis=0) / variances)


@pytest.mark.parametrize("labelled", [True, False])
def test_residuals_of_trees_are_those_of_fits_to_the_other_folds(labelled):
    s = curved(dy=2)
    labels = np.arange(60) // 20 if labelled else None
    found = tree_location(s.X, s.Y, s.weight, labels)
    folds = labels if labelled else np.random.default_rng(0).permutation(60) % 5
    # Trees are added as long as the errors fall.
    n_trees, error = 40, errors_left_out(s, folds, 40)[1]
    while n_trees < 400 and (more := errors_left_out(s, folds, n_trees + 40)[1]) < error:
        n_trees, error = n_trees + 40, more
    assert 40 < n_trees < 400
    np.testing.assert_allclose(found.residuals, errors_left_out(s, folds, n_trees)[0], rtol=1e-8)
    new, mean = np.random.default_rng(1).normal(size=(7, 3)), np.zeros((7, 2))
    for label in np.unique(folds):
        for column in range(2):
            model = trees_without(s, folds, label, column, n_trees)
            mean[:, column] += model.predict(new) / len(np.unique(folds))
    np.testing.assert_allclose(found.at(new), mean, rtol=1e-8)


def test_two_locations_that_are_good_at_different_outputs_are_not_averaged():
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((3, 200, 2))
    # The generalised variance is largest between the two good ones: it has several minima.
    residuals = [noise[0] * [0.05, 1.0], noise[1] * [1.0, 0.04], 3 * noise[2]]
    weight = np.full(200, 1 / 200)
    found = generalised_variance(average_weights(residuals, weight), residuals, weight)
    alone = [generalised_variance(vertex, residuals, weight) for vertex in np.eye(3)]
    assert found <= min(alone) * (1 + 1e-6)


def test_rounding_errors_of_the_units_do_not_change_trees():
    s = curved()
    X = np.round(s.X, 1)  # many equal values, so that splits are equally good
    plain = tree_location(X, s.Y, s.weight)
    for other in (X * (1 + 2e-16) + 1e-16, X / 3 * 3):
        again = tree_location(other, s.Y / 3 * 3, s.weight)
        np.testing.assert_allclose(again.residuals, plain.residuals, atol=1e-12)


@pytest.mark.parametrize("name", ["smooth", "trees", "flexible"])
@pytest.mark.parametrize("n", [3, 7])
def test_very_few_samples_have_a_location(name, n):
    s = random_sample(0, n=n, dx=4, dy=2)
    found = LOCATIONS[name](s.X, s.Y, s.weight, None)
    assert np.isfinite(found.residuals).all()
    assert np.isfinite(found.at(5 * s.X)).all()


@pytest.mark.parametrize("name", ["smooth", "trees", "flexible"])
def test_the_residuals_of_labelled_samples_do_not_depend_on_their_outputs(name, monkeypatch):
    # Shares, hyperparameters and the number of trees are chosen with all samples: they are fixed.
    monkeypatch.setattr(flexible, "MOST_TREES", flexible.TREES_A_ROUND)
    fixed = gaussian_process.Hyperparameters(np.ones(3), 0.1, 0.05)
    monkeypatch.setattr(gaussian_process, "choose_hyperparameters", lambda X, Y, w: fixed)
    monkeypatch.setattr(flexible, "average_weights", lambda r, w: np.array([0.0, 0.5, 0.5]))
    s, labels = curved(), np.arange(60) // 12
    group = labels == 2
    moved = s.Y + group[:, None] * [5.0]
    plain = s.Y - LOCATIONS[name](s.X, s.Y, s.weight, labels).residuals
    other = moved - LOCATIONS[name](s.X, moved, s.weight, labels).residuals
    # A smooth location tends to the mean of all outputs, which moves a little.
    np.testing.assert_allclose(other[group], plain[group], atol=0.05)
    assert np.abs(other[~group] - plain[~group]).max() > 0.5


# The value of the location as an input


def test_the_predicted_input_is_the_standardised_principal_combination():
    s = curved(dy=2)
    found = PredictedInput.of(s.Y, s.weight)
    covariance = np.cov(s.Y.T, aweights=s.weight, ddof=0)
    values, vectors = np.linalg.eigh(covariance)
    assert abs(found.axis @ vectors[:, -1]) == pytest.approx(1)
    assert found.axis[np.argmax(np.abs(found.axis))] > 0
    assert found.sd == pytest.approx(np.sqrt(values[-1]))
    full = found.append(s.X, s.Y)
    np.testing.assert_array_equal(full[:, :-1], s.X)
    assert s.weight @ full[:, -1] == pytest.approx(0, abs=1e-12)
    assert s.weight @ full[:, -1] ** 2 == pytest.approx(1)


def test_a_prediction_that_hardly_varies_is_an_input_that_hardly_varies():
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(40, 1))
    others = (Y.sum() - Y) / 39  # the mean of the others tells each output
    full = PredictedInput.of(others, np.full(40, 1 / 40)).append(np.zeros((40, 1)), others)
    assert full[:, 1].std() == pytest.approx(others.std() / LEAST_UNIT)
    assert full[:, 1].std() < 0.3


def test_a_prediction_that_does_not_vary_is_an_input_that_does_not_vary():
    for offset in (0.0, 0.1, 1 / 3):  # the mean of equal numbers is rounded
        weight = np.random.default_rng(0).uniform(0.5, 1.5, 50)
        found = PredictedInput.of(np.full((50, 1), offset), weight / weight.sum())
        full = found.append(np.zeros((50, 1)), np.full((50, 1), offset))
        np.testing.assert_allclose(full[:, 1], 0.0, atol=1e-9)


@pytest.mark.parametrize("name", ["smooth", "trees", "flexible"])
@pytest.mark.parametrize("dy", [1, 2])
def test_training_inputs_contain_predictions_of_fits_without_the_sample(name, dy):
    s = curved(dy=dy)
    view = MemberView.of(s, np.zeros(60), np.arange(60), LOCATIONS[name])
    p = view.location.predicted
    left_out = s.Y - view.location.residuals
    np.testing.assert_allclose(
        view.sample.X[:, -1], (left_out @ p.axis - p.mean) / p.sd, atol=1e-12
    )
    assert s.weight @ view.sample.X[:, -1] == pytest.approx(0, abs=1e-12)
    assert s.weight @ view.sample.X[:, -1] ** 2 == pytest.approx(1)
    np.testing.assert_allclose(view.sample.X[:, :-1], view.scaling.apply(s.X))
    in_sample, _ = view.frame.inputs(s.X)
    np.testing.assert_allclose(in_sample[:, :-1], view.sample.X[:, :-1])
    assert np.abs(in_sample[:, -1] - view.sample.X[:, -1]).max() > 0.05
    # What is left of y is larger if the sample itself was left out.
    error_in = s.Y - view.location.at(view.scaling.apply(s.X))
    assert (s.weight @ error_in**2 < s.weight @ view.location.residuals**2).all()
    np.testing.assert_allclose(view.sample.Y @ view.factor.T, view.location.residuals)


def test_a_sample_does_not_see_its_own_output_in_its_inputs(monkeypatch):
    fixed = gaussian_process.Hyperparameters(np.ones(3), 0.1, 0.05)
    monkeypatch.setattr(gaussian_process, "choose_hyperparameters", lambda X, Y, w: fixed)
    s = curved()
    moved = Sample(s.X, s.Y + (np.arange(60) == 7)[:, None] * 5.0, s.weight)
    seen = []
    for sample in (s, moved):
        view = MemberView.of(sample, np.zeros(60), np.arange(60), smooth_location)
        p = view.location.predicted
        seen.append(view.sample.X[:, -1] * p.sd + p.mean)
    change = np.abs(seen[1] - seen[0])
    assert change[7] < 0.01  # only the mean of all outputs has moved
    assert change.max() > 0.3  # other samples do see it


@pytest.mark.parametrize("name", ["smooth", "trees", "flexible"])
def test_held_out_rows_contain_the_prediction_of_the_location_fitted_without_them(name):
    s = curved(dy=2)
    held = np.arange(60) % 4 == 1
    mass = np.where(held, s.weight, 0.0)
    view = MemberView.of(s, mass, np.arange(60), LOCATIONS[name])
    rest = s[np.flatnonzero(~held)]
    share = rest.weight / rest.weight.sum()
    scaling = Scaling.of(rest.X, share)
    alone = LOCATIONS[name](scaling.apply(rest.X), rest.Y, share, None)
    m = alone.at(scaling.apply(s.X[held]))
    value = (m @ alone.predicted.axis - alone.predicted.mean) / alone.predicted.sd
    np.testing.assert_allclose(view.held_out.X[:, -1], value, atol=1e-8)
    np.testing.assert_allclose(view.held_out.X[:, :-1], scaling.apply(s.X[held]))
    np.testing.assert_allclose(view.held_out.Y @ view.factor.T, s.Y[held] - m, atol=1e-8)
    # Their outputs play no part.
    other = Sample(s.X, np.where(held[:, None], 100.0, s.Y), s.weight)
    again = MemberView.of(other, mass, np.arange(60), LOCATIONS[name])
    np.testing.assert_array_equal(again.held_out.X, view.held_out.X)


def test_no_samples_have_as_many_inputs_as_others():
    s = curved()
    for locator, columns in ((smooth_location, 4), (linear_location, 3)):
        frame = MemberView.of(s, np.zeros(60), np.arange(60), locator).frame
        assert frame.apply(s[:0]).X.shape == (0, columns)
        assert frame.apply(s[:0]).Y.shape == (0, 1)
        assert frame.apply(s[:2]).X.shape == (2, columns)


def test_the_predicted_input_always_varies_and_has_its_own_unit():
    s = curved()
    view = MemberView.of(s, np.zeros(60), np.arange(60), smooth_location)
    np.testing.assert_array_equal(
        view.active(np.array([True, False, True])), [True, False, True, True]
    )
    np.testing.assert_array_equal(view.units, [*view.scaling.sd, view.location.predicted.sd])
    np.testing.assert_array_equal(view.location.directions, [[0, 0, 0, 1]])
    plain = MemberView.of(s, np.zeros(60), np.arange(60), linear_location)
    np.testing.assert_array_equal(plain.active(np.array([True, False, True])), [True, False, True])
    np.testing.assert_array_equal(plain.units, plain.scaling.sd)


# Subspaces of the inputs and the value of the location


def same_span(A, B):
    np.testing.assert_allclose(A.T @ A, B.T @ B, atol=1e-10)


def test_a_subspace_keeps_its_span_in_other_units():
    own, units = np.array([1.0, 2.0, 0.5, 0.3]), np.array([0.7, 2.0, 1.5, 0.9])
    W = subspace_containing(np.eye(4)[-1:], random_subspace(0, 2, 4))
    found = rescaled_subspace(units, own, W)
    np.testing.assert_allclose(found @ found.T, np.eye(2), atol=1e-12)
    raw = np.random.default_rng(0).normal(size=(20, 4))
    z, u = (raw / own) @ W.T, (raw / units) @ found.T
    np.testing.assert_allclose(u @ np.linalg.lstsq(u, z, rcond=None)[0], z, atol=1e-10)
    last = np.eye(4)[-1]
    np.testing.assert_allclose(found.T @ found @ last, last, atol=1e-12)  # still contained
    constant = np.array([0.7, 0.0, 1.5, 0.9])
    everything = rescaled_subspace(constant, own, np.eye(4)[:3])
    np.testing.assert_array_equal(everything, np.eye(4)[[0, 2, 3]])


def test_an_input_that_is_constant_in_one_part_of_the_samples_keeps_the_other_unit():
    W = random_subspace(0, 2, 4)
    found = rescaled_subspace(np.array([0.7, 2, 1.5, 0.9]), np.array([0.7, 0, 1.5, 0.9]), W)
    same_span(found, W)


def test_the_subspace_without_its_lead_is_the_rest():
    lead = np.eye(5)[-1:]
    W = subspace_containing(lead, random_subspace(0, 3, 5))
    rest = subspace_without(lead, W)
    assert rest.shape == (2, 5)
    np.testing.assert_allclose(rest @ rest.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(rest @ lead.T, 0, atol=1e-12)
    same_span(np.vstack([lead, rest]), W)
    assert subspace_without(lead, lead).shape == (0, 5)


def test_a_subspace_can_be_extended_by_the_value_of_the_location():
    lead, W = np.eye(5)[-1:], np.pad(random_subspace(0, 2, 4), ((0, 0), (0, 1)))
    found = subspace_containing(lead, W, 3)
    same_span(found, np.vstack([lead, W]))
    assert subspace_containing(lead, W).shape == (2, 5)
    same_span(subspace_containing(np.empty((0, 5)), W, 2), W)


# Names


def test_auto_tries_flexible_locations_only_without_strict_reduction():
    assert list(check_location("auto")) == ["none", "linear", "flexible"]
    assert list(check_location("auto", strict=True)) == ["none", "linear"]
    for name in ("none", "linear", "smooth", "trees", "flexible"):
        assert check_location(name, strict=True) == {name: LOCATIONS[name]}
    with pytest.raises(ValueError, match="'smooth', 'trees', 'flexible' or a regressor"):
        check_location("quadratic")


def test_a_location_of_all_inputs_says_so():
    s = curved()
    found = location_of_all(lambda X: X[:, :1], s.Y, s.X, s.Y, s.weight)
    assert found.anywhere
    assert found.shrinkage is None
    assert replace(found, anywhere=False).predicted is found.predicted
