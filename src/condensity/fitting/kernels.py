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


def pull_to_subspace(R: Array, W: Array, X: Array, C: Array, sigma: float) -> Array:
    """Chain rule from the kernels to W: the gradient with respect to W (dz, dx).

    ``R`` (n, b) is the gradient with respect to ``log phi_ik``.  Since
    ``log phi_ik = -|W (x_i - c_k)|^2 / (2 sigma^2)``, the result is
    ``-sum_ik R_ik W (x_i - c_k)(x_i - c_k)^T / sigma^2``.
    """
    Z, U = X @ W.T, C @ W.T
    pulled: Array = (
        (Z * R.sum(axis=1)[:, None]).T @ X
        - (Z.T @ R) @ C
        - (R @ U).T @ X
        + (U * R.sum(axis=0)[:, None]).T @ C
    )
    return pulled * (-1.0 / sigma**2)
