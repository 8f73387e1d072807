from dataclasses import replace

import numpy as np
import pytest

from condensity import LSCE
from condensity.data.sample import Sample
from condensity.datasets import toy_b
from condensity.locations.location import constant_location, linear_location
from condensity.lsce import consensus as consensus_module
from condensity.lsce import learning
from condensity.lsce.consensus import consensus, member_subspaces
from condensity.lsce.learning import (
    learn_subspace,
    learning_width,
    refine_subspace,
    refinement_problem,
    starting_points,
    subspace_containing,
    widen,
)
from condensity.members.member import MemberView
from condensity.members.settings import Setting
from problems import random_subspace


def oscillating(n=120, dx=6, seed=0):
    """Half of the random starts end in local minima: y oscillates along the first input."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, dx))
    y = np.cos(2.5 * X[:, 0]) + 0.2 * rng.standard_normal(n)
    return X, y


def heavy_tailed(n=150, dx=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, dx))
    return X, 1 / X[:, 0] + 0.2 * rng.standard_normal(n)


def a_view(X, y, locator=constant_location):
    n = len(X)
    Y = ((y - y.mean()) / y.std())[:, None]
    return MemberView.of(Sample(X, Y, np.full(n, 1 / n)), np.zeros(n), np.arange(n), locator)


def random_starts(view, dz, count, seed=0):
    active = np.ones(view.sample.X.shape[1], bool)
    return starting_points(view, active, dz, count, np.random.default_rng(seed))


def test_refining_keeps_the_best_of_its_starts():
    view, setting = a_view(*oscillating()), Setting(0.4, 0.2, 0.1)
    starts = random_starts(view, 1, 6)
    values = [refine_subspace(30, (view, [W], setting)).value for W in starts]
    assert max(values) > min(values) + 0.01
    # The background is fixed at the first start, so the losses differ a little.
    assert refine_subspace(30, (view, starts, setting)).value == pytest.approx(
        min(values), abs=0.01
    )


def test_the_end_of_a_search_is_a_minimum_of_the_loss_for_learning():
    view = a_view(*oscillating(n=450))  # more samples than take part in the race
    end = learn_subspace(100, (view, random_starts(view, 1, 10)))
    few = view.thinned(learning.LEARNING_CENTERS)
    problem = few.left_out(end.W, learning_width(view, 1), learning.SIGMA_Y, scores=True)
    point = problem.at(end.W)
    assert end.value == pytest.approx(point.value, rel=1e-3)  # the background is that of a start
    slope = point.gradient() - point.gradient() @ end.W.T @ end.W
    assert np.abs(slope).max() < 1e-3 * abs(end.value)


def test_a_race_of_many_starts_finds_what_single_starts_miss():
    view = a_view(*oscillating())
    starts = random_starts(view, 1, 40)
    alone = [abs(learn_subspace(50, (view, [W])).W[0, 0]) for W in starts[:10]]
    assert min(alone) < 0.5
    assert abs(learn_subspace(50, (view, starts)).W[0, 0]) > 0.97


def test_the_race_evaluates_few_samples_first(monkeypatch):
    sizes = []
    plain = MemberView.left_out

    def recorded(view, *args, **kwargs):
        problem = plain(view, *args, **kwargs)
        sizes.append((len(problem.X), len(problem.centers), len(problem.views)))
        return problem

    monkeypatch.setattr(MemberView, "left_out", recorded)
    monkeypatch.setattr(learning, "LEARNING_CENTERS", 140)
    view = a_view(*oscillating(n=450))
    learn_subspace(2, (view, random_starts(view, 1, 5)))
    # the clipped y and its normal scores in all rounds
    assert sizes == [(160, 80, 2), (400, 140, 2), (450, 140, 2)]
    sizes.clear()
    learn_subspace(2, (view, random_starts(view, 1, 1)))
    assert sizes == [(450, 140, 2)]  # nothing to compare


def test_a_heavy_tail_of_y_does_not_hide_the_direction():
    errors = []
    for seed in range(4):
        view = a_view(*heavy_tailed(seed=seed))
        W = learn_subspace(50, (view, random_starts(view, 1, 20))).W
        errors.append(1 - abs(W[0, 0]))
    assert max(errors) < 0.01


def test_the_width_for_learning_follows_the_sample_size_and_the_dimension():
    view = a_view(*oscillating(n=120))
    assert learning_width(view, 1) == pytest.approx(0.9 * 120 ** (-1 / 5))
    assert learning_width(view, 4) == pytest.approx(1.8 * 120 ** (-1 / 8))


@pytest.mark.parametrize(("sigma_z", "expected"), [(0.1, 0.13), (9.0, None)])
def test_refining_uses_the_kernels_of_the_setting_but_not_much_wider_ones(sigma_z, expected):
    view = a_view(*oscillating())
    W = random_subspace(0, 1, 6)
    setting = Setting(sigma_z, 0.2, 0.1)
    problem = refinement_problem(view, W, setting, 1.3)
    widest = 2**0.5 * learning_width(view, 1)
    assert problem.sigma_z == pytest.approx(expected or widest)
    assert [v.of_y for v in problem.views] == [view.clipped]  # without normal scores
    assert problem.views[0].components.widths[0] == 0.35
    end = refine_subspace(20, (view, [W], setting), widening=1.3)
    assert end.value == pytest.approx(problem.at(end.W).value)
    assert end.value < problem.at(W).value


def test_the_directions_of_a_location_stay_in_the_subspace():
    X, y = oscillating()
    view = a_view(X, y + X[:, 1], linear_location)
    lead = view.location.directions
    for end in (
        learn_subspace(20, (view, random_starts(view, 2, 6))),
        refine_subspace(20, (view, random_starts(view, 2, 3), Setting(0.5, 0.2, 0.1))),
    ):
        np.testing.assert_allclose(lead @ end.W.T @ end.W, lead, atol=1e-10)
        np.testing.assert_allclose(end.W @ end.W.T, np.eye(2), atol=1e-10)


def test_starts_are_orthonormal_and_blind_to_inputs_that_do_not_vary():
    view = a_view(*oscillating())
    active = np.array([True, True, False, True, True, True])
    for W in starting_points(view, active, 2, 3, np.random.default_rng(0)):
        np.testing.assert_allclose(W @ W.T, np.eye(2), atol=1e-12)
        assert (W[:, 2] == 0).all()
    (whole,) = starting_points(view, active, 5, 3, np.random.default_rng(0))
    np.testing.assert_array_equal(whole, np.eye(6)[active])
    led = replace(view, location=replace(view.location, directions=random_subspace(1, 2, 6)))
    (only,) = starting_points(led, active, 2, 3, np.random.default_rng(0))
    np.testing.assert_allclose(only, led.location.directions, atol=1e-12)


def test_widening_keeps_the_subspace_and_containing_keeps_the_lead():
    W, active = random_subspace(0, 2, 6), np.array([True] * 5 + [False])
    W[:, 5] = 0
    W = np.linalg.qr(W.T)[0].T
    wide = widen(W, 3, active, np.random.default_rng(0))
    np.testing.assert_allclose(wide @ wide.T, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(W @ wide.T @ wide, W, atol=1e-12)
    assert np.abs(wide[:, 5]).max() < 1e-12
    lead = random_subspace(3, 1, 6)
    found = subspace_containing(lead, W)
    np.testing.assert_allclose(found @ found.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(lead @ found.T @ found, lead, atol=1e-12)


def test_the_final_search_starts_from_the_members_and_their_consensus(monkeypatch):
    seen = {"members": [], "starts": []}

    def members_of(*arguments):
        seen["members"].append(member_subspaces(*arguments))
        return seen["members"][-1]

    def learn(max_steps, item):
        seen["starts"].append(item[1])
        return learn_subspace(max_steps, item)

    monkeypatch.setattr(consensus_module, "member_subspaces", members_of)
    monkeypatch.setattr(consensus_module, "learn_subspace", learn)
    X, y = toy_b().sample(60, random_state=0)
    LSCE(2, location="none", n_starts=3, max_iter=3, random_state=0).fit(X, y)
    *_, members = seen["members"]  # after those without components
    (starts,) = seen["starts"]
    assert len(members) == 5
    wanted = [consensus(members)[0], *members]
    assert len(starts) == len(wanted) + 3
    for W, start in zip(wanted, starts, strict=False):
        np.testing.assert_allclose(start.T @ start, W.T @ W, atol=1e-10)
