"""The closed-form fit: ``alpha = (G + penalty I)^-1 h``.  Paper, Sec. 2.3."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack, lstsq

from condensity._typing import Array


@dataclass(frozen=True, eq=False)
class RidgeSystem:
    """``G + penalty I``, ready to be solved with."""

    G: Array  # (b, b)
    factor: Array | None  # its lower Cholesky factor, if there is one

    @classmethod
    def of(cls, G: Array, penalty: float) -> RidgeSystem:
        """Factor once for any number of right-hand sides."""
        ridged = G.T.copy(order="F")  # G is its own transpose, and LAPACK's order the other one
        ridged.flat[:: len(G) + 1] += penalty
        # Cholesky and no inverse: G is a Gram matrix, so the ridge alone decides its conditioning.
        factor, failed = lapack.dpotrf(ridged, lower=1, overwrite_a=1)
        return cls(G, None if failed else factor)

    def solve(self, h: Array) -> Array:
        """Minimise ``a^T G a / 2 - h^T a + penalty / 2 a^T a`` for each column of ``h``."""
        if self.factor is None:  # without a ridge worth the name: the shortest of many minimisers
            return np.asarray(lstsq(self.G, h)[0])
        return np.asarray(lapack.dpotrs(self.factor, h, lower=1)[0])


def solve(G: Array, h: Array, *, penalty: float) -> Array:
    """Minimise ``a^T G a / 2 - h^T a + penalty / 2 a^T a`` for each column of ``h`` (b, ...)."""
    return RidgeSystem.of(G, penalty).solve(h)
