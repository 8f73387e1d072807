"""Validation of the parameters of estimators.

Each function returns the valid parameter in its standard form, or raises an error.  The error names
the parameter, the allowed values and the invalid value.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np


def check_count(name: str, value: Any, *, low: int, high: int | None = None, why: str = "") -> int:
    """Integer in ``[low, high]``.

    Parameters
    ----------
    name : str
        Name of the parameter, for the error message.
    value : object
        Value to check.
    low : int
        Smallest allowed value.
    high : int or None, default=None
        Largest allowed value; None: no limit.
    why : str, default=""
        Text for the error message after the range: its reason, or other allowed values.

    Returns
    -------
    int
        The value.
    """
    is_integer = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_integer or value < low or (high is not None and value > high):
        span = f">= {low}" if high is None else f"between {low} and {high}"
        raise ValueError(f"{name} must be an integer {span}{why}, got {value!r}")
    return int(value)


def check_subsample(value: Any) -> int | None:
    """Maximum number of samples for model selection, or None: no limit."""
    return None if value is None else check_count("subsample", value, low=10, why=" or None")


def check_counts(name: str, value: Any, *, most: int) -> list[int | None]:
    """Candidates from None, an integer, a sequence of integers, or "auto": 1 to ``most``."""
    if isinstance(value, str) and value == "auto":
        return list(range(1, most + 1))
    if value is None:
        return [None]
    is_sequence = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str)
    counts: list[Any] = list(value) if is_sequence else [value]
    ok = all(not isinstance(c, bool) and isinstance(c, Integral) and int(c) >= 1 for c in counts)
    if not ok or not counts or len(set(counts)) < len(counts):
        raise ValueError(
            f"{name} must be None (the value of the reducer), 'auto', an integer >= 1 or a "
            f"sequence of different integers >= 1, got {value!r}"
        )
    return [int(c) for c in counts]


def check_part(name: str, value: Any, method: str, what: str) -> Any:
    """Object with the methods ``fit`` and ``method``; a class is not allowed."""
    if isinstance(value, type) or not all(hasattr(value, verb) for verb in ("fit", method)):
        raise ValueError(f"{name} must be {what} with fit and {method}, got {value!r}")
    return value


def check_bandwidth(value: Any) -> tuple[float, float] | None:
    """Bandwidths ``(sigma_z, sigma_y)`` from None, a positive number or a pair of them."""
    if value is None:
        return None
    pair = (value, value) if isinstance(value, Real) else value
    ok = isinstance(pair, Sequence | np.ndarray) and not isinstance(pair, str) and len(pair) == 2
    if not ok or not all(_is_number(s) and 1e-6 <= float(s) <= 1e6 for s in pair):
        raise ValueError(
            "bandwidth must be None (selected by cross-validation), a number between 1e-6 and 1e6, "
            "or a pair (sigma_z, sigma_y) of such numbers, in standard deviations of x and y, "
            f"got {value!r}"
        )
    return float(pair[0]), float(pair[1])


def check_width(value: Any) -> float | None:
    """Bandwidth of the outputs from None or a positive number."""
    if value is None:
        return None
    if not _is_number(value) or not 1e-6 <= float(value) <= 1e6:
        raise ValueError(
            "bandwidth must be None (selected by cross-validation) or a number between 1e-6 and "
            f"1e6, in standard deviations of y, got {value!r}"
        )
    return float(value)


def check_epsilon(value: Any) -> float | None:
    """Radius from None or a number >= 0; infinity is allowed."""
    if value is None:
        return None
    if not _is_number(value) or not float(value) >= 0:
        raise ValueError(
            "epsilon must be None (selected by cross-validation) or a number >= 0, a distance "
            f"between standardised inputs (infinity: all samples), got {value!r}"
        )
    return float(value)


def check_penalty(value: Any) -> float | None:
    """Penalty from None or a finite number >= 0."""
    if value is None:
        return None
    if not _is_number(value) or not 0 <= float(value) < np.inf:
        raise ValueError(
            "penalty, the factor of |alpha|^2 / 2, must be None (selected by cross-validation) or "
            f"a finite number >= 0, got {value!r}"
        )
    return float(value)


def check_least_bandwidth(value: Any, dy: int) -> Any:
    """Smallest bandwidths (dy,) from None, a number >= 0 or one number for each output."""
    if value is None:
        return None
    try:
        least = np.broadcast_to(np.asarray(value, dtype=float), (dy,))
    except (TypeError, ValueError):
        least = np.array([np.nan])
    if not (np.isfinite(least).all() and (least >= 0).all()):
        raise ValueError(
            "min_bandwidth must be None (the resolution of y), a number >= 0 in the units of y, "
            f"or one number for each of the {dy} outputs, got {value!r}"
        )
    return least


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def check_directions(value: Any, dx: int) -> Any:
    """Matrix (dz, dx) with linearly independent rows; the identity for None."""
    if value is None:
        return np.eye(dx)
    try:
        rows = np.atleast_2d(np.asarray(value, dtype=float))
    except (TypeError, ValueError):
        rows = np.empty((0, 0))
    ok = rows.ndim == 2 and rows.size and rows.shape[1] == dx and np.isfinite(rows).all()
    if not ok or np.linalg.matrix_rank(rows) < len(rows):
        raise ValueError(
            f"components must be None or a matrix of finite numbers with {dx} columns, one for "
            "each input, and linearly independent rows, one for each direction, got "
            f"{value!r}"
        )
    return rows


def check_verbose(value: Any) -> Any:
    """Verbosity: an integer or a progress callback."""
    if not callable(value) and not isinstance(value, Integral):
        raise ValueError(
            f"verbose must be 0, 1 or a callable, used as a progress callback, got {value!r}"
        )
    return value


def check_jobs(value: Any) -> int | None:
    """Number of workers, as in joblib: None, or an integer that is not 0."""
    is_integer = isinstance(value, Integral) and not isinstance(value, bool)
    if value is not None and (not is_integer or value == 0):
        raise ValueError(
            f"n_jobs must be None or an integer other than 0 (-1: all cores), got {value!r}"
        )
    return None if value is None else int(value)


def check_option(name: str, value: Any, options: Sequence[str]) -> str:
    """String that is one of ``options``."""
    if value not in options:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, options))}, got {value!r}")
    return str(value)


def check_rng(random_state: Any) -> np.random.Generator:
    """Random generator from None, an integer, a ``RandomState`` or a ``Generator``."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, size=4, dtype=np.uint32))
    if random_state is None:
        return np.random.default_rng()
    return np.random.default_rng(
        check_count("random_state", random_state, low=0, why=", None, a RandomState or a Generator")
    )
