"""Leave-one-out squared loss of a normalised kernel density, as a function of W.

The SCE evaluates a fit before normalisation and on the training samples.  This loss evaluates a
normalised kernel density, and leaves the kernel of each sample out of its own density:

    p(v | z_i) = (sum_k c_ik exp(-|z_i - u_k|^2 / (2 sigma_z^2)) N_k(v) + a_0 N_0(v)) / mass_i.

Here ``c_ik`` is the weight of centre k.  It is 0 if sample i is that centre or is in the same
group.  ``N_0`` is the background.  With q_i the normalised weights, the loss is the weighted mean
of ``1/2 q_i^T A q_i - q_i^T a_i``, with the tables A and a of the squared loss (module
``scores``), plus ``MOMENT_SHARE`` times the loss of mean and variance (module
``dawid_sebastiani``).  No coefficients are fitted, so only W can overfit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from condensity._typing import Array
from condensity._utils.numerics import LOG2_E
from condensity.data.sample import Sample
from condensity.fitting.dawid_sebastiani import moment_loss, powers
from condensity.fitting.kernels import pull_to_subspace, squared_distances
from condensity.fitting.scores import SCORES, Gaussians

#: Weight of the loss of mean and variance, relative to the squared loss of the density.
MOMENT_SHARE = 0.2


@dataclass(frozen=True, eq=False)
class OutputView:
    """A function of y, with the components that describe it."""

    of_y: Callable[[Array], Array]
    components: Gaussians  # the background last
    values: Array  # (b, dy) of the function at the centres

    @classmethod
    def of(cls, of_y: Callable[[Array], Array], V: Array, sigma_y: float) -> OutputView:
        """The view with a component of width ``sigma_y`` at each centre ``V`` (b, dy)."""
        values = of_y(V)
        return cls(of_y, variance_preserving(values, sigma_y), values)

    def match(self, Y: Array) -> Array:
        """The table a for the rows of ``Y`` (m, dy): (m, b + 1)."""
        return SCORES["squared"].match(self.of_y(Y), self.components)

    def pair(self) -> Array:
        """The table A, (b + 1, b + 1)."""
        return SCORES["squared"].pair(self.components, self.components)


def variance_preserving(V: Array, sigma_y: float) -> Gaussians:
    """Components at the centres ``V`` (b, dy), and the background with width 1.

    The centres shrink by sqrt(1 - sigma_y^2), so that their mixture has the variance of ``V``.
    """
    shrunk = np.sqrt(max(0.0, 1.0 - sigma_y**2)) * V
    centers = np.vstack([shrunk, np.zeros(shrunk.shape[1])])
    return Gaussians(centers, np.append(np.full(len(shrunk), sigma_y), 1.0))


def mean_of(tables: Sequence[Array]) -> Array:
    """The mean of tables of the same shape."""
    return np.asarray(sum(tables[1:], start=tables[0]) / len(tables))


def match_table(views: Sequence[OutputView], Y: Array) -> Array:
    """The mean of the tables a of all views for outputs ``Y`` (m, dy)."""
    return mean_of([view.match(Y) for view in views])


def moment_targets(views: Sequence[OutputView], Y: Array) -> Array:
    """The values of all views at outputs ``Y`` (m, dy): (m, J)."""
    return np.hstack([view.of_y(Y) for view in views])


def moment_table(views: Sequence[OutputView]) -> Array:
    """The powers of the values of all views; the background has the mean 0 and the variance 1."""
    table = powers(np.hstack([view.values for view in views]))
    n_functions = table.shape[1] // 2
    return np.vstack([table, np.repeat([0.0, 1.0], n_functions)])


@dataclass(frozen=True, eq=False)
class LeaveOneOutLoss:
    """Leave-one-out loss for fixed components of y, as a function of W."""

    X: Array  # (n, dx)
    centers: Array  # (b, dx)
    log_mass: Array  # log c: (n, b), -inf if the centre is left out; or (b,) for all samples
    weight: Array  # (n,), sums to one
    match: Array  # (n, b + 1) the table a, the background last
    pair: Array  # (b + 1, b + 1) the table A
    targets: Array  # (n, J) the functions of y whose mean and variance are evaluated
    powers: Array  # (b + 1, 2 J) the same at the centres and their squares, the background last
    sigma_z: float
    log_background: float  # log a_0, finite
    views: tuple[OutputView, ...]  # of y; the tables are means over them

    def without_samples(self, mass: Array) -> LeaveOneOutLoss:
        """The same loss without samples, for use with :meth:`over`.

        No centre is left out: every centre has its weight from ``mass`` (b,).
        """
        none = slice(0, 0)
        return replace(
            self,
            X=self.X[none],
            weight=self.weight[none],
            match=self.match[none],
            targets=self.targets[none],
            log_mass=np.log(mass),
        )

    def over(self, sample: Sample) -> LeaveOneOutLoss:
        """The same loss at other samples, in the same coordinates."""
        match = match_table(self.views, sample.Y)
        targets = moment_targets(self.views, sample.Y)
        return replace(self, X=sample.X, weight=sample.weight, match=match, targets=targets)

    def at(self, W: Array) -> LeaveOneOutPoint:
        """Evaluate the loss in the coordinates ``z = W x``, W of shape (dz, dx)."""
        Z, U = self.X @ W.T, self.centers @ W.T
        q, squared = np.empty((len(Z), len(U) + 1)), squared_distances(Z, U)
        squared /= 2.0 * self.sigma_z**2
        np.subtract(self.log_mass, squared, out=q[:, :-1])
        q[:, -1] = self.log_background
        q -= q.max(axis=1, keepdims=True)  # so that at least one weight does not underflow
        q *= LOG2_E
        np.exp2(q, out=q)
        q /= q.sum(axis=1, keepdims=True)
        slope = q @ self.pair
        losses = np.einsum("ik,ik->i", 0.5 * slope - self.match, q)
        slope -= self.match
        moment_losses, moment_slope = moment_loss(q, self.powers, self.targets)
        losses += MOMENT_SHARE * moment_losses
        moment_slope *= MOMENT_SHARE
        slope += moment_slope
        return LeaveOneOutPoint(self, W, q, slope, float(self.weight @ losses))


@dataclass(frozen=True, eq=False)
class LeaveOneOutPoint:
    """Loss at one W; the gradient is computed on demand."""

    problem: LeaveOneOutLoss
    W: Array  # (dz, dx)
    q: Array  # (n, b + 1)
    slope: Array  # (n, b + 1) derivative of the loss of each sample with respect to q
    value: float

    def gradient(self) -> Array:
        """Derivative of the value with respect to the entries of W, (dz, dx)."""
        p = self.problem
        # q is a softmax of the log kernels; its derivative subtracts the mean slope.
        mean = np.einsum("ik,ik->i", self.slope, self.q)
        R = self.slope - mean[:, None]
        R *= self.q
        R *= p.weight[:, None]
        return pull_to_subspace(R[:, :-1], self.W, p.X, p.centers, p.sigma_z)
