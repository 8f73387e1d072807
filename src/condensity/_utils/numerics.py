"""Numerical helpers: row blocks of bounded size, squared distances, log-sum-exp, quantiles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.distance import cdist

from condensity._typing import Array

#: Maximum number of floats in a temporary array of a row-wise computation (32 MiB).
BLOCK = 1 << 22
#: The same if every number is used several times: it fits in the cache of one core (1 MiB).
CACHED = 1 << 17
#: ``exp(x) = exp2(LOG2_E x)``: on processors without vector instructions for either function,
#: exp2 takes half the time.
LOG2_E = float(np.log2(np.e))


def squared_differences(A: Array, B: Array) -> Array:
    """Squared distances from differences: rows of ``A`` (m, d) and of ``B`` (b, d) to (m, b).

    Unlike the expanded square, the result is accurate for rows far from the origin.
    """
    if A.shape[1] != 1:
        return np.asarray(cdist(A, B, "sqeuclidean"))
    D: Array = A - B.T  # takes a third of the time of cdist
    with np.errstate(over="ignore"):
        D *= D
    return D


def log_sum_exp(T: Array) -> Array:
    """``log sum_k exp(T_.k)`` over the last axis; -inf if all terms are -inf."""
    top = T.max(axis=-1)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        out: Array = np.log(np.exp(T - top[..., None]).sum(axis=-1)) + top
    return out


def weighted_quantiles(values: Array, weight: Array, levels: Sequence[float]) -> Array:
    """Quantiles of ``values`` (n,) with ``weight`` (n,), linear between mid-ranks.

    The mid-rank of a value is the weight of all smaller values plus half of its own.
    """
    order = np.argsort(values, kind="stable")
    ranks = np.cumsum(weight[order]) - 0.5 * weight[order]
    return np.asarray(np.interp(np.asarray(levels) * weight.sum(), ranks, values[order]))


def row_blocks(rows: int, width: int, most: int | None = None) -> list[slice]:
    """Slices that divide ``rows`` rows into blocks of bounded size.

    A row needs ``width`` floats.  A block has at most ``most`` floats (None: ``BLOCK``), but it has
    at least one row.
    """
    size = max(1, (BLOCK if most is None else most) // max(1, width))
    return [slice(start, min(start + size, rows)) for start in range(0, rows, size)]
