"""The number of components that is reported.

The average weighs all configurations, so the density needs no decision.  The report asks how many
directions the samples support.

1. The reference is the best configuration without location.  A better one with another location
   takes its place only if the difference is clear: a linear location fixes directions at the slope
   of a regression, and where this slope is inaccurate, more components make up for it.
2. Fewer components are enough if they are not clearly worse than the reference.  If the reference
   has a location, so must they.
3. Of the numbers that are enough, the largest one is reported whose members agree on all of their
   directions.  If there is none, the smallest one is reported.

Losses are compared at the same held-out samples, so the error of their difference is known.
Configurations that depend on x in another way than through directions do not take part, and neither
do those without directions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from condensity._typing import Array
from condensity.lsce.configurations import Configuration, loss_difference
from condensity.lsce.consensus import consensus, member_subspaces
from condensity.members.member import MemberView

#: A configuration with another location is clearly better by this many standard errors.
CLEARLY_BETTER = 2.0
#: Fewer components are enough if the loss is higher by no more than one standard error, or by no
#: more than this share.
SHARE = 0.02
#: On a part of the folds, the limits for what is worse are wider by this factor.
WIDER_LIMITS = 2.0
#: Components beyond those of the location must lower the loss by this share.
LEAST_GAIN = 0.002
#: Members agree on a direction if this eigenvalue of their mean projector is at least this large.
AGREEMENT = 0.7


@dataclass(frozen=True, eq=False)
class Comparison:
    """All configurations compared with the reference, and the number of components to report."""

    excess: Array  # (C,) mean held-out loss minus that of the reference
    error: Array  # (C,) standard error of the excess
    agreement: Array  # (C,) on the last direction; NaN for the whole space
    candidates: Sequence[int]  # the configurations with the number of components to report
    eligible: Sequence[int]  # the configurations that may be reported
    reference: Configuration

    def undecided(self, configurations: Sequence[Configuration]) -> list[int]:
        """The configurations that may be reported if they are compared on more samples."""
        assert self.reference.crossfit is not None
        share = self.reference.crossfit.score.worth(self.reference.loss, SHARE)
        limits = WIDER_LIMITS * np.maximum(self.error, share)
        return [
            i
            for i in self.eligible
            if self.excess[i] <= limits[i] and _comparable(configurations[i], self.reference)
        ]

    def best(self, configurations: Sequence[Configuration], weights: Array) -> Configuration:
        """The best candidate, in the average if possible.

        One whose location is a function of z takes the place of the others only if it is clearly
        better: its directions are less accurate where the mean is a plane or constant.
        """
        rank = {i: (weights[i] == 0, configurations[i].loss) for i in self.candidates}
        best = configurations[min(rank, key=rank.__getitem__)]
        others = [i for i in self.candidates if configurations[i].start is None]
        if best.start is None or not others:
            return best
        other = configurations[min(others, key=rank.__getitem__)]
        mean, error = loss_difference(other, best)
        return best if mean > CLEARLY_BETTER * error else other


def compare(
    configurations: Sequence[Configuration], views: dict[str, MemberView]
) -> Comparison | None:
    """Compare configurations; None without held-out losses.  ``views`` are those of all samples."""
    if any(c.crossfit is None for c in configurations):
        return None
    through_directions = [
        c
        for c in configurations
        if c.n_components and not views[c.key].location.anywhere
        if needs_components(c, configurations, views)
    ]
    eligible = through_directions or [c for c in configurations if c.n_components]
    reference = find_reference(eligible)
    pairs = [loss_difference(c, reference) for c in configurations]
    excess, error = (np.array(column) for column in zip(*pairs, strict=True))
    agreement = np.array([member_agreement(c, views[c.key]) for c in configurations])
    rows = [i for i, c in enumerate(configurations) if any(c is other for other in eligible)]
    columns = excess[rows], error[rows], agreement[rows]
    size = supported_components([configurations[i] for i in rows], reference, *columns)
    candidates = [i for i in rows if configurations[i].n_components == size]
    return Comparison(excess, error, agreement, candidates, rows, reference)


def find_reference(configurations: Sequence[Configuration]) -> Configuration:
    """The best configuration without location, or one that is clearly better."""
    top = min(configurations, key=lambda c: c.loss)
    plain = min(
        (c for c in configurations if c.location == "none"), key=lambda c: c.loss, default=top
    )
    mean, error = loss_difference(plain, top)
    return top if mean > CLEARLY_BETTER * error else plain


def member_agreement(c: Configuration, view: MemberView) -> float:
    """The smallest eigenvalue, of those of its directions, of the members' mean projector.

    Members cannot disagree on the whole space or without directions, so this is NaN there.
    """
    assert c.crossfit is not None
    if not 0 < c.n_components < c.crossfit.active.sum():
        return np.nan
    return float(consensus(member_subspaces(c, view))[1][c.n_components - 1])


def _comparable(c: Configuration, reference: Configuration) -> bool:
    """Whether both have a location, or both have none."""
    return (c.location == "none") == (reference.location == "none")


def needs_components(
    c: Configuration, configurations: Sequence[Configuration], views: dict[str, MemberView]
) -> bool:
    """Whether the components beyond the directions of a linear location lower the loss.

    If they do not, the kernels are so wide that these components do not matter.
    """
    n_lead = len(views[c.key].location.directions)
    alone = next((o for o in configurations if o.key == c.key and o.n_components == 0), None)
    if alone is None or alone.crossfit is None or not 0 < n_lead < c.n_components:
        return True
    return c.loss < alone.loss - alone.crossfit.score.worth(alone.loss, LEAST_GAIN)


def supported_components(
    configurations: Sequence[Configuration],
    reference: Configuration,
    excess: Array,
    error: Array,
    agreement: Array,
) -> int:
    """The number of components to report, by the rule at the top of this module."""
    assert reference.crossfit is not None
    tolerance = np.maximum(error, reference.crossfit.score.worth(reference.loss, SHARE))
    enough = [
        (c.n_components, bool(agrees))
        for c, passes, agrees in zip(
            configurations, excess <= tolerance, agreement >= AGREEMENT, strict=True
        )
        if passes and _comparable(c, reference) and c.n_components <= reference.n_components
    ]
    reproducible = [size for size, agrees in enough if agrees]
    return max(reproducible) if reproducible else min(size for size, _ in enough)
