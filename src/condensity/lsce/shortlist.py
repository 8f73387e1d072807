"""A short list of configurations, made with a part of the folds.

There are many configurations, and most of them end without weight.  If there are many samples, the
losses on a part of the folds show which ones are clearly worse.  So only the members of these folds
learn all configurations.  The other members learn those on the short list: the ones that stacking
gives weight, and the ones that decide the number of components that is reported.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from condensity._typing import Array
from condensity.data.prepare import TrainingData
from condensity.lsce.configurations import Configuration
from condensity.lsce.dimension import compare
from condensity.lsce.stacking import weigh
from condensity.members.member import MemberView
from condensity.members.settings import EnsembleOptions

#: With fewer samples, all members learn all configurations.
LEAST_SAMPLES = 300
#: Share of the weight that the first folds hold out.
SHARE = 0.35


def all_masses(data: TrainingData) -> list[Array]:
    """The weights within each fold of each partition, (n,) each."""
    return [mass for folds in data.partitions for mass in folds]


def held_out_masses(data: TrainingData, options: EnsembleOptions) -> tuple[list[Array], int]:
    """The weights that each member leaves out, and the number of members that rank.

    These come first.  Their folds are evenly spaced, because the folds of a caller may be in the
    order of time.
    """
    held = all_masses(data)
    if (
        len(data.sample) < LEAST_SAMPLES
        or options.n_components is not None
        or options.n_members == 1
        or data.by_cells
    ):
        return held, len(held)
    n_folds = len(data.folds)
    for count in range(1, n_folds):
        first = np.linspace(0, n_folds - 1, count, dtype=int).tolist()
        if sum(float(held[i].sum()) for i in first) >= SHARE:
            others = [i for i in range(len(held)) if i not in first]
            return [held[i] for i in (*first, *others)], count
    return held, len(held)


def shortlist(
    options: EnsembleOptions,
    views: dict[str, MemberView],
    configurations: Sequence[Configuration],
) -> list[Configuration]:
    """The configurations that are worth learning with all members.

    Those without components belong to it if any other with their location does: they cost little,
    and they show what components are worth.
    """
    weights, _ = weigh(options, configurations)
    chosen = set(np.flatnonzero(weights).tolist())
    comparison = compare(configurations, views)
    assert comparison is not None
    chosen.update(comparison.undecided(configurations))
    keys = {configurations[i].key for i in chosen}
    return [
        c
        for i, c in enumerate(configurations)
        if i in chosen or (c.n_components == 0 and c.key in keys)
    ]
