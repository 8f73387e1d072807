"""What the page is told: the model, its inputs and outputs, some samples, and what it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from condensity.core.kernels import Array
from condensity.explorer.controls import Control
from condensity.explorer.influence import Move, influence
from condensity.explorer.numbers import Readable, Told, packed

QUANTILES = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
#: Categories by which the influence of a column of them is judged.
FREQUENT = 5


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
    """Where inputs and outputs lie: of the training samples, or as the model remembers them."""

    ends: Array  # (2, dx)
    quantiles: Array  # (5, dx)
    deciles: tuple[Array, Array]  # (dx,) each
    mean: Array  # (dx,)
    whole: Sequence[bool]  # inputs that are whole numbers

    @classmethod
    def of(cls, model: Readable, samples: Samples | None) -> Ranges:
        """From the samples if there are any, else from the scaling that the model keeps."""
        if samples is not None:
            X = samples.X
            return cls(
                np.stack([X.min(axis=0), X.max(axis=0)]),
                np.quantile(X, QUANTILES, axis=0),
                (np.quantile(X, 0.1, axis=0), np.quantile(X, 0.9, axis=0)),
                X.mean(axis=0),
                np.all(np.round(X) == X, axis=0).tolist(),
            )
        if model.scaling is None:
            raise ValueError("this model does not know where its inputs lie: pass X, its samples")
        mean, sd = model.scaling.mean, model.scaling.sd
        return cls(
            mean + sd * np.array([[-3.0], [3.0]]),
            mean + sd * ndtri(QUANTILES)[:, None],
            (mean + sd * ndtri(0.1), mean + sd * ndtri(0.9)),
            mean,
            [False] * len(mean),
        )

    def is_flag(self, j: int) -> bool:
        """Whether an input is 0 or 1 in all samples, and both occur."""
        return bool(self.whole[j]) and tuple(self.ends[:, j]) == (0, 1)

    def typical(self, controls: Sequence[Control]) -> Array:
        """The medians, and of categories the most frequent one: (dx,)."""
        out = np.array(self.quantiles[2])
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


def content(
    model: Readable,
    samples: Samples | None,
    *,
    inputs: Sequence[str],
    controls: Sequence[Control],
    outputs: Sequence[str],
    n_points: int,
    rng: np.random.Generator,
) -> Told:
    """All but the calibration, the title and the facts."""
    ranges = Ranges.of(model, samples)
    some = None if samples is None or n_points == 0 else samples.thinned(n_points, rng)
    typical = ranges.typical(controls)
    rows = typical[None] if some is None else some.X
    spans = output_ranges(model, rows, None if samples is None else samples.Y)
    shown = rng.permutation(rows)
    moves = [ranges.moves(control) for control in controls]
    moved = influence(model.at, shown, moves, spans, width=model.width)
    return {
        "model": model.told(),
        "inputs": [_input(name, ranges, j) for j, name in enumerate(inputs)],
        "typical": typical.tolist(),
        # The most influential first.
        "controls": [
            _control(controls[i], ranges, moved[i]) for i in np.argsort(-moved, kind="stable")
        ],
        "outputs": [
            {"name": name, "low": float(low), "high": float(high)}
            for name, (low, high) in zip(outputs, spans, strict=True)
        ],
        "loadings": None if model.loadings is None else model.loadings.tolist(),
        "points": None if some is None else _points(some),
    }


def output_ranges(model: Readable, rows: Array, Y: Array | None) -> Array:
    """Where almost all of each output lies, with a margin, within its bounds: (dy, 2)."""
    dist = model.at(rows[:50])
    spans = []
    for j in range(dist.n_outputs):
        marginal = dist if dist.n_outputs == 1 else dist.marginal(j)
        ends = marginal.interval(0.99)
        # A single outlier must not squeeze the picture.
        told = np.quantile(ends, [0.1, 0.9]) if Y is None else np.quantile(Y[:, j], [0.005, 0.995])
        typical = np.median(ends, axis=0)
        low, high = min(told[0], typical[0]), max(told[1], typical[1])
        margin = 0.06 * (high - low)
        lower, upper = _bounds(model, j)
        spans.append((max(low - margin, lower), min(high + margin, upper)))
    return np.array(spans)


def _bounds(model: Readable, j: int) -> tuple[float, float]:
    bounds = getattr(model.density, "bounds", None)
    return (-np.inf, np.inf) if bounds is None else (bounds.lower[j], bounds.upper[j])


def _control(control: Control, ranges: Ranges, moved: float) -> Told:
    inputs = [*control.inputs]
    return {
        "name": control.name,
        "inputs": inputs,
        "labels": list(control.labels),
        "shares": ranges.mean[inputs].tolist() if control.labels else [],
        "flag": not control.labels and ranges.is_flag(inputs[0]),
        "influence": float(moved),
    }


def _input(name: str, ranges: Ranges, j: int) -> Told:
    low, high = (float(end) for end in ranges.ends[:, j])
    return {
        "name": name,
        "low": low,
        "high": high,
        "quantiles": ranges.quantiles[:, j].tolist(),
        "whole": ranges.whole[j],
        "constant": bool(high <= low),
    }


def _points(samples: Samples) -> Told:
    Y = samples.Y
    return {
        "n": len(samples.X),
        "X": packed(samples.X),
        "Y": None if Y is None else packed(Y),
    }
