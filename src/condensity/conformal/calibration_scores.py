"""Scores of calibration samples: their weighted ranks, and thresholds for a new sample.

A new sample (x, y) with score s and weight w has the p-value ::

    (sum of w_i over s_i >= s, plus w) / (sum of all w_i, plus w)

over the calibration samples of its group.  If the samples and the new one are exchangeable, it is
at most alpha with probability at most alpha, whatever the model.  The region of level ``1 - alpha``
is the set of all y whose p-value is above alpha.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from condensity._typing import Array, Mask

#: Rounding errors of sums of weights, relative to the total weight.
ROUNDING = 1e-12
#: Share of equal scores above which a warning says that regions are larger than needed.
MANY_TIES = 0.05


@dataclass(frozen=True, eq=False)
class CalibrationScores:
    """Scores of the samples that one model has not seen."""

    scores: Array  # (c,) in increasing order
    weights: Array  # (c,)
    groups: Any  # (c,) labels

    @classmethod
    def of(cls, scores: Array, weights: Array, groups: Any) -> CalibrationScores:
        """Scores in any order."""
        order = np.argsort(scores, kind="stable")
        return cls(scores[order], weights[order], groups[order])

    def totals(self, groups: Any) -> Array:
        """Total weight of the samples in each of ``groups`` (m,): (m,)."""
        out = np.zeros(len(groups))
        for rows, own in self._by_group(groups):
            out[rows] = self.weights[own].sum()
        return out

    def counts(self, groups: Any) -> Array:
        """Number of samples in each of ``groups`` (m,): (m,)."""
        out = np.zeros(len(groups))
        for rows, own in self._by_group(groups):
            out[rows] = own.sum()
        return out

    def mass_above(self, scores: Array, groups: Any) -> Array:
        """Weight of the samples with at least the score of a new sample, in its group: (m,)."""
        out = np.zeros(len(groups))
        for rows, own in self._by_group(groups):
            mass = np.append(_reversed_sums(self.weights[own]), 0.0)
            out[rows] = mass[np.searchsorted(self.scores[own], scores[rows], side="left")]
        return out

    def thresholds(self, needed: Array, groups: Any) -> Array:
        """Largest scores whose mass above is more than ``needed`` (m,); infinity for none: (m,).

        If no mass is needed, any score is allowed.
        """
        out = np.full(len(groups), np.inf)
        for rows, own in self._by_group(groups):
            scores, mass = self.scores[own], _reversed_sums(self.weights[own])
            if not len(scores):
                continue
            mass = mass[np.searchsorted(scores, scores, side="left")]  # equal for equal scores
            limit = needed[rows] + ROUNDING * mass[0]
            last = np.searchsorted(-mass, -limit, side="left") - 1
            found = scores[np.maximum(last, 0)]
            out[rows] = np.where(needed[rows] < -ROUNDING * mass[0], np.inf, found)
        return out

    def _by_group(self, groups: Any) -> list[tuple[Mask, Mask]]:
        """New samples and calibration samples of each group."""
        return [(groups == label, self.groups == label) for label in np.unique(groups)]


def _reversed_sums(weights: Array) -> Array:
    """Sums of each weight and those after it."""
    return np.asarray(np.cumsum(weights[::-1])[::-1])


def warn_about_ties(scores: Array, n_outputs: int) -> None:
    """Say that equal scores make regions larger; shares of draws are equal now and then."""
    repeated = 1 - len(np.unique(scores)) / len(scores)
    if n_outputs == 1 and repeated > MANY_TIES and len(scores) > 1:
        warnings.warn(
            f"{100 * repeated:.0f} % of the calibration scores are equal to another one, because "
            "samples or values of y are repeated or y is far outside the densities: regions have "
            "at least the coverage that is guaranteed, and may be larger than needed",
            UserWarning,
            stacklevel=3,
        )
