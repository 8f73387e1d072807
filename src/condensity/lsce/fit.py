"""The default algorithm of LSCE, from training data to the members of the final density.

1. Cross-fit configurations: locations with more and more components (module ``exploration``).
2. Stack all configurations by their held-out loss.  Select the settings of those with a positive
   weight again with all centres, if there are more than model selection uses.
3. For each of them, learn one more subspace from all samples, also starting from those of the
   members.
4. Fit all coefficients to all samples, and average the members.
5. Calibrate: stretch the densities about their means until held-out samples are uniform.

If there are many more samples than model selection uses, weights and settings are selected once
more, with the subspaces of step 3 (module ``large_samples``).  "All samples" are then those of the
subsample and the ones that are drawn in addition, except for the coefficients.

A single model (``n_members=1``) is the one learned from all samples for the best configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from condensity._typing import Array
from condensity._utils.parallel import Mapper
from condensity.data.prepare import TrainingData
from condensity.lsce.configurations import Configuration, reselect_setting
from condensity.lsce.consensus import LearnedSubspaces, learn_with_all, learn_with_all_and_location
from condensity.lsce.dimension import Comparison, compare
from condensity.lsce.exploration import add_reduced, complete_all, explore
from condensity.lsce.final_density import FinalDensity, average_of, stretch_of
from condensity.lsce.full_data import refit_location
from condensity.lsce.large_samples import enlarge_for_settings, follows_sample_size, settle
from condensity.lsce.reported import reported_subspace
from condensity.lsce.shortlist import held_out_masses
from condensity.lsce.stacking import weigh
from condensity.members.crossfit import Crossfit
from condensity.members.member import MemberView
from condensity.members.settings import EnsembleOptions, Setting
from condensity.members.views import reduced_view, view_of, with_all_centers


@dataclass(frozen=True, eq=False)
class EnsembleFit:
    """The result of the algorithm."""

    configurations: Sequence[Configuration]
    weights: Array  # of the configurations
    best: Configuration
    setting: Setting  # of the best one, in the final density if it is part of it
    density: FinalDensity
    W: Array  # (dz, dx) the directions that are reported
    agreement: Array  # (dx,) of its members
    n_steps: int  # of the search for W
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
        name: view_of(data, options, locator, nothing) for name, locator in options.locators.items()
    }
    # Here all configurations have the same number of centres.  So they are compared as they are.
    ranked = _configurations(data, options, views, rng, mapper, report)
    comparison = compare(ranked, views)
    configurations, weights, loss = _select(data, options, views, ranked)
    row = int(np.argmax(weights))
    if options.n_members > 1 and comparison is not None:
        shown = comparison.best(ranked, weights)
        row = next(i for i, c in enumerate(ranked) if c is shown)
    rows = np.flatnonzero(weights).tolist()
    used = [configurations[i] for i in rows]
    larger = enlarge_for_settings(data, rng) if follows_sample_size(data) else None
    if larger is not None:
        data = replace(data, remaining=larger.drawn)
    _refit_locations(data, views, [configurations[row], *used])
    learned = [_learned(data, options, c, views, rng) for c in used]
    if larger is not None:
        density, learned = settle(larger, options, used, learned, views)
    else:
        density = _density(data, options, used, views, learned, weights[rows], loss)
    weights[rows] = density.weights
    known = {id(ranked[i]): one for i, one in zip(rows, learned, strict=True)}

    def learn(c: Configuration) -> LearnedSubspaces:
        # Directions may be reported of a configuration that has no weight.
        if id(c) not in known:
            known[id(c)] = _learned(data, options, c, views, rng)
        return known[id(c)]

    W, agreement, n_steps = reported_subspace(data, options, views, ranked, ranked[row], learn)
    settings = dict(zip(rows, density.settings, strict=True))
    best = configurations[row]
    setting = settings.get(row, best.setting)
    return EnsembleFit(
        configurations, weights, best, setting, density, W, agreement, n_steps, comparison
    )


def _refit_locations(
    data: TrainingData, views: dict[str, MemberView], configurations: Sequence[Configuration]
) -> None:
    """Fit the planes of these configurations also to the remaining samples."""
    if data.remaining is not None:
        for key in {c.key for c in configurations if c.start is None}:
            views[key] = refit_location(views[key], data.y_standardised.Y, data.remaining)


def _configurations(
    data: TrainingData,
    options: EnsembleOptions,
    views: dict[str, MemberView],
    rng: np.random.Generator,
    mapper: Mapper,
    report: Callable[[Configuration], None],
) -> list[Configuration]:
    """The configurations of all members, or of some if the average does not need the others."""
    held, n_first = held_out_masses(data, options)
    first = held[:n_first]
    configurations = explore(data, options, views, first, rng, mapper, report)
    if not configurations:
        raise ValueError(options.too_few_components(views))
    if options.reduced and data.partitions:
        configurations = add_reduced(data, options, views, configurations, first, mapper, report)
    if n_first < len(held) and not follows_sample_size(data):
        configurations = complete_all(data, options, views, configurations, held, rng, mapper)
    return configurations


def _select(
    data: TrainingData,
    options: EnsembleOptions,
    views: dict[str, MemberView],
    configurations: Sequence[Configuration],
) -> tuple[list[Configuration], Array, float]:
    """All configurations, their weights, and the held-out loss of the weighted average.

    Those with a positive weight are evaluated again with all centres, if there are more.  With many
    samples the weights are selected again later.
    """
    configurations = list(configurations)
    if not data.partitions:
        return configurations, np.ones(1), np.nan
    weights, loss = weigh(options, configurations)
    if follows_sample_size(data):
        return configurations, weights, loss
    used = np.flatnonzero(weights).tolist()
    full: dict[str, Crossfit] = {}
    for i in used:
        key, crossfit = configurations[i].key, configurations[i].crossfit
        assert crossfit is not None
        if key not in full:
            full[key] = with_all_centers(crossfit)
    if any(configurations[i].crossfit is not full[configurations[i].key] for i in used):
        for key, crossfit in full.items():
            search = options.search_space(views[key])
            for i in (i for i in used if configurations[i].key == key):
                configurations[i] = reselect_setting(configurations[i], crossfit, search)
            crossfit.clear()
        weights[used], loss = weigh(options, [configurations[i] for i in used])
    return configurations, weights, loss


def _density(
    data: TrainingData,
    options: EnsembleOptions,
    configurations: Sequence[Configuration],
    views: dict[str, MemberView],
    learned: Sequence[LearnedSubspaces],
    weights: Array,
    loss: float,
) -> FinalDensity:
    """The average over the members of all configurations, fitted to all samples."""
    own, stretch = [views[c.key] for c in configurations], np.ones(data.n_outputs)
    if data.partitions:
        stretch = stretch_of(options, configurations, own, weights, data.n_outputs)
    subspaces = [one.averaged for one in learned]
    averages = average_of(options, configurations, own, subspaces, data.remaining)
    parts = list(zip(weights.tolist(), averages, strict=True))
    return FinalDensity(weights, [c.setting for c in configurations], parts, stretch, loss)


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
    views[c.key] = reduced_view(data, options, learned.common)
    return learned
