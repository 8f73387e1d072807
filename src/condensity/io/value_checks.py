"""Checks of the kinds, shapes and ranges of single values in files."""

from __future__ import annotations

from typing import Any

import numpy as np

from condensity.io.container import DamagedFileError

#: Largest number in standardised units.  Sums of products of a few such numbers are finite.
STANDARD = 1e20
#: Largest bandwidth and largest inverse of one; estimators accept 1e-6 to 1e6.
WIDTH = 1e8


def check_array(
    name: str,
    values: Any,
    shape: tuple[int, ...],
    *,
    least: float = -np.inf,
    most: float = STANDARD,
) -> None:
    """Check the shape and the range of an array of floats."""
    if not isinstance(values, np.ndarray) or values.dtype.kind != "f" or values.shape != shape:
        found = values.shape if isinstance(values, np.ndarray) else type(values).__name__
        raise DamagedFileError(f"{name} must be floats of shape {shape}, got {found}")
    low = max(least, -most)
    if not np.all((values >= low) & (values <= most)):  # NaN is out of range
        raise DamagedFileError(f"{name} contains a number outside [{low:g}, {most:g}]")


def check_number(name: str, value: Any, *, least: float, most: float = STANDARD) -> None:
    """Check the range of a number."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not least <= value <= most:
        raise DamagedFileError(
            f"{name} must be a number in [{least:g}, {most:g}], got {value!r:.20}"
        )


def check_kind(name: str, value: Any, kind: type[Any] | tuple[type[Any], ...]) -> None:
    """Check the class of a value."""
    if not isinstance(value, kind):
        raise DamagedFileError(f"a {type(value).__name__} is stored in place of {name}")


def row_count(name: str, values: Any) -> int:
    """Number of rows of an array, at least one."""
    check_kind(name, values, np.ndarray)
    if values.ndim == 0 or len(values) == 0:
        raise DamagedFileError(f"{name} has no rows")
    return len(values)


def column_count(name: str, values: Any) -> int:
    """Number of columns of a matrix."""
    check_kind(name, values, np.ndarray)
    if values.ndim != 2:
        raise DamagedFileError(f"{name} must be a matrix, got shape {values.shape}")
    return int(values.shape[1])


def check_kernel_width(name: str, value: Any) -> None:
    """Check the width of a kernel."""
    check_number(name, value, least=1 / WIDTH, most=WIDTH)
