"""Monotone functions of each output, for learning subspaces from outputs with heavy tails."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from condensity._typing import Array
from condensity._utils.numerics import weighted_quantiles

#: Distance from the median beyond which values are clipped, in robust standard deviations.
LIMIT = 25.0
#: Smallest rank of a value, as a share of the sample.
LEAST_RANK = 1e-9
#: Interquartile range of the standard normal distribution.
NORMAL_IQR = 1.349


@dataclass(frozen=True, eq=False)
class Clipped:
    """Function of y that moves extreme values of each output to a limit, and standardises it.

    Outputs without values beyond the limits are only standardised.
    """

    low: Array  # (dy,)
    high: Array  # (dy,)
    mean: Array  # (dy,) of the clipped sample
    sd: Array  # (dy,)

    @classmethod
    def of(cls, Y: Array, weight: Array, limit: float = LIMIT) -> Clipped:
        """The function for outputs ``Y`` (n, dy) with weights (n,) that sum to one."""
        low, middle, high = np.transpose(
            [weighted_quantiles(y, weight, [0.25, 0.5, 0.75]) for y in Y.T]
        )
        # If half of the values are equal, no scale is known and nothing is clipped.
        reach = np.where(high > low, limit * (high - low) / NORMAL_IQR, np.inf)
        low, high = middle - reach, middle + reach
        clipped = np.clip(Y, low, high)
        mean = weight @ clipped / weight.sum()
        sd = np.sqrt(weight @ (clipped - mean) ** 2 / weight.sum())
        return cls(low, high, mean, np.where(sd > 0, sd, 1.0))

    def __call__(self, Y: Array) -> Array:
        """The clipped, standardised outputs ``Y`` (m, dy)."""
        return np.asarray((np.clip(Y, self.low, self.high) - self.mean) / self.sd)


@dataclass(frozen=True, eq=False)
class NormalScores:
    """Function of y with the scores of a sample at its values, linear between them.

    The score of a value is the standard normal quantile of its mid-rank: the weight of all smaller
    values plus half the weight of equal ones.  Scores have the mean 0 and the variance 1.  Beyond
    the sample they are those of its smallest and largest value.
    """

    values: tuple[Array, ...]  # distinct values of each output, increasing
    scores: tuple[Array, ...]  # their scores

    @classmethod
    def of(cls, Y: Array, weight: Array) -> NormalScores:
        """The function for outputs ``Y`` (n, dy) with weights (n,) that sum to one."""
        columns = [_scores(y, weight) for y in Y.T]
        return cls(tuple(v for v, _ in columns), tuple(s for _, s in columns))

    def __call__(self, Y: Array) -> Array:
        """The scores of outputs ``Y`` (m, dy)."""
        columns = zip(Y.T, self.values, self.scores, strict=True)
        return np.column_stack([np.interp(y, values, scores) for y, values, scores in columns])


def _scores(y: Array, weight: Array) -> tuple[Array, Array]:
    """Distinct values of one output and their scores."""
    values, index = np.unique(y, return_inverse=True)
    share: Array = np.bincount(index, weights=weight) / weight.sum()
    # Rounding must not move the rank of a value with hardly any weight to 0 or 1: its score would
    # be infinite.
    ranks = np.clip(np.cumsum(share) - 0.5 * share, LEAST_RANK, 1.0 - LEAST_RANK)
    scores: Array = ndtri(ranks)
    scores -= share @ scores
    sd = np.sqrt(share @ scores**2)
    return values, scores / sd if sd > 0 else scores
