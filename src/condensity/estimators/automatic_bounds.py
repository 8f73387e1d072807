"""Whether a positive output is described better with the lower bound 0, by a cheap fit.

An output whose values are all positive and skewed may vary by factors, as prices do: then the
density of log y is simpler.  A few densities that need no search for directions are fitted to y and
to log y with the same folds.  The loss of their average at held-out samples decides, in the units
of y.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np

from condensity.data.bounded_targets import check_bounds, coarse_near_zero, skewness
from condensity.data.prepare import TrainingData
from condensity.data.resolution import RecordedValues
from condensity.data.sample import Scaling
from condensity.fitting.scores import SCORES
from condensity.lsce.configurations import configure
from condensity.lsce.shortlist import all_masses
from condensity.lsce.stacking import weigh
from condensity.members.settings import EnsembleOptions
from condensity.members.views import cross_fit

#: The bounds that are tried.
POSITIVE = (0.0, None)
#: An output with a smaller skewness is described as it is.
LEAST_SKEWNESS = 0.5
#: The relative improvement of the loss that is required to prefer the bound.
WORTH = 0.05
#: Locations of the cheap fit, as far as they are options.
CHEAP_LOCATIONS = ("none", "linear")


def prepare_with_best_bounds(
    prepare: Callable[..., TrainingData],
    rng: np.random.Generator,
    y: Any,
    options: EnsembleOptions,
) -> TrainingData:
    """The training data without bounds, or with the lower bound 0 if this lowers the loss.

    ``prepare`` takes a generator and ``bounds``.  The result is the same as if the bounds had been
    given: the outliers of log y are others than those of y, for instance.
    """
    unused = deepcopy(rng)
    data = prepare(rng, bounds=None)
    if not (may_be_logarithmic(data) and np.min(np.asarray(y, dtype=float)) > 0):
        return data
    with_bound, without = (cheap_loss(d, options) for d in (with_lower_bound(data), data))
    better = with_bound < without - options.score.worth(without, WORTH)
    return prepare(unused, bounds=POSITIVE) if better else data


def may_be_logarithmic(data: TrainingData) -> bool:
    """Whether the bound is tried: there are folds, and one output, which is positive and skewed.

    Counts and other values that are coarse near zero are described as they are.
    """
    Y = data.sample.Y
    return bool(
        data.partitions
        and data.n_outputs == 1
        and Y.min() > 0
        and skewness(Y[:, 0], data.sample.weight) > LEAST_SKEWNESS
        and not coarse_near_zero(Y[:, 0])
    )


def with_lower_bound(data: TrainingData) -> TrainingData:
    """The samples for model selection and their folds, with log y as the output."""
    bounds = check_bounds(POSITIVE, 1)
    sample = replace(data.sample, Y=bounds.free(data.sample.Y))
    y_scaling = Scaling.of(sample.Y, sample.weight)
    return replace(data, sample=sample, y_scaling=y_scaling, bounds=bounds, remaining=None)


def cheap_loss(data: TrainingData, options: EnsembleOptions) -> float:
    """The held-out loss to expect from densities that need no search, in the units of y.

    It is the squared loss if the CRPS is asked for, which is not known in the units of y.
    """
    score = SCORES["squared"] if options.score.name == "crps" else options.score
    recorded = RecordedValues.of(data.sample.Y[:, 0], data.sample.weight)
    least = np.array([recorded.least_bandwidth]) / data.y_scaling.sd
    options = replace(options, score=score, least_widths=least)
    names = [name for name in options.locators if name in CHEAP_LOCATIONS] or options.locators
    configurations = []
    for name in names:
        crossfit = cross_fit(data, options, name, all_masses(data))
        search = options.search_space(crossfit.views[0])
        for dz in (0, int(crossfit.active.sum())):  # there is a single subspace of this size
            rng = np.random.default_rng(0)
            configurations.append(configure(crossfit, dz, search, rng, map))
    loss = weigh(options, configurations)[1]
    return float(score.in_units(np.array(loss), np.diag(data.y_scaling.sd)))
