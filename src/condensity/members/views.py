"""Views of the training data: the samples of every member in its coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from condensity._typing import Array
from condensity.data.prepare import TrainingData
from condensity.fitting.output_slope import OutputSlope
from condensity.locations.location import Locator, ReducedLocator
from condensity.members.crossfit import Crossfit
from condensity.members.member import MemberView
from condensity.members.settings import EnsembleOptions

#: Largest number of centres of a member during model selection; the final model uses all centres.
SELECTION_CENTERS = 200


def view_of(
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


def reduced_view(data: TrainingData, options: EnsembleOptions, W: Array) -> MemberView:
    """The view of all samples with a location that is a function of ``W x``."""
    return view_of(data, options, ReducedLocator(W), np.zeros(len(data.sample)))


def cross_fit(
    data: TrainingData,
    options: EnsembleOptions,
    location: str,
    held: Sequence[Array],
    locators: Sequence[Locator] | None = None,
    known: Crossfit | None = None,
) -> Crossfit:
    """The views of members without the weights ``held``, with the centres of model selection.

    ``locators`` has one for each member; None takes that of the ``location`` for all of them.  The
    views of the first members are those of ``known``.
    """
    locators = [options.locators[location]] * len(held) if locators is None else locators
    full = [] if known is None else list(known.full_views)
    pairs = list(zip(locators, held, strict=True))[len(full) :]
    full += [view_of(data, options, *pair) for pair in pairs]
    views = [view.thinned(SELECTION_CENTERS) for view in full]
    active = views[0].active(data.active)
    slope = OutputSlope.of(data.bounds, data.y_scaling, options.score)
    return Crossfit(location, data.y_standardised, active, views, options.score, full, slope)


def with_all_centers(crossfit: Crossfit) -> Crossfit:
    """The views of all members with all centres; the same object if it has them already."""
    more = any(len(view.basis) > SELECTION_CENTERS for view in crossfit.full_views)
    return replace(crossfit, views=crossfit.full_views) if more else crossfit
