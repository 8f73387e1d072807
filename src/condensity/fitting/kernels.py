"""Gaussian kernels and the one place where distances are computed.

Everything Gaussian in the library is ``exp(-|a - b|^2 / (2 sigma^2))`` between rows of two
arrays; distances come from differences in few dimensions, from one matrix product in many.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]

#: Largest number of floats a temporary array of a row-wise computation may hold (32 MiB).
BLOCK = 1 << 22
#: The same where every number is used several times: what a core's cache holds (1 MiB).
CACHED = 1 << 17
#: Up to as many dimensions differences are faster than a matrix product, and exact.
FEW = 6
#: ``exp(x) = exp2(LOG2_E x)``: where a processor has no vector instructions for either, exp2 takes
#: half as long.
LOG2_E = float(np.log2(np.e))


def squared_differences(A: Array, B: Array) -> Array:
    """Squared distances between rows, from differences: (m, d) and (b, d) to (m, b).

    Unlike the expanded square, it does not mind how far the rows lie from the origin.
    """
    if A.shape[1] != 1:
        return np.asarray(cdist(A, B, "sqeuclidean"))
    D: Array = A - B.T  # a third of the time
    with np.errstate(over="ignore"):
        D *= D
    return D


def squared_distances(A: Array, B: Array) -> Array:
    """Squared Euclidean distances between the rows of ``A`` (m, d) and of ``B`` (b, d): (m, b)."""
    if A.shape[1] <= FEW:
        return squared_differences(A, B)
    # Distances do not move with the origin, but rounding does: put it amid the rows of B.
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
    """Derivative with respect to W (dz, dx) of what moves with ``log phi`` by ``R`` (n, b).

    ``log phi_ik = -|W (x_i - c_k)|^2 / (2 sigma^2)``, hence it is
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


def log_sum_exp(T: Array) -> Array:
    """``log sum_k exp(T_.k)`` over the last axis, -inf where every term is."""
    top = T.max(axis=-1)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        out: Array = np.log(np.exp(T - top[..., None]).sum(axis=-1)) + top
    return out


def row_blocks(rows: int, width: int, most: int | None = None) -> list[slice]:
    """Slices that cut ``rows`` rows so that a block of ``width`` floats a row has ``most`` floats.

    None: ``BLOCK``.
    """
    size = max(1, (BLOCK if most is None else most) // max(1, width))
    return [slice(start, min(start + size, rows)) for start in range(0, rows, size)]
