"""The training samples of one member in its coordinates, and least-squares fits to them.

A member learns from its training samples their scaling, their location m, and the covariance of the
residuals.  In its coordinates x is standardised and ``v = L^-1 (y - m(x))`` has the covariance I.
A basis function is centred at ``(u_k, sqrt(1 - sigma_y^2) v_k)``.  This shrinkage of the centres
offsets the width of the kernels: v has the right covariance for every sigma_y, and sigma_y = 1 is
the Gaussian model.  The density of v given z is, after normalisation,

    sum_k alpha_k exp(-|z - u_k|^2 / (2 sigma_z^2)) N(v; c_k, sigma_y^2 I) + a_0 N(v; 0, I)

with ``alpha = max(0, (G + penalty g I)^-1 h)``, g the mean of G's diagonal.  The last term is the
background, which dominates far from all centres.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from condensity._typing import Array, Indices, Mask
from condensity._utils.numerics import LOG2_E
from condensity.data.sample import Sample, Scaling
from condensity.fitting.kernels import gaussian, squared_distances
from condensity.fitting.leave_one_out import (
    LeaveOneOutLoss,
    OutputView,
    match_table,
    mean_of,
    moment_table,
    moment_targets,
    variance_preserving,
)
from condensity.fitting.moments import Sums, lebesgue
from condensity.fitting.monotone_maps import Clipped, NormalScores
from condensity.fitting.ridge import solve
from condensity.fitting.scores import Gaussians
from condensity.locations.extrapolation import LocationRange
from condensity.locations.location import Location, Locator, PredictedInput

#: The weight of the background, relative to the mean weight of the kernels over the sample.
BACKGROUND = 0.01
#: Its smallest weight: all kernels may have the coefficient 0, if few samples of several outputs
#: lie far from all centres.  The density is then the background.
LEAST_BACKGROUND = 1e-150
#: Smallest standard deviation of residuals, in standard deviations of y: a training part in which
#: y happens to be constant must not have a width of zero.
LEAST_SPREAD = 1e-3
#: Largest number of samples of a view whose kernels are cached for all fits.
MOST_KEPT = 2048


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Coordinates of a member: standardised x, and ``v = L^-1 (y - m(x))``."""

    scaling: Scaling  # of x
    location: Callable[[Array], Array]  # m, of standardised x
    factor: Array  # (dy, dy) L
    predicted: PredictedInput | None = None  # the value of m as one more input
    limits: LocationRange | None = None  # of m

    def apply(self, sample: Sample) -> Sample:
        """New samples in these coordinates."""
        X, m = self.inputs(sample.X)
        return Sample(X, _whiten(self.factor, sample.Y - m), sample.weight)

    def inputs(self, X: Array) -> tuple[Array, Array]:
        """The inputs of the density for ``X`` (m, dx), and the location (m, dy)."""
        X = self.scaling.apply(X)
        # A regressor may not accept empty input.
        m = self.location(X) if len(X) else np.empty((0, len(self.factor)))
        if self.limits is not None and len(X):
            m = self.limits.limit(m)
        return (X if self.predicted is None else self.predicted.append(X, m)), m


