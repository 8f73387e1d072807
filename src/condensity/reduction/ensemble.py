"""The algorithm of the default LSCE, from samples to the density that is shipped.

For every location: cross-fit configurations of more and more directions.  Stack them all by their
loss at samples new to them.  For those that count, choose the setting once more by the loss of
averages; learn one more subspace from all samples, from what the members agree on; fit all
coefficients to all samples; average; stretch the densities about their means as new samples ask
for.  A single model is the one learned from all samples, for the best configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from condensity.core.averaged import Averaged
from condensity.core.kernels import Array, Indices, Mask
from condensity.core.location import Locator
from condensity.core.sample import Sample
from condensity.core.scores import Score
from condensity.core.view import View
from condensity.manifold.chart import Minimum
from condensity.reduction.average import average, complete, consensus, members
from condensity.reduction.configurations import (
    Configuration,
    Spread,
    containing,
    explore,
    learn,
    refine,
    simplest_of_the_best,
    starting_points,
)
from condensity.reduction.crossfit import Crossfit, Judgement
from condensity.reduction.polish import Averages, polish
from condensity.reduction.settings import Search, first_setting
from condensity.reduction.stacking import stack
from condensity.reduction.stretch import best_stretch

#: Centres that members have while all is chosen, at most; what is shipped has all there are.
CHOOSING_CENTERS = 200
#: The subspace that is shown is refined with kernels this much wider in z than the members': it is
#: nearer to the true one, while members are to describe y.
WIDENING = float(np.sqrt(2.0))


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be learned from, and how it is to be judged."""

    whole: Sample  # y standardised
    active: Mask  # (dx,) inputs that vary
    centers: Indices
    deals: Sequence[Array]  # (folds, n) each; empty when nothing is held out
    labels: Indices | None  # (n,) of rows that belong together, if any do
    locators: dict[str, Locator]
    score: Score
    least_widths: Array  # (dy,) no kernel is narrower
    search: Search
    n_members: int
    dimension: int | None  # None: as many as help


@dataclass(frozen=True, eq=False)
class Result:
    """What was learned."""

    configurations: Sequence[Configuration]
    weights: Array  # of the configurations
    best: Configuration
    parts: Sequence[tuple[float, Averaged]]
    W: Array  # (dz, dx) of the best configuration, learned from all samples
    agreement: Array  # (dx,) of its members
    n_steps: int  # of the search for W
    stretch: Array  # (dy,) what all densities are stretched by, about their means
    loss: float  # cross-fitted, of averages before they are stretched; NaN if nothing was held out


@dataclass(frozen=True, eq=False)
class Learned:
    """The subspaces of one configuration."""

    found: Sequence[Array]  # by the cross-fitted members
    averaged: Sequence[Array]  # to be averaged over
    last: Minimum  # from all samples


def run(
    task: Task,
    rng: np.random.Generator,
    spread: Spread,
    report: Callable[[Configuration], None],
) -> Result:
    """Learn the density and the subspace."""
    views = {name: _view_of_all(task, locator) for name, locator in task.locators.items()}
    configurations: list[Configuration] = []
    for name, locator in task.locators.items():
        search = _search(task, views[name])
        if task.deals:
            crossfit = _crossfit(task, name, locator)
            configurations += explore(crossfit, task.dimension, search, rng, spread, report)
        elif len(views[name].location.directions) <= (task.dimension or 0):
            configurations.append(_settled(task, name, search))
    if not configurations:
        raise ValueError(_no_room(task, views))
    best = simplest_of_the_best(configurations)
    if task.n_members == 1:
        weights = np.array([float(c is best) for c in configurations])
        stretch, loss = np.ones(task.whole.Y.shape[1]), best.loss
        if task.deals:
            stretch = _stretch(task, views, [best], [best.judge()], np.ones(1))
    else:
        configurations, weights, loss, stretch = _stack(task, views, configurations)
        best = simplest_of_the_best([c for c, w in zip(configurations, weights, strict=True) if w])
    learned = {
        id(c): _subspaces(task, c, views[c.location], rng)
        for c, weight in zip(configurations, weights, strict=True)
        if weight > 0 or c is best
    }
    parts = [
        (float(weight), average(c.shipped, views[c.location], learned[id(c)].averaged))
        for c, weight in zip(configurations, weights, strict=True)
        if weight > 0
    ]
    W = learned[id(best)].last.W
    agreement = consensus(learned[id(best)].found or [W])[1]
    if views[best.location].location.anywhere:
        W = complete(W, task.active)
    n_steps = learned[id(best)].last.n_steps
    return Result(configurations, weights, best, parts, W, agreement, n_steps, stretch, loss)


