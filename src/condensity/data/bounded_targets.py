"""Bounds of y: validation, and the map to an unbounded coordinate."""

from __future__ import annotations

from typing import Any

import numpy as np

from condensity._typing import Array, Indices
from condensity.distributions.bounded import Bounds

#: Steps of rounded values are large if they are more than this share of the value.
COARSE = 0.05


def take_off_bounds(value: Any, Y: Array, weight: Array) -> tuple[Array, Bounds | None]:
    """The targets (n, dy) in their unbounded coordinate, and the bounds.

    ``value`` is the parameter ``bounds``; without bounds, Y is returned as it is.  Samples with
    ``weight`` (n,) zero may lie outside the bounds.
    """
    if value is None:
        return Y, None
    bounds, counts = check_bounds(value, Y.shape[1]), weight > 0
    for j, column in enumerate(Y.T):
        outside = counts & ~((column > bounds.lower[j]) & (column < bounds.upper[j]))
        _check_inside(column, np.flatnonzero(outside), bounds, j)
    return np.where(counts[:, None], bounds.free(Y), 0.0), bounds


def is_automatic(value: Any) -> bool:
    """Whether the parameter ``bounds`` leaves the decision to the estimator."""
    return isinstance(value, str) and value == "auto"


def check_bounds(value: Any, dy: int) -> Bounds:
    """The bounds of ``dy`` outputs from the parameter ``bounds``."""
    try:
        pairs = np.array(
            [[_number(v, i) for i, v in enumerate(pair)] for pair in _pairs(value)], dtype=float
        )
    except (TypeError, ValueError):
        pairs = np.empty(0)
    if pairs.shape not in {(1, 2), (dy, 2)}:
        raise ValueError(
            "bounds must be None, a pair (lower, upper) or one such pair for each output (here "
            f"{dy}) or 'auto', got {value!r}: use None or an infinity for a side without a bound"
        )
    lower, upper = np.broadcast_to(pairs, (dy, 2)).T
    if not (lower < upper).all():
        raise ValueError(f"bounds must have lower < upper, got {value!r}")
    return Bounds(lower.copy(), upper.copy())


def pairs_of(bounds: Bounds | None) -> list[tuple[float | None, float | None]] | None:
    """The parameter ``bounds`` that gives these bounds."""
    if bounds is None:
        return None
    ends = zip(bounds.lower.tolist(), bounds.upper.tolist(), strict=True)
    return [(a if np.isfinite(a) else None, b if np.isfinite(b) else None) for a, b in ends]


def skewness(y: Array, weight: Array) -> float:
    """``E (y - mean)^3 / sd^3`` of values (n,) with weights that sum to one."""
    deviation = y - weight @ y
    return float(weight @ deviation**3 / (weight @ deviation**2) ** 1.5)


def coarse_near_zero(y: Array) -> bool:
    """Whether positive values (n,) are rounded to steps that are large beside the smallest ones.

    That is so if the smallest tenth has repeated values, and their least distance is more than
    ``COARSE`` of their median.  Kernels of log y could then be narrower than the steps, and a loss
    in the units of y would reward this.
    """
    low = np.sort(y)[: max(2, len(y) // 10)]
    steps = np.diff(np.unique(low))
    if len(steps) + 1 == len(low):
        return False
    return not len(steps) or bool(steps.min() > COARSE * np.median(low))


def _pairs(value: Any) -> list[Any]:
    """The pairs as a list; an output without bounds may be None."""
    if isinstance(value, str | bytes):
        raise TypeError("text is a sequence of characters, not of numbers")
    items = list(value)
    if all(v is None or np.ndim(v) == 0 for v in items):
        return [items]
    return [(None, None) if item is None else item for item in items]


def _number(value: Any, side: int) -> float:
    if isinstance(value, str | bytes):
        raise TypeError("a bound is a number")
    return (-np.inf, np.inf)[side] if value is None else float(value)


def _check_inside(y: Array, outside: Indices, bounds: Bounds, j: int) -> None:
    if len(outside):
        where = "" if len(bounds.lower) == 1 else f" in column {j}"
        raise ValueError(
            f"bounds=({bounds.lower[j]:g}, {bounds.upper[j]:g}): {len(outside)} of {len(y)} "
            f"targets{where} do not lie strictly between, the first is {y[outside[0]]:g} in row "
            f"{outside[0]}; widen the bounds, or use condensity.WithAtoms, which gives values at a "
            "bound a probability of their own"
        )
