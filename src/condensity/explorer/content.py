"""What the page is told: the model, its inputs and outputs, some samples, and what it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from condensity._typing import Array
from condensity.explorer.controls import Control
from condensity.explorer.exported_model import Readable, Told, packed
from condensity.explorer.influence import influence
from condensity.explorer.ranges import Ranges, Samples


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
    for j, marginal in enumerate(dist.marginals()):
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
        "constant": ranges.is_constant(control),
        "influence": float(moved),
    }


def _input(name: str, ranges: Ranges, j: int) -> Told:
    low, high = (float(end) for end in ranges.ends[:, j])
    return {
        "name": name,
        "low": low,
        "high": high,
        # Where they are not known, the ends are three standard deviations from the mean.
        "quantiles": None if ranges.quantiles is None else ranges.quantiles[:, j].tolist(),
        "whole": bool(ranges.whole[j]),
    }


def _points(samples: Samples) -> Told:
    Y = samples.Y
    return {
        "n": len(samples.X),
        "X": packed(samples.X),
        "Y": None if Y is None else packed(Y),
    }
