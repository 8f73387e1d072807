"""Quasi-Newton minimisation from many starts at once.

Every start has its own chart (module ``chart``), its own L-BFGS steps [1]_ and its own line search.
They only share the evaluations: each evaluates the points of all starts in one call, which is much
faster than one call for each if the function is cheap.

References
----------
.. [1] D. C. Liu, J. Nocedal, "On the limited memory BFGS method for large scale optimization,"
   Mathematical Programming 45, 1989.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from condensity._typing import Array
from condensity.subspaces.chart import Chart, Minimum

#: Length of the first trial step.
FIRST_STEP = 0.5
#: Share of the expected gain that a step must reach.
ARMIJO = 1e-4


class StackedProblem(Protocol):
    """Function on the manifold, for many points at once."""

    def at_all(self, Ws: Array) -> tuple[Array, Array]:
        """Values (s,) and gradients (s, dz, dx) at ``Ws`` (s, dz, dx)."""


def minimise_all(
    problem: StackedProblem, Ws: Sequence[Array], *, evaluations: int, n_fixed: int = 0
) -> list[Minimum]:
    """Minimise a problem over subspaces from every start.

    Parameters
    ----------
    problem : object with ``at_all(Ws)``
        The function to minimise.
    Ws : sequence of ndarray of shape (dz, dx)
        Starts, with orthonormal rows.
    evaluations : int
        Number of evaluations for each start, after the first.
    n_fixed : int, default=0
        The first ``n_fixed`` rows of each start do not change.

    Returns
    -------
    list of Minimum
        For each start the best point, its value and the number of steps.
    """
    start = np.stack(Ws)
    chart = Chart.around(start, n_fixed)
    here, slope = problem.at_all(start)
    if chart.size == 0:
        return [Minimum(W, float(value), 0) for W, value in zip(Ws, here, strict=True)]
    omega = np.zeros((len(start), chart.size))
    gradient = chart.pull(slope, *chart.at(omega))
    history = History()
    direction = -gradient
    step = FIRST_STEP / np.maximum(_norm(gradient), 1e-300)
    n_steps = np.zeros(len(start), dtype=int)
    for _ in range(evaluations):
        trial = omega + step[:, None] * direction
        W, root = chart.at(trial)
        value, slope = problem.at_all(W)
        trial_gradient = chart.pull(slope, W, root)
        expected = step * _dot(direction, gradient)
        gain = value - here
        accepted = gain <= ARMIJO * expected
        # A rejected step is replaced by the minimum of a parabola.
        bend = np.where(accepted, 1.0, gain - expected)
        shorter = step * np.clip(-0.5 * expected / bend, 0.1, 0.5)
        moved = accepted[:, None]
        history.add(
            np.where(moved, trial - omega, 0.0), np.where(moved, trial_gradient - gradient, 0.0)
        )
        omega = np.where(moved, trial, omega)
        gradient = np.where(moved, trial_gradient, gradient)
        here = np.where(accepted, value, here)
        direction = np.where(moved, -history.newton(gradient), direction)
        step = np.where(accepted, 1.0, shorter)
        n_steps += accepted
    ends = zip(chart.at(omega)[0], here, n_steps, strict=True)
    return [Minimum(W, float(value), int(n)) for W, value, n in ends]


class History:
    """Steps and changes of the gradient, of all starts; zeros where a start did not move."""

    def __init__(self) -> None:
        self.pairs: list[tuple[Array, Array, Array]] = []
        self.scale: Array | None = None

    def add(self, step: Array, change: Array) -> None:
        """Store one pair (s, m) for each start; without positive curvature it counts as zero."""
        curvature, length = _dot(step, change), _dot(change, change)
        good = curvature > 1e-12 * length
        inverse = np.where(good, 1.0 / np.where(good, curvature, 1.0), 0.0)
        self.pairs.append((step, change, inverse))
        scale = curvature / np.where(good, length, 1.0)
        self.scale = np.where(good, scale, 1.0 if self.scale is None else self.scale)

    def newton(self, gradient: Array) -> Array:
        """The inverse Hessian, as known from the pairs, times ``gradient`` (s, m)."""
        assert self.scale is not None
        out, shares = gradient, []
        for step, change, inverse in reversed(self.pairs):
            share = inverse * _dot(step, out)
            out = out - share[:, None] * change
            shares.append(share)
        out = self.scale[:, None] * out
        for (step, change, inverse), share in zip(self.pairs, reversed(shares), strict=True):
            out = out + (share - inverse * _dot(change, out))[:, None] * step
        return out


def _dot(a: Array, b: Array) -> Array:
    return np.asarray(np.einsum("sm,sm->s", a, b))


def _norm(a: Array) -> Array:
    return np.sqrt(_dot(a, a))
