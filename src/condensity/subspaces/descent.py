"""Natural-gradient descent along geodesics.  Paper, Sec. 2.5.

``W <- W_t`` on the geodesic that leaves W along minus the natural gradient.  The value may be any
object with ``at(W)`` that answers with a point (``linesearch.Point``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Generic, Protocol, TypeVar

import numpy as np

from condensity._typing import Array
from condensity.subspaces.grassmann import Geodesic, natural_gradient
from condensity.subspaces.linesearch import P, Point, backtrack

#: The longest first trial turns the fastest direction by this angle: far enough to leave a bad
#: start behind, and well short of the right angle, from which on the geodesic comes back.
EIGHTH_TURN = np.pi / 4


Q = TypeVar("Q", bound=Point, covariant=True)


class Problem(Protocol[Q]):
    """A value on the manifold."""

    def at(self, W: Array) -> Q:
        """The point at ``W``."""


class Stop(Enum):
    """Why an optimisation ended."""

    CONVERGED = "converged"
    STALLED = "stalled"
    STEP_LIMIT = "step limit"


@dataclass(frozen=True, eq=False)
class Descent(Generic[P]):
    """Where a descent ended and how it went."""

    point: P
    values: tuple[float, ...]  # at the start and after each step
    step: float | None  # the last step taken, a first guess for what follows
    stop: Stop


def descend(
    problem: Problem[P], W: Array, *, max_steps: int, tol: float, step: float | None = None
) -> Descent[P]:
    """Take up to ``max_steps`` geodesic steps from ``W``.

    Parameters
    ----------
    problem : object with ``at(W)``
    W : (dz, dx), orthonormal rows
    max_steps : int
    tol : float
        Converged when the natural gradient's largest singular value is at most ``tol * |value|``.
    step : float, optional
        Length of the last step of an earlier descent of a similar problem.
    """
    point = problem.at(W)
    values = [point.value]
    for _ in range(max_steps):
        uphill = natural_gradient(point.W, point.gradient())
        curve = Geodesic.along(point.W, -uphill)
        fastest = float(curve.speed.max(initial=0.0))
        if fastest <= tol * abs(point.value):
            return Descent(point, tuple(values), step, Stop.CONVERGED)
        longest = EIGHTH_TURN / fastest
        trial = longest if step is None else min(2.0 * step, longest)
        slope = -float(np.sum(uphill**2))
        found = backtrack(_along(problem, curve), point, slope=slope, step=trial)
        if found is None:
            return Descent(point, tuple(values), step, Stop.STALLED)
        step, point = found
        values.append(point.value)
    return Descent(point, tuple(values), step, Stop.STEP_LIMIT)


def _along(problem: Problem[P], curve: Geodesic) -> Callable[[float], P]:
    return lambda t: problem.at(curve(t))
