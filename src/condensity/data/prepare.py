"""Samples as the algorithms want them: put in order, dealt to folds, with centres drawn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from math import ceil
from typing import Any

import numpy as np

from condensity._typing import Array, Indices
from condensity._utils.validation import check_enough, check_usable, check_varies
from condensity.data.chunks import RemainingSamples, SampleChunks, StandardisedChunks
from condensity.data.folds import (
    FoldedSample,
    draw_centers,
    draw_folds,
    fold_weights,
    is_contingency_table,
)
from condensity.data.intake import Taken
from condensity.data.sample import Sample, Scaling, canonical
from condensity.distributions.bounded import Bounds


@dataclass(frozen=True, eq=False)
class Prepared:
    """Training data past the gate: dealt to folds, with centres drawn."""

    measure: Sample  # distinct rows, in the units they came in
    centers: Indices  # some of these
    deals: list[Array]  # for each deal the weight of the rows within its folds, (folds, n)
    given: bool  # whether the folds are the caller's, who may keep samples together by them
    x_scaling: Scaling
    y_scaling: Scaling
    y_axes: int
    rest: SampleChunks | None  # samples that nothing is chosen with, in the units they came in
    share: float  # of the weight of all samples, the measure has
    header: Any  # tells names and number of the inputs
    bounds: Bounds | None  # of y, which is then in its free coordinate

    @cached_property
    def plan(self) -> FoldedSample:
        """The standardised sample, cut by the first deal."""
        return FoldedSample.cut(self.standardised, self.deals[0], self.centers)

    @property
    def standardised(self) -> Sample:
        """The distinct rows with mean zero and standard deviation one."""
        X, Y = self.x_scaling.apply(self.measure.X), self.y_scaling.apply(self.measure.Y)
        return Sample(X, Y, self.measure.weight)

    @property
    def others(self) -> RemainingSamples | None:
        """What waits to be fitted to, outputs standardised."""
        if self.rest is None:
            return None
        return RemainingSamples(StandardisedChunks(self.rest, self.y_scaling), self.share)


def prepare(
    taken: Taken,
    name: str,
    n_centers: int,
    center_rng: np.random.Generator,
    deal_rng: np.random.Generator,
    *,
    n_members: int,
    fix: str,
) -> Prepared:
    """Draw centres and folds: as often as ``n_members`` need them.

    ``name`` is that of the estimator; ``fix`` tells what needs no folds once it is fixed.
    """
    measure, origin, group = canonical(taken.X, taken.Y, taken.weight)
    folds = taken.folds
    n_folds = folds if isinstance(folds, int) else None
    check_enough(name, len(origin), len(measure), n_folds=n_folds, fix=fix)
    x_scaling = Scaling.of(measure.X, measure.weight)
    y_scaling = Scaling.of(measure.Y, measure.weight)
    subsample = None if taken.others is None else len(measure)
    check_varies(x_scaling.sd, y_scaling.sd, taken.names, subsample=subsample)
    centers = draw_centers(measure.weight, min(n_centers, len(measure)), center_rng)
    deals = _deals(taken, measure, origin, group, centers, n_members, deal_rng)
    given = not (folds is None or isinstance(folds, int))
    return Prepared(
        measure,
        centers,
        deals,
        given,
        x_scaling,
        y_scaling,
        taken.y_axes,
        taken.others,
        taken.share,
        taken.header,
        taken.bounds,
    )


def _deals(
    taken: Taken,
    measure: Sample,
    origin: Indices,
    group: Indices,
    centers: Indices,
    n_members: int,
    rng: np.random.Generator,
) -> list[Array]:
    """For each deal the share of the distinct rows within its folds, (folds, n)."""
    folds, weight = taken.folds, taken.weight[origin]
    if folds is None:  # nothing is held out
        return [measure.weight[None] / measure.weight.sum()]
    if isinstance(folds, int):
        table = is_contingency_table(measure)
        dealt = partial(draw_folds, weight, group, folds, centers=centers, rng=rng, table=table)
        first = dealt()
        deals = [first, *(dealt() for _ in range(ceil(n_members / len(first)) - 1))]
    else:
        mass = fold_weights(weight, group, folds[origin])
        if len(mass) < 2:
            raise ValueError(
                f"the {len(measure)} samples that were drawn are all of one fold of cv: "
                "raise subsample"
            )
        deals = [mass] * ceil(n_members / len(mass))
    for mass in deals:
        check_usable(mass.sum(axis=0)[centers] > mass[:, centers])
    return [mass / mass.sum() for mass in deals]
