"""Ranges of the inputs, from the training samples or from the scaling of the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from condensity._typing import Array, Mask
from condensity.data.sample import Scaling
from condensity.explorer.controls import Control
from condensity.explorer.exported_model import ExportedModel
from condensity.explorer.influence import Move

QUANTILES = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
#: Number of the most frequent categories used for the influence of a column.
FREQUENT = 5
#: Rounding error of a sum: absolute for shares, relative for variances.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Samples:
    """Validated samples."""

    X: Array  # (n, dx)
    Y: Array | None  # (n, dy)

    def subsample(self, count: int, rng: np.random.Generator) -> Samples:
        """At most ``count`` random samples, in their order."""
        if len(self.X) <= count:
            return self
        rows = np.sort(rng.choice(len(self.X), count, replace=False))
        return Samples(self.X[rows], None if self.Y is None else self.Y[rows])


@dataclass(frozen=True, eq=False)
class Ranges:
    """Location and spread of each input."""

    ends: Array  # (2, dx) of the sliders
    quantiles: Array | None  # (5, dx); None if only means and variances are known
    deciles: Array  # (2, dx) lowest and highest
    middle: Array  # (dx,) median, or mean if the median is unknown
    mean: Array  # (dx,)
    whole: Mask  # (dx,) inputs with whole numbers only
    known: bool  # whether the ends are values of samples; else they are three deviations away

    @classmethod
    def of(cls, model: ExportedModel, samples: Samples | None, ends: Array | None = None) -> Ranges:
        """Ranges from the samples, or from the scaling of the model if there are no samples.

        ``ends`` (2, dx) are those of all training samples, of which the samples may be a part.
        """
        ranges = cls._of(model, samples)
        return ranges if ends is None else replace(ranges, ends=ends, known=True)

    @classmethod
    def _of(cls, model: ExportedModel, samples: Samples | None) -> Ranges:
        if samples is not None:
            return cls._of_samples(samples.X, model.scaling)
        if model.scaling is None:
            raise ValueError(
                "this model does not store the ranges of its inputs: pass its training samples as X"
            )
        return cls._of_scaling(model.scaling)

    @classmethod
    def _of_samples(cls, X: Array, scaling: Scaling | None) -> Ranges:
        whole = np.all(np.round(X) == X, axis=0)
        quantiles = _quantiles(X, QUANTILES, whole)
        return cls(
            np.stack([X.min(axis=0), X.max(axis=0)]),
            quantiles,
            _quantiles(X, np.array([0.1, 0.9]), whole),
            quantiles[2],
            # The scaling is that of all training samples; X may be only some of them.
            X.mean(axis=0) if scaling is None else scaling.mean,
            whole,
            True,
        )

    @classmethod
    def _of_scaling(cls, scaling: Scaling) -> Ranges:
        mean, sd = scaling.mean, scaling.sd
        flag = _flags(scaling)
        ends = np.where(flag, [[0.0], [1.0]], mean + sd * np.array([[-3.0], [3.0]]))
        deciles = mean + sd * ndtri([[0.1], [0.9]])
        return cls(ends, None, deciles, np.where(flag, mean > 0.5, mean), mean, flag, False)

    def is_flag(self, j: int) -> bool:
        """Whether an input is 0 or 1 in all samples, and both values occur."""
        return bool(self.whole[j]) and tuple(self.ends[:, j]) == (0, 1)

    def is_constant(self, control: Control) -> bool:
        """Whether all samples have the same category, or the same number."""
        inputs = [*control.inputs]
        if not control.labels:
            return bool(self.ends[1, inputs[0]] <= self.ends[0, inputs[0]])
        shares = self.mean[inputs]
        return bool(np.all((shares == 0) | (shares > 1 - ROUNDING)))

    def typical(self, controls: Sequence[Control]) -> Array:
        """The middle of each input; for categories the most frequent one: (dx,)."""
        out = np.where(self.whole, self.middle, _rounded(self.middle, self.ends))
        for control in controls:
            if control.labels:
                out[[*control.inputs]] = self._category(control, 0)
        return out

    def moves(self, control: Control) -> list[Move]:
        """Moves of a control; the largest change of p(y|x) among them is its influence."""
        inputs = [*control.inputs]
        if control.labels:
            first, *others = (self._category(control, r) for r in range(min(len(inputs), FREQUENT)))
            return [Move(inputs, first, other) for other in others]
        low, high = self.ends if self.is_flag(inputs[0]) else self.deciles
        return [Move(inputs, low[inputs], high[inputs])]

    def _category(self, control: Control, rank: int) -> Array:
        """Inputs of the category with this rank by frequency."""
        chosen = np.argsort(-self.mean[[*control.inputs]], kind="stable")[rank]
        return np.array(np.arange(len(control.inputs)) == chosen, dtype=float)


def _quantiles(X: Array, q: Array, whole: Mask) -> Array:
    """Quantiles of the columns, (len(q), dx); those of whole numbers are values that occur."""
    return np.where(
        whole, np.quantile(X, q, axis=0, method="inverted_cdf"), np.quantile(X, q, axis=0)
    )


def _rounded(values: Array, ends: Array) -> Array:
    """Values rounded to about a thousandth of the range, which are easier to read: (dx,)."""
    span = ends[1] - ends[0]
    step = 10.0 ** np.floor(np.log10(np.where(span > 0, span, 1.0)) - 2.5)
    return np.where(span > 0, np.clip(np.round(values / step) * step, *ends), values)


def _flags(scaling: Scaling) -> Mask:
    """Inputs that are 0 or 1, (dx,), recognised by their variance m (1 - m) for a mean m.

    No other whole numbers have this variance, because ``x**2 >= x`` for them.  Other numbers have
    it only by chance.
    """
    variance = scaling.mean * (1 - scaling.mean)
    near = np.abs(scaling.sd**2 - variance) <= ROUNDING * np.abs(variance)
    return np.asarray(scaling.varies & (variance > 0) & near)
