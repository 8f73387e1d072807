"""The loss of the normalised density at samples left out, as a function of W.

The SCE judges a fit before it is normalised, at the samples it was fitted to.  This is the loss of
normalised kernels, all with the weight of their sample, at samples whose own kernel is left out:

    p(v | z_i) = (sum_k c_ik exp(-|z_i - u_k|^2 / (2 sigma_z^2)) N_k(v) + a_0 N_0(v)) / mass_i,

where ``c_ik`` is the weight of centre k, or 0 where sample i is that centre or belongs to it, and
``N_0`` the background.  With q_i the normalised weights it is the mean of ``1/2 q_i^T A q_i -
q_i^T a_i``, with the tables A and a of the squared loss (``scores``).  Nothing is fitted, so
there is nothing to overfit but W.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from condensity._typing import Array
from condensity._utils.numerics import LOG2_E
from condensity.data.sample import Sample
from condensity.fitting.kernels import pull_to_subspace, squared_distances
from condensity.fitting.scores import SCORES, Gaussians


@dataclass(frozen=True, eq=False)
class LeaveOneOutLoss:
    """The loss for fixed components of y: a function on matrices W."""

    X: Array  # (n, dx)
    centers: Array  # (b, dx)
    log_mass: Array  # (n, b), or (b,) if the same for all: log c, -inf where a centre is left out
    weight: Array  # (n,) sums to one
    match: Array  # (n, b + 1) a, the background last
    pair: Array  # (b + 1, b + 1) A
    sigma_z: float
    log_background: float  # log a_0, finite
    components: Gaussians  # of y

    def without_samples(self, mass: Array) -> LeaveOneOutLoss:
        """The loss at no sample yet; centres weigh ``mass`` (b,) to those that are none of them."""
        none = slice(0, 0)
        return replace(
            self,
            X=self.X[none],
            weight=self.weight[none],
            match=self.match[none],
            log_mass=np.log(mass),
        )

    def over(self, sample: Sample) -> LeaveOneOutLoss:
        """The loss at other samples, in the same coordinates."""
        match = SCORES["squared"].match(sample.Y, self.components)
        return replace(self, X=sample.X, weight=sample.weight, match=match)

    def at(self, W: Array) -> LeaveOneOutPoint:
        """Judge the densities in the coordinates ``z = W x``, W of shape (dz, dx)."""
        Z, U = self.X @ W.T, self.centers @ W.T
        q, squared = np.empty((len(Z), len(U) + 1)), squared_distances(Z, U)
        squared /= 2.0 * self.sigma_z**2
        np.subtract(self.log_mass, squared, out=q[:, :-1])
        q[:, -1] = self.log_background
        q -= q.max(axis=1, keepdims=True)  # relative to the largest, so that not all vanish
        q *= LOG2_E
        np.exp2(q, out=q)
        q /= q.sum(axis=1, keepdims=True)
        slope = q @ self.pair
        value = self.weight @ np.einsum("ik,ik->i", 0.5 * slope - self.match, q)
        slope -= self.match
        return LeaveOneOutPoint(self, W, q, slope, float(value))


@dataclass(frozen=True, eq=False)
class LeaveOneOutPoint:
    """The densities at one W: their loss and, on demand, its gradient."""

    problem: LeaveOneOutLoss
    W: Array  # (dz, dx)
    q: Array  # (n, b + 1)
    slope: Array  # (n, b + 1) derivative of a sample's loss with respect to q
    value: float

    def gradient(self) -> Array:
        """Derivative of the value with respect to the entries of W, (dz, dx)."""
        p = self.problem
        # q is a softmax of the log kernels, whence the mean is taken off.
        mean = np.einsum("ik,ik->i", self.slope, self.q)
        R = self.slope - mean[:, None]
        R *= self.q
        R *= p.weight[:, None]
        return pull_to_subspace(R[:, :-1], self.W, p.X, p.centers, p.sigma_z)
