"""Ridge system of the least-squares fit: ``alpha = (G + penalty I)^-1 h``.

This is the closed-form solution of LSCDE [1]_ and of LSCE ([2]_, Sec. 2.3).

References
----------
.. [1] M. Sugiyama, I. Takeuchi, T. Suzuki, T. Kanamori, H. Hachiya, D. Okanohara, "Least-squares
   conditional density estimation," IEICE Transactions on Information and Systems E93-D(3), 2010.
.. [2] V. Tangkaratt, N. Xie, M. Sugiyama, "Conditional density estimation with dimensionality
   reduction via squared-loss conditional entropy minimization," Neural Computation 27(1), 2015.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack, lstsq

from condensity._typing import Array

#: Pivots below this share of the largest diagonal entry are rounding errors.
ROUNDING = 1e-14


@dataclass(frozen=True, eq=False)
class RidgeSystem:
    """The matrix ``G + penalty I`` in factorised form."""

    G: Array  # (b, b)
    factor: Array | None  # lower Cholesky factor of G + penalty I; None if it failed

    @classmethod
    def of(cls, G: Array, penalty: float) -> RidgeSystem:
        """Factorise ``G + penalty I`` (b, b) once for any number of right-hand sides."""
        ridged = G.T.copy(order="F")  # G is symmetric; LAPACK needs Fortran order
        ridged.flat[:: len(G) + 1] += penalty
        # Cholesky is safe: G is a Gram matrix, so only the penalty decides the conditioning.
        factor, failed = lapack.dpotrf(ridged, lower=1, overwrite_a=1)
        return cls(G, None if failed else factor)

    def solve(self, h: Array) -> Array:
        """Minimise ``a^T G a / 2 - h^T a + penalty / 2 a^T a`` for each column of ``h``."""
        if self.factor is None:  # negligible penalty: the minimiser of smallest norm
            return np.asarray(lstsq(self.G, h)[0])
        return np.asarray(lapack.dpotrs(self.factor, h, lower=1)[0])


def solve(G: Array, h: Array, *, penalty: float) -> Array:
    """Minimise ``a^T G a / 2 - h^T a + penalty / 2 a^T a`` for each column of ``h`` (b, ...)."""
    return RidgeSystem.of(G, penalty).solve(h)


def low_rank_root(matrix: Array) -> Array:
    """``R`` (b, r) with ``R R^T = matrix`` but for rounding; ``matrix`` is positive semidefinite.

    This is a Cholesky decomposition that takes the largest remaining pivot, and stops when only
    rounding errors remain.
    """
    stop = ROUNDING * float(np.max(np.diagonal(matrix)))
    factor, order, rank, _ = lapack.dpstrf(matrix, tol=stop, lower=1)
    root = np.empty((len(matrix), rank))
    root[order - 1] = np.tril(factor)[:, :rank]
    return root
