"""Bounds of y as the user gives them."""

from __future__ import annotations

from typing import Any

import numpy as np

from condensity._validation import check_targets
from condensity.core.bounds import Bounds
from condensity.core.kernels import Array


def take_off_bounds(value: Any, y: Any) -> tuple[Any, Bounds | None]:
    """The targets in their free coordinate, as many axes as they had, and their bounds.

    ``value`` is the parameter ``bounds``; without any, y goes on as it came.
    """
    if value is None:
        return y, None
    Y, n_axes = check_targets(y)
    bounds = _checked(value, Y.shape[1])
    for j, column in enumerate(Y.T):
        _check_inside(column, float(bounds.lower[j]), float(bounds.upper[j]), j, Y.shape[1])
    U = bounds.free(Y)
    return (U[:, 0] if n_axes == 1 else U), bounds


def _checked(value: Any, dy: int) -> Bounds:
    try:
        pairs = np.array(
            [[_number(v, i) for i, v in enumerate(pair)] for pair in _pairs(value)], dtype=float
        )
    except (TypeError, ValueError):
        pairs = np.empty(0)
    if pairs.shape not in {(1, 2), (dy, 2)}:
        raise ValueError(
            f"bounds must be None, a pair (lower, upper) or {dy} such pairs, one for each output, "
            f"got {value!r}: write None or an infinity where there is no bound"
        )
    lower, upper = np.broadcast_to(pairs, (dy, 2)).T
    if not (lower < upper).all():
        raise ValueError(f"bounds must have lower < upper, got {value!r}")
    return Bounds(lower.copy(), upper.copy())


def _pairs(value: Any) -> list[Any]:
    """One pair, or a list of pairs, as a list of pairs."""
    items = list(value)
    return items if all(np.ndim(item) == 1 for item in items if item is not None) else [items]


def _number(value: Any, place: int) -> float:
    return (-np.inf, np.inf)[place] if value is None else float(value)


def _check_inside(y: Array, lower: float, upper: float, j: int, dy: int) -> None:
    out = np.flatnonzero((y <= lower) | (y >= upper))
    if len(out):
        where = "" if dy == 1 else f" in column {j}"
        raise ValueError(
            f"bounds=({lower:g}, {upper:g}): {len(out)} of {len(y)} targets{where} do not lie "
            f"strictly between, the first is {y[out[0]]:g} in row {out[0]}; widen the bounds, or "
            "model values at a bound apart (a classifier for them, a density for the rest)"
        )
