"""Natural-gradient descent along geodesics of the Grassmann manifold.

Each step replaces W by a point ``W_t`` on the geodesic that starts at W in the direction of the
negative natural gradient ([1]_; [2]_, Sec. 2.5).  The problem is any object whose method ``at(W)``
returns a point (``linesearch.Point``).

References
----------
.. [1] A. Edelman, T. A. Arias, S. T. Smith, "The geometry of algorithms with orthogonality
   constraints," SIAM Journal on Matrix Analysis and Applications 20(2), 1998.
.. [2] V. Tangkaratt, N. Xie, M. Sugiyama, "Conditional density estimation with dimensionality
   reduction via squared-loss conditional entropy minimization," Neural Computation 27(1), 2015.
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

#: Largest principal angle of the first trial of each step.  It is large enough to leave a bad
#: start, and much smaller than a right angle, where the geodesic turns back.
EIGHTH_TURN = np.pi / 4


Q = TypeVar("Q", bound=Point, covariant=True)


class Problem(Protocol[Q]):
    """Function on the manifold."""

    def at(self, W: Array) -> Q:
        """Point with the value at ``W``."""


class Stop(Enum):
    """Reason for the end of an optimisation."""

    CONVERGED = "converged"
    STALLED = "stalled"
    STEP_LIMIT = "step limit"


@dataclass(frozen=True, eq=False)
class Descent(Generic[P]):
    """Result of a descent: the last point and the values on the way."""

    point: P
    values: tuple[float, ...]  # at the start and after each step
    step: float | None  # length of the last step, a first guess for a similar problem
    stop: Stop


def descend(
    problem: Problem[P], W: Array, *, max_steps: int, tol: float, step: float | None = None
) -> Descent[P]:
    """Take up to ``max_steps`` geodesic steps from ``W``.

    Parameters
    ----------
    problem : object with ``at(W)``
        The function to minimise.
    W : ndarray of shape (dz, dx)
        Start, with orthonormal rows.
    max_steps : int
        Maximum number of steps.
    tol : float
        Convergence tolerance: the largest singular value of the natural gradient must be at most
        ``tol * |value|``.
    step : float, default=None
        Length of the last step of an earlier descent on a similar problem.

    Returns
    -------
    Descent
        The last point, the values, the last step length and the reason for the end.
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
        accepted = backtrack(_along(problem, curve), point, slope=slope, step=trial)
        if accepted is None:
            return Descent(point, tuple(values), step, Stop.STALLED)
        step, point = accepted
        values.append(point.value)
    return Descent(point, tuple(values), step, Stop.STEP_LIMIT)


def _along(problem: Problem[P], curve: Geodesic) -> Callable[[float], P]:
    """The problem along a curve, as a function of the step length."""
    return lambda t: problem.at(curve(t))
