"""Where inputs lie: in the training samples, or else as the model remembers them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from condensity._typing import Array, Mask
from condensity.data.sample import Scaling
from condensity.explorer.controls import Control
from condensity.explorer.exported_model import Readable
from condensity.explorer.influence import Move

QUANTILES = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
#: Categories by which the influence of a column of them is judged.
FREQUENT = 5
#: What summation may add to a share, or to a variance as a part of itself.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Samples:
    """Training samples past the gate."""

    X: Array  # (n, dx)
    Y: Array | None  # (n, dy)

    def thinned(self, count: int, rng: np.random.Generator) -> Samples:
        """At most ``count`` of them, in their order."""
        if len(self.X) <= count:
            return self
        rows = np.sort(rng.choice(len(self.X), count, replace=False))
        return Samples(self.X[rows], None if self.Y is None else self.Y[rows])


@dataclass(frozen=True, eq=False)
class Ranges:
    """Where inputs lie."""

    ends: Array  # (2, dx)
    quantiles: Array | None  # (5, dx); None where only means and variances are known
    deciles: Array  # (2, dx)
    middle: Array  # (dx,)
    mean: Array  # (dx,)
    whole: Mask  # (dx,) inputs that are whole numbers

    @classmethod
    def of(cls, model: Readable, samples: Samples | None) -> Ranges:
        """From the samples if there are any, else from the scaling that the model keeps."""
        if samples is not None:
            return cls._of_samples(samples.X, model.scaling)
        if model.scaling is None:
            raise ValueError("this model does not know where its inputs lie: pass X, its samples")
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
            # The model has seen all samples, and X may be some of them.
            X.mean(axis=0) if scaling is None else scaling.mean,
            whole,
        )

    @classmethod
    def _of_scaling(cls, scaling: Scaling) -> Ranges:
        mean, sd = scaling.mean, scaling.sd
        flag = _flags(scaling)
        ends = np.where(flag, [[0.0], [1.0]], mean + sd * np.array([[-3.0], [3.0]]))
        deciles = mean + sd * ndtri([[0.1], [0.9]])
        return cls(ends, None, deciles, np.where(flag, mean > 0.5, mean), mean, flag)

    def is_flag(self, j: int) -> bool:
        """Whether an input is 0 or 1 in all samples, and both occur."""
        return bool(self.whole[j]) and tuple(self.ends[:, j]) == (0, 1)

    def is_constant(self, control: Control) -> bool:
        """Whether all samples have the same: the same category, that is, or the same number."""
        inputs = [*control.inputs]
        if not control.labels:
            return bool(self.ends[1, inputs[0]] <= self.ends[0, inputs[0]])
        shares = self.mean[inputs]
        return bool(np.all((shares == 0) | (shares > 1 - ROUNDING)))

    def typical(self, controls: Sequence[Control]) -> Array:
        """The middle of each input, and of categories the most frequent one: (dx,)."""
        out = np.where(self.whole, self.middle, _rounded(self.middle, self.ends))
        for control in controls:
            if control.labels:
                out[[*control.inputs]] = self._category(control, 0)
        return out

    def moves(self, control: Control) -> list[Move]:
        """From one place to another: the farthest that p(y|x) goes is a control's influence."""
        inputs = [*control.inputs]
        if control.labels:
            first, *others = (self._category(control, r) for r in range(min(len(inputs), FREQUENT)))
            return [Move(inputs, first, other) for other in others]
        low, high = self.ends if self.is_flag(inputs[0]) else self.deciles
        return [Move(inputs, low[inputs], high[inputs])]

    def _category(self, control: Control, rank: int) -> Array:
        """The inputs of the category that has this rank by its frequency."""
        chosen = np.argsort(-self.mean[[*control.inputs]], kind="stable")[rank]
        return np.array(np.arange(len(control.inputs)) == chosen, dtype=float)


def _quantiles(X: Array, q: Array, whole: Mask) -> Array:
    """Quantiles of the columns, (len(q), dx); of whole numbers such as occur: no flag is 0.5."""
    return np.where(
        whole, np.quantile(X, q, axis=0, method="inverted_cdf"), np.quantile(X, q, axis=0)
    )


def _rounded(values: Array, ends: Array) -> Array:
    """Values to about a thousandth of the range, that a reader likes to see: (dx,)."""
    span = ends[1] - ends[0]
    step = 10.0 ** np.floor(np.log10(np.where(span > 0, span, 1.0)) - 2.5)
    return np.where(span > 0, np.clip(np.round(values / step) * step, *ends), values)


def _flags(scaling: Scaling) -> Mask:
    """Inputs that are 0 or 1, (dx,), told by their variance, which is m (1 - m) for a mean m.

    No other whole numbers have it, since ``x**2 >= x`` for them, and others only by chance.
    """
    variance = scaling.mean * (1 - scaling.mean)
    near = np.abs(scaling.sd**2 - variance) <= ROUNDING * np.abs(variance)
    return np.asarray(scaling.varies & (variance > 0) & near)