def _stack(
    task: Task, views: dict[str, View], configurations: Sequence[Configuration]
) -> tuple[list[Configuration], Array, float, Array]:
    """Weigh the configurations by their members, polish those that count, weigh them again.

    Returns them all, their weights, the loss of the weighted average, and what it is to be
    stretched by.
    """
    found, judged = list(configurations), [c.judge() for c in configurations]
    weights, loss = stack(judged)
    kept = np.flatnonzero(weights).tolist()
    if len(task.deals) > 1:  # there are samples that are new to two members
        crossfits = _with_all_centers(task, [found[i] for i in kept])
        for i in kept:
            c = found[i]
            averages = Averages.of(crossfits[c.location], c, len(c.Ws) + 1)
            found[i] = polish(c, averages, _search(task, views[c.location]))
            judged[i] = averages.judge(found[i].shipped)
        weights[kept], loss = stack([judged[i] for i in kept])
    kept = np.flatnonzero(weights).tolist()
    counted, looks = [found[i] for i in kept], [judged[i] for i in kept]
    return found, weights, loss, _stretch(task, views, counted, looks, weights[kept])


def _stretch(
    task: Task,
    views: dict[str, View],
    configurations: Sequence[Configuration],
    judged: Sequence[Judgement],
    weights: Array,
) -> Array:
    """What densities are to be stretched by (dy,): no kernel gets narrower than its floor.

    Nor than the user wants it.
    """
    if task.search.sigma_y is not None:
        return np.ones(task.whole.Y.shape[1])
    least = max(
        _search(task, views[c.location]).least_sigma_y / c.shipped.sigma_y for c in configurations
    )
    return best_stretch(judged, weights, least)


def _no_room(task: Task, views: dict[str, View]) -> str:
    ((name, view),) = views.items()
    return (
        f"location={name!r} depends on {len(view.location.directions)} directions, more than "
        f"n_components={task.dimension}: raise n_components or choose location='none'"
    )


def _view_of_all(task: Task, locator: Locator) -> View:
    return _view(task, np.zeros(len(task.whole)), locator)


def _view(task: Task, held_mass: Array, locator: Locator) -> View:
    return View.of(
        task.whole,
        held_mass,
        task.centers,
        locator,
        labels=task.labels,
        least_widths=task.least_widths,
    )


def _crossfit(task: Task, name: str, locator: Locator) -> Crossfit:
    views = [view.thinned(CHOOSING_CENTERS) for view in _views(task, task.deals, locator)]
    return Crossfit(name, task.whole, task.active, views, len(task.deals), task.score)


def _with_all_centers(task: Task, configurations: Sequence[Configuration]) -> dict[str, Crossfit]:
    """For every location what averages are judged in: with all the centres they will have.

    Where these are more than members had, one deal is enough.
    """
    found = {c.location: c.crossfit for c in configurations if c.crossfit is not None}
    if all(len(v.basis) < CHOOSING_CENTERS for crossfit in found.values() for v in crossfit.views):
        return found
    first = task.deals[:1]
    return {
        name: replace(crossfit, views=_views(task, first, task.locators[name]), n_deals=1)
        for name, crossfit in found.items()
    }


def _views(task: Task, deals: Sequence[Array], locator: Locator) -> list[View]:
    return [_view(task, mass, locator) for deal in deals for mass in deal]


def _search(task: Task, view: View) -> Search:
    """The search with its floor under sigma_y: a kernel on output j is ``sigma_y |L_j|`` wide."""
    least = float(np.max(task.least_widths / np.linalg.norm(view.factor, axis=1)))
    return replace(task.search, least_sigma_y=least)


def _settled(task: Task, name: str, search: Search) -> Configuration:
    """The only configuration there is, when nothing is to be chosen."""
    assert task.dimension is not None
    dz = task.dimension
    unknown = np.full(len(task.whole), np.nan)
    return Configuration(name, dz, first_setting(search, dz), [], unknown, None)


def _subspaces(task: Task, c: Configuration, view: View, rng: np.random.Generator) -> Learned:
    """The members' subspaces, and the one learned from all samples.

    That one starts from what the members agree on, and from random subspaces when it is alone.
    """
    dz, search = c.n_components, task.search
    found = members(c, view) if c.crossfit is not None else []
    lead, alone = view.location.directions, task.n_members == 1
    starts = starting_points(view, task.active, dz, search.n_starts, rng)
    if dz >= task.active.sum():  # there is but one subspace
        return Learned(found, starts, Minimum(starts[0], np.nan, 0))
    W = containing(lead, consensus(found)[0]) if found else starts[0]
    # With the setting that is best for members: that of the average is too narrow for one.
    if alone or not c.refined:
        last = learn(search.max_steps, (view, [W, *starts] if alone else [W], c.setting))
    if c.refined or not found:
        start = last.W if alone else W
        last = refine(search.max_steps, (view, start, c.setting), widening=WIDENING)
    others = [] if alone else [containing(lead, W) for W in found]
    return Learned(found, [*others, last.W], last)
