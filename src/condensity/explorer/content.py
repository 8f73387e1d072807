"""Data of the page: the model, its inputs and outputs, and some samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from condensity._typing import Array
from condensity.explorer.controls import Control
from condensity.explorer.encoded_arrays import PageData, encode_array
from condensity.explorer.exported_model import ExportedModel
from condensity.explorer.influence import influence
from condensity.explorer.ranges import Ranges, Samples


def content(
    model: ExportedModel,
    samples: Samples | None,
    *,
    inputs: Sequence[str],
    controls: Sequence[Control],
    outputs: Sequence[str],
    n_points: int,
    rng: np.random.Generator,
    ends: Array | None = None,
    step: Callable[[], None] = lambda: None,
) -> PageData:
    """Data of the page without the calibration, the title and the facts.

    ``ends`` (2, dx) are the smallest and largest inputs, if they are known.  ``step`` is called
    after each control.
    """
    ranges = Ranges.of(model, samples, ends)
    points = None if samples is None or n_points == 0 else samples.subsample(n_points, rng)
    typical = ranges.typical(controls)
    rows = typical[None] if points is None else points.X
    spans = output_ranges(model, rows, None if samples is None else samples.Y)
    moves = [ranges.moves(control) for control in controls]
    influences = influence(
        model.at, rng.permutation(rows), moves, spans, width=model.width, step=step
    )
    return {
        "model": model.as_page_data(),
        "inputs": [_input(name, ranges, j) for j, name in enumerate(inputs)],
        "typical": typical.tolist(),
        # The most influential first.
        "controls": [
            _control(controls[i], ranges, influences[i])
            for i in np.argsort(-influences, kind="stable")
        ],
        "outputs": [
            {"name": name, "low": float(low), "high": float(high)}
            for name, (low, high) in zip(outputs, spans, strict=True)
        ],
        "loadings": None if model.loadings is None else model.loadings.tolist(),
        "points": None if points is None else _points(points),
    }


def output_ranges(model: ExportedModel, rows: Array, Y: Array | None) -> Array:
    """Range of almost all values of each output, with a margin, within its bounds: (dy, 2)."""
    dist = model.at(rows[:50])
    spans = []
    for j, marginal in enumerate(dist.marginals()):
        ends = marginal.interval(0.99)
        # Quantiles, because a single outlier must not determine the range.
        wide = np.quantile(ends, [0.1, 0.9]) if Y is None else np.quantile(Y[:, j], [0.005, 0.995])
        typical = np.median(ends, axis=0)
        low, high = min(wide[0], typical[0]), max(wide[1], typical[1])
        margin = 0.06 * (high - low)
        lower, upper = _bounds(model, j)
        spans.append((max(low - margin, lower), min(high + margin, upper)))
    return np.array(spans)


def _bounds(model: ExportedModel, j: int) -> tuple[float, float]:
    bounds = getattr(model.density, "bounds", None)
    return (-np.inf, np.inf) if bounds is None else (bounds.lower[j], bounds.upper[j])


def _control(control: Control, ranges: Ranges, influence_of_control: float) -> PageData:
    inputs = [*control.inputs]
    return {
        "name": control.name,
        "inputs": inputs,
        "labels": list(control.labels),
        "shares": ranges.mean[inputs].tolist() if control.labels else [],
        "flag": not control.labels and ranges.is_flag(inputs[0]),
        "constant": ranges.is_constant(control),
        "influence": float(influence_of_control),
    }


def _input(name: str, ranges: Ranges, j: int) -> PageData:
    low, high = (float(end) for end in ranges.ends[:, j])
    return {
        "name": name,
        "low": low,
        "high": high,
        "known": ranges.known,
        "quantiles": None if ranges.quantiles is None else ranges.quantiles[:, j].tolist(),
        "whole": bool(ranges.whole[j]),
    }


def _points(samples: Samples) -> PageData:
    Y = samples.Y
    return {
        "n": len(samples.X),
        "X": encode_array(samples.X),
        "Y": None if Y is None else encode_array(Y),
    }
