"""Line search: how far to go along a curve on which the value falls at first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np

from condensity._typing import Array


class Point(Protocol):
    """A place on the manifold: where it is, how good it is, and on demand which way is up."""

    @property
    def W(self) -> Array:
        """The place, (dz, dx) with orthonormal rows."""

    @property
    def value(self) -> float:
        """What is to be made small."""

    def gradient(self) -> Array:
        """Euclidean gradient of the value, (dz, dx)."""


P = TypeVar("P", bound=Point)


def backtrack(
    at: Callable[[float], P], start: P, *, slope: float, step: float, trials: int = 20
) -> tuple[float, P] | None:
    """Shorten ``step`` until ``value(step) <= value(0) + 1e-4 slope step`` (Armijo's rule).

    Each shorter step is the minimiser of the parabola through what is known, kept within a tenth
    and a half of the last one.  ``None`` when no trial is low enough.
    """
    for _ in range(trials):
        point = at(step)
        gain = point.value - start.value
        if gain <= 1e-4 * slope * step:
            return step, point
        bend = gain - slope * step
        step *= float(np.clip(-0.5 * slope * step / bend, 0.1, 0.5))
    return None
