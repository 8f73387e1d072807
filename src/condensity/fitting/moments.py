"""Moments of the basis functions: the sufficient statistics of the least-squares fit.

The basis factorises as ``phi_k(z, y) = k(z, u_k) k(y, v_k)``.  The fit therefore depends on the
sample only through ``G = zz * yy`` (elementwise) and ``h``: Sec. 2.3 and 2.7 of the paper [1]_;
symbols in docs/notation.md.

The reference measure of y distinguishes two methods.  With dy, ``alpha @ phi`` fits the
conditional density p(y|z) (LSCE [1]_, LSCDE [2]_).  With p(y), it fits the density ratio
``p(z, y) / (p(z) p(y))`` (LSMI [3]_; Sec. 2.8 of [1]_).

References
----------
.. [1] V. Tangkaratt, N. Xie, M. Sugiyama, "Conditional density estimation with dimensionality
   reduction via squared-loss conditional entropy minimization," Neural Computation 27(1), 2015.
.. [2] M. Sugiyama, I. Takeuchi, T. Suzuki, T. Kanamori, H. Hachiya, D. Okanohara, "Least-squares
   conditional density estimation," IEICE Transactions on Information and Systems E93-D(3), 2010.
.. [3] T. Suzuki, M. Sugiyama, "Sufficient dimension reduction via squared-loss mutual information
   estimation," Neural Computation 25(3), 2013.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from condensity._typing import Array, Indices
from condensity.fitting.kernels import gaussian, squared_distances


@dataclass(frozen=True, eq=False)
class Moments:
    """Weighted averages of the basis functions over a sample of total weight ``n``.

    ``a + b`` gives the moments of two disjoint samples together.  ``a - b`` removes the sample of
    ``b`` from the sample of ``a``.
    """

    zz: Array  # (b, b) mean of phi_z phi_z^T
    yy: Array  # (b, b) integral of phi_y phi_y^T with respect to the reference measure
    h: Array  # (b,) mean of phi_z * phi_y
    n: float

    @property
    def G(self) -> Array:
        """The matrix Ĝ of the paper, (b, b)."""
        return self.zz * self.yy

    def __add__(self, other: Moments) -> Moments:
        return self._pool(other, other.n)

    def __sub__(self, other: Moments) -> Moments:
        return self._pool(other, -other.n)

    def _pool(self, other: Moments, n_other: float) -> Moments:
        n = self.n + n_other
        share = self.n / n
        zz = share * self.zz + (1 - share) * other.zz
        # With dy, yy does not depend on the sample; skipping the average avoids rounding errors.
        yy = self.yy if self.yy is other.yy else share * self.yy + (1 - share) * other.yy
        return Moments(zz, yy, share * self.h + (1 - share) * other.h, n)

    def keep(self, centers: Indices) -> Moments:
        """Moments of the basis functions with the indices ``centers``."""
        return Moments(
            submatrix(self.zz, centers), submatrix(self.yy, centers), self.h[centers], self.n
        )

    def loss(self, alpha: Array) -> Array:
        """Loss ``alpha^T G alpha / 2 - h^T alpha`` for each column of ``alpha`` (b, ...).

        Up to a constant, this is half the mean squared error of ``alpha @ phi`` as an estimate of
        p(y|z).
        """
        quadratic: Array = 0.5 * np.sum(alpha * (self.G @ alpha), axis=0)
        return quadratic - self.h @ alpha


def submatrix(matrix: Array, index: Indices) -> Array:
    """Rows and columns ``index`` of ``matrix`` (b, b), in a third of the time of ``np.ix_``."""
    return matrix.take(index, axis=0).take(index, axis=1)


def moments(phi_z: Array, phi_y: Array, yy: Array, weight: Array) -> Moments:
    """Moments of a sample from its kernels ``phi_z``, ``phi_y`` (n, b) and ``weight`` (n,)."""
    n = float(weight.sum())
    share = weight / n
    root = phi_z * np.sqrt(share)[:, None]
    return Moments(root.T @ root, yy, share @ (phi_z * phi_y), n)


@dataclass(frozen=True, eq=False)
class Sums:
    """Weighted sums of the basis functions over a sample; ``a + b`` sums over both samples."""

    zz: Array  # (b, b)
    h: Array  # (b,)
    z: Array  # (b,) sum of phi_z
    n: float

    @classmethod
    def of(cls, phi_z: Array, phi_y: Array, weight: Array) -> Sums:
        """Sums over a sample with kernels ``phi_z``, ``phi_y`` (n, b) and ``weight`` (n,)."""
        root = phi_z * np.sqrt(weight)[:, None]
        return cls(root.T @ root, weight @ (phi_z * phi_y), weight @ phi_z, float(weight.sum()))

    def with_outputs(self, phi_z: Array, phi_y: Array, weight: Array) -> Sums:
        """The sums of the same ``phi_z`` (n, b) with other kernels ``phi_y`` (n, b) of y."""
        return Sums(self.zz, weight @ (phi_z * phi_y), self.z, self.n)

    @classmethod
    def none(cls, b: int) -> Sums:
        """Sums over an empty sample: zeros, for ``b`` basis functions."""
        return cls(np.zeros((b, b)), np.zeros(b), np.zeros(b), 0.0)

    def means(self, yy: Array) -> Moments:
        """Moments of the sample, given the integrals ``yy`` (b, b)."""
        return Moments(self.zz / self.n, yy, self.h / self.n, self.n)

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.zz + other.zz, self.h + other.h, self.z + other.z, self.n + other.n)

    def __mul__(self, factor: float) -> Sums:
        return Sums(factor * self.zz, factor * self.h, factor * self.z, factor * self.n)


class Reference(Enum):
    """Reference measure of y: Lebesgue measure dy, or the distribution p(y) of the sample."""

    LEBESGUE = "dy"
    EMPIRICAL = "p(y)"

    def products(
        self,
        V: Array,
        sigma: float,
        phi_y: Array,
        weight: Array,
        parts: Sequence[slice] = (slice(None),),
    ) -> list[Array]:
        """Integrals of ``phi_k phi_l``, (b, b), for each part of a sample with kernels ``phi_y``.

        With dy the integral does not depend on the sample: the list contains the same array for
        all parts.
        """
        if self is Reference.LEBESGUE:
            return [lebesgue(V, sigma)] * len(parts)
        roots = [phi_y[f] * np.sqrt(weight[f] / weight[f].sum())[:, None] for f in parts]
        return [root.T @ root for root in roots]


def lebesgue(V: Array, sigma: float) -> Array:
    """Integrals ``int phi_k phi_l dy``, (b, b), for centres ``V`` (b, dy).

    They are ``(sqrt(pi) sigma)^dy exp(-|v_k - v_l|^2 / (4 sigma^2))``.
    """
    volume = float(np.sqrt(np.pi) * sigma) ** V.shape[1]
    table: Array = volume * gaussian(squared_distances(V, V), np.sqrt(2.0) * sigma)
    return table
