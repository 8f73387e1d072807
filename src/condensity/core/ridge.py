"""The closed-form fit: ``alpha = (G + penalty I)^-1 h``.  Paper, Sec. 2.3."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack, lstsq

from condensity.core.kernels import Array


def solve(G: Array, h: Array, *, penalty: float) -> Array:
    """Minimise ``a^T G a / 2 - h^T a + penalty / 2 a^T a`` for each column of ``h`` (b, ...)."""
    ridged = G.copy(order="F")
    ridged.flat[:: len(G) + 1] += penalty
    # Cholesky and no inverse: G is a Gram matrix, so the ridge alone decides its conditioning.
    _, alpha, failed = lapack.dposv(ridged, h, lower=1, overwrite_a=1)
    if failed:  # only without a ridge worth the name: the shortest of the many minimisers
        alpha = lstsq(G, h)[0]
    return np.asarray(alpha)
