"""Quasi-Newton minimisation over subspaces, in local coordinates around a point.

Let W0 be a base point and W_perp an orthonormal basis of its complement.  Almost every subspace is
the row space of ``B = W0 + Omega W_perp`` for exactly one matrix Omega, and Omega is unconstrained.
Its matrix with orthonormal rows is ``W = R B`` with ``R = (B B^T)^(-1/2)``.  With the gradient G
with respect to W and ``M = G B^T``, the gradient with respect to Omega is

    (R G + (N + N^T) B) W_perp^T,   N = V (F o (V^T M V)) V^T,   F_ij = -r_i^2 r_j^2 / (r_i + r_j),

where V and r are the eigenvectors and eigenvalues of R.  The second term is the derivative of R.
So the function may depend on the basis W, and not only on the row space.  Any method for
unconstrained variables can be used; here it is L-BFGS [1]_.

References
----------
.. [1] D. C. Liu, J. Nocedal, "On the limited memory BFGS method for large scale optimization,"
   Mathematical Programming 45, 1989.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from condensity._typing import Array
from condensity.subspaces.descent import Problem
from condensity.subspaces.linesearch import Point

#: Number of pairs of steps and gradients that L-BFGS stores.
MEMORY = 10


@dataclass(frozen=True, eq=False)
class Chart:
    """Local coordinates Omega for subspaces that contain a number of fixed rows.

    A stack of subspaces (..., dz, dx) has a chart around each.
    """

    fixed: Array  # (..., l, dx) rows that do not change
    base: Array  # (..., dz - l, dx) the other rows at the origin of the chart
    complement: Array  # (..., dx - dz, dx)

    @classmethod
    def around(cls, W: Array, n_fixed: int = 0) -> Chart:
        """Chart with origin ``W`` (..., dz, dx); its first ``n_fixed`` rows do not change."""
        complement = np.linalg.svd(W)[2][..., W.shape[-2] :, :]
        return cls(W[..., :n_fixed, :], W[..., n_fixed:, :], complement)

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return int(self.base.shape[-2] * self.complement.shape[-2])

    def at(self, omega: Array) -> tuple[Array, Array]:
        """Point ``W`` (..., dz, dx) and matrix ``(B B^T)^(-1/2)`` (..., dz - l, dz - l)."""
        shape = *self.base.shape[:-1], self.complement.shape[-2]
        B = self.base + omega.reshape(shape) @ self.complement
        values, vectors = np.linalg.eigh(B @ np.swapaxes(B, -1, -2))
        root = (vectors / np.sqrt(values)[..., None, :]) @ np.swapaxes(vectors, -1, -2)
        return np.concatenate([self.fixed, root @ B], axis=-2), root

    def pull(self, gradient: Array, W: Array, root: Array) -> Array:
        """Convert a gradient with respect to W (..., dz, dx) to the coordinates (..., size)."""
        free = slice(self.fixed.shape[-2], None)
        gradient = gradient[..., free, :]
        r, V = np.linalg.eigh(root)
        Vt = np.swapaxes(V, -1, -2)
        B = (V / r[..., None, :]) @ Vt @ W[..., free, :]
        squares = np.square(r[..., :, None] * r[..., None, :])
        F = -squares / (r[..., :, None] + r[..., None, :])
        N = V @ (F * (Vt @ gradient @ np.swapaxes(B, -1, -2) @ V)) @ Vt
        by_B = root @ gradient + (N + np.swapaxes(N, -1, -2)) @ B
        pulled: Array = by_B @ np.swapaxes(self.complement, -1, -2)
        return pulled.reshape(*pulled.shape[:-2], -1)


@dataclass(frozen=True, eq=False)
class Minimum:
    """Result of a minimisation."""

    W: Array  # (dz, dx), orthonormal rows
    value: float
    n_steps: int


def minimise(problem: Problem[Point], W: Array, *, max_steps: int, n_fixed: int = 0) -> Minimum:
    """Minimise a problem over subspaces by L-BFGS.

    Parameters
    ----------
    problem : object with ``at(W)``
        The function to minimise.
    W : ndarray of shape (dz, dx)
        Start, with orthonormal rows.
    max_steps : int
        Maximum number of iterations.
    n_fixed : int, default=0
        The first ``n_fixed`` rows of ``W`` do not change.

    Returns
    -------
    Minimum
        The last point, its value and the number of iterations.
    """
    start = problem.at(W)
    if start.value == 0.0:
        return Minimum(W, start.value, 0)

    def function(W: Array, _: Array) -> tuple[float, Array, Array]:
        point = problem.at(W)
        return point.value, point.gradient(), np.empty(0)

    return minimise_jointly(function, W, np.empty(0), max_steps=max_steps, n_fixed=n_fixed)[0]


#: A function of W and of parameters (l,): its value and its derivatives with respect to both.
JointFunction = Callable[[Array, Array], tuple[float, Array, Array]]


def minimise_jointly(
    function: JointFunction,
    W: Array,
    parameters: Array,
    *,
    max_steps: int,
    n_fixed: int = 0,
    unit: float | None = None,
) -> tuple[Minimum, Array]:
    """Minimise a function of a subspace and of unconstrained parameters by L-BFGS.

    Parameters
    ----------
    function : callable
        The function of the subspace and the parameters.
    W : ndarray of shape (dz, dx)
        Start, with orthonormal rows.
    parameters : ndarray of shape (l,)
        Start of the parameters.
    max_steps : int
        Maximum number of iterations.
    n_fixed : int, default=0
        The first ``n_fixed`` rows of ``W`` do not change.
    unit : float, optional
        The unit of the tolerance for changes of the value.  None: the first value.

    Returns
    -------
    Minimum
        The last subspace, its value and the number of iterations.
    ndarray of shape (l,)
        The last parameters.
    """
    chart = Chart.around(W, n_fixed)
    start = function(W, parameters)[0]
    if chart.size == 0:
        return Minimum(W, start, 0), parameters
    # The tolerances of L-BFGS-B are absolute for values below 1; this makes them relative
    # to the unit.
    unit = unit or abs(start) or 1.0

    def value_and_gradient(point: Array) -> tuple[float, Array]:
        omega, rest = np.split(point, [chart.size])
        W, root = chart.at(omega)
        value, by_subspace, by_rest = function(W, rest)
        return value / unit, np.append(chart.pull(by_subspace, W, root), by_rest) / unit

    options: dict[str, Any] = {"maxiter": max_steps, "maxcor": MEMORY, "ftol": 1e-7, "gtol": 1e-5}
    first = np.append(np.zeros(chart.size), parameters)
    end = minimize(value_and_gradient, first, jac=True, method="L-BFGS-B", options=options)
    omega, rest = np.split(end.x, [chart.size])
    return Minimum(chart.at(omega)[0], float(end.fun) * unit, int(end.nit)), rest
