"""The setting once more, now by the loss of what is shipped: an average.

An average is smoother than its members, so the setting that is best for it is narrower than the
one that is best for each.  In the view of one member a held-out sample is described by its own
subspace, and as well by those of the members of other deals that have not seen the sample either:
their average is to them what the shipped density is to its members.  R of them tell the loss of an
average of M, for a quadratic score: with s the mean of ``w^T A w`` and N the same of the mean w,

    N = s / R + (1 - 1/R) c,    N_M = s / M + (1 - 1/M) c.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from condensity.core.kernels import Array, Indices
from condensity.core.scores import Components
from condensity.core.view import Outputs, View
from condensity.reduction.configurations import Configuration, containing
from condensity.reduction.consensus import in_units_of
from condensity.reduction.crossfit import Crossfit, Judged, Judgement, Setting
from condensity.reduction.settings import Chooser, Search


@dataclass(frozen=True, eq=False)
class Opinion:
    """A subspace learned without some of the samples that a view holds out."""

    places: Indices  # of these samples
    W: Array  # in the coordinates of the view


def polish(configuration: Configuration, averages: Averages, search: Search) -> Configuration:
    """The configuration with the setting near its own that is best for an average."""
    chooser = Chooser(averages, averages.crossfit.whole.weight, search)
    setting = chooser.choose(configuration.setting, coarse=False, strides=(1,))
    return replace(configuration, polished=setting)


@dataclass(frozen=True, eq=False)
class Averages:
    """Averages of members, judged on samples that are new to all of them."""

    crossfit: Crossfit
    opinions: Sequence[Sequence[Opinion]]  # for every view
    n_components: int
    n_members: int

    @classmethod
    def of(cls, crossfit: Crossfit, members: Configuration, n_members: int) -> Averages:
        """Collect for every view of ``crossfit`` the subspaces that know as little as its own.

        Its views are those of the ``members``, or of their first deals, with as many centres as
        may be.
        """
        assert members.crossfit is not None
        reduced = members.n_components < crossfit.active.sum()  # else there is but one subspace
        per_deal = len(crossfit.views) // crossfit.n_deals
        opinions = []
        for a, view in enumerate(crossfit.views):
            own = Opinion(np.arange(len(view.rows)), members.Ws[a])
            others = [
                _opinion(view, other, W)
                for b, (other, W) in enumerate(zip(members.crossfit.views, members.Ws, strict=True))
                if reduced and b // per_deal != a // per_deal
            ]
            opinions.append([own, *others])
        return cls(crossfit, opinions, members.n_components, n_members)

    def losses(self, sigma_z: float, sigma_y: float, penalties: tuple[float, ...]) -> Array:
        """Loss of averages at every sample: (penalties, n)."""
        score, found = self.crossfit.score, []
        for mean, alone, R, view, components in self._means(sigma_z, sigma_y, penalties):
            match = np.einsum("pmk,mk->pm", mean, score.match(view.held_out.Y, components))
            unit = score.unit(view.factor)
            if score.sign == 0:
                found.append(-np.log(np.maximum(unit * match, 1e-300)))
                continue
            table = score.pair(components, components)
            together = np.einsum("pmk,pmk->pm", mean @ table, mean)
            cross = np.where(R > 1, (R * together - alone) / np.maximum(R - 1, 1), together)
            norm = alone / self.n_members + (1 - 1 / self.n_members) * cross
            found.append(unit * score.sign * (0.5 * norm - match))
        return self.crossfit.by_sample(found)

    def judge(self, s: Setting) -> Judgement:
        """What averages make of the samples that are new to them."""
        score = self.crossfit.score
        means = self._means(s.sigma_z, s.sigma_y, (s.penalty,))
        parts = [Judged.of(score, view, mean, components) for mean, _, _, view, components in means]
        return Judgement(self.crossfit, parts)

    def _means(
        self, sigma_z: float, sigma_y: float, penalties: tuple[float, ...]
    ) -> Iterator[tuple[Array, Array, Array, View, Components]]:
        """For every view the mean weights, the mean norm of single members, and their number."""
        for view, opinions in zip(self.crossfit.views, self.opinions, strict=True):
            outputs = Outputs.build(view, sigma_y)
            table = self.crossfit.score.pair(outputs.components, outputs.components)
            mean = np.zeros((len(penalties), len(view.rows), len(table)))
            alone, R = np.zeros(mean.shape[:2]), np.zeros(len(view.rows))
            for opinion in opinions:
                fit = outputs.fit(opinion.W, sigma_z, penalties)
                weights = fit.weights(view.held_out.X[opinion.places])
                mean[:, opinion.places] += weights
                alone[:, opinion.places] += np.einsum("pmk,pmk->pm", weights @ table, weights)
                R[opinion.places] += 1
            yield mean / R[:, None], alone / R, R, view, outputs.components


def _opinion(view: View, other: View, W: Array) -> Opinion:
    places = np.flatnonzero(np.isin(view.rows, other.rows))
    W = containing(view.location.directions, in_units_of(view.scaling, other, W))
    return Opinion(places, W)
