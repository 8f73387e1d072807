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

from condensity.core.kernels import Array
from condensity.core.mixture import ConditionalMixture
from condensity.core.scores import Score
from condensity.reduction.crossfit import Judgement

#: The factors to choose from; 1 is among them.
FACTORS: tuple[float, ...] = tuple(k / 20 for k in range(12, 29))


def best_stretch(judgements: Sequence[Judgement], weights: Array, least: float) -> Array:
    """The factor for each output (dy,), ``least`` or more unless it is 1.

    ``weights`` are those of the judged densities in the average.
    """
    crossfit = judgements[0].crossfit
    parts = []
    for i, view in enumerate(crossfit.views):  # all locations deal the samples alike
        blocks = [
            replace(block, log_weights=block.log_weights + np.log(weight))
            for judgement, weight in zip(judgements, weights, strict=True)
            if weight > 0
            for block in judgement.densities(i)
        ]
        parts.append(
            (ConditionalMixture(blocks), view.held_out.weight, crossfit.whole.Y[view.rows])
        )
    outputs = range(crossfit.whole.Y.shape[1])
    by_output = [
        [HeldOut.of(dist.marginal(j), Y[:, j], weight) for dist, weight, Y in parts]
        for j in outputs
    ]
    return np.array([_best_factor(own, crossfit.score, least) for own in by_output])


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Densities of one output of held-out samples, their means, the samples and their weights."""

    dist: ConditionalMixture
    mean: Array  # (m,)
    y: Array  # (m,)
    weight: Array  # (m,)

    @classmethod
    def of(cls, dist: ConditionalMixture, y: Array, weight: Array) -> HeldOut:
        """With the means of the densities."""
        return cls(dist, dist.mean(), y, weight)

    @cached_property
    def norm(self) -> Array:
        """``int p^2`` (m,)."""
        return self.dist.squared_norm()

    def relative(self, factor: float) -> Array:
        """Where the samples are to the densities as they are, once these are ``factor`` wide."""
        return self.mean + (self.y - self.mean) / factor

    def loss(self, score: Score, factor: float) -> float:
        """``sum weight loss`` with densities ``factor`` times as wide."""
        y = self.relative(factor)
        if score.name == "crps":
            losses = factor * self.dist.crps(y)
        elif score.name == "log":
            losses = np.log(factor) - self.dist.log_pdf(y)
        else:
            losses = (0.5 * self.norm - self.dist.pdf(y)) / factor
        return float(self.weight @ losses)

    def dispersion(self, factor: float) -> float:
        """``sum weight (F(y) - 1/2)^2`` with densities ``factor`` times as wide."""
        return float(self.weight @ (self.dist.cdf(self.relative(factor)) - 0.5) ** 2)


def _best_factor(parts: Sequence[HeldOut], score: Score, least: float) -> float:
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
