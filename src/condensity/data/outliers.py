"""Outliers: samples with a value so far from all others that it would determine the fit.

One such value enlarges the standard deviation, which is the unit of all kernels, and turns a linear
location.  So these samples are left out.

The limit of a column is a distance from its median that no value should exceed.  The 60 % and 90 %
quantiles of the distances tell how heavy the tails are.  The power law through these two points,
``P(distance > r) ~ r^(-a)``, is extrapolated to the probability ``CHANCE / n``.  Lighter tails than
those of a power law have fewer values beyond this limit.  Tails count as those of a normal
distribution if they look lighter, and as those of a Cauchy distribution if they look heavier.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from condensity._typing import Array, Indices, Mask
from condensity._utils.numerics import weighted_quantiles
from condensity.data.chunks import SampleChunks, Totals
from condensity.data.sample import Sample

#: Expected number of values beyond the limit of a column whose tails follow the power law.
CHANCE = 0.3
#: Shares of the distances beyond the two quantiles.
BODY, TAIL = 0.4, 0.1
#: The ratio of the two quantiles for a normal and for a Cauchy distribution.
LIGHTEST, HEAVIEST = 1.9544, 4.5872
#: The limit is at least this power of the ratio away, in units of the second quantile.
LEAST_POWER = 2.0
#: Values beyond the limit are a part of the population, not outliers, if they are more than this
#: share of the sample and more than this number of samples, by weight or by number.
LARGEST_SHARE, LARGEST_NUMBER = 0.01, 3
#: Relative size of rounding errors.
ROUNDING = 8 * np.finfo(float).eps


@dataclass(frozen=True, eq=False)
class Limits:
    """The limits of all inputs and outputs."""

    low: Array  # (dx + dy,)
    high: Array  # (dx + dy,)

    @classmethod
    def of(cls, sample: Sample) -> Limits:
        """The limits for distinct rows with weights that sum to one."""
        columns = np.hstack([sample.X, sample.Y]).T
        return cls(*np.transpose([_limits(column, sample.weight) for column in columns]))

    def beyond(self, sample: Sample) -> Mask:
        """Which values of a sample are beyond the limits, (m, dx + dy)."""
        values = np.hstack([sample.X, sample.Y])
        return np.asarray((values < self.low) | (values > self.high))


def _limits(values: Array, weight: Array) -> tuple[float, float]:
    """The limits of one column; infinite if it is constant, or if too many values lie beyond."""
    middle = float(weighted_quantiles(values, weight, [0.5])[0])
    distance = np.abs(values - middle)
    # A frequent value, for instance zero, says nothing about the scale of the others.
    differs = distance > ROUNDING * np.abs(values)
    if not differs.any():
        return -np.inf, np.inf
    reach = _reach(distance[differs], weight[differs])
    most = max(LARGEST_SHARE, (LARGEST_NUMBER + 0.5) / _effective(weight))
    beyond = distance > reach
    few = weight[beyond].sum() <= most
    # Where few samples have most of the weight, many others have little weight together.
    few &= beyond.sum() <= max(LARGEST_SHARE * len(values), LARGEST_NUMBER)
    return (middle - reach, middle + reach) if few else (-np.inf, np.inf)


def _reach(distance: Array, weight: Array) -> float:
    """The distance that a power law exceeds with the probability ``CHANCE / n``."""
    body, tail = weighted_quantiles(distance, weight, [1.0 - BODY, 1.0 - TAIL])
    ratio = np.clip(tail / body, LIGHTEST, HEAVIEST)
    power = np.log(_effective(weight) * TAIL / CHANCE) / np.log(BODY / TAIL)
    return float(tail * ratio ** max(LEAST_POWER, power))


def _effective(weight: Array) -> float:
    """The effective number of samples."""
    return float(weight.sum() ** 2 / np.sum(weight**2))


@dataclass(frozen=True, eq=False)
class Outliers:
    """The samples that are left out of a fit."""

    limits: Limits
    n: int  # number of samples left out
    counts: Indices  # (dx + dy,) number of values beyond the limits
    first: Mapping[int, tuple[int, float]]  # by column: a row with such a value, and the value

    @classmethod
    def of(cls, limits: Limits, sample: Sample, beyond: Mask, numbers: Indices | None) -> Outliers:
        """The outliers of a sample, where ``beyond`` (m, dx + dy); ``numbers`` (m,) are its rows.

        Without numbers, rows and values are not recorded.
        """
        first, values = {}, np.hstack([sample.X, sample.Y])
        if numbers is not None:
            for j in np.flatnonzero(beyond.any(axis=0)).tolist():
                row = int(np.argmax(beyond[:, j]))
                first[j] = int(numbers[row]), float(values[row, j])
        return cls(limits, int(beyond.any(axis=1).sum()), beyond.sum(axis=0), first)

    def and_more(self, counts: Indices, n: int) -> Outliers:
        """With ``n`` further samples, which have ``counts`` (dx + dy,) values beyond the limits."""
        return replace(self, n=self.n + n, counts=self.counts + counts)


@dataclass(frozen=True, eq=False)
class OrdinaryChunks:
    """Samples without outliers."""

    rows: SampleChunks
    limits: Limits

    def total(self, of: Callable[[Sample], Totals]) -> Totals:
        """The sums of ``of`` over the samples within the limits."""
        return self.rows.total(partial(_ordinary, self.limits, of))


def _ordinary(limits: Limits, of: Callable[[Sample], Totals], chunk: Sample) -> Totals:
    return of(chunk[np.flatnonzero(~limits.beyond(chunk).any(axis=1))])


def count_outliers(limits: Limits, chunk: Sample) -> Totals:
    """For a chunk: values beyond the limits (dx + dy,), samples left out, and remaining weight."""
    beyond = limits.beyond(chunk)
    out = beyond.any(axis=1)
    return [beyond.sum(axis=0), int(out.sum()), float(chunk.weight[~out].sum())]
