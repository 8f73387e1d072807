"""Squared-loss conditional entropy (SCE) as a function of W, and its gradient.

``SCE(W) = alpha^T G alpha / 2 - h^T alpha`` with ``alpha = (G + penalty I)^-1 h`` ([1]_, Sec. 2.3).
The gradient ([1]_, Appendix B) follows from the chain rule.  With
``beta = (G + penalty I)^-1 G alpha``, the gradient with respect to G is
``sym(alpha (3/2 alpha - beta)^T)`` and with respect to h it is ``beta - 2 alpha``.  Both give the
gradient ``R`` with respect to ``log phi_z``.  The squared distances in ``log phi_z`` are quadratic
in W.

References
----------
.. [1] V. Tangkaratt, N. Xie, M. Sugiyama, "Conditional density estimation with dimensionality
   reduction via squared-loss conditional entropy minimization," Neural Computation 27(1), 2015.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from condensity._typing import Array
from condensity._utils.numerics import CACHED, row_blocks
from condensity.data.sample import Sample
from condensity.fitting.kernels import gaussian, pull_to_subspace, squared_distances
from condensity.fitting.moments import Moments, Reference, Sums
from condensity.fitting.ridge import RidgeSystem


@dataclass(frozen=True, eq=False)
class SCE:
    """SCE estimate for fixed centres, bandwidths and penalty, as a function of W."""

    sample: Sample
    centers: Sample
    phi_y: Array  # (n, b)
    yy: Array  # (b, b)
    sigma_z: float
    penalty: float

    @classmethod
    def build(
        cls,
        sample: Sample,
        centers: Sample,
        *,
        sigma_z: float,
        sigma_y: float,
        penalty: float,
        reference: Reference = Reference.LEBESGUE,
    ) -> SCE:
        """Precompute the terms that do not depend on W."""
        phi_y = gaussian(squared_distances(sample.Y, centers.Y), sigma_y)
        (yy,) = reference.products(centers.Y, sigma_y, phi_y, sample.weight)
        return cls(sample, centers, phi_y, yy, sigma_z, penalty)

    def at(self, W: Array) -> SCEPoint:
        """Fit the density and evaluate the SCE in the coordinates ``z = W x``, W (dz, dx)."""
        Z, U = self.sample.X @ W.T, self.centers.X @ W.T
        phi_z, sums = np.empty(self.phi_y.shape), Sums.none(len(U))
        for rows in self.blocks():
            phi_z[rows] = gaussian(squared_distances(Z[rows], U), self.sigma_z)
            sums += Sums.of(phi_z[rows], self.phi_y[rows], self.sample.weight[rows])
        stats = sums.means(self.yy)
        ridged = RidgeSystem.of(stats.G, self.penalty)
        alpha = ridged.solve(stats.h)
        image = ridged.G @ alpha
        value = float(0.5 * (alpha @ image) - stats.h @ alpha)
        return SCEPoint(self, W, phi_z, stats, alpha, value, ridged.solve(image))

    def blocks(self) -> list[slice]:
        """Row blocks of the computation.

        A block has at least one row for each centre; otherwise adding the (b, b) sums dominates.
        """
        b = len(self.yy)
        return row_blocks(len(self.phi_y), b, max(CACHED, b * b))


@dataclass(frozen=True, eq=False)
class SCEPoint:
    """Fit at one W: its value and coefficients; the gradient is computed on demand."""

    problem: SCE
    W: Array  # (dz, dx)
    phi_z: Array  # (n, b)
    moments: Moments
    alpha: Array  # (b,)
    value: float
    beta: Array  # (b,)

    def gradient(self) -> Array:
        """Derivative of the value with respect to the entries of W, (dz, dx)."""
        p, alpha, beta = self.problem, self.alpha, self.beta
        outer = np.outer(alpha, 1.5 * alpha - beta)
        by_zz = (outer + outer.T) * p.yy  # twice the symmetric part
        by_h = beta - 2.0 * alpha
        slope, X, C = np.zeros(self.W.shape), p.sample.X, p.centers.X
        for rows in p.blocks():
            R = self.phi_z[rows] @ by_zz  # becomes the gradient with respect to log phi_z
            R += p.phi_y[rows] * by_h
            R *= self.phi_z[rows]
            R *= (p.sample.weight[rows] / self.moments.n)[:, None]
            slope += pull_to_subspace(R, self.W, X[rows], C, p.sigma_z)
        return slope