@dataclass(frozen=True, eq=False)
class MemberView:
    """Training samples in coordinates learned from them, and held-out samples."""

    scaling: Scaling  # of x
    location: Location
    factor: Array  # (dy, dy) L
    sample: Sample  # X the inputs of the density, Y whitened residuals, weights that sum to one
    basis: Indices  # (b,) the rows that carry a centre
    held_out: Sample  # held-out samples in the same coordinates; may be empty
    rows: Indices  # their rows in the whole sample
    labels: Indices | None  # (n,) equal for samples that belong together
    held_location: Array  # (m, dy) the location at the held-out samples
    by_cells: bool = False  # whether a row stands for all samples in a cell of a table

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
        by_cells: bool = False,
    ) -> MemberView:
        """Learn coordinates from ``whole`` without the weight ``held_mass`` (n,).

        ``labels`` (n,) are equal for samples that belong together; ``least_widths`` (dy,) are the
        smallest standard deviations of the residuals; ``by_cells`` says that rows are the cells of
        a table.
        """
        weight = whole.weight - held_mass
        train, rows = np.flatnonzero(weight > 1e-9 * whole.weight), np.flatnonzero(held_mass > 0)
        share = weight[train] / weight[train].sum()
        scaling = Scaling.of(whole.X[train], share)
        X, Y = scaling.apply(whole.X[train]), whole.Y[train]
        own_labels = None if labels is None else labels[train]
        location = locator(X, Y, share, own_labels)
        location = replace(location, limits=LocationRange.of(location.at, X))
        factor = _cholesky(location.residuals, share, np.maximum(least_widths, LEAST_SPREAD))
        if location.predicted is not None:
            X = location.predicted.append(X, Y - location.residuals)
        sample = Sample(X, _whiten(factor, location.residuals), share)
        frame = Coordinates(scaling, location.at, factor, location.predicted, location.limits)
        held_out = frame.apply(replace(whole[rows], weight=held_mass[rows]))
        held_location = whole.Y[rows] - held_out.Y @ factor.T
        basis = np.flatnonzero(np.isin(train, centers))
        held = held_out, rows, own_labels, held_location
        return cls(scaling, location, factor, sample, basis, *held, by_cells)

    @property
    def frame(self) -> Coordinates:
        """The coordinates without the samples."""
        own = self.location
        return Coordinates(self.scaling, own.at, self.factor, own.predicted, own.limits)

    @property
    def units(self) -> Array:
        """The standard deviations of all inputs of the density; 0 for a constant one."""
        predicted = self.location.predicted
        return self.scaling.sd if predicted is None else np.append(self.scaling.sd, predicted.sd)

    def active(self, active: Mask) -> Mask:
        """Which inputs of the density vary, if those of x are ``active`` (dx,)."""
        extra = self.sample.X.shape[1] - len(active)
        return np.append(active, np.ones(extra, dtype=bool))

    def components(self, sigma_y: float) -> Gaussians:
        """The Gaussians of v: one for each centre, then the background."""
        return variance_preserving(self.sample.Y[self.basis], sigma_y)

    @cached_property
    def clipped(self) -> Clipped:
        """The function that limits extreme values of each output of the sample."""
        return Clipped.of(self.sample.Y, self.sample.weight)

    @cached_property
    def normal_scores(self) -> NormalScores:
        """The function that makes each output of the sample normally distributed."""
        return NormalScores.of(self.sample.Y, self.sample.weight)

    def thinned(self, count: int) -> MemberView:
        """The view with at most ``count`` of its centres, evenly spaced in their order."""
        if len(self.basis) <= count:
            return self
        return replace(self, basis=self.basis[_evenly_spaced(len(self.basis), count)])

    def left_out(
        self,
        W: Array,
        sigma_z: float,
        sigma_y: float,
        *,
        scores: bool = False,
        rows: int | None = None,
    ) -> LeaveOneOutLoss:
        """The leave-one-out loss as a function of W, with the background fixed at ``W``.

        Extreme values of y are clipped, because they would determine the unit of all others.  With
        ``scores``, the loss is the mean of that for the clipped y and that for the normal scores of
        y: the subspace of y is that of every one-to-one function of y.  The loss is evaluated at no
        more than ``rows`` samples, evenly spaced in order.
        """
        n, basis, Y = len(self.sample), self.basis, self.sample.Y
        functions = (self.clipped, self.normal_scores) if scores else (self.clipped,)
        views = tuple(OutputView.of(f, Y[basis], sigma_y) for f in functions)
        at = np.arange(n) if rows is None or n <= rows else _evenly_spaced(n, rows)
        X, centers = self.sample.X[at], self.sample.X[basis]
        weight, mass = self.sample.weight[at], self.sample.weight[basis]
        weight = weight / weight.sum()
        # A cell of a table has many samples: none of them is described by its own kernel alone.
        apart = (at[:, None] != basis) | self.by_cells
        if self.labels is not None and len(np.unique(self.labels)) > 1:
            apart &= self.labels[at][:, None] != self.labels[basis]
        with np.errstate(divide="ignore"):
            log_mass = np.log(apart * mass)
        kernels = gaussian(squared_distances(X @ W.T, centers @ W.T), sigma_z)
        background = BACKGROUND * float(weight @ (apart * kernels) @ mass)
        return LeaveOneOutLoss(
            X=X,
            centers=centers,
            log_mass=log_mass,
            weight=weight,
            pair=mean_of([view.pair() for view in views]),
            powers=moment_table(views),
            sigma_z=sigma_z,
            log_background=float(np.log(max(background, LEAST_BACKGROUND))),
            views=views,
            match=match_table(views, Y[at]),
            targets=moment_targets(views, Y[at]),
        )


