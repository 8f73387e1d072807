from dataclasses import replace

import numpy as np
import pytest

from condensity.fitting import leave_one_out
from condensity.locations.location import constant_location, linear_location
from condensity.members import member as view_module
from condensity.members.member import MemberView
from oracles import left_out_loss
from problems import random_sample, random_subspace, rotation

SIGMA_Z, SIGMA_Y = 0.8, 0.5


def a_view(dy, labels=None):
    s = random_sample(3, n=12, dx=4, dy=dy)
    return MemberView.of(s, np.zeros(12), np.arange(0, 12, 2), constant_location, labels=labels)


def with_outputs(view, Y):
    """The view with other outputs, which are not clipped."""
    changed = replace(view, sample=replace(view.sample, Y=Y))
    changed.__dict__["clipped"] = lambda values: values
    return changed


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize(("dz", "dy"), [(1, 1), (2, 2), (3, 1)])
def test_value_and_gradient_equal_loops(dz, dy, grouped):
    labels = np.arange(12) % 3 if grouped else None
    view, W = a_view(dy, labels), random_subspace(dz, dz, 4)
    view = with_outputs(view, view.sample.Y)
    problem = view.left_out(W, SIGMA_Z, SIGMA_Y)
    point = problem.at(W)

    def loss(W):
        return left_out_loss(W, view, np.exp(problem.log_background), SIGMA_Z, SIGMA_Y, labels)

    assert point.value == pytest.approx(loss(W), rel=1e-12)
    gradient = np.zeros_like(W)
    for i, j in np.ndindex(*W.shape):
        step = np.zeros(W.shape, dtype=complex)
        step[i, j] = 1e-30j
        gradient[i, j] = loss(W + step).imag / 1e-30
    assert np.abs(point.gradient() - gradient).max() <= 1e-12 * np.abs(gradient).max()


def test_extreme_outputs_are_clipped():
    s = random_sample(3, n=12, dx=4, dy=1)
    s = replace(s, Y=np.vstack([s.Y[:-1], [[1e3]]]))
    view = MemberView.of(s, np.zeros(12), np.arange(0, 12, 2), constant_location)
    W = random_subspace(1, 2, 4)
    clipped = view.clipped(view.sample.Y)
    assert np.abs(clipped - view.sample.Y).max() > 0.02
    expected = with_outputs(view, clipped).left_out(W, SIGMA_Z, SIGMA_Y).at(W).value
    assert view.left_out(W, SIGMA_Z, SIGMA_Y).at(W).value == pytest.approx(expected, rel=1e-12)


def test_with_scores_the_loss_is_the_mean_over_y_and_its_normal_scores():
    view, W = a_view(2), random_subspace(1, 2, 4)
    problem = view.left_out(W, SIGMA_Z, SIGMA_Y, scores=True)
    scored = with_outputs(view, view.normal_scores(view.sample.Y))
    plain = [v.left_out(W, SIGMA_Z, SIGMA_Y) for v in (view, scored)]
    values = [p.at(W).value for p in plain]
    assert problem.at(W).value == pytest.approx(np.mean(values), rel=1e-12)
    gradients = [p.at(W).gradient() for p in plain]
    np.testing.assert_allclose(problem.at(W).gradient(), np.mean(gradients, axis=0), atol=1e-14)


def test_at_other_samples_y_has_the_scores_of_the_view():
    view, W = a_view(1), random_subspace(1, 2, 4)
    problem = view.left_out(W, SIGMA_Z, SIGMA_Y, scores=True)
    mass = view.sample.weight[view.basis]
    again = problem.without_samples(mass).over(view.sample)
    np.testing.assert_allclose(again.match, problem.match, rtol=1e-14)
    with_own_kernel = replace(problem, log_mass=np.log(mass))
    assert again.at(W).value == pytest.approx(with_own_kernel.at(W).value, rel=1e-12)


@pytest.mark.parametrize("grouped", [False, True])
def test_the_loss_at_some_rows_is_theirs_alone(grouped):
    view = a_view(1, np.arange(12) % 3 if grouped else None)
    W = random_subspace(1, 2, 4)
    whole = view.left_out(W, SIGMA_Z, SIGMA_Y)
    part = view.left_out(W, SIGMA_Z, SIGMA_Y, rows=4)
    rows = [0, 3, 7, 11]
    np.testing.assert_array_equal(part.X, view.sample.X[rows])
    np.testing.assert_array_equal(part.log_mass, whole.log_mass[rows])
    np.testing.assert_array_equal(part.match, whole.match[rows])
    weight = view.sample.weight[rows]
    np.testing.assert_allclose(part.weight, weight / weight.sum(), rtol=1e-14)
    same = view.left_out(W, SIGMA_Z, SIGMA_Y, rows=12)
    assert same.at(W).value == whole.at(W).value


def test_a_cell_of_a_table_keeps_its_own_kernel():
    view, W = a_view(1), random_subspace(1, 2, 4)
    problem = replace(view, by_cells=True).left_out(W, SIGMA_Z, SIGMA_Y)
    mass = np.broadcast_to(np.log(view.sample.weight[view.basis]), problem.log_mass.shape)
    np.testing.assert_allclose(problem.log_mass, mass, rtol=1e-14)


