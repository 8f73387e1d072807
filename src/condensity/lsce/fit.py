"""The default algorithm of LSCE, from training data to the members of the final density.

1. For every location, cross-fit configurations with more and more components.  For the best of
   them, cross-fit a location that is a function of their components.
2. Stack all configurations by their held-out loss.  Select the settings of those with a positive
   weight again with all centres, if there are more than model selection uses.
3. For each of them, learn one more subspace from all samples, also starting from those of the
   members.
4. Fit all coefficients to all samples, and average the members.
5. Calibrate: stretch the densities about their means until held-out samples are uniform.

A single model (``n_members=1``) is the one learned from all samples for the best configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter

import numpy as np

from condensity._typing import Array
from condensity._utils.parallel import Mapper
from condensity.data.prepare import TrainingData
from condensity.fitting.output_slope import OutputSlope
from condensity.lsce.averaged import AveragedMembers
from condensity.lsce.calibration import best_stretch
from condensity.lsce.configurations import (
    Configuration,
    configure_reduced,
    expected_optimism,
    explore_dimensions,
    fewest_components,
    reselect_setting,
    stacking_excess,
)
from condensity.lsce.consensus import (
    LearnedSubspaces,
    consensus,
    learn_with_all,
    learn_with_all_and_location,
    member_subspaces,
)
from condensity.lsce.crossfit import Crossfit
from condensity.lsce.dimension import Comparison, compare, shown_configuration
from condensity.lsce.full_data import PendingFit, fit_coefficients, refit_location
from condensity.lsce.learning import (
    learn_with_location,
)
from condensity.lsce.location import Locator, ReducedLocator
from condensity.lsce.member import MemberView, OutputKernels
from condensity.lsce.settings import EnsembleOptions, first_setting
from condensity.lsce.stacking import stack

#: Largest number of centres of a member during model selection; the final model uses all centres.
SELECTION_CENTERS = 200
#: Largest number of components with which a location that is a function of z is tried.
REDUCED_COMPONENTS = 6


@dataclass(frozen=True, eq=False)
class EnsembleFit:
    """The result of the algorithm."""

    configurations: Sequence[Configuration]
    weights: Array  # of the configurations
    best: Configuration
    parts: Sequence[tuple[float, AveragedMembers]]
    W: Array  # (dz, dx) the directions that are reported
    agreement: Array  # (dx,) of its members
    n_steps: int  # of the search for W
    stretch: Array  # (dy,) factor of the kernels, about the means; not of the background
    loss: float  # held-out, of the average before it is stretched; NaN without folds
    comparison: Comparison | None  # of the configurations; None without folds

    @property
    def location_weights(self) -> dict[str, float]:
        """The total weight of the configurations with each location."""
        totals: dict[str, float] = {}
        for c, weight in zip(self.configurations, self.weights, strict=True):
            totals[c.location] = totals.get(c.location, 0.0) + float(weight)
        return totals


def fit_ensemble(
    data: TrainingData,
    options: EnsembleOptions,
    rng: np.random.Generator,
    mapper: Mapper,
    report: Callable[[Configuration], None],
) -> EnsembleFit:
    """Learn the density and the subspace."""
    nothing = np.zeros(len(data.sample))
    views = {
        name: _view(data, options, locator, nothing) for name, locator in options.locators.items()
    }
    configurations = _explore(data, options, views, rng, mapper, report)
    if not configurations:
        raise ValueError(options.too_few_components(views))
    if options.reduced and data.partitions:
        configurations = _add_reduced(data, options, views, configurations, mapper, report)
    # All configurations have the same number of centres here.
    comparison = compare(configurations, views)
    weights, loss, stretch = np.ones(1), np.nan, np.ones(data.n_outputs)
    if data.partitions:
        configurations, weights, loss = _select(options, views, configurations)
        stretch = _stretch(data, options, views, configurations, weights)
    used = [(c, float(w)) for c, w in zip(configurations, weights, strict=True) if w > 0]
    best = configurations[int(np.argmax(weights))]
    if options.n_members > 1 and comparison is not None:
        best = comparison.best(configurations, weights)
    if data.remaining is not None:
        Y, remaining = data.y_standardised.Y, data.remaining
        keys = {c.key for c in (best, *(c for c, _ in used)) if c.start is None}
        views |= {key: refit_location(views[key], Y, remaining) for key in keys}
    learned = {id(c): _learned(data, options, c, views, rng) for c, _ in used}
    pending = [_pending(options, c, views[c.key], learned[id(c)].averaged) for c, _ in used]
    averages = fit_coefficients(pending, data.remaining)
    parts = [(w, average) for (_, w), average in zip(used, averages, strict=True)]
    shown = shown_configuration(options, views, [c for c, _ in used], best)
    if id(shown) not in learned:  # it has no weight
        learned[id(shown)] = _learned(data, options, shown, views, rng)
    W, agreement = learned[id(shown)].reported(views[shown.key], data.active)
    n_steps = learned[id(shown)].final.n_steps
    return EnsembleFit(
        configurations, weights, best, parts, W, agreement, n_steps, stretch, loss, comparison
    )


def _view(
    data: TrainingData, options: EnsembleOptions, locator: Locator, held: Array
) -> MemberView:
    """The samples without the weight ``held`` (n,), in coordinates learned from them."""
    return MemberView.of(
        data.y_standardised,
        held,
        data.centers,
        locator,
        labels=data.labels,
        least_widths=options.least_widths,
        by_cells=data.by_cells,
    )


def cross_fit(
    data: TrainingData,
    options: EnsembleOptions,
    location: str,
    locators: Sequence[Locator] | None = None,
) -> Crossfit:
    """The views of all members, one for each fold, with the centres of model selection.

    ``locators`` has one for each member; None takes that of the ``location`` for all of them.
    """
    held = [mass for folds in data.partitions for mass in folds]
    locators = [options.locators[location]] * len(held) if locators is None else locators
    full = [_view(data, options, *pair) for pair in zip(locators, held, strict=True)]
    views = [view.thinned(SELECTION_CENTERS) for view in full]
    whole, n_partitions = data.y_standardised, len(data.partitions)
    active = views[0].active(data.active)
    slope = OutputSlope.of(data.bounds, data.y_scaling, options.score)
    return Crossfit(location, whole, active, views, n_partitions, options.score, full, slope)


def _with_all_centers(crossfit: Crossfit) -> Crossfit:
    """The views of all members with all centres; the same object if it has them already."""
    more = any(len(view.basis) > SELECTION_CENTERS for view in crossfit.full_views)
    return replace(crossfit, views=crossfit.full_views) if more else crossfit


def _explore(
    data: TrainingData,
    options: EnsembleOptions,
    views: dict[str, MemberView],
    rng: np.random.Generator,
    mapper: Mapper,
    report: Callable[[Configuration], None],
) -> list[Configuration]:
    """The configurations of all locations that fit into the number of components."""
    configurations: list[Configuration] = []
    dz = options.n_components
    for name, view in views.items():
        search = options.search_space(view)
        if data.partitions:
            crossfit = cross_fit(data, options, name)
            configurations += explore_dimensions(
                crossfit,
                dz,
                search,
                rng,
                mapper,
                report,
                others=tuple(configurations),
                simple=options.n_members > 1,
            )
            crossfit.clear()
        elif dz is not None and len(view.location.directions) <= dz:
            unknown = np.full(len(data.sample), np.nan)
            only = Configuration(name, dz, first_setting(search, dz), [], unknown, None)
            configurations.append(only)
    return configurations


def _add_reduced(
    data: TrainingData,
    options: EnsembleOptions,
    views: dict[str, MemberView],
    configurations: Sequence[Configuration],
    mapper: Mapper,
    report: Callable[[Configuration], None],
) -> list[Configuration]:
    """The configurations, and some with a location that is a smooth function of z.

    Their subspaces are learned together with the location.  The search starts from the best
    configuration with the same number of components; more are tried while the loss improves.
    The views of the new ones are added to ``views``.
    """
    strict = [c for c in configurations if not views[c.key].location.anywhere]
    plain = next(c.crossfit for c in strict if c.location == "none")
    assert plain is not None
    most = min(max(REDUCED_COMPONENTS, options.n_components or 0), int(data.active.sum()) - 1)
    added: list[Configuration] = []
    for dz in range(1, 0 if plain.by_cells else most + 1):
        start = min(
            (c for c in strict if c.n_components == dz), key=attrgetter("loss"), default=None
        )
        if start is None:
            continue
        items = list(zip(plain.views, start.Ws, strict=True))
        learn = partial(learn_with_location, options.search.max_steps)
        Ws = [end.W for end in mapper(learn, items)]
        members = member_subspaces(replace(start, Ws=Ws, crossfit=plain), views["none"])
        view = _reduced_view(data, options, consensus(members)[0])
        crossfit = cross_fit(data, options, "reduced", [ReducedLocator(W) for W in Ws])
        new = configure_reduced(start, crossfit, Ws, options.search_space(view))
        views[new.key] = view
        crossfit.clear()
        report(new)
        added.append(new)
        if new.n_components > min(added, key=attrgetter("loss")).n_components:
            break
    if options.only_reduced and added:
        configurations = [c for c in configurations if not c.n_components]
    return [*configurations, *added]


def _reduced_view(data: TrainingData, options: EnsembleOptions, W: Array) -> MemberView:
    """The view of all samples with a location that is a function of ``W x``."""
    return _view(data, options, ReducedLocator(W), np.zeros(len(data.sample)))


def _select(
    options: EnsembleOptions,
    views: dict[str, MemberView],
    configurations: Sequence[Configuration],
) -> tuple[list[Configuration], Array, float]:
    """All configurations, their weights, and the held-out loss of the weighted average.

    Those with a positive weight are evaluated again with all centres, if there are more.
    """
    configurations = list(configurations)
    weights, loss = weigh(options, configurations)
    used = np.flatnonzero(weights).tolist()
    full: dict[str, Crossfit] = {}
    for i in used:
        key, crossfit = configurations[i].key, configurations[i].crossfit
        assert crossfit is not None
        if key not in full:
            full[key] = _with_all_centers(crossfit)
    if any(configurations[i].crossfit is not full[configurations[i].key] for i in used):
        for key, crossfit in full.items():
            search = options.search_space(views[key])
            for i in (i for i in used if configurations[i].key == key):
                configurations[i] = reselect_setting(configurations[i], crossfit, search)
            crossfit.clear()
        weights[used], loss = weigh(options, [configurations[i] for i in used])
    return configurations, weights, loss


def weigh(options: EnsembleOptions, configurations: Sequence[Configuration]) -> tuple[Array, float]:
    """Stacking weights and the loss to expect; a single model is the best configuration."""
    if options.n_members > 1:
        evaluations = [c.evaluate() for c in configurations]
        weights, loss = stack(evaluations, stacking_excess(configurations))
    else:
        best = fewest_components(configurations)
        weights, loss = np.array([float(c is best) for c in configurations]), best.loss
    return weights, loss + float(weights @ expected_optimism(configurations))


def _stretch(
    data: TrainingData,
    options: EnsembleOptions,
    views: dict[str, MemberView],
    configurations: Sequence[Configuration],
    weights: Array,
) -> Array:
    """Factors by which densities are stretched, (dy,); 1 if the caller has fixed sigma_y.

    No kernel becomes narrower than its floor.
    """
    if options.search.sigma_y is not None:
        return np.ones(data.n_outputs)
    used = [c for c, w in zip(configurations, weights, strict=True) if w > 0]
    floors = [options.search_space(views[c.key]).least_sigma_y for c in used]
    least = max(floor / c.setting.sigma_y for floor, c in zip(floors, used, strict=True))
    factor = best_stretch([c.evaluate() for c in used], weights[weights > 0], least)
    return np.full(data.n_outputs, factor)


def _pending(
    options: EnsembleOptions, c: Configuration, view: MemberView, Ws: Sequence[Array]
) -> PendingFit:
    setting = c.setting
    if c.start is not None and options.search.sigma_y is None:
        # The location follows the final directions, so its residuals and their floor have changed.
        least = min(1.0, options.search_space(view).least_sigma_y)
        setting = replace(setting, sigma_y=max(setting.sigma_y, least))
    return PendingFit(OutputKernels.build(view, setting.sigma_y), setting, Ws)


def _learned(
    data: TrainingData,
    options: EnsembleOptions,
    c: Configuration,
    views: dict[str, MemberView],
    rng: np.random.Generator,
) -> LearnedSubspaces:
    """The subspaces of a configuration; a location that is a function of z follows them."""
    if c.start is None:
        return learn_with_all(data, options, c, views[c.key], rng)
    learned = learn_with_all_and_location(data, options, c, views["none"])
    views[c.key] = _reduced_view(data, options, learned.common)
    return learned
