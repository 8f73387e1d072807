"""From samples that all was chosen with to all samples there are.

With more samples than all was chosen with, a subspace is worth refining by all of them, and then
worth more than an average of those that members found in few.  Every step of the search is a sum
over samples, and so are the moments that coefficients are fitted by.
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
from condensity.lsce.averaged import AveragedMembers
from condensity.lsce.configurations import leave_one_out_problem
from condensity.lsce.location import Plane, row_basis
from condensity.lsce.member import Basis, Coordinates, MemberView, OutputKernels
from condensity.lsce.settings import Setting
from condensity.subspaces.chart import Minimum, minimise

#: Steps of the search with all samples: it starts where it ended with some of them.
STEPS = 10


def refit_location(view: MemberView, Y: Array, others: RemainingSamples) -> MemberView:
    """The view with its plane, if it has one, fitted to all samples; ``Y`` (n, dy) are its own.

    The metric stays, as bandwidths were chosen in its units.  So do the residuals of its samples:
    with many inputs, those of samples that a plane was fitted to are too small, while these are of
    samples left out, by a plane that is a little worse.
    """
    found = view.location
    if found.shrinkage is None:
        return view
    own = _plane_sums(Sample(view.sample.X, Y, view.sample.weight))
    theirs = others.rows.total(partial(_seen_sums, view.scaling))
    share = others.share
    x, y, xx, xy = (
        share * a / own[-1] + (1.0 - share) * b / theirs[-1]
        for a, b in zip(own[:-1], theirs[:-1], strict=True)
    )
    slope = found.shrinkage.slope(xx - np.outer(x, x), xy - np.outer(x, y), share)
    plane = Plane(y - x @ slope, slope)
    return replace(view, location=replace(found, at=plane, directions=row_basis(slope.T)))


def _seen_sums(scaling: Scaling, part: Sample) -> Totals:
    return _plane_sums(replace(part, X=scaling.apply(part.X)))


def _plane_sums(sample: Sample) -> Totals:
    """Sums of x, y, x x^T, x y^T and 1, by weight."""
    X, Y, w = sample.X, sample.Y, sample.weight
    weighted = X * w[:, None]
    return [w @ X, w @ Y, weighted.T @ X, weighted.T @ Y, float(w.sum())]


def refine_with_all(
    view: MemberView, W: Array, setting: Setting, others: RemainingSamples, *, widening: float
) -> Minimum:
    """Go on from W to the subspace in which all samples are described best, themselves left out.

    Many samples are worth all centres: with few, what kernels smooth away is most of the error.
    """
    n_fixed = min(len(view.location.directions), len(W))
    problem = FullDataLoss(leave_one_out_problem(view, W, setting, widening), others, view)
    return minimise(problem, W, max_steps=STEPS, n_fixed=n_fixed)


@dataclass(frozen=True, eq=False)
class FullDataLoss:
    """The loss at samples left out, over all samples there are: a function on matrices W."""

    own: LeaveOneOutLoss  # at the samples of the view
    others: RemainingSamples
    view: MemberView

    def at(self, W: Array) -> FullDataPoint:
        """Judge the densities in the coordinates ``z = W x``, W of shape (dz, dx)."""
        here, view = self.own.at(W), self.view
        problem = self.own.without_samples(view.sample.weight[view.basis])
        loss, gradient, weight = self.others.rows.total(
            partial(_loss_and_gradient, view.frame, problem, W)
        )
        ours = self.others.share
        theirs = (1.0 - ours) / weight
        slope = ours * here.gradient() + theirs * gradient
        return FullDataPoint(W, ours * here.value + theirs * loss, slope)


def _loss_and_gradient(
    frame: Coordinates, problem: LeaveOneOutLoss, W: Array, part: Sample
) -> Totals:
    """Both summed over samples that are not those of the view."""
    seen = frame.see(part)
    point = problem.over(seen).at(W)
    return [point.value, point.gradient(), float(seen.weight.sum())]


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
    models: Sequence[PendingFit], others: RemainingSamples | None
) -> list[AveragedMembers]:
    """Fit all coefficients to all samples; those of ``others`` in one pass for all models."""
    sums = [[m.outputs.own_sums(W, m.setting.sigma_z) for W in m.Ws] for m in models]
    if others is not None:
        passing = [(m.outputs.view.frame, m.outputs.basis, m.setting.sigma_z, m.Ws) for m in models]
        totals = iter(others.rows.total(partial(_sums, passing)))
        sums = [[_pool(own, next(totals), others.share) for own in row] for row in sums]
    return [_solve(model, row) for model, row in zip(models, sums, strict=True)]


def _sums(
    passing: Sequence[tuple[Coordinates, Basis, float, Sequence[Array]]], part: Sample
) -> Totals:
    """The basis functions of all models summed over some samples."""
    totals = []
    for frame, basis, sigma_z, Ws in passing:
        seen = frame.see(part)
        phi_y = basis.of_outputs(seen)
        totals += [basis.sums(seen, phi_y, W, sigma_z) for W in Ws]
    return totals


def _pool(own: Sums, theirs: Sums, share: float) -> Sums:
    """Sums of two parts as if of all samples: the first has ``share`` of their weight."""
    return own * (share / own.n) + theirs * ((1.0 - share) / theirs.n)


def _solve(model: PendingFit, sums: Sequence[Sums]) -> AveragedMembers:
    s, outputs = model.setting, model.outputs
    fits = [
        outputs.solve(W, s.sigma_z, (s.penalty,), own)
        for W, own in zip(model.Ws, sums, strict=True)
    ]
    return AveragedMembers.of(outputs.view, outputs.components, fits)


def fit_least_squares(
    problem: SCE, sigma_y: float, others: RemainingSamples | None, x_scaling: Scaling, W: Array
) -> tuple[Array, float]:
    """The paper's fit at one W to all samples: its coefficients (b,) and the SCE."""
    if others is None:
        point = problem.at(W)
        return point.alpha, point.value
    basis = Basis(problem.centers.X, problem.centers.Y, sigma_y)
    own = basis.sums(problem.sample, problem.phi_y, W, problem.sigma_z)
    (theirs,) = others.rows.total(partial(_plain_sums, basis, x_scaling, W, problem.sigma_z))
    sums = _pool(own, theirs, others.share)
    stats = sums.means(problem.yy)
    alpha = solve(stats.G, stats.h, penalty=problem.penalty)
    return alpha, float(stats.loss(alpha))


def _plain_sums(basis: Basis, scaling: Scaling, W: Array, sigma_z: float, part: Sample) -> Totals:
    seen = replace(part, X=scaling.apply(part.X))
    return [basis.sums(seen, basis.of_outputs(seen), W, sigma_z)]
