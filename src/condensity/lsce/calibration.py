"""How wide the densities are: stretched about their means until they are as sure as they may be.

An average of members is wider than each, by how far they lie apart; and kernels of some width in z
take the movement of y within that width for noise.  Samples new to the members tell by how much:
the distribution functions at them, ``u = F(y)``, are uniform if the densities are right, with
``E (u - 1/2)^2 = 1/12``, and have less than that if the densities are too wide.  Where a density
has its peaks at certain values, stretching moves them away: what raises the loss is not done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from condensity._typing import Array
from condensity.distributions.mixture import Mixture
from condensity.fitting.scores import Score
from condensity.lsce.crossfit import HeldOutEvaluation

#: The factors to choose from; 1 is among them.
FACTORS: tuple[float, ...] = tuple(k / 20 for k in range(12, 29))


def best_stretch(judgements: Sequence[HeldOutEvaluation], weights: Array, least: float) -> float:
    """The factor for all outputs, ``least`` or more unless it is 1.

    It is one for all: outputs that depend on one another lie near a sheet, which factors of their
    own would tilt.  ``weights`` are those of the judged densities in the average.
    """
    crossfit = judgements[0].crossfit
    parts = []
    for i, view in enumerate(crossfit.views):  # all locations deal the samples alike
        blocks = [
            block.weighted(block.log_weights + np.log(weight))
            for judgement, weight in zip(judgements, weights, strict=True)
            if weight > 0
            for block in judgement.densities(i)
        ]
        Y, weight = crossfit.whole.Y[view.rows], view.held_out.weight
        parts.append(HeldOutDensities(Mixture(blocks), Y, weight))
    return _best_factor(parts, crossfit.score, least)


@dataclass(frozen=True, eq=False)
class HeldOutDensities:
    """Densities of held-out samples, the samples and their weights."""

    dist: Mixture
    Y: Array  # (m, dy)
    weight: Array  # (m,)

    @cached_property
    def mean(self) -> Array:
        """Of the densities, (m, dy)."""
        return self.dist.mean().reshape(self.Y.shape)

    @cached_property
    def norm(self) -> Array:
        """``int p^2`` (m,)."""
        return self.dist.squared_norm()

    @cached_property
    def marginals(self) -> list[Mixture]:
        """The densities of each output."""
        return [self.dist.marginal(j) for j in range(self.Y.shape[1])]

    def relative(self, factor: float) -> Array:
        """Where the samples are to the densities as they are, once these are ``factor`` wide."""
        return self.mean + (self.Y - self.mean) / factor

    def loss(self, score: Score, factor: float) -> float:
        """``sum weight loss`` with densities ``factor`` times as wide."""
        Y, dy = self.relative(factor), self.Y.shape[1]
        if score.name == "crps":
            losses = factor * self.dist.crps(Y)
        elif score.name == "log":
            losses = dy * np.log(factor) - self.dist.log_pdf(Y)
        else:
            losses = (0.5 * self.norm - self.dist.pdf(Y)) / factor**dy
        return float(self.weight @ losses)

    def dispersion(self, factor: float) -> float:
        """``sum weight (F(y) - 1/2)^2``, the mean over outputs, densities ``factor`` as wide."""
        columns = zip(self.marginals, self.relative(factor).T, strict=True)
        spread = [(marginal.cdf(y) - 0.5) ** 2 for marginal, y in columns]
        return float(self.weight @ np.mean(spread, axis=0))


def _best_factor(parts: Sequence[HeldOutDensities], score: Score, least: float) -> float:
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
