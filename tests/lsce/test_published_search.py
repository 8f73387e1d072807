import numpy as np
import pytest

import oracles
from condensity.estimators.published_lsce import PublishedLSCE
from condensity.fitting.selection import Candidates, normalised_losses, raw_losses, select
from condensity.lsce import published
from condensity.lsce.published import (
    Procedure,
    cross_validate_search,
    descend_from,
    draw_starts,
    sce_problem,
    search_from_starts,
)
from condensity.subspaces.descent import Stop
from condensity.subspaces.grassmann import projector_gap
from problems import random_plan, random_subspace

GRID = Candidates(((0.5, 0.5), (1.0, 1.0)), (0.01, 0.1))
QUIET = {"mapper": map, "report": lambda progress: None}
PLAN = random_plan(n=60, n_centers=30, n_folds=3)


def fixed(max_steps):
    """A procedure with one candidate."""
    return Procedure(Candidates(((0.7, 0.7),), (0.05,)), False, raw_losses, False, max_steps)


def scored(max_steps, *, by_score=False):
    """A procedure that selects a model by cross-validation."""
    score = normalised_losses if by_score else raw_losses
    return Procedure(GRID, True, score, by_score, max_steps)


def test_learning_from_a_start_ends_lower_than_it_began():
    procedure = fixed(100)
    W = random_subspace(0, 1, 4)
    solution = descend_from(PLAN, procedure, W)
    problem = sce_problem(PLAN, solution.choice)
    assert solution.values[0] == problem.at(W).value
    assert solution.value == pytest.approx(problem.at(solution.W).value, rel=1e-12)
    assert solution.value < solution.values[0]
    assert (np.diff(solution.values[:6]) < 0).all()
    assert solution.stop is Stop.CONVERGED
    np.testing.assert_allclose(solution.W @ solution.W.T, np.eye(1), atol=1e-12)


class Recorder(Procedure):
    """A procedure that remembers where it was asked to choose."""

    def choose(self, plan, W, last=None):
        asked.append(W)
        return super().choose(plan, W, last)

    def choose_final(self, plan, W):
        asked.append(W)
        return super().choose_final(plan, W)


asked = []


def test_the_model_is_selected_every_fifth_step_of_the_first_half_and_at_the_end(monkeypatch):
    monkeypatch.setattr(published, "GAIN_TOL", 0.0)
    monkeypatch.setattr(published, "SUBSPACE_TOL", 0.0)
    monkeypatch.setattr(published, "GRADIENT_TOL", 0.0)
    asked.clear()
    solution = descend_from(
        PLAN, Recorder(GRID, True, raw_losses, False, 20), random_subspace(1, 2, 4)
    )
    assert solution.n_steps == 20
    assert len(solution.values) == 4 * 6 + 1  # four rounds of five steps, and the end
    # before steps 1, 6 and 11, and once more where the search ends
    assert len(asked) == 4
    np.testing.assert_array_equal(asked[-1], solution.W)


def test_choice_loss_and_coefficients_belong_to_the_w_that_is_returned():
    solution = descend_from(PLAN, scored(10), random_subspace(1, 2, 4))
    selected = select(PLAN, solution.W, GRID, raw_losses)
    assert solution.choice.loss == selected.loss
    end = sce_problem(PLAN, selected).at(solution.W)
    assert solution.value == end.value
    np.testing.assert_array_equal(solution.alpha, end.alpha)


def test_a_start_that_gains_little_is_at_rest():
    solution = descend_from(PLAN, fixed(1000), random_subspace(0, 2, 4))
    assert solution.stop is Stop.CONVERGED
    gain = solution.values[-7] - solution.values[-2]  # over the last round
    assert gain <= 1e-3 * abs(solution.value)
    np.testing.assert_allclose(solution.W @ solution.W.T, np.eye(2), atol=1e-14)


def test_steps_never_exceed_the_limit():
    solution = descend_from(PLAN, scored(7), random_subspace(2, 2, 4))
    assert solution.n_steps <= 7
    assert solution.stop in {Stop.STEP_LIMIT, Stop.CONVERGED}


def test_search_reports_every_start_in_order():
    heard = []
    starts = [random_subspace(seed, 1, 4) for seed in range(3)]
    (solutions,) = search_from_starts(PLAN, scored(5), starts, mapper=map, report=heard.append)
    assert [p.value for p in heard] == [s.value for s in solutions]
    assert [(p.done, p.total, p.n_centers) for p in heard] == [(1, 3, 30), (2, 3, 30), (3, 3, 30)]


def test_the_raw_score_selects_the_objective_and_the_score_of_the_procedure_the_final_fit():
    W = random_subspace(1, 2, 4)
    raw, normalised = (select(PLAN, W, GRID, score) for score in (raw_losses, normalised_losses))
    assert raw.loss != normalised.loss
    procedure = scored(5, by_score=True)
    first = procedure.choose(PLAN, W)
    assert first.loss == raw.loss
    assert procedure.choose(PLAN, W, first).loss == pytest.approx(raw.loss, rel=1e-12)
    assert procedure.choose_final(PLAN, W).loss == normalised.loss
    assert scored(5).choose_final(PLAN, W).loss == raw.loss


