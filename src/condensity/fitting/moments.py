"""Moments: all that the least-squares fit ever needs to know about a sample.

The basis splits as ``phi_k(z, y) = k(z, u_k) k(y, v_k)``, so the fit sees the data only through
``G = zz * yy`` (elementwise) and ``h``.  Paper, Sec. 2.3 and 2.7; symbols in docs/notation.md.

What y is measured by makes the difference between two methods: by dy, ``alpha @ phi`` fits the
conditional density p(y|z) (LSCE); by p(y), the ratio p(z, y) / (p(z) p(y)) (LSMI; Sec. 2.8).
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
    """Basis averages over a sample of total weight ``n``; disjoint samples pool with ``+``.

    ``-`` takes away again what was pooled.
    """

    zz: Array  # (b, b) mean of phi_z phi_z^T
    yy: Array  # (b, b) integral of phi_y phi_y^T by the reference measure of y
    h: Array  # (b,) mean of phi_z * phi_y
    n: float

    @property
    def G(self) -> Array:
        """The paper's Ĝ, (b, b)."""
        return self.zz * self.yy

    def __add__(self, other: Moments) -> Moments:
        return self._pool(other, other.n)

    def __sub__(self, other: Moments) -> Moments:
        return self._pool(other, -other.n)

    def _pool(self, other: Moments, n_other: float) -> Moments:
        n = self.n + n_other
        share = self.n / n
        zz = share * self.zz + (1 - share) * other.zz
        # By dy it does not depend on the sample: nothing is to be pooled, and nothing rounded.
        yy = self.yy if self.yy is other.yy else share * self.yy + (1 - share) * other.yy
        return Moments(zz, yy, share * self.h + (1 - share) * other.h, n)

    def keep(self, centers: Indices) -> Moments:
        """The moments of the basis functions that ``centers`` lists."""
        return Moments(
            submatrix(self.zz, centers), submatrix(self.yy, centers), self.h[centers], self.n
        )

    def loss(self, alpha: Array) -> Array:
        """``alpha^T G alpha / 2 - h^T alpha`` for each column of ``alpha`` (b, ...).

        The squared error of ``alpha @ phi`` as an estimate of p(y|z), halved, up to a constant.
        """
        quadratic: Array = 0.5 * np.sum(alpha * (self.G @ alpha), axis=0)
        return quadratic - self.h @ alpha


def submatrix(matrix: Array, kept: Indices) -> Array:
    """The rows and columns of ``matrix`` (b, b) that ``kept`` lists; a third of np.ix_'s time."""
    return matrix.take(kept, axis=0).take(kept, axis=1)


def moments(phi_z: Array, phi_y: Array, yy: Array, weight: Array) -> Moments:
    """Average the basis over samples: ``phi_z``, ``phi_y`` (n, b) and ``weight`` (n,)."""
    n = float(weight.sum())
    share = weight / n
    root = phi_z * np.sqrt(share)[:, None]
    return Moments(root.T @ root, yy, share @ (phi_z * phi_y), n)


@dataclass(frozen=True, eq=False)
class Sums:
    """What moments are means of: sums over samples by weight, which parts add up to with ``+``."""

    zz: Array  # (b, b)
    h: Array  # (b,)
    z: Array  # (b,) of phi_z
    n: float

    @classmethod
    def of(cls, phi_z: Array, phi_y: Array, weight: Array) -> Sums:
        """Sum ``phi_z`` and ``phi_y`` (n, b) by ``weight`` (n,)."""
        root = phi_z * np.sqrt(weight)[:, None]
        return cls(root.T @ root, weight @ (phi_z * phi_y), weight @ phi_z, float(weight.sum()))

    @classmethod
    def none(cls, b: int) -> Sums:
        """The sums over no samples."""
        return cls(np.zeros((b, b)), np.zeros(b), np.zeros(b), 0.0)

    def means(self, yy: Array) -> Moments:
        """The moments of all samples that were added up."""
        return Moments(self.zz / self.n, yy, self.h / self.n, self.n)

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.zz + other.zz, self.h + other.h, self.z + other.z, self.n + other.n)

    def __mul__(self, factor: float) -> Sums:
        return Sums(factor * self.zz, factor * self.h, factor * self.z, factor * self.n)


class Reference(Enum):
    """What y is measured by."""

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
        """``int phi_k phi_l``, (b, b), for each part of the samples that ``phi_y`` (n, b) is of.

        By dy that does not depend on the samples: it is one and the same array for all parts.
        """
        if self is Reference.LEBESGUE:
            return [lebesgue(V, sigma)] * len(parts)
        roots = [phi_y[f] * np.sqrt(weight[f] / weight[f].sum())[:, None] for f in parts]
        return [root.T @ root for root in roots]


def lebesgue(V: Array, sigma: float) -> Array:
    """``int phi_k phi_l dy = (sqrt(pi) sigma)^dy exp(-|v_k - v_l|^2 / (4 sigma^2))``, (b, b)."""
    volume = float(np.sqrt(np.pi) * sigma) ** V.shape[1]
    table: Array = volume * gaussian(squared_distances(V, V), np.sqrt(2.0) * sigma)
    return table
