"""Outputs with bounds, and the free coordinate u in which they have none.

| bounds of y  | u                      | du/dy                          |
|--------------|------------------------|--------------------------------|
| none         | y                      | 1                              |
| a < y        | log(y - a)             | exp(-u)                        |
| y < b        | -log(b - y)            | exp(u)                         |
| a < y < b    | log((y - a) / (b - y)) | (exp(u) + 2 + exp(-u)) / (b-a) |

Every du/dy is a sum of exponentials of u, and a Gaussian times an exponential is a Gaussian again:
what is in closed form for a mixture in u stays so in y.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from condensity._typing import Array, Indices


@dataclass(frozen=True, eq=False)
class Bounds:
    """Lower and upper bounds (dy,) of outputs, infinite where there are none."""

    lower: Array
    upper: Array

    def take(self, columns: Indices) -> Bounds:
        """The bounds of the outputs ``columns``."""
        return Bounds(self.lower[columns], self.upper[columns])

    def free(self, Y: Array) -> Array:
        """``u`` for outputs (..., dy); infinite for those at or beyond a bound."""
        U = np.empty(Y.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            for j, (a, b) in enumerate(zip(self.lower, self.upper, strict=True)):
                y = np.clip(Y[..., j], a, b)
                below = np.log(y - a) if np.isfinite(a) else None
                above = np.log(b - y) if np.isfinite(b) else None
                U[..., j] = (
                    y
                    if below is None and above is None
                    else (0.0 if below is None else below) - (0.0 if above is None else above)
                )
        return U

    def bounded(self, U: Array) -> Array:
        """``y`` for free coordinates (..., dy)."""
        Y = np.empty(U.shape)
        with np.errstate(over="ignore"):
            for j, (a, b) in enumerate(zip(self.lower, self.upper, strict=True)):
                u = U[..., j]
                if np.isfinite(a) and np.isfinite(b):
                    y = a + (b - a) * expit(u)
                elif np.isfinite(a):
                    y = a + np.exp(u)
                else:
                    y = b - np.exp(-u) if np.isfinite(b) else u
                # Rounding must not put on a bound what lies within.
                inside = np.clip(y, np.nextafter(a, np.inf), np.nextafter(b, -np.inf))
                Y[..., j] = np.where(np.isfinite(u), inside, y)
        return Y

    def exponential(self, j: int) -> float | None:
        """The s of ``y = bound + s exp(s u)``, 0 where y = u, None for the logistic map."""
        a, b = np.isfinite(self.lower[j]), np.isfinite(self.upper[j])
        return None if a and b else float(a) - float(b)

    def slopes(self, j: int) -> list[tuple[float, float]]:
        """``du/dy = sum_t c_t exp(p_t u)`` of output j, as pairs (c_t, p_t)."""
        a, b = float(self.lower[j]), float(self.upper[j])
        if np.isfinite(a) and np.isfinite(b):
            return [(1 / (b - a), 1.0), (2 / (b - a), 0.0), (1 / (b - a), -1.0)]
        if np.isfinite(a):
            return [(1.0, -1.0)]
        return [(1.0, 1.0 if np.isfinite(b) else 0.0)]

    def log_volume(self, U: Array) -> Array:
        """``log prod_j du_j/dy_j`` for free coordinates (..., dy): (...)."""
        total = np.zeros(U.shape[:-1])
        for j in range(U.shape[-1]):
            u = U[..., j]
            terms = [np.log(c) + (p * u if p else 0.0 * u) for c, p in self.slopes(j)]
            total += np.logaddexp.reduce(terms, axis=0)
        return total
