"""What is to be learned from, and how it is to be judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from condensity._typing import Array, Indices, Mask
from condensity.data.chunks import RemainingSamples
from condensity.data.sample import Sample
from condensity.fitting.scores import Score
from condensity.lsce.crossfit import Crossfit
from condensity.lsce.full_data import refit_location
from condensity.lsce.location import Locator
from condensity.lsce.member import MemberView
from condensity.lsce.settings import SearchSpace

#: Centres that members have while all is chosen, at most; what is shipped has all there are.
CHOOSING_CENTERS = 200


@dataclass(frozen=True, eq=False)
class Task:
    """Samples, folds, and what may be chosen."""

    whole: Sample  # y standardised
    active: Mask  # (dx,) inputs that vary
    centers: Indices
    deals: Sequence[Array]  # (folds, n) each; empty when nothing is held out
    labels: Indices | None  # (n,) of rows that belong together, if any do
    locators: dict[str, Locator]
    score: Score
    least_widths: Array  # (dy,) no kernel is narrower
    search: SearchSpace
    n_members: int
    dimension: int | None  # None: as many as help
    others: RemainingSamples | None  # samples that nothing is chosen with, if there are more

    def view(self, location: str) -> MemberView:
        """All samples, in coordinates learned from them."""
        return self._view(np.zeros(len(self.whole)), location)

    def relocated(self, view: MemberView) -> MemberView:
        """A view of all samples here, its plane fitted to the others too."""
        assert self.others is not None
        return refit_location(view, self.whole.Y, self.others)

    def crossfit(self, location: str) -> Crossfit:
        """The views of all members, with the centres that all is chosen with."""
        views = [view.thinned(CHOOSING_CENTERS) for view in self._views(location)]
        return Crossfit(location, self.whole, self.active, views, len(self.deals), self.score)

    def with_all_centers(self, crossfit: Crossfit) -> Crossfit:
        """The views of all members with all the centres there are."""
        if all(len(view.basis) < CHOOSING_CENTERS for view in crossfit.views):
            return crossfit
        views = self._views(crossfit.location)
        more = any(len(view.basis) > CHOOSING_CENTERS for view in views)
        return replace(crossfit, views=views) if more else crossfit

    def search_in(self, view: MemberView) -> SearchSpace:
        """The search with its floor: a kernel on output j is ``sigma_y |L_j|`` wide."""
        least = float(np.max(self.least_widths / np.linalg.norm(view.factor, axis=1)))
        return replace(self.search, least_sigma_y=least)

    def _views(self, location: str) -> list[MemberView]:
        return [self._view(mass, location) for deal in self.deals for mass in deal]

    def _view(self, held_mass: Array, location: str) -> MemberView:
        return MemberView.of(
            self.whole,
            held_mass,
            self.centers,
            self.locators[location],
            labels=self.labels,
            least_widths=self.least_widths,
        )
