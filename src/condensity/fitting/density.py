"""The fitted conditional density: from inputs to Gaussian mixtures.

``p(y|x) = sum_k w_k(x) N(y; v_k, sigma_y^2 I)`` with ``w_k(x)`` proportional to
``max(alpha_k, 0) exp(-|z - u_k|^2 / (2 sigma_z^2))`` and ``z = W x``: the paper's clipped and
normalised estimate (Sec. 2.6, 2.7), with the weights in logs so that no x is too far away.
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
    """A conditional density in the units of the data; call ``at`` on inputs."""

    x_scaling: Scaling
    y_scaling: Scaling
    W: Array  # (dz, dx) acts on standardised inputs
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
        """Clip the coefficients and forget the centres that are left without weight."""
        kept = alpha > 0
        U, V = basis.X[kept] @ W.T, basis.Y[kept]
        return cls(x_scaling, y_scaling, W, U, V, np.log(alpha[kept]), sigma_z, sigma_y)

    @property
    def width(self) -> int:
        """Number of Gaussians in each answer."""
        return len(self.V)

    def reduce(self, X: Array) -> Array:
        """``z = W x``, (m, dz)."""
        return self.x_scaling.apply(X) @ self.W.T

    def at(self, X: Array) -> Mixture:
        """The densities p(y|x) for the rows of ``X`` (m, dx)."""
        return self.at_reduced(self.reduce(X))

    def at_reduced(self, Z: Array) -> Mixture:
        """The densities p(y|z) for the rows of ``Z`` (m, dz)."""
        # |z|^2 is common to a row and cancels: without it nothing is lost to rounding far out.
        nearness = Z @ self.U.T - 0.5 * np.sum(self.U**2, axis=1)
        log_weights = self.log_alpha + nearness / self.sigma_z**2
        centers = self.y_scaling.mean + self.y_scaling.sd * self.V
        factor = np.diag(self.sigma_y * self.y_scaling.sd)
        return Mixture([Block(log_weights, centers, factor)])
