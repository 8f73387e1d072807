"""The subspaces of a configuration, their consensus, and the subspace that is reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from condensity._typing import Array, Mask
from condensity.lsce.configurations import Configuration
from condensity.lsce.learning import subspace_without
from condensity.lsce.member import MemberView
from condensity.subspaces.chart import Minimum


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

    @property
    def common(self) -> Array:
        """The consensus of the subspaces in the average; half of the weight is that of the last."""
        *members, last = self.averaged
        return consensus([*members, *[last] * max(1, len(members))])[0]

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
