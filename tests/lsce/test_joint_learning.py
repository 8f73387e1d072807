"""Learning a subspace together with a location that is a function of z."""

import numpy as np
import pytest

import condensity.lsce.configurations as configurations_module
import condensity.lsce.exploration as exploration_module
import condensity.lsce.learning as learning_module
from condensity import LSCE
from condensity.data.sample import Sample
from condensity.fitting.process_likelihood import first_parameters
from condensity.locations.location import constant_location
from condensity.lsce.learning import (
    N_RIVALS,
    RACE,
    JointLoss,
    JointRound,
    best_ends,
    learn_subspace,
    learn_with_location,
    learning_problem,
)
from condensity.members.member import MemberView
from condensity.subspaces.chart import Minimum
from condensity.subspaces.grassmann import projector_gap
from condensity.subspaces.lockstep import minimise_all


def view_of(X, Y, labels=None):
    sample = Sample(X, Y, np.full(len(X), 1 / len(X)))
    centers = np.arange(len(X))
    return MemberView.of(sample, np.zeros(len(X)), centers, constant_location, labels=labels)


def curved(seed, n=150, dx=5):
    """A mean that oscillates along the first two inputs."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, dx))
    mean = np.cos(2 * X[:, 0]) + np.sin(2 * X[:, 1])
    return X, (mean + 0.1 * rng.standard_normal(n))[:, None]


def test_a_curved_mean_is_followed_more_closely():
    errors = []
    for seed in range(3):
        view = view_of(*curved(seed))
        truth = np.eye(5)[:2]
        near = np.linalg.qr((truth + 0.3 * np.eye(5)[2:4]).T)[0].T
        alone = learn_subspace(50, (view, [near])).W
        joint = learn_with_location(50, (view, [near])).W
        errors.append([projector_gap(W, truth) for W in (alone, joint)])
    alone, joint = np.mean(errors, axis=0)
    assert joint < 0.6 * alone


def spread(seed, n=200, dx=10):
    """Only the variance depends on the inputs, through the first of them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, dx))
    return X, (np.exp(X[:, 0]) * rng.standard_normal(n))[:, None]


def test_directions_of_the_spread_are_found_more_closely():
    truth, errors = np.eye(10)[:1], []
    for seed in range(6):
        view = view_of(*spread(seed))
        near = np.linalg.qr((truth + 0.4 * np.eye(10)[3:4]).T)[0].T
        alone = learn_subspace(50, (view, [near])).W
        joint = learn_with_location(50, (view, [near])).W
        errors.append([projector_gap(W, truth) for W in (alone, joint)])
    alone, joint = np.mean(errors, axis=0)
    assert joint < 0.9 * alone


