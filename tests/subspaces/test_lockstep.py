import numpy as np
import pytest

from condensity.fitting.sce import SCE
from condensity.subspaces import lockstep
from condensity.subspaces.chart import Chart, minimise
from condensity.subspaces.lockstep import History, minimise_all
from problems import random_sample, random_subspace


class Stacked:
    """A problem that is evaluated at one point after the other."""

    def __init__(self):
        sample = random_sample(0, n=60, dx=5)
        self.alone = SCE.build(sample, sample[:20], sigma_z=0.8, sigma_y=0.5, penalty=0.01)
        self.calls = []

    def at_all(self, Ws):
        points = [self.alone.at(W) for W in Ws]
        self.calls.append(len(Ws))
        return np.array([p.value for p in points]), np.stack([p.gradient() for p in points])


STARTS = [random_subspace(k, 2, 5) for k in range(4)]


def test_all_starts_end_near_the_minimum_that_each_finds_alone():
    problem = Stacked()
    ends = minimise_all(problem, STARTS, evaluations=80)
    assert problem.calls == [4] * 81
    for start, end in zip(STARTS, ends, strict=True):
        assert end.value == pytest.approx(problem.alone.at(end.W).value, rel=1e-12)
        slope = Chart.around(end.W).pull(problem.alone.at(end.W).gradient(), end.W, np.eye(2))
        assert np.abs(slope).max() < 1e-3 * abs(end.value)
        assert end.value < problem.alone.at(start).value
    best = min(minimise(problem.alone, W, max_steps=500).value for W in STARTS)
    assert min(end.value for end in ends) == pytest.approx(best, rel=1e-4)


def test_few_evaluations_never_raise_the_value():
    problem = Stacked()
    for evaluations in range(4):
        ends = minimise_all(problem, STARTS, evaluations=evaluations)
        for start, end in zip(STARTS, ends, strict=True):
            assert end.value <= problem.alone.at(start).value
            assert end.n_steps <= evaluations


def test_only_accepted_steps_are_stored(monkeypatch):
    histories = []

    class Recorded(History):
        def __init__(self):
            super().__init__()
            histories.append(self)

    monkeypatch.setattr(lockstep, "History", Recorded)
    monkeypatch.setattr(lockstep, "FIRST_STEP", 3.0)  # too long for some
    ends = minimise_all(Stacked(), STARTS, evaluations=6)
    moved = np.any([step != 0 for step, _, _ in histories[0].pairs], axis=-1).sum(axis=0)
    assert moved.tolist() == [end.n_steps for end in ends]
    assert min(moved) < 6


def test_a_start_does_not_depend_on_the_others():
    together = minimise_all(Stacked(), STARTS, evaluations=12)
    for start, end in zip(STARTS, together, strict=True):
        (alone,) = minimise_all(Stacked(), [start], evaluations=12)
        np.testing.assert_allclose(end.W, alone.W, atol=1e-9)
        assert end.n_steps == alone.n_steps


def test_fixed_rows_do_not_change():
    problem = Stacked()
    for start, end in zip(
        STARTS, minimise_all(problem, STARTS, evaluations=12, n_fixed=1), strict=True
    ):
        np.testing.assert_array_equal(end.W[0], start[0])
        np.testing.assert_allclose(end.W @ end.W.T, np.eye(2), atol=1e-12)
    (same,) = minimise_all(problem, STARTS[:1], evaluations=12, n_fixed=2)
    np.testing.assert_array_equal(same.W, STARTS[0])
    assert same.value == problem.alone.at(STARTS[0]).value


def test_the_history_is_that_of_a_matrix_that_maps_changes_to_steps():
    rng, m = np.random.default_rng(0), 3
    history, inverse = History(), None
    for k in range(4):
        step = rng.standard_normal((2, m))
        change = step * [1.0, 2.0, 3.0]
        if k == 3:
            step[0] = change[0] = 0.0  # the first start did not move
        history.add(step, change)
    # BFGS by its definition, for both starts
    gradient = rng.standard_normal((2, m))
    for i in range(2):
        moved = [(s[i], y[i]) for s, y, _ in history.pairs if s[i].any()]
        s, y = moved[-1]
        inverse = np.eye(m) * (s @ y) / (y @ y)
        for s, y in moved:
            left = np.eye(m) - np.outer(s, y) / (s @ y)
            inverse = left @ inverse @ left.T + np.outer(s, s) / (s @ y)
        np.testing.assert_allclose(history.newton(gradient)[i], inverse @ gradient[i], rtol=1e-10)
