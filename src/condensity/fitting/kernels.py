"""Gaussian kernels and squared distances between the rows of two arrays.

The kernel is ``exp(-|a - b|^2 / (2 sigma^2))``.  Distances are computed from differences in few
dimensions and from one matrix product in many dimensions.
"""

from __future__ import annotations

import numpy as np

from condensity._typing import Array
from condensity._utils.numerics import LOG2_E, squared_differences

#: Up to this number of dimensions, differences are faster than a matrix product, and exact.
FEW = 6


def squared_distances(A: Array, B: Array) -> Array:
    """Squared Euclidean distances between the rows of ``A`` (m, d) and of ``B`` (b, d): (m, b)."""
    if A.shape[1] <= FEW:
        return squared_differences(A, B)
    # The expanded square rounds less when the origin is close to the rows.
    origin = B.mean(axis=0)
    A, B = A - origin, B - origin
    D: Array = A @ B.T
    D *= -2.0
    D += np.einsum("ij,ij->i", A, A)[:, None]
    D += np.einsum("ij,ij->i", B, B)
    return np.maximum(D, 0.0, out=D)


def gaussian(squared: Array, sigma: float) -> Array:
    """``exp(-squared / (2 sigma^2))``, elementwise, in a new array."""
    out = squared * (-0.5 * LOG2_E / sigma**2)
    return np.exp2(out, out=out)


def log2_kernels(X: Array, C: Array, W: Array, sigma: float, out: Array | None = None) -> Array:
    """Binary logarithms of the kernels in the coordinates ``z = W x``: (..., n, b).

    W has the shape (..., dz, dx).  The squared distances are one matrix product.
    """
    T = np.swapaxes(W, -1, -2)
    Z, U = X @ T, C @ T
    unit = LOG2_E / sigma**2
    left = np.concatenate([Z * unit, squared_rows(Z, -0.5 * unit), np.ones_like(Z[..., :1])], -1)
    right = np.concatenate([U, np.ones_like(U[..., :1]), squared_rows(U, -0.5 * unit)], -1)
    return np.asarray(np.matmul(left, np.swapaxes(right, -1, -2), out=out))


def squared_rows(A: Array, factor: float) -> Array:
    """The squared length of each row times a factor, as a column: (..., n, 1)."""
    lengths: Array = np.einsum("...k,...k->...", A, A)[..., None]
    return factor * lengths


def pull_to_subspace(R: Array, W: Array, X: Array, C: Array, sigma: float) -> Array:
    """Chain rule from the kernels to W: the gradient with respect to W (..., dz, dx).

    ``R`` (..., n, b) is the gradient with respect to ``log phi_ik``.  Since
    ``log phi_ik = -|W (x_i - c_k)|^2 / (2 sigma^2)``, the result is
    ``-sum_ik R_ik W (x_i - c_k)(x_i - c_k)^T / sigma^2``.
    """
    T = np.swapaxes(W, -1, -2)
    Z, U = X @ T, C @ T
    by_row = R @ np.concatenate([U, np.ones_like(U[..., :1])], -1)
    by_column = np.swapaxes(np.concatenate([Z, np.ones_like(Z[..., :1])], -1), -1, -2) @ R
    Z *= by_row[..., -1:]
    Z -= by_row[..., :-1]
    U *= np.swapaxes(by_column[..., -1:, :], -1, -2)
    U -= np.swapaxes(by_column[..., :-1, :], -1, -2)
    pulled: Array = np.swapaxes(Z, -1, -2) @ X + np.swapaxes(U, -1, -2) @ C
    return pulled * (-1.0 / sigma**2)