@dataclass(frozen=True, eq=False)
class Basis:
    """Basis functions in the coordinates of a view."""

    X: Array  # (b, dx) centres
    V: Array  # (b, dy)
    sigma_y: float

    def of_outputs(self, sample: Sample) -> Array:
        """The kernels of y at samples, (m, b)."""
        return gaussian(squared_distances(sample.Y, self.V), self.sigma_y)

    def sums(
        self, sample: Sample, phi_y: Array, W: Array, sigma_z: float, similar: Sums | None = None
    ) -> Sums:
        """The basis functions summed over samples with kernels of y ``phi_y`` (m, b).

        ``similar`` are sums that differ in the kernels of y only; most of them is used again.
        """
        phi_z = gaussian(squared_distances(sample.X @ W.T, self.X @ W.T), sigma_z)
        if similar is not None:
            return similar.with_outputs(phi_z, phi_y, sample.weight)
        return Sums.of(phi_z, phi_y, sample.weight)


@dataclass(frozen=True, eq=False)
class OutputKernels:
    """The kernels of y of a view for one sigma_y."""

    view: MemberView
    components: Gaussians
    sigma_y: float
    yy: Array  # (b, b)

    @classmethod
    def build(cls, view: MemberView, sigma_y: float) -> OutputKernels:
        """The kernels for all W and sigma_z."""
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

    def own_sums(self, W: Array, sigma_z: float, similar: Sums | None = None) -> Sums:
        """The basis functions summed over the samples of the view, by chunks if they are many.

        ``similar`` are the sums for another sigma_y.
        """
        sample, basis = self.view.sample, self.basis
        if len(sample) <= MOST_KEPT:
            return basis.sums(sample, self.phi_y, W, sigma_z, similar)
        total = Sums.none(len(self.yy))
        for start in range(0, len(sample), MOST_KEPT):
            chunk = sample[start : start + MOST_KEPT]
            part = basis.sums(chunk, basis.of_outputs(chunk), W, sigma_z, similar)
            total = total + part if similar is None else replace(part, h=total.h + part.h)
        return total

    def solve(
        self, W: Array, sigma_z: float, penalties: tuple[float, ...], sums: Sums
    ) -> Coefficients:
        """The coefficients from sums over samples."""
        G, h = sums.zz * self.yy / sums.n, sums.h / sums.n
        unit = float(np.mean(np.diagonal(G)))
        alphas = np.stack([solve(G, h, penalty=p * unit) for p in penalties])
        np.maximum(alphas, 0.0, out=alphas)
        background = np.maximum(BACKGROUND * (alphas @ sums.z) / sums.n, LEAST_BACKGROUND)
        U = self.basis.X @ W.T
        return Coefficients(W, U, sigma_z, np.column_stack([alphas, background]))


@dataclass(frozen=True, eq=False)
class Coefficients:
    """Non-negative coefficients of centres and background, for several penalties."""

    W: Array  # (dz, dx)
    U: Array  # (b, dz)
    sigma_z: float
    alphas: Array  # (penalties, b + 1)

    def weights(self, X: Array, mass: float = 1.0) -> Array:
        """Weights of the Gaussians for standardised inputs (m, dx): (penalties, m, b + 1).

        They sum to ``mass``.
        """
        phi = squared_distances(X @ self.W.T, self.U)
        phi *= -0.5 * LOG2_E / self.sigma_z**2
        np.exp2(phi, out=phi)
        weights = np.empty((len(self.alphas), len(X), len(self.U) + 1))
        for row, alpha in zip(weights, self.alphas, strict=True):
            np.multiply(phi, alpha[:-1], out=row[:, :-1])
            # The background is what remains far from all centres; it is positive if a kernel is.
            row[:, -1] = alpha[-1]
            row *= (mass / (phi @ alpha[:-1] + alpha[-1]))[:, None]
        return weights


def _evenly_spaced(n: int, count: int) -> Indices:
    """``count`` of the numbers 0 to n - 1."""
    return np.linspace(0, n - 1, count, dtype=int)


def _cholesky(residuals: Array, weight: Array, least: Array) -> Array:
    covariance = (residuals * weight[:, None]).T @ residuals
    # Outputs that are functions of one another have a singular covariance: add to its diagonal.
    diagonal = np.diag_indices_from(covariance)
    covariance[diagonal] += 1e-8 * covariance[diagonal] + 1e-12
    factor = np.linalg.cholesky(covariance)
    widen = np.maximum(1.0, least / np.linalg.norm(factor, axis=1))
    return np.asarray(widen[:, None] * factor)


def _whiten(factor: Array, residuals: Array) -> Array:
    return np.ascontiguousarray(np.linalg.solve(factor, residuals.T).T)
