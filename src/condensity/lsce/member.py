"""A part of the sample as one member sees it, and the least-squares fits in it.

A member learns from some of the samples: their scaling, their location, the covariance of what
the location leaves.  In its coordinates x is standardised and ``v = L^-1 (y - m(x))`` has the
covariance I.  A basis function sits at ``(u_k, sqrt(1 - sigma_y^2) v_k)``: centres pulled in by as
much as the kernels spread keep the covariance of v right for every sigma_y, and sigma_y = 1 is the
Gaussian model.  The density of v given z is, normalised,

    sum_k alpha_k exp(-|z - u_k|^2 / (2 sigma_z^2)) N(v; c_k, sigma_y^2 I) + a_0 N(v; 0, I)

with ``alpha = max(0, (G + penalty g I)^-1 h)``, g the mean of G's diagonal.  The last
term is the background, which takes over where no centre is near.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from condensity._typing import Array, Indices
from condensity._utils.numerics import LOG2_E
from condensity.data.chunks import InMemoryChunks
from condensity.data.sample import Sample, Scaling
from condensity.fitting.kernels import gaussian, squared_distances
from condensity.fitting.leave_one_out import LeaveOneOutLoss
from condensity.fitting.moments import Sums, lebesgue
from condensity.fitting.ridge import solve
from condensity.fitting.sce import SCE
from condensity.fitting.scores import SCORES, Gaussians
from condensity.lsce.location import Location, Locator

#: The weight of the background, relative to the mean weight of the kernels over the sample.
BACKGROUND = 0.01
#: Residuals are taken to spread by at least this much of y's standard deviation: a training part
#: without any spread in y must not find that out on its own.
LEAST_SPREAD = 1e-3
#: Samples of a view whose kernels are kept for all fits, at most.
MOST_KEPT = 2048


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Coordinates: standardised x, and ``v = L^-1 (y - m(x))``."""

    scaling: Scaling  # of x
    location: Callable[[Array], Array]  # m, of standardised x
    factor: Array  # (dy, dy) L

    def see(self, others: Sample) -> Sample:
        """Samples that nothing was learned from, in these coordinates."""
        if not len(others):  # a location need not know what to make of nothing
            return others
        X = self.scaling.apply(others.X)
        return Sample(X, _whiten(self.factor, others.Y - self.location(X)), others.weight)


@dataclass(frozen=True, eq=False)
class MemberView:
    """Samples to learn from, in coordinates learned from them, and samples held out."""

    scaling: Scaling  # of x
    location: Location
    factor: Array  # (dy, dy) L
    sample: Sample  # X standardised, Y whitened residuals, weights that sum to one
    basis: Indices  # (b,) the rows that carry a centre
    held_out: Sample  # the samples to be judged on, in the same coordinates; may be empty
    rows: Indices  # which rows of the whole sample they are
    labels: Indices | None  # (n,) of samples that belong together, if any do

    @classmethod
    def of(
        cls,
        whole: Sample,
        held_mass: Array,
        centers: Indices,
        locator: Locator,
        *,
        labels: Indices | None = None,
        least_widths: Array | float = 0.0,
    ) -> MemberView:
        """Learn from ``whole`` what ``held_mass`` (n,) of its weight does not take away.

        ``labels`` (n,) tell which samples belong together; no output's residuals are taken to
        spread by less than ``least_widths`` (dy,).
        """
        weight = whole.weight - held_mass
        train, rows = np.flatnonzero(weight > 1e-9 * whole.weight), np.flatnonzero(held_mass > 0)
        share = weight[train] / weight[train].sum()
        scaling = Scaling.of(whole.X[train], share)
        X, Y = scaling.apply(whole.X[train]), whole.Y[train]
        own_labels = None if labels is None else labels[train]
        location = locator(X, Y, share, own_labels)
        factor = _cholesky(location.residuals, share, np.maximum(least_widths, LEAST_SPREAD))
        sample = Sample(X, _whiten(factor, location.residuals), share)
        frame = Coordinates(scaling, location.at, factor)
        held_out = frame.see(replace(whole[rows], weight=held_mass[rows]))
        basis = np.flatnonzero(np.isin(train, centers))
        return cls(scaling, location, factor, sample, basis, held_out, rows, own_labels)

    @property
    def frame(self) -> Coordinates:
        """Its coordinates."""
        return Coordinates(self.scaling, self.location.at, self.factor)

    def components(self, sigma_y: float) -> Gaussians:
        """The Gaussians of v: one a centre, and last the background."""
        pulled = np.sqrt(max(0.0, 1.0 - sigma_y**2)) * self.sample.Y[self.basis]
        centers = np.vstack([pulled, np.zeros(pulled.shape[1])])
        return Gaussians(centers, np.append(np.full(len(pulled), sigma_y), 1.0))

    def thinned(self, count: int) -> MemberView:
        """The view with at most ``count`` of its centres, evenly from first to last."""
        if len(self.basis) <= count:
            return self
        return replace(
            self, basis=self.basis[np.linspace(0, len(self.basis) - 1, count, dtype=int)]
        )

    def left_out(self, W: Array, sigma_z: float, sigma_y: float) -> LeaveOneOutLoss:
        """The loss at samples left out as a function of W, its background as it is at ``W``."""
        X, basis, weight = self.sample.X, self.basis, self.sample.weight
        components, score = self.components(sigma_y), SCORES["squared"]
        apart = np.arange(len(X))[:, None] != basis
        if self.labels is not None and len(np.unique(self.labels)) > 1:
            apart &= self.labels[:, None] != self.labels[basis]
        with np.errstate(divide="ignore"):
            log_mass = np.log(apart * weight[basis])
        kernels = gaussian(squared_distances(X @ W.T, X[basis] @ W.T), sigma_z)
        mass = float(weight @ (apart * kernels) @ weight[basis])
        return LeaveOneOutLoss(
            X,
            X[basis],
            log_mass,
            weight,
            score.match(self.sample.Y, components),
            score.pair(components, components),
            sigma_z,
            float(np.log(max(BACKGROUND * mass, np.finfo(float).tiny))),
            components,
        )


