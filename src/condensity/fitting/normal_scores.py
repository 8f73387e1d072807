"""Normal scores: a monotone function of each output that makes it normally distributed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from condensity._typing import Array


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
    scores: Array = ndtri(np.cumsum(share) - 0.5 * share)
    scores -= share @ scores
    sd = np.sqrt(share @ scores**2)
    return values, scores / sd if sd > 0 else scores
