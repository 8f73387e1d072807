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
from functools import cached_property
from typing import Any

import numpy as np

from condensity._typing import Array
from condensity._utils.numerics import CACHED, LOG2_E, row_blocks
from condensity.data.sample import Sample
from condensity.fitting.dawid_sebastiani import moment_loss, powers
from condensity.fitting.kernels import log2_kernels, pull_to_subspace
from condensity.fitting.scores import SCORES, Gaussians

#: Weight of the loss of mean and variance, relative to the squared loss of the density.
MOMENT_SHARE = 0.2
#: Singular values of compressed tables below this share of the largest one are left out.
NEGLIGIBLE, ROUGHLY_NEGLIGIBLE = 1e-6, 1e-4


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
    #: Vectors (b + 1, r) of compressed tables: then r takes the place of b + 1 in the tables.
    span: Array | None = None

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

    @cached_property
    def log2_mass(self) -> Array:
        """The binary logarithms of the weights of the centres."""
        return LOG2_E * self.log_mass

    @property
    def background(self) -> float:
        """a_0, which keeps the mass of every sample positive."""
        return float(np.exp(self.log_background))

    def compressed(self, *, rough: bool = False) -> LeaveOneOutLoss:
        """Almost the same loss, which needs fewer operations.

        The tables are smooth functions of the centre.  So there are vectors V (b + 1, r), much
        fewer than centres, whose span contains their rows but for a ``NEGLIGIBLE`` share.  With
        ``rough``, more is negligible.
        """
        negligible = ROUGHLY_NEGLIGIBLE if rough else NEGLIGIBLE
        # V depends on rounded tables, so that it does not depend on rounding errors of the data.
        tables = np.vstack([self.pair, self.match, self.powers.T])
        rows = tables.astype(np.float32).astype(np.float64)
        values, V = np.linalg.eigh(rows.T @ rows)
        V = V[:, values > negligible**2 * values[-1]]
        if 2 * V.shape[1] > len(V):  # then it saves nothing
            return self
        pair, match, powers = V.T @ self.pair @ V, self.match @ V, V.T @ self.powers
        return replace(self, pair=pair, match=match, powers=powers, span=V)

    @cached_property
    def span_and_one(self) -> Array:
        """The span with a column of ones, (b + 1, r + 1)."""
        assert self.span is not None
        return np.column_stack([self.span, np.ones_like(self.span[:, 0])])

    def normalised(self, kernels: Array) -> tuple[Array, Array]:
        """Normalised weights in the span of the tables (..., n, r), and their mass (..., n, 1)."""
        background = self.background
        if self.span is None:
            p = np.empty((*kernels.shape[:-1], len(self.pair)))
            p[..., :-1], p[..., -1] = kernels, background
            mass = p.sum(axis=-1, keepdims=True)
        else:
            both = kernels @ self.span_and_one[:-1]
            both += background * self.span_and_one[-1]
            p, mass = both[..., :-1], both[..., -1:]
        return p / mass, mass

    def at_all(self, Ws: Array) -> tuple[Array, Array]:
        """Values (s,) and gradients (s, dz, dx) at ``Ws`` (s, dz, dx)."""
        values, gradients = np.empty(len(Ws)), np.empty_like(Ws)
        size = len(self.X), len(self.centers)
        blocks = row_blocks(len(Ws), size[0] * size[1], CACHED)
        # Memory that is allocated anew for every block takes longer than the operations.
        buffers = np.empty((2, blocks[0].stop, *size))
        for block in blocks:
            two = buffers[:, : block.stop - block.start]
            point = self.at(Ws[block], two[0])
            values[block], gradients[block] = point.value, point.gradient(two[1])
        return values, gradients

    def at(self, W: Array, out: Array | None = None) -> LeaveOneOutPoint:
        """Evaluate the loss in the coordinates ``z = W x``, W of shape (..., dz, dx).

        ``out`` (..., n, b) is memory for the kernels; None: new memory.
        """
        kernels = log2_kernels(self.X, self.centers, W, self.sigma_z, out)
        kernels += self.log2_mass
        np.exp2(kernels, out=kernels)
        p, mass = self.normalised(kernels)
        slope = p @ self.pair
        losses = np.einsum("...k,...k->...", 0.5 * slope - self.match, p)
        slope -= self.match
        moment_losses, moment_slope = moment_loss(p, self.powers, self.targets)
        losses += MOMENT_SHARE * moment_losses
        moment_slope *= MOMENT_SHARE
        slope += moment_slope
        return LeaveOneOutPoint(self, W, kernels, mass, p, slope, losses @ self.weight)


@dataclass(frozen=True, eq=False)
class LeaveOneOutPoint:
    """Loss at one W, or at each of a stack; the gradient is computed on demand."""

    problem: LeaveOneOutLoss
    W: Array  # (..., dz, dx)
    kernels: Array  # (..., n, b) with the weights of the centres
    mass: Array  # (..., n, 1) of kernels and background
    p: Array  # (..., n, r) normalised weights, in the span of the tables
    slope: Array  # (..., n, r) derivative of the loss of each sample with respect to p
    value: Any  # float, or (...,)

    @property
    def q(self) -> Array:
        """The normalised weights of centres and background, (..., n, b + 1)."""
        background = np.full_like(self.mass, self.problem.background)
        return np.concatenate([self.kernels, background], axis=-1) / self.mass

    def gradient(self, out: Array | None = None) -> Array:
        """Derivative of the value with respect to the entries of W, (..., dz, dx).

        ``out`` (..., n, b) is memory for intermediate values; None: new memory.
        """
        problem = self.problem
        # q is a softmax of the log kernels; its derivative subtracts the mean slope.
        mean = np.einsum("...k,...k->...", self.slope, self.p)[..., None]
        share = problem.weight[:, None] / self.mass
        if problem.span is None:
            R = np.subtract(self.slope[..., :-1], mean, out=out)
            R *= share
        else:
            R = np.concatenate([self.slope * share, -mean * share], axis=-1)
            R = np.matmul(R, problem.span_and_one[:-1].T, out=out)
        R *= self.kernels
        return pull_to_subspace(R, self.W, problem.X, problem.centers, problem.sigma_z)
