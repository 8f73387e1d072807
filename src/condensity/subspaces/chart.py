"""Quasi-Newton descent over subspaces, in the chart around a point.

Nearly every subspace is the row space of ``B = W0 + Omega W_perp`` for exactly one matrix Omega,
with W0 a base point and W_perp its complement.  With the orthonormal ``W = (B B^T)^(-1/2) B`` a
value that depends on the row space alone has, by the free Omega, the gradient
``(B B^T)^(-1/2) gradient(W) (I - W^T W) W_perp^T``: any method for free variables applies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from condensity._typing import Array
from condensity.subspaces.descent import Problem
from condensity.subspaces.grassmann import natural_gradient
from condensity.subspaces.linesearch import Point

#: Pairs of steps and gradients that L-BFGS remembers.
MEMORY = 10


@dataclass(frozen=True, eq=False)
class Chart:
    """Subspaces that contain the first ``n_fixed`` rows of ``W``, by free coordinates Omega."""

    fixed: Array  # (l, dx) rows that stay
    base: Array  # (dz - l, dx) rows that move
    complement: Array  # (dx - dz, dx)

    @classmethod
    def around(cls, W: Array, n_fixed: int = 0) -> Chart:
        """The chart in which ``W`` (dz, dx), of orthonormal rows, is the origin."""
        complement = np.linalg.svd(W)[2][len(W) :]
        return cls(W[:n_fixed], W[n_fixed:], complement)

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return len(self.base) * len(self.complement)

    def at(self, omega: Array) -> tuple[Array, Array]:
        """The point ``W`` (dz, dx) and ``(B B^T)^(-1/2)`` (dz - l, dz - l)."""
        B = self.base + omega.reshape(len(self.base), -1) @ self.complement
        values, vectors = np.linalg.eigh(B @ B.T)
        root = (vectors / np.sqrt(values)) @ vectors.T
        return np.vstack([self.fixed, root @ B]), root

    def pull(self, gradient: Array, W: Array, root: Array) -> Array:
        """Turn a gradient by the entries of W (dz, dx) into one by the coordinates."""
        free = slice(len(self.fixed), None)
        tangent = natural_gradient(W[free], gradient[free])
        return (root @ tangent @ self.complement.T).ravel()


@dataclass(frozen=True, eq=False)
class Minimum:
    """Where a descent ended."""

    W: Array  # (dz, dx), orthonormal rows
    value: float
    n_steps: int


def minimise(problem: Problem[Point], W: Array, *, max_steps: int, n_fixed: int = 0) -> Minimum:
    """Descend from ``W`` (dz, dx) by L-BFGS; its first ``n_fixed`` rows stay in the subspace."""
    chart, start = Chart.around(W, n_fixed), problem.at(W).value
    if chart.size == 0 or start == 0.0:
        return Minimum(W, start, 0)
    unit = abs(start)  # tolerances of the optimiser are absolute; make them relative

    def value_and_gradient(omega: Array) -> tuple[float, Array]:
        W, root = chart.at(omega)
        point = problem.at(W)
        return point.value / unit, chart.pull(point.gradient(), W, root) / unit

    options: dict[str, Any] = {"maxiter": max_steps, "maxcor": MEMORY, "ftol": 1e-7, "gtol": 1e-5}
    end = minimize(
        value_and_gradient, np.zeros(chart.size), jac=True, method="L-BFGS-B", options=options
    )
    return Minimum(chart.at(end.x)[0], float(end.fun) * unit, int(end.nit))
