"""How wide the densities are: stretched about their means until they are as sure as they may be.

An average of members is wider than each, by how far they lie apart; and kernels of some width in z
take the movement of y within that width for noise.  Samples new to the members tell by how much:
the distribution functions at them, ``u = F(y)``, are uniform if the densities are right, with
``E (u - 1/2)^2 = 1/12``, and have less than that if the densities are too wide.  Where a density
has its peaks at certain values, stretching moves them away: what raises the loss is not done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from condensity.core.blocks import Block
from condensity.core.kernels import Array
from condensity.core.mixture import ConditionalMixture
from condensity.core.scores import Score
from condensity.reduction.configurations import Configuration
from condensity.reduction.crossfit import Crossfit, Judged
from condensity.reduction.stacking import densities

#: The factors to choose from; 1 is among them.
FACTORS: tuple[float, ...] = tuple(k / 20 for k in range(12, 29))


def best_stretch(
    configurations: Sequence[Configuration],
    judged: Sequence[Sequence[Judged]],
    weights: Array,
    least: float,
) -> float:
    """The factor, ``least`` or more unless it is 1, for averages with the given weights.

    ``judged`` tells for each configuration how the samples look that its members have not seen.
    """
    parts, score = _averages(configurations, judged, weights), _crossfit(configurations).score
    bearable = sum(part.loss(score, 1.0) for part in parts)
    allowed = [
        factor
        for factor in FACTORS
        if factor == 1.0
        or (factor >= least and sum(part.loss(score, factor) for part in parts) <= bearable)
    ]
    total = sum(float(part.weight.sum()) for part in parts)
    misses = [abs(sum(part.dispersion(f) for part in parts) / total - 1 / 12) for f in allowed]
    return allowed[int(np.argmin(misses))]


@dataclass(frozen=True, eq=False)
class _HeldOut:
    """Densities of held-out samples, their means, the samples and their weights."""

    dist: ConditionalMixture
    mean: Array  # (m, dy)
    Y: Array  # (m, dy)
    weight: Array  # (m,)

    @cached_property
    def norm(self) -> Array:
        """``int p^2`` (m,)."""
        return self.dist.squared_norm()

    def relative(self, factor: float) -> Array:
        """Where the samples are to the densities as they are, once these are ``factor`` wide."""
        return self.mean + (self.Y - self.mean) / factor

    def loss(self, score: Score, factor: float) -> float:
        """``sum weight loss`` with densities ``factor`` times as wide."""
        Y, volume = self.relative(factor), factor ** self.Y.shape[1]
        if score.name == "crps":
            losses = factor * self.dist.crps(Y)
        elif score.name == "log":
            losses = np.log(volume) - self.dist.log_pdf(Y)
        else:
            losses = (0.5 * self.norm - self.dist.pdf(Y)) / volume
        return float(self.weight @ losses)

    def dispersion(self, factor: float) -> float:
        """``sum weight (F(y) - 1/2)^2`` with densities ``factor`` times as wide, by output."""
        Y = self.relative(factor)
        us = [self.dist.marginal(j).cdf(column) for j, column in enumerate(Y.T)]
        return float(np.mean([self.weight @ (u - 0.5) ** 2 for u in us]))


def _averages(
    configurations: Sequence[Configuration], judged: Sequence[Sequence[Judged]], weights: Array
) -> list[_HeldOut]:
    """The stacked densities of the samples that each member holds out."""
    crossfit, parts = _crossfit(configurations), []
    for member, view in enumerate(crossfit.views):  # all locations deal the samples alike
        blocks = [
            _lighter(block, weight)
            for c, own, weight in zip(configurations, judged, weights, strict=True)
            if weight > 0
            for block in densities(c, member, own[member])
        ]
        dist = ConditionalMixture(blocks)
        mean, Y = dist.mean().reshape(len(dist), -1), crossfit.whole.Y[view.rows]
        parts.append(_HeldOut(dist, mean, Y, view.held_out.weight))
    return parts


def _lighter(block: Block, weight: float) -> Block:
    return replace(block, log_weights=block.log_weights + np.log(weight))


def _crossfit(configurations: Sequence[Configuration]) -> Crossfit:
    crossfit = configurations[0].crossfit
    assert crossfit is not None  # only what was judged can be stretched
    return crossfit
