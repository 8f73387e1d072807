"""The SCE estimate as a function of W, with its gradient as matrix products.

``SCE(W) = alpha^T G alpha / 2 - h^T alpha`` with ``alpha = (G + penalty I)^-1 h`` (Sec. 2.3).
The gradient (Appendix B) is a pullback: with ``beta = (G + penalty I)^-1 G alpha`` the value moves
with G by ``Gbar = sym(alpha (3/2 alpha - beta)^T)`` and with h by ``hbar = beta - 2 alpha``, both
move with ``log phi_z`` by ``R``, and the squared distances in ``log phi_z`` are quadratic in W.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from condensity.core.kernels import Array, gaussian, pull_to_subspace, squared_distances
from condensity.core.moments import Moments, Reference, moments
from condensity.core.ridge import Ridged
from condensity.core.sample import Sample


@dataclass(frozen=True, eq=False)
class SCE:
    """The SCE estimate for fixed centres, bandwidths and penalty: a function on matrices W."""

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
        """Compute once what does not depend on W."""
        phi_y = gaussian(squared_distances(sample.Y, centers.Y), sigma_y)
        (yy,) = reference.products(centers.Y, sigma_y, phi_y, sample.weight)
        return cls(sample, centers, phi_y, yy, sigma_z, penalty)

    def at(self, W: Array) -> Point:
        """Fit the density in the coordinates ``z = W x``, W of shape (dz, dx)."""
        Z, U = self.sample.X @ W.T, self.centers.X @ W.T
        phi_z = gaussian(squared_distances(Z, U), self.sigma_z)
        stats = moments(phi_z, self.phi_y, self.yy, self.sample.weight)
        ridged = Ridged.of(stats.G, self.penalty)
        alpha = ridged.solve(stats.h)
        image = ridged.G @ alpha
        value = float(0.5 * (alpha @ image) - stats.h @ alpha)
        return Point(self, W, phi_z, stats, alpha, value, ridged.solve(image))


@dataclass(frozen=True, eq=False)
class Point:
    """The fit at one W: its value, its coefficients, and on demand its gradient."""

    problem: SCE
    W: Array  # (dz, dx)
    phi_z: Array  # (n, b)
    moments: Moments
    alpha: Array  # (b,)
    value: float
    beta: Array  # (b,)

    def gradient(self) -> Array:
        """Derivative of the value with respect to the entries of W, (dz, dx)."""
        X, C = self.problem.sample.X, self.problem.centers.X
        return pull_to_subspace(self._pull_to_log_phi_z(), self.W, X, C, self.problem.sigma_z)

    def _pull_to_log_phi_z(self) -> Array:
        """Derivative of the value with respect to ``log phi_z``, (n, b)."""
        alpha, beta, problem = self.alpha, self.beta, self.problem
        outer = np.outer(alpha, 1.5 * alpha - beta)
        R = self.phi_z @ ((outer + outer.T) * problem.yy)  # twice the symmetric part
        R += problem.phi_y * (beta - 2.0 * alpha)
        R *= self.phi_z
        R *= (problem.sample.weight / self.moments.n)[:, None]
        return R
