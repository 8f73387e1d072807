"""Fitted conditional density: a Gaussian mixture for each input.

In standardised units the density is ``p(y|x) = sum_k w_k(x) N(y; v_k, sigma_y^2 I)`` with
``w_k(x)`` proportional to ``max(alpha_k, 0) exp(-|z - u_k|^2 / (2 sigma_z^2))`` and ``z = W x``.
This is the clipped and normalised estimate of the paper [1]_, Sec. 2.6 and 2.7.  The weights are
computed as logarithms, so they do not underflow for any x.

References
----------
.. [1] V. Tangkaratt, N. Xie, M. Sugiyama, "Conditional density estimation with dimensionality
   reduction via squared-loss conditional entropy minimization," Neural Computation 27(1), 2015.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from condensity._typing import Array
from condensity.data.sample import Sample, Scaling
from condensity.distributions.block import Block
from condensity.distributions.mixture import Mixture


@dataclass(frozen=True, eq=False)
class KernelDensity:
    """Conditional density in the units of the data; ``at`` evaluates it for given inputs."""

    x_scaling: Scaling
    y_scaling: Scaling
    W: Array  # (dz, dx), for standardised inputs
    U: Array  # (b, dz) centres in z
    V: Array  # (b, dy) centres in standardised y
    log_alpha: Array  # (b,)
    sigma_z: float
    sigma_y: float

    @classmethod
    def build(
        cls,
        x_scaling: Scaling,
        y_scaling: Scaling,
        basis: Sample,
        *,
        W: Array,
        alpha: Array,
        sigma_z: float,
        sigma_y: float,
    ) -> KernelDensity:
        """Density from fitted coefficients: centres with a coefficient <= 0 are dropped."""
        positive = alpha > 0
        U, V = basis.X[positive] @ W.T, basis.Y[positive]
        return cls(x_scaling, y_scaling, W, U, V, np.log(alpha[positive]), sigma_z, sigma_y)

    @property
    def width(self) -> int:
        """Number of Gaussians in each density."""
        return len(self.V)

    def reduce(self, X: Array) -> Array:
        """Reduced inputs ``z = W x`` for the rows of ``X`` (m, dx): (m, dz)."""
        return self.x_scaling.apply(X) @ self.W.T

    def at(self, X: Array) -> Mixture:
        """Densities p(y|x) for the rows of ``X`` (m, dx)."""
        return self.at_reduced(self.reduce(X))

    def at_reduced(self, Z: Array) -> Mixture:
        """Densities p(y|z) for the rows of ``Z`` (m, dz)."""
        # |z|^2 is the same for all centres and cancels.  Leaving it out avoids rounding errors.
        nearness = Z @ self.U.T - 0.5 * np.sum(self.U**2, axis=1)
        log_weights = self.log_alpha + nearness / self.sigma_z**2
        centers = self.y_scaling.mean + self.y_scaling.sd * self.V
        factor = np.diag(self.sigma_y * self.y_scaling.sd)
        return Mixture([Block(log_weights, centers, factor)])