@dataclass(frozen=True, eq=False)
class Basis:
    """Basis functions in the coordinates of a view."""

    X: Array  # (b, dx) their centres
    V: Array  # (b, dy)
    sigma_y: float

    def of_outputs(self, sample: Sample) -> Array:
        """The kernels of y, (m, b)."""
        return gaussian(squared_distances(sample.Y, self.V), self.sigma_y)

    def sums(self, sample: Sample, phi_y: Array, W: Array, sigma_z: float) -> Sums:
        """The functions summed over samples, given their kernels of y."""
        phi_z = gaussian(squared_distances(sample.X @ W.T, self.X @ W.T), sigma_z)
        return Sums.of(phi_z, phi_y, sample.weight)


@dataclass(frozen=True, eq=False)
class OutputKernels:
    """What a view's fits need to know about y for one sigma_y."""

    view: MemberView
    components: Gaussians
    sigma_y: float
    yy: Array  # (b, b)

    @classmethod
    def build(cls, view: MemberView, sigma_y: float) -> OutputKernels:
        """Compute it once for all W and sigma_z."""
        components = view.components(sigma_y)
        return cls(view, components, sigma_y, lebesgue(components.centers[:-1], sigma_y))

    @cached_property
    def phi_y(self) -> Array:
        """The kernels of y at all samples, (n, b)."""
        return self.basis.of_outputs(self.view.sample)

    @property
    def basis(self) -> Basis:
        """The basis functions, without the samples of the view."""
        V = self.components.centers[:-1]
        return Basis(self.view.sample.X[self.view.basis], V, self.sigma_y)

    def fit(self, W: Array, sigma_z: float, penalties: tuple[float, ...]) -> Coefficients:
        """The coefficients in the coordinates ``z = W x`` for each penalty."""
        return self.solve(W, sigma_z, penalties, self.own_sums(W, sigma_z))

    def own_sums(self, W: Array, sigma_z: float) -> Sums:
        """The basis functions summed over the samples of the view; of many, part after part."""
        sample, basis = self.view.sample, self.basis
        if len(sample) <= MOST_KEPT:
            return basis.sums(sample, self.phi_y, W, sigma_z)
        total: Sums
        (total,) = InMemoryChunks(sample).total(
            lambda part: [basis.sums(part, basis.of_outputs(part), W, sigma_z)]
        )
        return total

    def solve(
        self, W: Array, sigma_z: float, penalties: tuple[float, ...], sums: Sums
    ) -> Coefficients:
        """The coefficients that fit samples of which only sums are known."""
        G, h = sums.zz * self.yy / sums.n, sums.h / sums.n
        unit = float(np.mean(np.diagonal(G)))
        alphas = np.stack([solve(G, h, penalty=p * unit) for p in penalties])
        np.maximum(alphas, 0.0, out=alphas)
        background = BACKGROUND * (alphas @ sums.z) / sums.n
        U = self.basis.X @ W.T
        return Coefficients(W, U, sigma_z, np.column_stack([alphas, background]))

    def problem(self, W: Array, sigma_z: float, penalty: float) -> SCE:
        """The SCE estimate as a function of W, its penalty in the unit that G has at ``W``."""
        sample, basis = self.view.sample, self.view.basis
        centers = Sample(sample.X[basis], self.components.centers[:-1], sample.weight[basis])
        here = SCE(sample, centers, self.phi_y, self.yy, sigma_z, penalty).at(W)
        unit = float(np.mean(np.diagonal(here.moments.G)))
        return SCE(sample, centers, self.phi_y, self.yy, sigma_z, penalty * unit)


@dataclass(frozen=True, eq=False)
class Coefficients:
    """Non-negative coefficients of centres and background, for several penalties."""

    W: Array  # (dz, dx)
    U: Array  # (b, dz)
    sigma_z: float
    alphas: Array  # (penalties, b + 1)

    def weights(self, X: Array, mass: float = 1.0) -> Array:
        """Weights of the components given standardised inputs (m, dx): (penalties, m, b + 1).

        They sum to ``mass``.
        """
        phi = squared_distances(X @ self.W.T, self.U)
        phi *= -0.5 * LOG2_E / self.sigma_z**2
        np.exp2(phi, out=phi)
        weights = np.empty((len(self.alphas), len(X), len(self.U) + 1))
        for own, alpha in zip(weights, self.alphas, strict=True):
            np.multiply(phi, alpha[:-1], out=own[:, :-1])
            # Far from all centres it is what remains; it is positive as soon as a kernel's is.
            own[:, -1] = alpha[-1]
            own *= (mass / (phi @ alpha[:-1] + alpha[-1]))[:, None]
        return weights


def _cholesky(residuals: Array, weight: Array, least: Array) -> Array:
    covariance = (residuals * weight[:, None]).T @ residuals
    # Outputs that are functions of one another leave no volume: give each a trace of its own.
    diagonal = np.diag_indices_from(covariance)
    covariance[diagonal] += 1e-8 * covariance[diagonal] + 1e-12
    factor = np.linalg.cholesky(covariance)
    widen = np.maximum(1.0, least / np.linalg.norm(factor, axis=1))
    return np.asarray(widen[:, None] * factor)


def _whiten(factor: Array, residuals: Array) -> Array:
    return np.ascontiguousarray(np.linalg.solve(factor, residuals.T).T)
