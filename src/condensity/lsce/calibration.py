"""Widths calibrated on held-out samples: densities are stretched about their means.

An average of members is wider than each member, because they differ.  And kernels with a width in
z treat the change of y within that width as noise.  Held-out samples show by how much: their
distribution functions ``u = F(y)`` are uniform if the densities are right, with ``E (u - 1/2)^2 =
1/12``, and smaller if the densities are too wide.  Stretching moves peaks of a density that belong
at fixed values, so factors that raise the loss are excluded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from condensity._typing import Array
from condensity.distributions.mixture import Mixture
from condensity.fitting.output_slope import FLAT, OutputSlope
from condensity.fitting.scores import Score
from condensity.members.crossfit import HeldOutEvaluation

#: The candidate factors, with 1 among them.
FACTORS: tuple[float, ...] = tuple(k / 20 for k in range(12, 29))


def best_stretch(evaluations: Sequence[HeldOutEvaluation], weights: Array, least: float) -> float:
    """The factor for all outputs; it is 1, or at least ``least``.

    All outputs share it: outputs that depend on one another lie near a surface, which separate
    factors would tilt.  ``weights`` are those of the evaluated densities in the average.
    """
    crossfit = evaluations[0].crossfit
    parts = []
    for i, view in enumerate(crossfit.views):  # all locations have the same folds
        blocks = [
            block.weighted(block.log_weights + np.log(weight))
            for evaluation, weight in zip(evaluations, weights, strict=True)
            if weight > 0
            for block in evaluation.densities(i)
        ]
        Y, weight = crossfit.whole.Y[view.rows], view.held_out.weight
        parts.append(HeldOutDensities(Mixture(blocks), Y, weight, crossfit.slope))
    return _best_factor(parts, crossfit.score, least)


@dataclass(frozen=True, eq=False)
class HeldOutDensities:
    """Densities of held-out samples, the samples and their weights."""

    dist: Mixture
    Y: Array  # (m, dy)
    weight: Array  # (m,)
    slope: OutputSlope = FLAT  # of y in its free coordinate

    @cached_property
    def mean(self) -> Array:
        """The means of the densities, (m, dy)."""
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
        """The samples in coordinates in which densities stretched by ``factor`` are unstretched."""
        return self.mean + (self.Y - self.mean) / factor

    def loss(self, score: Score, factor: float) -> float:
        """``sum weight loss`` for densities stretched by ``factor``."""
        Y, dy = self.relative(factor), self.Y.shape[1]
        if score.name == "crps":
            losses = factor * self.dist.crps(Y)
        elif score.name == "log":
            losses = dy * np.log(factor) - self.dist.log_pdf(Y)
        elif self.slope.flat:
            losses = (0.5 * self.norm - self.dist.pdf(Y)) / factor**dy
        else:
            norm = self.slope.squared_norm(self.dist.stretch(np.full(dy, factor)))
            losses = 0.5 * norm - self.slope.at(self.Y) * self.dist.pdf(Y) / factor**dy
        return float(self.weight @ losses)

    def dispersion(self, factor: float) -> float:
        """``sum weight (F(y) - 1/2)^2`` of densities stretched by ``factor``, mean of outputs."""
        columns = zip(self.marginals, self.relative(factor).T, strict=True)
        squares = [(marginal.cdf(y) - 0.5) ** 2 for marginal, y in columns]
        return float(self.weight @ np.mean(squares, axis=0))


def _best_factor(parts: Sequence[HeldOutDensities], score: Score, least: float) -> float:
    """The factor whose dispersion is nearest to 1/12, of those that do not raise the loss."""
    candidates = [factor for factor in FACTORS if factor == 1.0 or factor >= least]
    total = sum(float(part.weight.sum()) for part in parts)
    unstretched = sum(part.loss(score, 1.0) for part in parts)

    def miss(factor: float) -> float:
        return abs(sum(part.dispersion(factor) for part in parts) / total - 1 / 12)

    def allowed(factor: float) -> bool:
        return factor == 1.0 or sum(part.loss(score, factor) for part in parts) <= unstretched

    # From the smallest miss on: losses may be costly, and so only few are computed.
    return next(factor for factor in sorted(candidates, key=miss) if allowed(factor))