def test_the_search_is_cross_validated_without_the_held_out_fold():
    plan = random_plan(n=24, n_centers=16, n_folds=4)
    procedure, heard = scored(5, by_score=True), []
    starts = [[random_subspace(seed, dz, 4) for seed in range(2)] for dz in (1, 2)]
    found = cross_validate_search(plan, procedure, starts, mapper=map, report=heard.append)
    assert found.shape == (2, 4)
    assert [(p.done, p.total) for p in heard] == [(i, 8) for i in range(1, 9)]
    assert [p.fold for p in heard] == [0, 1, 2, 3] * 2
    assert [p.n_components for p in heard] == [1] * 4 + [2] * 4
    np.testing.assert_array_equal([p.value for p in heard], found.ravel())
    for group, losses in zip(starts, found, strict=True):
        for fold, rows in enumerate(plan.folds):
            others = plan.without(fold)
            (solutions,) = search_from_starts(others, procedure, group, **QUIET)
            best = min(solutions, key=lambda s: s.choice.loss)
            held_out = plan.sample[np.arange(24)[rows]]
            assert losses[fold] == pytest.approx(density_loss(others, best, held_out), rel=1e-8)


def density_loss(plan, solution, held_out):
    """Squared loss of the clipped, normalised fit of a solution, by plain loops and a sum on y."""
    choice, s, c = solution.choice, plan.sample, plan.basis
    sigmas = choice.sigma_z, choice.sigma_y
    G, h = oracles.G_and_h(solution.W, s.X, s.Y, c.X, c.Y, *sigmas, s.weight)
    alpha = np.linalg.solve(G + choice.penalty * np.eye(len(h)), h)
    U, axis, step = c.X @ solution.W.T, np.arange(-12, 12, 0.05), 0.05
    total = 0.0
    for x, y, weight in zip(held_out.X, held_out.Y, held_out.weight, strict=True):
        z = solution.W @ x
        p = [oracles.conditional_density([v], z, U, c.Y, alpha, *sigmas) for v in axis]
        at_y = oracles.conditional_density(y, z, U, c.Y, alpha, *sigmas)
        total += weight * (0.5 * step * np.sum(np.square(p)) - at_y)
    return total / held_out.weight.sum()


def test_the_dimension_is_selected_without_samples_that_the_subspace_has_seen():
    """Eight inputs of noise: a subspace that has seen the fold looks better than none."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 8)), rng.standard_normal(60)
    model = PublishedLSCE(n_starts=5, random_state=0).fit(X, y)
    table = model.cv_results_
    fixed = [
        table["mean_test_score"][table["param_n_components"] == dz].max() for dz in range(1, 9)
    ]
    scores = model.dimension_scores_
    assert max(fixed) > 1.3 * fixed[-1]
    assert max(scores) < 1.1 * scores[-1]
    assert model.n_components_ == np.argmax(scores) + 1


@pytest.mark.parametrize("by_score", [False, True])
def test_with_many_centres_the_best_starts_go_on_with_all_of_them(monkeypatch, by_score):
    monkeypatch.setattr(published, "FIRST_CENTERS", 10)
    monkeypatch.setattr(published, "SAME_SUBSPACE", 0.3)
    heard, procedure = [], scored(20, by_score=by_score)
    starts = [random_subspace(seed, dz, 4) for dz in (1, 2) for seed in range(8)] + [np.eye(4)]
    first, last = search_from_starts(PLAN, procedure, starts, mapper=map, report=heard.append)
    assert [len(s.alpha) for s in first] == [10] * 17
    assert [len(s.alpha) for s in last] == [30] * len(last)
    assert [p.total for p in heard] == [17] * 17 + [len(last)] * len(last)
    began = iter(last)
    for dz in (1, 2, 4):
        ranked = sorted((s for s in first if len(s.W) == dz), key=procedure.loss)
        expected = []
        for s in ranked:
            if all(projector_gap(s.W, e.W) > 0.3 for e in expected):
                expected.append(s)
        for s in expected[:3]:  # each goes on from where it ended
            end = descend_from(PLAN, procedure, s.W)
            np.testing.assert_array_equal(next(began).W, end.W)
    assert next(began, None) is None


def test_starts_are_compared_by_held_out_loss_or_by_the_objective():
    solution = descend_from(PLAN, scored(5), random_subspace(1, 2, 4))
    assert scored(5).loss(solution) == solution.value
    assert scored(5, by_score=True).loss(solution) == solution.choice.loss
    alone = descend_from(PLAN, fixed(5), random_subspace(1, 2, 4))  # nothing was held out
    assert fixed(5).loss(alone) == alone.value


def test_starts_are_orthonormal_and_blind_to_inputs_that_do_not_vary():
    active = np.array([True, False, True, True, False])
    starts = draw_starts(np.random.default_rng(0), 2, active=active, n_starts=5)
    assert len(starts) == 5
    for W in starts:
        np.testing.assert_allclose(W @ W.T, np.eye(2), atol=1e-12)
        assert (W[:, ~active] == 0).all()
    assert len(draw_starts(np.random.default_rng(0), 3, active=active, n_starts=5)) == 1
