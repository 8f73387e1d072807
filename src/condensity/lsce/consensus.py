"""The subspaces of a configuration, their consensus, and the subspace that is reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from condensity._typing import Array, Mask
from condensity.data.prepare import TrainingData
from condensity.lsce.configurations import Configuration
from condensity.lsce.full_data import refine_with_all
from condensity.lsce.learning import (
    learn_subspace,
    learn_with_location,
    learning_problem,
    refine_subspace,
    refinement_problem,
    starting_points,
    subspace_containing,
    subspace_without,
)
from condensity.members.member import MemberView
from condensity.members.settings import EnsembleOptions
from condensity.subspaces.chart import Minimum

#: The final subspace is refined with kernels that are wider in z by this factor: it is then nearer
#: to the true subspace, while the members' kernels are chosen to describe y.
WIDENING = float(np.sqrt(2.0))
#: If the subsample has less than this share of the total weight, a subspace refined on all samples
#: is better than the average over the members' subspaces.
LARGE_SHARE = 0.5


def rescaled_subspace(units: Array, own: Array, W: Array) -> Array:
    """The subspace ``W``, for inputs in the units ``own`` (dx,), in other ``units`` (dx,).

    Its rows are orthonormal.  The unit of a constant input is 0.
    """
    if len(W) >= np.count_nonzero(units):
        return np.eye(W.shape[1])[units > 0]
    # An input that is constant in its own units has none, so it keeps the other one.
    sd = np.where(own > 0, own, units)
    ratio = np.divide(units, sd, out=np.zeros_like(sd), where=sd > 0)
    return np.asarray(np.linalg.qr((W * ratio).T)[0].T)


def member_subspaces(configuration: Configuration, view: MemberView) -> list[Array]:
    """The members' subspaces in the coordinates of a ``view`` of all samples."""
    assert configuration.crossfit is not None
    return [
        rescaled_subspace(view.units, own.units, W)
        for own, W in zip(configuration.crossfit.views, configuration.Ws, strict=True)
    ]


def consensus(Ws: Sequence[Array]) -> tuple[Array, Array]:
    """The subspace that members have in common, and their agreement.

    Returns
    -------
    W : (dz, dx)
        The dominant eigenspace of the mean of the members' projectors.
    agreement : (dx,)
        Its eigenvalues, from 1 (all members have the direction) down to 0.
    """
    stacked = np.vstack(Ws) / np.sqrt(len(Ws))
    _, S, Vt = np.linalg.svd(stacked)
    agreement = np.zeros(stacked.shape[1])
    agreement[: len(S)] = np.minimum(S**2, 1.0)
    return np.asarray(Vt[: len(Ws[0])]), agreement


def mean_projector(Ws: Sequence[Array]) -> Array:
    """The mean of the projectors on subspaces with orthonormal rows, (dx, dx)."""
    stacked = np.vstack(Ws)
    return np.asarray(stacked.T @ stacked / len(Ws))


def complete_subspace(W: Array, active: Mask) -> Array:
    """``W`` (dz, dx) with directions added until it spans all varying inputs."""
    rest = np.eye(len(active))[active]
    rest = rest - (rest @ W.T) @ W
    missing = len(rest) - len(W)
    return np.vstack([W, np.linalg.svd(rest)[2][:missing]])


@dataclass(frozen=True, eq=False)
class LearnedSubspaces:
    """The subspaces of one configuration."""

    members: Sequence[Array]  # of the cross-fitted members
    averaged: Sequence[Array]  # those in the final average, the one of all samples last
    final: Minimum  # learned from all samples

    def with_final(self, W: Array) -> LearnedSubspaces:
        """The same with ``W`` as the only subspace in the average."""
        return replace(self, averaged=[W], final=replace(self.final, W=W))

    @property
    def weighted(self) -> list[Array]:
        """The subspaces in the average, the last one repeated until it has half the weight."""
        *members, last = self.averaged
        return [*members, *[last] * max(1, len(members))]

    @property
    def common(self) -> Array:
        """The consensus of these subspaces."""
        return consensus(self.weighted)[0]

    @property
    def projector(self) -> Array:
        """The mean of their projectors, (dx, dx)."""
        return mean_projector(self.weighted)

    def reported(self, view: MemberView, active: Mask) -> tuple[Array, Array]:
        """The subspace of x (dz, dx), and the agreement of the members on it (dx,).

        A density with a location that depends on all inputs depends on all directions.  Then those
        of the density of the residuals come first, without the value of the location.
        """
        members = self.members or [self.final.W]
        if not view.location.anywhere:
            return self.common, consensus(members)[1]
        lead, dx = view.location.directions, len(active)
        own, *others = (subspace_without(lead, W)[:, :dx] for W in (self.common, *members))
        return complete_subspace(own, active), consensus(others)[1]


def learn_with_all_and_location(
    data: TrainingData, options: EnsembleOptions, c: Configuration, view: MemberView
) -> LearnedSubspaces:
    """The members' subspaces, and one learned from all samples.

    The latter starts from the consensus of the members and from their subspaces.

    ``view`` has no location.
    """
    members, remaining = member_subspaces(c, view), data.remaining
    alone = options.n_members == 1
    starts = [consensus(members)[0], *members]
    final = learn_with_location(options.search.max_steps, (view, starts))
    if remaining is not None and data.labels is None:
        final = refine_with_all(view, final.W, learning_problem(view, final.W), remaining)
        alone = alone or remaining.share < LARGE_SHARE
    return LearnedSubspaces(members, [*([] if alone else members), final.W], final)


def learn_with_all(
    data: TrainingData,
    options: EnsembleOptions,
    c: Configuration,
    view: MemberView,
    rng: np.random.Generator,
) -> LearnedSubspaces:
    """The members' subspaces, and the one learned from all samples.

    The latter starts from the consensus of the members, from their subspaces and from random ones.
    """
    dz, search, remaining = c.n_components, options.search, data.remaining
    members = member_subspaces(c, view) if c.crossfit is not None else []
    lead, alone = view.location.directions, options.n_members == 1
    active = view.active(data.active)
    starts = starting_points(view, active, dz, search.n_starts, rng)
    if dz == 0 or dz >= active.sum():  # there is only one subspace
        return LearnedSubspaces(members, starts, Minimum(starts[0], np.nan, 0))
    if members:
        common = [subspace_containing(lead, W) for W in (consensus(members)[0], *members)]
        starts = [*common, *starts]
    final: Minimum = learn_subspace(search.max_steps, (view, starts))
    refined = c.refined or not members
    if refined:
        item = view, [final.W, *starts[: min(1, len(members))]], c.setting
        final = refine_subspace(search.max_steps, item, widening=WIDENING)
    # The remaining samples have no labels, so samples that belong together could not be left out
    # together.  A location that depends on all inputs would be evaluated in every step.
    if remaining is not None and data.labels is None and not view.location.anywhere:
        problem = (
            refinement_problem(view, final.W, c.setting, WIDENING)
            if refined
            else learning_problem(view, final.W)
        )
        final = refine_with_all(view, final.W, problem, remaining)
        alone = alone or remaining.share < LARGE_SHARE
    averaged = [] if alone else [subspace_containing(lead, W) for W in members]
    return LearnedSubspaces(members, [*averaged, final.W], final)
