"""Backtracking line search along a curve, with the Armijo condition [1]_.

References
----------
.. [1] L. Armijo, "Minimization of functions having Lipschitz continuous first partial derivatives,"
   Pacific Journal of Mathematics 16(1), 1966.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np

from condensity._typing import Array


class Point(Protocol):
    """Point on the manifold with its value; the gradient is computed on demand."""

    @property
    def W(self) -> Array:
        """Matrix (dz, dx) with orthonormal rows."""

    @property
    def value(self) -> float:
        """Value of the function to minimise."""

    def gradient(self) -> Array:
        """Euclidean gradient of the value, (dz, dx)."""


P = TypeVar("P", bound=Point)


def backtrack(
    at: Callable[[float], P], start: P, *, slope: float, step: float, trials: int = 20
) -> tuple[float, P] | None:
    """First step that meets the Armijo condition ``value(step) <= value(0) + 1e-4 slope step``.

    A rejected step is replaced by the minimiser of the parabola through the known values and the
    slope, but not by less than 0.1 or more than 0.5 times the step.

    Parameters
    ----------
    at : callable
        Point on the curve at a given step.
    start : Point
        Point at step 0.
    slope : float
        Derivative of the value at step 0, negative.
    step : float
        First trial step.
    trials : int, default=20
        Maximum number of trials.

    Returns
    -------
    tuple of (float, Point) or None
        The accepted step and its point, or None if no trial is accepted.
    """
    for _ in range(trials):
        point = at(step)
        gain = point.value - start.value
        if gain <= 1e-4 * slope * step:
            return step, point
        bend = gain - slope * step
        step *= float(np.clip(-0.5 * slope * step / bend, 0.1, 0.5))
    return None
