"""The setting once more, now by the loss of what is shipped: an average.

An average is smoother than its members, so the setting that is best for it is narrower than the
one that is best for each.  In the view of one member a held-out sample is described by its own
subspace, and as well by those of the members of other deals that have not seen the sample either:
their average is to them what the shipped density is to its members.  R of them tell the loss of an
average of M, for a quadratic score: with s the mean of ``w^T A w`` and N the same of the mean w,

    N = s / R + (1 - 1/R) c,    N_M = s / M + (1 - 1/M) c.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from condensity.core.kernels import Array, Indices
from condensity.core.view import Outputs, View
from condensity.reduction.average import in_units_of
from condensity.reduction.configurations import Chooser, Configuration, Search, containing
from condensity.reduction.crossfit import Crossfit


@dataclass(frozen=True, eq=False)
class Opinion:
    """A subspace learned without some of the samples that a view holds out."""

    places: Indices  # of these samples
    W: Array  # in the coordinates of the view


def polish(configuration: Configuration, search: Search, n_members: int) -> Configuration:
    """The configuration with the setting near its own that is best for an average."""
    crossfit = configuration.crossfit
    if crossfit is None or crossfit.n_deals < 2 or not search.open:
        return configuration
    if configuration.n_components >= crossfit.active.sum():
        return configuration  # there is only one subspace, and nothing to average
    averages = Averages.of(crossfit, configuration.Ws, n_members)
    chooser = Chooser(averages, crossfit.whole.weight, search)
    setting = chooser.choose(configuration.setting, coarse=False, strides=(1,))
    return replace(configuration, setting=setting)


@dataclass(frozen=True, eq=False)
class Averages:
    """Averages of members, judged on samples that are new to all of them."""

    crossfit: Crossfit
    opinions: Sequence[Sequence[Opinion]]  # for every view
    n_components: int
    n_members: int

    @classmethod
    def of(cls, crossfit: Crossfit, Ws: Sequence[Array], n_members: int) -> Averages:
        """Collect for every view the subspaces that know as little as its own."""
        per_deal = len(crossfit.views) // crossfit.n_deals
        opinions = [
            [
                _opinion(view, other, Ws[b])
                for b, other in enumerate(crossfit.views)
                if b == a or b // per_deal != a // per_deal
            ]
            for a, view in enumerate(crossfit.views)
        ]
        return cls(crossfit, opinions, len(Ws[0]), n_members)

    def losses(self, sigma_z: float, sigma_y: float, penalties: tuple[float, ...]) -> Array:
        """Loss of averages at every sample: (penalties, n)."""
        found = []
        for view, opinions in zip(self.crossfit.views, self.opinions, strict=True):
            outputs = Outputs.build(view, sigma_y)
            found.append(self._losses_of(view, outputs, opinions, sigma_z, penalties))
        return self.crossfit.by_sample(found)

    def _losses_of(
        self,
        view: View,
        outputs: Outputs,
        opinions: Sequence[Opinion],
        sigma_z: float,
        penalties: tuple[float, ...],
    ) -> Array:
        score, components = self.crossfit.score, outputs.components
        table = score.pair(components, components)
        mean = np.zeros((len(penalties), len(view.rows), len(table)))
        alone, R = np.zeros(mean.shape[:2]), np.zeros(len(view.rows))
        for opinion in opinions:
            fit = outputs.fit(opinion.W, sigma_z, penalties)
            weights = fit.weights(view.held_out.X[opinion.places])
            mean[:, opinion.places] += weights
            alone[:, opinion.places] += np.einsum("pmk,pmk->pm", weights @ table, weights)
            R[opinion.places] += 1
        mean /= R[:, None]
        alone /= R
        match = np.einsum("pmk,mk->pm", mean, score.match(view.held_out.Y, components))
        unit = score.unit(view.factor)
        if score.sign == 0:
            return np.asarray(-np.log(np.maximum(unit * match, 1e-300)))
        together = np.einsum("pmk,pmk->pm", mean @ table, mean)
        cross = (together - alone / R) * (R / (R - 1))
        norm = alone / self.n_members + (1 - 1 / self.n_members) * cross
        return np.asarray(unit * score.sign * (0.5 * norm - match))


def _opinion(view: View, other: View, W: Array) -> Opinion:
    places = np.flatnonzero(np.isin(view.rows, other.rows))
    if other is not view:
        W = containing(view.location.directions, in_units_of(view.scaling, other, W))
    return Opinion(places, W)
