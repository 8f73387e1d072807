"""Numerical helpers that every room shares: blocks of bounded size, distances, log-sum-exp."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from condensity._typing import Array

#: Largest number of floats a temporary array of a row-wise computation may hold (32 MiB).
BLOCK = 1 << 22
#: The same where every number is used several times: what a core's cache holds (1 MiB).
CACHED = 1 << 17
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
