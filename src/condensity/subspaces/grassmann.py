"""Grassmann manifold: the subspaces of R^dx, represented by W (dz, dx) with orthonormal rows.

Two matrices are the same point if their rows span the same subspace.  Tangent vectors at W are the
matrices D with ``D W^T = 0``.  The geodesic along ``D = U S V^T`` (thin SVD) is
``W_t = U cos(S t) U^T W + U sin(S t) V^T`` [1]_.  It equals the matrix exponential in Sec. 2.5 of
the paper [2]_.

References
----------
.. [1] A. Edelman, T. A. Arias, S. T. Smith, "The geometry of algorithms with orthogonality
   constraints," SIAM Journal on Matrix Analysis and Applications 20(2), 1998.
.. [2] V. Tangkaratt, N. Xie, M. Sugiyama, "Conditional density estimation with dimensionality
   reduction via squared-loss conditional entropy minimization," Neural Computation 27(1), 2015.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from condensity._typing import Array
from condensity.data.sample import Sample


def orthonormal(W: Array) -> Array:
    """Matrix with orthonormal rows that is nearest to ``W`` (dz, dx): its polar factor."""
    U, _, Vt = np.linalg.svd(W, full_matrices=False)
    return np.asarray(U @ Vt)


def random_point(rng: np.random.Generator, dz: int, dx: int) -> Array:
    """Random subspace with uniform distribution: (dz, dx)."""
    return orthonormal(rng.standard_normal((dz, dx)))


def standard_basis(W: Array) -> Array:
    """The same subspace in a basis that does not depend on that of ``W`` (dz, dx).

    It is the triangular factor of the decomposition of ``W`` with column pivoting, in which the
    pivots are positive.
    """
    Q, R, _ = qr(W, mode="economic", pivoting=True)
    signs = np.where(np.diagonal(R) < 0, -1.0, 1.0)
    return np.asarray((Q * signs).T @ W)


def natural_gradient(W: Array, gradient: Array) -> Array:
    """Projection of a gradient on the tangent space at ``W``: ``gradient (I - W^T W)``.

    Both have the shape (..., dz, dx).
    """
    return gradient - (gradient @ np.swapaxes(W, -1, -2)) @ W


def projector_gap(A: Array, B: Array) -> float:
    """Distance ``|A^T A - B^T B|_F`` between two subspaces; 0 if and only if they are equal.

    The rows of ``A`` and ``B`` must be orthonormal; their numbers may differ.  The distance is
    computed from the part of each row outside the other subspace.  This is accurate for close
    subspaces, and the projectors are not formed.
    """
    rest_a = A - (A @ B.T) @ B
    rest_b = B - (B @ A.T) @ A
    return float(np.sqrt(np.sum(rest_a**2) + np.sum(rest_b**2)))


def orient_signs(W: Array, sample: Sample) -> Array:
    """``W`` (dz, dx) with each row's sign such that ``z = W x`` grows with the first output.

    The sign of a direction is arbitrary: the span is the same for both.
    """
    covariance = (sample.weight * sample.Y[:, 0]) @ (sample.X @ W.T)
    return np.where(covariance < 0, -1.0, 1.0)[:, None] * W


@dataclass(frozen=True, eq=False)
class Geodesic:
    """Geodesic ``W_t`` with given start and tangent vector."""

    base: Array  # (dz, dx) U^T W
    turn: Array  # (dz, dx) V^T
    rotation: Array  # (dz, dz) U
    speed: Array  # (dz,) S, the principal angles per unit of t

    @classmethod
    def along(cls, W: Array, tangent: Array) -> Geodesic:
        """Geodesic from ``W`` in the direction ``tangent`` (dz, dx)."""
        U, S, Vt = np.linalg.svd(tangent, full_matrices=False)
        return cls(U.T @ W, Vt, U, S)

    def __call__(self, t: float) -> Array:
        """Point ``W_t``, (dz, dx)."""
        angle = self.speed[:, None] * t
        return np.asarray(self.rotation @ (np.cos(angle) * self.base + np.sin(angle) * self.turn))