def test_more_starts_leave_a_local_minimum():
    """From a subspace without two of three directions, the search alone does not find them."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((200, 10))
    Y = (np.sum(X[:, :3] ** 2, axis=1) + 0.5 * rng.standard_normal(200))[:, None]
    view, truth = view_of(X, Y), np.eye(10)[:3]
    bad = np.eye(10)[[0, 7, 8]]
    starts = [np.linalg.qr(rng.standard_normal((10, 3)))[0].T for _ in range(40)]
    rivals = learn_subspace(1, (view, starts)).rivals
    assert len(rivals) == N_RIVALS
    alone = learn_with_location(50, (view, [bad]))
    assert projector_gap(alone.W, truth) > 1.0
    assert projector_gap(learn_with_location(50, (view, [bad, *rivals])).W, truth) < 0.4


def test_derivatives_of_the_joint_loss_equal_differences():
    X, Y = curved(3, n=60)
    W = np.linalg.qr(np.random.default_rng(0).standard_normal((5, 2)))[0].T
    loss, parameters = JointLoss.of(view_of(X, Y), W, 50, 25.0), first_parameters()
    parameters = parameters + 0.3 * np.random.default_rng(1).standard_normal(len(parameters))
    _, by_W, by_parameters = loss(W, parameters)
    step = 1e-6
    for place in np.ndindex(W.shape):
        E = np.zeros(W.shape)
        E[place] = step
        ahead, behind = loss(W + E, parameters)[0], loss(W - E, parameters)[0]
        assert abs(by_W[place] - (ahead - behind) / (2 * step)) < 1e-6
    for k in (0, 1, 2, 3, 10):
        e = step * (np.arange(len(parameters)) == k)
        ahead, behind = loss(W, parameters + e)[0], loss(W, parameters - e)[0]
        assert abs(by_parameters[k] - (ahead - behind) / (2 * step)) < 1e-6


def test_heavy_tails_do_not_hide_the_direction():
    truth, errors = np.eye(6)[:1], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((200, 6))
        Y = (X[:, 0] ** 2 + 0.3 * rng.standard_cauchy(200))[:, None]
        view = view_of(X, Y)
        near = np.linalg.qr((truth + 0.4 * np.eye(6)[3:4]).T)[0].T
        alone = learn_subspace(50, (view, [near])).W
        joint = learn_with_location(50, (view, [near])).W
        errors.append([projector_gap(W, truth) for W in (alone, joint)])
    alone, joint = np.mean(errors, axis=0)
    assert joint < alone


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("relation", ["equal", "affine", "constant"])
def test_related_outputs_can_be_learned_together(relation):
    X = np.random.default_rng(0).standard_normal((30, 4))
    y = X[:, :1]
    Y = {"equal": [y, y], "affine": [y, y**2, 2 * y - y**2], "constant": [y, 0 * y]}[relation]
    end = learn_with_location(50, (view_of(X, np.hstack(Y)), [np.eye(4)[1:2]]))
    assert np.isfinite(end.value)


def test_the_end_does_not_depend_on_the_basis_of_the_start():
    X, Y = curved(1)
    view, W = view_of(X, Y), np.linalg.qr(np.random.default_rng(0).standard_normal((5, 2)))[0].T
    turn = np.array([[0.6, 0.8], [0.8, -0.6]])
    ends = [learn_with_location(50, (view, [start])).W for start in (W, turn @ W, -W)]
    assert projector_gap(ends[0], ends[1]) < 1e-6
    assert projector_gap(ends[0], ends[2]) < 1e-6


def test_all_samples_count_in_the_end():
    """The last steps use all samples, so the last half of them matters."""
    X, Y = curved(5, n=900)
    view, start = view_of(X, Y), np.linalg.qr(np.eye(5)[:, :2] + 0.1)[0].T
    few = view_of(X[:400], Y[:400])
    gaps = [
        projector_gap(learn_with_location(50, (v, [start])).W, np.eye(5)[:2]) for v in (view, few)
    ]
    assert gaps[0] < gaps[1]


def test_the_likelihood_counts_weights():
    """Samples without weight do not move the subspace."""
    X, Y = curved(2, n=200)
    weight = np.r_[np.full(100, 1.0), np.full(100, 1e-6)]
    sample = Sample(X, Y, weight / weight.sum())
    weighted = MemberView.of(sample, np.zeros(200), np.arange(200), constant_location)
    W = np.eye(5)[1:3]
    other = Sample(X, np.r_[Y[:100], 3 - Y[100:]], sample.weight)
    changed = MemberView.of(other, np.zeros(200), np.arange(200), constant_location)
    values = [
        JointLoss.of(view, W, 200, 25.0)(W, first_parameters())[0] for view in (weighted, changed)
    ]
    assert abs(values[0] - values[1]) < 1e-3


def test_rivals_are_the_ends_of_the_first_round():
    X, Y = curved(4)
    rng = np.random.default_rng(0)
    starts = [np.linalg.qr(rng.standard_normal((5, 2)))[0].T for _ in range(20)]
    view = view_of(X, Y)
    learned = learn_subspace(50, (view, starts))
    part = RACE[0]
    problem = learning_problem(view.thinned(part.centers), starts[0], rows=part.rows)
    ends = minimise_all(problem.compressed(rough=True), starts, evaluations=part.evaluations)
    ranked = sorted(ends, key=lambda end: end.value)
    assert len(learned.rivals) == N_RIVALS < len(starts)
    for rival, end in zip(learned.rivals, ranked, strict=False):
        np.testing.assert_array_equal(rival, end.W)


def test_many_starts_make_the_first_steps_and_two_go_on(monkeypatch):
    seen = []

    def spy(loss, starts, part):
        seen.append((len(starts), part.rows, part.steps))
        return best_ends(loss, starts, part)

    monkeypatch.setattr(learning_module, "best_ends", spy)
    X, Y = curved(7, n=450)
    rng = np.random.default_rng(0)
    starts = [np.linalg.qr(rng.standard_normal((5, 2)))[0].T for _ in range(4)]
    learn_with_location(30, (view_of(X, Y), starts))
    assert seen[:3] == [(4, 200, 15), (2, 400, 30), (1, 450, 30)]


def test_the_whole_space_needs_no_search():
    X, Y = curved(0, dx=2)
    end = learn_with_location(50, (view_of(X, Y), [np.eye(2)]))
    np.testing.assert_array_equal(end.W, np.eye(2))


def test_the_best_ends_of_a_round_go_on():
    X, Y = curved(6)
    view, rng = view_of(X, Y), np.random.default_rng(0)
    starts = [np.linalg.qr(rng.standard_normal((5, 2)))[0].T for _ in range(6)]
    loss = JointLoss.of(view, starts[0], 200, 25.0)
    pairs = [(Minimum(W, np.inf, 0), first_parameters()) for W in starts]
    everything = best_ends(loss, pairs, JointRound(rows=200, steps=5, kept=6))
    best = best_ends(loss, pairs, JointRound(rows=200, steps=5, kept=2))
    values = [end.value for end, _ in everything]
    assert values == sorted(values)
    assert [end.value for end, _ in best] == values[:2]
    for end, parameters in best:
        assert loss(end.W, parameters)[0] == pytest.approx(end.value, rel=1e-9)


def test_members_start_from_the_rivals_of_their_own_race(monkeypatch):
    learned, seen = [], []

    def learn(max_steps, item):
        learned.append((item[0], learn_subspace(max_steps, item)))
        return learned[-1][1]

    def learn_jointly(max_steps, item):
        seen.append(item)
        return learn_with_location(max_steps, item)

    monkeypatch.setattr(configurations_module, "learn_subspace", learn)
    monkeypatch.setattr(exploration_module, "learn_with_location", learn_jointly)
    X, Y = curved(0, n=80)
    LSCE(2, location="reduced", n_starts=12, max_iter=3, random_state=0).fit(X, Y[:, 0])
    assert len(seen) == 5
    for view, (first, *rivals) in seen:
        own = next(end for other, end in learned if other is view)
        assert len(rivals) == N_RIVALS
        for W, rival in zip(rivals, own.rivals, strict=True):
            np.testing.assert_array_equal(W, rival)
        assert first.shape == (2, 5)
