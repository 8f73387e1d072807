"""Moments: all that the least-squares fit ever needs to know about a sample.

The basis splits as ``phi_k(z, y) = k(z, u_k) k(y, v_k)``, so the fit sees the data only through
``G = zz * yy`` (elementwise) and ``h``.  Paper, Sec. 2.3 and 2.7; symbols in docs/notation.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from condensity.core.kernels import Array, Indices, gaussian, squared_distances


@dataclass(frozen=True, eq=False)
class Moments:
    """Basis averages over a sample of total weight ``n``; disjoint samples pool with ``+``."""

    zz: Array  # (b, b) mean of phi_z phi_z^T
    yy: Array  # (b, b) integral of phi_y phi_y^T over y, free of the sample
    h: Array  # (b,) mean of phi_z * phi_y
    n: float

    @property
    def G(self) -> Array:
        """The paper's Ĝ, (b, b)."""
        return self.zz * self.yy

    def __add__(self, other: Moments) -> Moments:
        n = self.n + other.n
        share = self.n / n
        zz = share * self.zz + (1 - share) * other.zz
        return Moments(zz, self.yy, share * self.h + (1 - share) * other.h, n)

    def keep(self, centers: Indices) -> Moments:
        """The moments of the basis functions that ``centers`` lists."""
        block = np.ix_(centers, centers)
        return Moments(self.zz[block], self.yy[block], self.h[centers], self.n)

    def loss(self, alpha: Array) -> Array:
        """``alpha^T G alpha / 2 - h^T alpha`` for each column of ``alpha`` (b, ...).

        The squared error of ``alpha @ phi`` as an estimate of p(y|z), halved, up to a constant.
        """
        quadratic: Array = 0.5 * np.sum(alpha * (self.G @ alpha), axis=0)
        return quadratic - self.h @ alpha


def moments(phi_z: Array, phi_y: Array, yy: Array, weight: Array) -> Moments:
    """Average the basis over samples: ``phi_z``, ``phi_y`` (n, b) and ``weight`` (n,)."""
    n = float(weight.sum())
    share = weight / n
    root = phi_z * np.sqrt(share)[:, None]
    return Moments(root.T @ root, yy, share @ (phi_z * phi_y), n)


def lebesgue(V: Array, sigma: float) -> Array:
    """``int phi_k phi_l dy = (sqrt(pi) sigma)^dy exp(-|v_k - v_l|^2 / (4 sigma^2))``, (b, b)."""
    return lebesgue_from_distances(squared_distances(V, V), sigma, V.shape[1])


def lebesgue_from_distances(squared: Array, sigma: float, dy: int) -> Array:
    """``lebesgue`` when the squared distances between the centres are at hand."""
    return float(np.sqrt(np.pi) * sigma) ** dy * gaussian(squared, np.sqrt(2.0) * sigma)
