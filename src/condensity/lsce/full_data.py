"""Final fit on all samples.

If there are more samples than model selection uses, the subspace is refined on all of them.  It is
then better than an average over the members' subspaces, which were learned from few samples.  Every
step of the search is a sum over samples, and so are the moments for the coefficients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from condensity._typing import Array
from condensity.data.chunks import RemainingSamples, Totals
from condensity.data.sample import Sample, Scaling
from condensity.fitting.leave_one_out import LeaveOneOutLoss
from condensity.fitting.moments import Sums
from condensity.fitting.ridge import solve
from condensity.fitting.sce import SCE
from condensity.locations.location import Plane, row_basis
from condensity.members.averaged import AveragedMembers
from condensity.members.member import Basis, Coordinates, MemberView, OutputKernels
from condensity.members.settings import Setting
from condensity.subspaces.chart import Minimum, minimise

#: Number of steps of the search on all samples, which starts from the result on the subsample.
STEPS = 10


def refit_location(view: MemberView, Y: Array, remaining: RemainingSamples) -> MemberView:
    """The view with its plane, if it has one, fitted to all samples.

    ``Y`` (n, dy) are the outputs of the samples in the view.  The metric stays, because bandwidths
    were chosen in its units.  The residuals of the view stay too: they are those of samples left
    out.  Residuals of samples in the fit are too small if there are many inputs.
    """
    location = view.location
    if location.shrinkage is None:
        return view
    own = _plane_sums(Sample(view.sample.X, Y, view.sample.weight))
    rest = remaining.rows.total(partial(_standardised_plane_sums, view.scaling))
    share = remaining.share
    x, y, xx, xy = (
        share * a / own[-1] + (1.0 - share) * b / rest[-1]
        for a, b in zip(own[:-1], rest[:-1], strict=True)
    )
    slope = location.shrinkage.slope(xx - np.outer(x, x), xy - np.outer(x, y), share)
    plane = Plane(y - x @ slope, slope)
    return replace(view, location=replace(location, at=plane, directions=row_basis(slope.T)))


def _standardised_plane_sums(scaling: Scaling, chunk: Sample) -> Totals:
    return _plane_sums(replace(chunk, X=scaling.apply(chunk.X)))


def _plane_sums(sample: Sample) -> Totals:
    """Weighted sums of x, y, x x^T, x y^T and 1."""
    X, Y, w = sample.X, sample.Y, sample.weight
    weighted = X * w[:, None]
    return [w @ X, w @ Y, weighted.T @ X, weighted.T @ Y, float(w.sum())]


def refine_with_all(
    view: MemberView, W: Array, own: LeaveOneOutLoss, remaining: RemainingSamples
) -> Minimum:
    """The subspace of smallest leave-one-out loss over all samples, starting from W.

    ``own`` is the loss over the samples of the view.  It has all centres: with many samples and few
    centres, smoothing is most of the error.
    """
    n_fixed = min(len(view.location.directions), len(W))
    return minimise(FullDataLoss(own, remaining, view), W, max_steps=STEPS, n_fixed=n_fixed)


@dataclass(frozen=True, eq=False)
class FullDataLoss:
    """The leave-one-out loss over all samples as a function of W."""

    own: LeaveOneOutLoss  # over the samples of the view
    remaining: RemainingSamples
    view: MemberView

    def at(self, W: Array) -> FullDataPoint:
        """The loss of the densities in the coordinates ``z = W x``, W of shape (dz, dx)."""
        here, view = self.own.at(W), self.view
        problem = self.own.without_samples(view.sample.weight[view.basis])
        loss, gradient, weight = self.remaining.rows.total(
            partial(_loss_and_gradient, view.frame, problem, W)
        )
        share = self.remaining.share
        rest = (1.0 - share) / weight
        slope = share * here.gradient() + rest * gradient
        return FullDataPoint(W, share * here.value + rest * loss, slope)


def _loss_and_gradient(
    frame: Coordinates, problem: LeaveOneOutLoss, W: Array, chunk: Sample
) -> Totals:
    """Loss, gradient and weight summed over samples outside the view."""
    sample = frame.apply(chunk)
    point = problem.over(sample).at(W)
    return [point.value, point.gradient(), float(sample.weight.sum())]


@dataclass(frozen=True, eq=False)
class FullDataPoint:
    """The loss at one W and its gradient."""

    W: Array  # (dz, dx)
    value: float
    slope: Array

    def gradient(self) -> Array:
        """Derivative of the value with respect to the entries of W, (dz, dx)."""
        return self.slope


@dataclass(frozen=True, eq=False)
class PendingFit:
    """A configuration whose coefficients are to be fitted."""

    outputs: OutputKernels
    setting: Setting
    Ws: Sequence[Array]


def fit_coefficients(
    models: Sequence[PendingFit], remaining: RemainingSamples | None
) -> list[AveragedMembers]:
    """Fit all coefficients to all samples, with one pass over the remaining ones for all models."""
    sums = [[m.outputs.own_sums(W, m.setting.sigma_z) for W in m.Ws] for m in models]
    if remaining is not None:
        bases = [(m.outputs.view.frame, m.outputs.basis, m.setting.sigma_z, m.Ws) for m in models]
        totals = iter(remaining.rows.total(partial(_sums, bases)))
        sums = [[_pool(own, next(totals), remaining.share) for own in row] for row in sums]
    return [_solve(model, row) for model, row in zip(models, sums, strict=True)]


def _sums(
    bases: Sequence[tuple[Coordinates, Basis, float, Sequence[Array]]], chunk: Sample
) -> Totals:
    """The basis functions of all models summed over a chunk."""
    totals = []
    # Models with the same location share its values, which may be costly.
    samples: dict[int, Sample] = {}
    for frame, basis, sigma_z, Ws in bases:
        if id(frame.location) not in samples:
            samples[id(frame.location)] = frame.apply(chunk)
        sample = samples[id(frame.location)]
        phi_y = basis.of_outputs(sample)
        totals += [basis.sums(sample, phi_y, W, sigma_z) for W in Ws]
    return totals


def _pool(own: Sums, rest: Sums, share: float) -> Sums:
    """Sums over all samples from those of two parts; the first has ``share`` of the weight."""
    return own * (share / own.n) + rest * ((1.0 - share) / rest.n)


def _solve(model: PendingFit, sums: Sequence[Sums]) -> AveragedMembers:
    s, outputs = model.setting, model.outputs
    fits = [
        outputs.solve(W, s.sigma_z, (s.penalty,), own)
        for W, own in zip(model.Ws, sums, strict=True)
    ]
    return AveragedMembers.of(outputs.view, outputs.components, fits)


def fit_least_squares(
    problem: SCE, sigma_y: float, remaining: RemainingSamples | None, x_scaling: Scaling, W: Array
) -> tuple[Array, float]:
    """The paper's fit to all samples at one W: the coefficients (b,) and the SCE."""
    if remaining is None:
        point = problem.at(W)
        return point.alpha, point.value
    basis = Basis(problem.centers.X, problem.centers.Y, sigma_y)
    own = basis.sums(problem.sample, problem.phi_y, W, problem.sigma_z)
    (rest,) = remaining.rows.total(partial(_plain_sums, basis, x_scaling, W, problem.sigma_z))
    sums = _pool(own, rest, remaining.share)
    stats = sums.means(problem.yy)
    alpha = solve(stats.G, stats.h, penalty=problem.penalty)
    return alpha, float(stats.loss(alpha))


def _plain_sums(basis: Basis, scaling: Scaling, W: Array, sigma_z: float, chunk: Sample) -> Totals:
    sample = replace(chunk, X=scaling.apply(chunk.X))
    return [basis.sums(sample, basis.of_outputs(sample), W, sigma_z)]
