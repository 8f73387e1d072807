"""The subspace that is reported.

The density is an average, but one subspace is reported for it.  Candidates are the subspaces of all
configurations with this number of components, and outer products of gradients (room ``subspaces``),
which find the directions in another way.  A linear location takes part if its slope is clearly not
zero.  It is reported alone if the slope is all it has, or if its density is clearly better.

The candidates of all kinds are compared as directions of a density without location: a location may
describe y well although its directions are inaccurate, for instance a plane where the variance of y
depends on x, and the other way round.  Each candidate gets the weight ``2 Phi(-d / s)``.  Here d is
the difference of its held-out loss from that of the best one, s the standard error of d, and Phi
the normal distribution function: the weight is 1 for the best one and for equally good ones, and
0.05 at about two standard errors.  The reported subspace is the dominant eigenspace of the weighted
sum of the candidates' projectors.  So the errors of similar candidates average out, and those of
clearly worse ones do not enter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import ndtr

from condensity._typing import Array
from condensity.data.prepare import TrainingData
from condensity.lsce.configurations import Configuration, loss_difference, reselect_setting
from condensity.lsce.consensus import LearnedSubspaces, mean_projector, member_subspaces
from condensity.lsce.dimension import CLEARLY_BETTER
from condensity.lsce.informed import gradient_subspace
from condensity.members.member import MemberView
from condensity.members.settings import EnsembleOptions, SearchSpace

#: Candidates with less weight are left out.
LEAST_WEIGHT = 0.05
#: Half of the projector of a configuration is that of its members, the other half that of a search
#: in all samples.  Outer products of gradients have the first half only.
MEMBERS_SHARE = 0.5


def reported_subspace(
    data: TrainingData,
    options: EnsembleOptions,
    views: dict[str, MemberView],
    configurations: Sequence[Configuration],
    best: Configuration,
    learn: Callable[[Configuration], LearnedSubspaces],
) -> tuple[Array, Array, int]:
    """The subspace (dz, dx), the agreement of members on it (dx,), and the steps of its search.

    ``best`` has the number of components that is reported.  ``learn`` returns the subspaces of a
    configuration.
    """
    own = learn(best)
    W, agreement = own.reported(views[best.key], data.active)
    plain = without_location(configurations, best, views) if options.n_members > 1 else None
    if plain is None or keeps_slope(best, plain, options.search_space(views["none"])):
        return W, agreement, own.final.n_steps
    search = options.search_space(views["none"])
    rivals = [
        c
        for c in configurations
        if c.n_components == best.n_components and not views[c.key].location.anywhere
        if has_slope(c, configurations)
    ]
    judged = [judge(plain, c.Ws, search) for c in rivals]
    # Gradients of a part of many samples are less accurate than a search with all of them.
    if data.remaining is None:
        judged.append(judge(plain, gradient_subspaces(plain), search))
    weights = candidate_weights(judged)
    total = np.zeros((W.shape[1], W.shape[1]))
    for weight, c in zip(weights, rivals, strict=False):
        if weight > 0:
            total += weight * learn(c).projector
    for weight, c in zip(weights[len(rivals) :], judged[len(rivals) :], strict=True):
        total += MEMBERS_SHARE * weight * mean_projector(member_subspaces(c, views["none"]))
    return dominant_subspace(total, len(W)), agreement, own.final.n_steps


def dominant_subspace(total: Array, dz: int) -> Array:
    """The eigenvectors (dz, dx) of the largest eigenvalues of ``total`` (dx, dx)."""
    return np.asarray(np.linalg.eigh(total)[1][:, ::-1][:, :dz].T)


def without_location(
    configurations: Sequence[Configuration], best: Configuration, views: dict[str, MemberView]
) -> Configuration | None:
    """The configuration in which candidates are compared; None if there is nothing to choose."""
    crossfit, dz = best.crossfit, best.n_components
    if crossfit is None or crossfit.by_cells or views[best.key].location.anywhere:
        return None
    if dz >= crossfit.active.sum():
        return None
    same = (c for c in configurations if c.n_components == dz and c.location == "none")
    return next(same, None)


def judge(plain: Configuration, Ws: Sequence[Array], search: SearchSpace) -> Configuration:
    """The density without location on other directions ``Ws``, with the best setting."""
    if plain.Ws is Ws:
        return plain
    assert plain.crossfit is not None
    judged = reselect_setting(replace(plain, Ws=Ws), plain.crossfit, search)
    plain.crossfit.clear()
    return judged


def keeps_slope(best: Configuration, plain: Configuration, search: SearchSpace) -> bool:
    """Whether the directions of ``best`` are reported alone, because it has a linear location.

    It must have no directions but those of the slope, or be clearly better than the density without
    location.  And its directions must be better if they are judged without location.
    """
    assert best.crossfit is not None
    if best.location != "linear":
        return False
    n_lead = min(len(view.location.directions) for view in best.crossfit.views)
    mean, error = loss_difference(plain, best)
    if best.n_components > n_lead and mean <= CLEARLY_BETTER * error:
        return False
    return judge(plain, best.Ws, search).loss < plain.loss


def has_slope(c: Configuration, configurations: Sequence[Configuration]) -> bool:
    """Whether the slope of a linear location is clearly not zero.

    Without components, the density with this location is then clearly better than that with a
    constant location.  Other locations fix no directions, so nothing is required of them.
    """
    alone = {o.location: o for o in configurations if o.n_components == 0}
    if c.location != "linear" or not {"none", "linear"} <= set(alone):
        return True
    mean, error = loss_difference(alone["none"], alone["linear"])
    return mean > CLEARLY_BETTER * error


def candidate_weights(judged: Sequence[Configuration]) -> Array:
    """The weight of each candidate from its losses at held-out samples, (C,)."""
    best = min(judged, key=lambda c: c.loss)
    pairs = [loss_difference(c, best) for c in judged]
    z = [mean / max(error, np.finfo(float).tiny) for mean, error in pairs]
    weights = 2.0 * ndtr(-np.array(z))
    return np.where(weights < LEAST_WEIGHT, 0.0, np.minimum(weights, 1.0))


def gradient_subspaces(plain: Configuration) -> list[Array]:
    """The outer products of gradients of the mean of y, for every member."""
    assert plain.crossfit is not None
    active, dz = plain.crossfit.active, plain.n_components
    return [
        gradient_subspace(view.sample, view.clipped(view.sample.Y), active, dz)
        for view in plain.crossfit.views
    ]
