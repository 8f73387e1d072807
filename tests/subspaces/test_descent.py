from dataclasses import dataclass

import numpy as np
import pytest

from condensity.subspaces.descent import Stop, descend
from condensity.subspaces.grassmann import projector_gap
from condensity.subspaces.linesearch import backtrack
from problems import random_subspace


@dataclass
class Place:
    W: np.ndarray
    value: float
    slope: np.ndarray

    def gradient(self):
        return self.slope


class SmallestEigenvalues:
    """``trace(W A W^T) / 2``: its minimisers are the eigenvectors of the smallest eigenvalues."""

    def __init__(self, eigenvalues, seed=0):
        self.axes = random_subspace(seed, len(eigenvalues), len(eigenvalues))
        self.A = self.axes.T @ np.diag(eigenvalues) @ self.axes

    def at(self, W):
        return Place(W, 0.5 * np.trace(W @ self.A @ W.T), W @ self.A)


def test_descent_finds_the_subspace_of_the_smallest_eigenvalues():
    problem = SmallestEigenvalues([0.1, 0.4, 2.0, 3.0, 5.0])
    result = descend(problem, random_subspace(3, 2, 5), max_steps=500, tol=1e-6)
    assert result.stop is Stop.CONVERGED
    assert projector_gap(result.point.W, problem.axes[:2]) < 1e-5
    assert result.point.value == pytest.approx(0.25)


def test_every_step_lowers_the_value_and_is_recorded():
    problem = SmallestEigenvalues([0.1, 0.4, 2.0, 3.0, 5.0])
    result = descend(problem, random_subspace(4, 2, 5), max_steps=7, tol=0.0)
    assert result.stop is Stop.STEP_LIMIT
    assert len(result.values) == 8
    assert (np.diff(result.values) < 0).all()
    assert result.values[-1] == result.point.value


def test_descent_converges_at_once_in_the_whole_space():
    problem = SmallestEigenvalues([1.0, 2.0, 3.0])
    result = descend(problem, random_subspace(5, 3, 3), max_steps=5, tol=1e-8)
    assert result.stop is Stop.CONVERGED
    assert len(result.values) == 1


class WrongWay(SmallestEigenvalues):
    def at(self, W):
        place = super().at(W)
        return Place(W, place.value, -place.slope)


def test_descent_stalls_with_a_gradient_of_the_wrong_sign():
    result = descend(WrongWay([1.0, 2.0, 3.0]), random_subspace(6, 1, 3), max_steps=5, tol=1e-8)
    assert result.stop is Stop.STALLED
    assert len(result.values) == 1


def parabola(t):
    return Place(np.zeros((1, 1)), (t - 1.0) ** 2, np.zeros((1, 1)))


def test_backtracking_finds_the_minimum_of_a_parabola():
    step, point = backtrack(parabola, parabola(0.0), slope=-2.0, step=3.0)
    assert step == pytest.approx(1.0)
    assert point.value == pytest.approx(0.0)


def test_backtracking_accepts_a_first_step_that_meets_the_condition():
    assert backtrack(parabola, parabola(0.0), slope=-2.0, step=0.5)[0] == 0.5


def test_backtracking_returns_none_on_a_rising_curve():
    def rising(t):
        return Place(np.zeros((1, 1)), t, np.zeros((1, 1)))

    assert backtrack(rising, rising(0.0), slope=-1.0, step=1.0) is None


def test_the_first_trial_turns_the_subspace_by_an_eighth_of_a_turn_at_most():
    class Watched(SmallestEigenvalues):
        def at(self, W):
            self.seen.append(W)
            return super().at(W)

    problem = Watched([0.1, 0.4, 2.0, 3.0, 5.0])
    problem.seen = []
    start = random_subspace(3, 2, 5)
    descend(problem, start, max_steps=1, tol=0.0)
    cosines = np.linalg.svd(problem.seen[1] @ start.T)[1]
    assert np.arccos(cosines.min()) == pytest.approx(np.pi / 4, rel=1e-6)
