"""The Grassmann manifold: subspaces of R^dx, each held as a W with orthonormal rows (dz, dx).

Two matrices are the same point when their rows span the same subspace.  Tangent vectors at W are
the matrices D with ``D W^T = 0``; the geodesic along ``D = U S V^T`` (thin SVD) is
``W_t = U cos(S t) U^T W + U sin(S t) V^T``, which is the paper's matrix exponential (Sec. 2.5).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from condensity._typing import Array


def orthonormal(W: Array) -> Array:
    """The matrix with orthonormal rows nearest to ``W`` (dz, dx): its polar factor."""
    U, _, Vt = np.linalg.svd(W, full_matrices=False)
    return np.asarray(U @ Vt)


def random_point(rng: np.random.Generator, dz: int, dx: int) -> Array:
    """A subspace drawn uniformly."""
    return orthonormal(rng.standard_normal((dz, dx)))


def natural_gradient(W: Array, gradient: Array) -> Array:
    """Project a gradient onto the tangent space at ``W``: ``gradient (I - W^T W)``."""
    return gradient - (gradient @ W.T) @ W


def projector_gap(A: Array, B: Array) -> float:
    """``|A^T A - B^T B|_F`` for orthonormal rows; zero exactly when the subspaces agree.

    Dimensions may differ.  The projectors themselves are never formed: each row of ``A`` is split
    into its part within the span of ``B`` and the rest, which stays exact for close subspaces.
    """
    rest_a = A - (A @ B.T) @ B
    rest_b = B - (B @ A.T) @ A
    return float(np.sqrt(np.sum(rest_a**2) + np.sum(rest_b**2)))


@dataclass(frozen=True, eq=False)
class Geodesic:
    """The curve ``W_t`` that leaves ``W`` along the tangent vector it was built from."""

    base: Array  # (dz, dx) U^T W
    turn: Array  # (dz, dx) V^T
    rotation: Array  # (dz, dz) U
    speed: Array  # (dz,) principal angles gained per unit of t

    @classmethod
    def along(cls, W: Array, tangent: Array) -> Geodesic:
        """Leave ``W`` along ``tangent`` (dz, dx)."""
        U, S, Vt = np.linalg.svd(tangent, full_matrices=False)
        return cls(U.T @ W, Vt, U, S)

    def __call__(self, t: float) -> Array:
        """``W_t``, (dz, dx)."""
        angle = self.speed[:, None] * t
        return np.asarray(self.rotation @ (np.cos(angle) * self.base + np.sin(angle) * self.turn))