def test_background_is_a_share_of_the_mean_kernel_mass():
    view, W = a_view(1), random_subspace(0, 2, 4)
    Z = view.sample.X @ W.T
    phi = np.exp(-((Z[:, None] - Z[view.basis]) ** 2).sum(-1) / (2 * SIGMA_Z**2))
    phi[view.basis, np.arange(len(view.basis))] = 0.0
    weight = view.sample.weight
    mean_mass = weight @ phi @ weight[view.basis]
    problem = view.left_out(W, SIGMA_Z, SIGMA_Y)
    assert np.exp(problem.log_background) == pytest.approx(view_module.BACKGROUND * mean_mass)


def test_rotation_within_the_subspace_changes_nothing():
    view, W, Q = a_view(1), random_subspace(5, 3, 4), rotation(6, 3)
    problem = view.left_out(W, SIGMA_Z, SIGMA_Y)
    point, rotated = problem.at(W), problem.at(Q @ W)
    assert rotated.value == pytest.approx(point.value, rel=1e-12)
    np.testing.assert_allclose(rotated.gradient(), Q @ point.gradient(), atol=1e-13)


def test_a_single_group_leaves_out_one_sample_at_a_time():
    W = random_subspace(0, 2, 4)
    alike = a_view(1, labels=np.zeros(12, dtype=int))
    losses = [v.left_out(W, SIGMA_Z, SIGMA_Y).at(W).value for v in (alike, a_view(1))]
    assert losses[0] == losses[1]


def test_loss_is_smallest_in_the_true_subspace():
    rng = np.random.default_rng(0)
    s = random_sample(0, n=150, dx=5, dy=1)
    y = np.sin(2 * s.X[:, :1]) + 0.1 * rng.standard_normal((150, 1))
    s = type(s)(s.X, y, s.weight)
    view = MemberView.of(s, np.zeros(150), np.arange(150), linear_location)
    true = np.eye(5)[:1]
    problem = view.left_out(true, 0.3, 0.4)
    at_truth = problem.at(true).value
    assert all(at_truth < problem.at(random_subspace(k, 1, 5)).value - 0.02 for k in range(5))


def test_only_the_background_remains_for_very_narrow_kernels():
    view, W = a_view(1), random_subspace(0, 2, 4)
    point = view.left_out(W, 1e-6, SIGMA_Y).at(W)
    np.testing.assert_allclose(point.q[:, -1], 1)
    np.testing.assert_allclose(point.gradient(), 0, atol=1e-12)


def test_a_thinned_view_keeps_centres_from_first_to_last():
    view = a_view(1)
    thin = view.thinned(3)
    assert thin.basis.tolist() == [view.basis[0], view.basis[2], view.basis[-1]]
    assert view.thinned(6) is view


def a_large_view():
    s = random_sample(4, n=90, dx=4, dy=1)
    return MemberView.of(s, np.zeros(90), np.arange(90), constant_location)


@pytest.mark.parametrize(("rough", "tolerance"), [(False, 1e-6), (True, 1e-3)])
def test_a_compressed_loss_has_almost_the_same_value_and_gradient(rough, tolerance):
    W = random_subspace(0, 2, 4)
    plain = a_large_view().left_out(W, SIGMA_Z, SIGMA_Y, scores=True)
    few = plain.compressed(rough=rough)
    assert 2 * few.pair.shape[0] < plain.pair.shape[0]
    expected, point = plain.at(W), few.at(W)
    assert point.value == pytest.approx(expected.value, rel=tolerance)
    gradient = expected.gradient()
    difference = np.abs(point.gradient() - gradient).max()
    assert 0 < difference <= tolerance * np.abs(gradient).max()


def test_tables_that_cannot_be_compressed_stay_as_they_are():
    view, W = a_view(1), random_subspace(0, 2, 4)
    plain = view.left_out(W, SIGMA_Z, 0.02)
    assert plain.compressed().span is None
    assert plain.compressed().at(W).value == plain.at(W).value


def test_the_compression_does_not_depend_on_rounding_errors_of_the_data():
    W = random_subspace(0, 2, 4)
    plain = a_large_view().left_out(W, SIGMA_Z, SIGMA_Y)
    rng = np.random.default_rng(0)
    noisy = {
        name: getattr(plain, name) * (1 + 1e-15 * rng.standard_normal(getattr(plain, name).shape))
        for name in ("match", "pair", "powers")
    }
    few, other = plain.compressed(), replace(plain, **noisy).compressed()
    np.testing.assert_array_equal(few.span, other.span)
    assert other.at(W).value == pytest.approx(few.at(W).value, rel=1e-13)


@pytest.mark.parametrize("compressed", [False, True])
def test_many_points_are_evaluated_like_single_ones(compressed, monkeypatch):
    monkeypatch.setattr(leave_one_out, "CACHED", 2 * 90 * 90)  # two points in a block
    Ws = np.stack([random_subspace(k, 2, 4) for k in range(5)])
    problem = a_large_view().left_out(Ws[0], SIGMA_Z, SIGMA_Y)
    problem = problem.compressed() if compressed else problem
    values, gradients = problem.at_all(Ws)
    for W, value, gradient in zip(Ws, values, gradients, strict=True):
        point = problem.at(W)
        assert value == pytest.approx(point.value, rel=1e-13)
        np.testing.assert_allclose(gradient, point.gradient(), atol=1e-13)
