"""Cells of tables: numbers, text, or missing values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from condensity._typing import Array, Indices, Mask
from condensity.tables.errors import ParameterValue, Part, TableError

Cells = NDArray[Any]  # (m,) floats, text, or None for a missing value

#: Text that stands for a missing value, besides None and NaN.
MISSING = frozenset(
    ["", "#N/A", "<NA>", "?", "N/A", "NA", "NULL", "NaN", "NaT", "None", "n/a", "nan", "null"]
)
LARGEST_EXACT = 2**53  # greater integers are not exact as floats
WHOLE = re.compile(r"([+-]?\d+)\.0*")


def cells(values: Any) -> Cells:
    """Values of a column as floats, text, or None for a missing value: (m,)."""
    masked = isinstance(values, np.ma.MaskedArray)
    array: Any = np.ma.filled(values.astype(object), None) if masked else np.asarray(values)
    if array.dtype.kind in "Mm":
        array = array.astype(str)
    return np.fromiter((_cell(value) for value in array.tolist()), dtype=object, count=len(array))


def _cell(value: Any) -> float | str | None:
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int) and abs(value) > LARGEST_EXACT:
        return str(value)  # as a float it could equal another category
    if isinstance(value, Real | Decimal):
        number = float(value)
        return None if np.isnan(number) else number
    text = str(value).strip()
    return None if text in MISSING else text


def is_missing(column: Cells) -> Mask:
    """Mask of the missing values: (m,)."""
    return np.fromiter((cell is None for cell in column), dtype=bool, count=len(column))


def number_column(
    name: str,
    column: Cells,
    *remedy: Part,
    first_row: int = 1,
    rows: Indices | None = None,
    corrections: Sequence[ParameterValue] = (),
) -> Array:
    """Numbers of a column, NaN for a missing value; an error for other text: (m,).

    The error names the row: rows are counted from ``first_row``, or have the numbers ``rows``.
    """
    values = [np.nan if cell is None else to_number(cell) for cell in column]
    numbers = np.array(values, dtype=float)
    invalid = np.isinf(numbers)
    if invalid.any():
        place = int(np.argmax(invalid))
        row, value = row_number(place, first_row, rows), category_name(column[place])
        raise TableError(
            f"column {name!r} must hold numbers, got {value!r} in row {row}: ",
            *remedy,
            corrections=corrections,
        )
    return numbers


def row_number(place: int, first_row: int, rows: Indices | None) -> int:
    """Number of a row in its table, for messages."""
    return first_row + place if rows is None else int(rows[place])


def to_number(cell: float | str) -> float:
    """A finite number, or infinity for all other cells."""
    try:
        number = float("inf" if isinstance(cell, str) and "_" in cell else cell)
    except ValueError:
        return np.inf
    return number if np.isfinite(number) else np.inf


def category_name(cell: float | str) -> str:
    """Name of a category, the same whether it was read as a number or as text."""
    if isinstance(cell, str):
        spelt = WHOLE.fullmatch(cell)
        return spelt[1] if spelt else cell
    return str(int(cell)) if np.isfinite(cell) and cell == round(cell) else repr(cell)


def target_numbers(name: str, column: Cells) -> Array:
    """Numbers of a target column, NaN for a missing value: (m,)."""
    present = [cell for cell in column if cell is not None]
    text = [cell for cell in present if np.isinf(to_number(cell))]
    if 2 * len(text) > len(present):
        raise TableError(
            f"target {name!r} holds text such as {category_name(text[0])!r}: a density needs "
            "numbers, so choose a column of numbers, or replace the text by numbers"
        )
    return number_column(name, column, "correct the value, or leave the row out")


def count_missing(columns: Mapping[str, Cells]) -> dict[str, int]:
    """Numbers of missing values, for the columns that have some."""
    counts = {name: int(is_missing(column).sum()) for name, column in columns.items()}
    return {name: count for name, count in counts.items() if count}
