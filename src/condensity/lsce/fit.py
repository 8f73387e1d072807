"""The algorithm of the default LSCE, from samples to the density that is shipped.

For every location: cross-fit configurations of more and more directions.  Stack them all by their
loss at samples new to them; those that count are judged once more with all the centres there are,
where that is more.  For each of them learn one more subspace from all samples, from what its
members agree on; fit all coefficients to all samples; average; stretch the densities about their
means as new samples ask for.  A single model is the one learned from all samples, for the best
configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from condensity._typing import Array
from condensity._utils.parallel import Mapper
from condensity.lsce.averaged import AveragedMembers
from condensity.lsce.calibration import best_stretch
from condensity.lsce.configurations import (
    Configuration,
    explore_dimensions,
    fewest_components,
    learn_subspace,
    refine_subspace,
    reselect_setting,
    starting_points,
    subspace_containing,
)
from condensity.lsce.consensus import complete_subspace, consensus, member_subspaces
from condensity.lsce.crossfit import Crossfit
from condensity.lsce.full_data import PendingFit, fit_coefficients, refine_with_all
from condensity.lsce.member import MemberView, OutputKernels
from condensity.lsce.settings import SearchSpace, first_setting
from condensity.lsce.stacking import stack
from condensity.lsce.task import Task
from condensity.subspaces.chart import Minimum

#: The subspace that is shown is refined with kernels this much wider in z than the members': it is
#: nearer to the true one, while members are to describe y.
WIDENING = float(np.sqrt(2.0))
#: Where the samples that all was chosen with are less than this share of all, a subspace that was
#: refined by all is worth more than the average of those that members found.
MOST = 0.5


@dataclass(frozen=True, eq=False)
class EnsembleFit:
    """What was learned."""

    configurations: Sequence[Configuration]
    weights: Array  # of the configurations
    best: Configuration
    parts: Sequence[tuple[float, AveragedMembers]]
    W: Array  # (dz, dx) of the best configuration, learned from all samples
    agreement: Array  # (dx,) of its members
    n_steps: int  # of the search for W
    stretch: Array  # (dy,) what all densities are stretched by, about their means
    loss: float  # cross-fitted, of averages before they are stretched; NaN if nothing was held out


@dataclass(frozen=True, eq=False)
class LearnedSubspaces:
    """The subspaces of one configuration."""

    found: Sequence[Array]  # by the cross-fitted members
    averaged: Sequence[Array]  # to be averaged over
    last: Minimum  # from all samples


def fit_ensemble(
    task: Task,
    rng: np.random.Generator,
    mapper: Mapper,
    report: Callable[[Configuration], None],
) -> EnsembleFit:
    """Learn the density and the subspace."""
    views = {name: task.view(name) for name in task.locators}
    configurations: list[Configuration] = []
    for name in task.locators:
        search = task.search_in(views[name])
        if task.deals:
            crossfit = task.crossfit(name)
            configurations += explore_dimensions(
                crossfit, task.dimension, search, rng, mapper, report
            )
            crossfit.forget()
        elif len(views[name].location.directions) <= (task.dimension or 0):
            configurations.append(_settled(task, name, search))
    if not configurations:
        raise ValueError(_no_room(task, views))
    weights, loss, stretch = np.ones(1), np.nan, np.ones(task.whole.Y.shape[1])
    if task.deals:
        configurations, weights, loss = _choose(task, views, configurations)
        stretch = _stretch(task, views, configurations, weights)
    kept = [(c, float(w)) for c, w in zip(configurations, weights, strict=True) if w > 0]
    best = fewest_components([c for c, _ in kept])
    if task.others is not None:
        used = {c.location for c, _ in kept}
        views |= {name: task.relocated(views[name]) for name in used}
    learned = {id(c): _subspaces(task, c, views[c.location], rng) for c, _ in kept}
    models = [_model(c, views[c.location], learned[id(c)].averaged) for c, _ in kept]
    parts = [
        (w, part) for (_, w), part in zip(kept, fit_coefficients(models, task.others), strict=True)
    ]
    W = learned[id(best)].last.W
    agreement = consensus(learned[id(best)].found or [W])[1]
    if views[best.location].location.anywhere:
        W = complete_subspace(W, task.active)
    n_steps = learned[id(best)].last.n_steps
    return EnsembleFit(configurations, weights, best, parts, W, agreement, n_steps, stretch, loss)


def _model(c: Configuration, view: MemberView, Ws: Sequence[Array]) -> PendingFit:
    return PendingFit(OutputKernels.build(view, c.setting.sigma_y), c.setting, Ws)


def _choose(
    task: Task, views: dict[str, MemberView], configurations: Sequence[Configuration]
) -> tuple[list[Configuration], Array, float]:
    """Weigh the configurations; those that count once more, with all the centres there are.

    Returns them all, their weights, and the loss of what is made of them.
    """
    found = list(configurations)
    weights, loss = _weigh(task, found)
    kept = np.flatnonzero(weights).tolist()
    fuller: dict[str, Crossfit] = {}
    for i in kept:
        name, own = found[i].location, found[i].crossfit
        assert own is not None
        if name not in fuller:
            fuller[name] = task.with_all_centers(own)
    if any(found[i].crossfit is not fuller[found[i].location] for i in kept):
        for name, full in fuller.items():
            for i in (i for i in kept if found[i].location == name):
                found[i] = reselect_setting(found[i], full, task.search_in(views[name]))
            full.forget()
        weights[kept], loss = _weigh(task, [found[i] for i in kept])
    return found, weights, loss


def _weigh(task: Task, configurations: Sequence[Configuration]) -> tuple[Array, float]:
    """The weights of the best average or, of single models, all of it for the best."""
    if task.n_members > 1:
        return stack([c.judge() for c in configurations])
    best = fewest_components(configurations)
    return np.array([float(c is best) for c in configurations]), best.loss


def _stretch(
    task: Task,
    views: dict[str, MemberView],
    configurations: Sequence[Configuration],
    weights: Array,
) -> Array:
    """What densities are to be stretched by (dy,): no kernel gets narrower than its floor.

    Nor than the user wants it.
    """
    dy = task.whole.Y.shape[1]
    if task.search.sigma_y is not None:
        return np.ones(dy)
    kept = [c for c, w in zip(configurations, weights, strict=True) if w > 0]
    least = max(task.search_in(views[c.location]).least_sigma_y / c.setting.sigma_y for c in kept)
    return np.full(dy, best_stretch([c.judge() for c in kept], weights[weights > 0], least))


def _no_room(task: Task, views: dict[str, MemberView]) -> str:
    ((name, view),) = views.items()
    return (
        f"location={name!r} depends on {len(view.location.directions)} directions, more than "
        f"n_components={task.dimension}: raise n_components or choose location='none'"
    )


def _settled(task: Task, name: str, search: SearchSpace) -> Configuration:
    """The only configuration there is, when nothing is to be chosen."""
    assert task.dimension is not None
    dz = task.dimension
    unknown = np.full(len(task.whole), np.nan)
    return Configuration(name, dz, first_setting(search, dz), [], unknown, None)


def _subspaces(
    task: Task, c: Configuration, view: MemberView, rng: np.random.Generator
) -> LearnedSubspaces:
    """The members' subspaces, and the one learned from all samples.

    That one starts from what the members agree on, and from random subspaces when it is alone.
    """
    dz, search = c.n_components, task.search
    found = member_subspaces(c, view) if c.crossfit is not None else []
    lead, alone = view.location.directions, task.n_members == 1
    starts = starting_points(view, task.active, dz, search.n_starts, rng)
    if dz >= task.active.sum():  # there is but one subspace
        return LearnedSubspaces(found, starts, Minimum(starts[0], np.nan, 0))
    W = subspace_containing(lead, consensus(found)[0]) if found else starts[0]
    if alone or not c.refined:
        last = learn_subspace(search.max_steps, (view, [W, *starts] if alone else [W], c.setting))
    if c.refined or not found:
        start = last.W if alone else W
        last = refine_subspace(search.max_steps, (view, start, c.setting), widening=WIDENING)
        # Samples that belong together must not judge one another: the others come without labels.
        if task.others is not None and task.labels is None:
            last = refine_with_all(view, last.W, c.setting, task.others, widening=WIDENING)
            alone = alone or task.others.share < MOST
    others = [] if alone else [subspace_containing(lead, W) for W in found]
    return LearnedSubspaces(found, [*others, last.W], last)
