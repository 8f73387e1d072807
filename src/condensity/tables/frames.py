"""Tables of numbers and categories, as the arrays that an estimator takes.

A table is whatever gives a column by its name: a frame of pandas or polars, or a dict.  Its cells
are numbers, text or missing.  Text that spells numbers is numbers, and whatever is known of a
column is learned once, from the table that a model is fitted to: a block of rows is encoded as it
would be within the whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from condensity._typing import Array, Indices, Mask

Cells = NDArray[Any]  # (m,) floats, text, or None where a value is missing

#: What stands for a missing value, besides None and NaN.
MISSING = frozenset(
    ["", "#N/A", "<NA>", "?", "N/A", "NA", "NULL", "NaN", "NaT", "None", "n/a", "nan", "null"]
)
#: More categories than this make more inputs than any sample can tell apart.
MOST_CATEGORIES = 100
NUMBER, FLAG, CATEGORY = KINDS = ("number", "flag", "category")
POLICIES = ("error", "drop", "impute")
EXACT = 2**53  # whole numbers beyond are no floats
WHOLE = re.compile(r"([+-]?\d+)\.0*")
DATE = re.compile(r"(\d{4}([-/.])\d{1,2}\2\d{1,2}|\d{1,2}([-/.])\d{1,2}\3\d{4})([T ].*)?")


def cells(values: Any) -> Cells:
    """A column of any kind as floats, text, or None where a value is missing: (m,)."""
    array = np.asarray(values)
    if array.dtype.kind in "Mm":
        array = array.astype(str)
    return np.fromiter((_cell(value) for value in array.tolist()), dtype=object, count=len(array))


def _cell(value: Any) -> float | str | None:
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int) and abs(value) > EXACT:
        return str(value)  # as a category it must not become another
    if isinstance(value, Real | Decimal):
        number = float(value)
        return None if np.isnan(number) else number
    text = str(value).strip()
    return None if text in MISSING else text


def is_missing(column: Cells) -> Mask:
    """Where a value is missing: (m,)."""
    return np.fromiter((cell is None for cell in column), dtype=bool, count=len(column))


def numbers(
    name: str,
    column: Cells,
    *,
    first_row: int = 1,
    rows: Indices | None = None,
    remedy: str,
) -> Array:
    """The numbers of a column, NaN where they are missing; refuses anything else: (m,).

    Rows are counted from ``first_row``, or have the numbers ``rows``.
    """
    found = np.array([np.nan if cell is None else _number(cell) for cell in column], dtype=float)
    bad = np.isinf(found)
    if bad.any():
        place = int(np.argmax(bad))
        row = first_row + place if rows is None else rows[place]
        raise ValueError(
            f"column {name!r} must hold numbers, got {_text(column[place])!r} in row {row}: "
            f"{remedy}"
        )
    return found


def _number(cell: float | str) -> float:
    """A number, or infinity for what is none."""
    try:
        number = float("inf" if isinstance(cell, str) and "_" in cell else cell)
    except ValueError:
        return np.inf
    return number if np.isfinite(number) else np.inf


def _text(cell: float | str) -> str:
    """A category by its name, the same whether it was read as a number or as text."""
    if isinstance(cell, str):
        spelt = WHOLE.fullmatch(cell)
        return spelt[1] if spelt else cell
    return str(int(cell)) if np.isfinite(cell) and cell == round(cell) else repr(cell)


@dataclass(frozen=True)
class Column:
    """A column of a table that is an input: how its values become numbers.

    Parameters
    ----------
    name : str
    kind : {"number", "flag", "category"}
    categories : tuple of str, default=()
        The values of a category, each of which becomes an input of zeros and ones.
    fill : float, default=0.0
        The median, for values that are missing.
    """

    name: str
    kind: str
    categories: tuple[str, ...] = ()
    fill: float = 0.0

    def __post_init__(self) -> None:
        known = isinstance(self.name, str) and self.kind in KINDS and np.isfinite(self.fill)
        told = isinstance(self.categories, tuple) and all(
            isinstance(category, str) for category in self.categories
        )
        unlike = told and len(set(self.categories)) == len(self.categories)
        if not (known and unlike and bool(self.categories) == (self.kind == CATEGORY)):
            raise ValueError(f"{self.name!r} is no column")

    @classmethod
    def learn(
        cls, name: str, column: Cells, *, as_category: bool = False, rows: Indices | None = None
    ) -> Column:
        """What a column is, by its values; refuses what is no use as an input."""
        there = [cell for cell in column if cell is not None]
        if not there:
            raise ValueError(f"column {name!r} holds no values: leave it out")
        if as_category:
            return cls(name, CATEGORY, _categories(name, there))
        if {_text(cell).lower() for cell in there} <= {"true", "false"}:
            return cls(name, FLAG, fill=float(np.mean(_flags(there)) > 0.5))
        found = np.array([_number(cell) for cell in there])
        finite = found[np.isfinite(found)]
        if 2 * len(finite) > len(there):
            remedy = "correct it, leave the column out or call it categorical"
            numbers(name, column, rows=rows, remedy=remedy)
            return cls(name, NUMBER, fill=float(np.median(finite)))
        return cls(name, CATEGORY, _categories(name, there))

    @property
    def names(self) -> list[str]:
        """Names of the inputs it becomes."""
        return [f"{self.name}={c}" for c in self.categories] or [self.name]

    def encode(self, column: Cells, *, first_row: int = 1) -> tuple[Array, Mask]:
        """Numbers (m, k), missing ones filled, and where a category is new (m,).

        What is new or missing has no category: all its numbers are zero.
        """
        if self.kind == CATEGORY:
            place = {category: k for k, category in enumerate(self.categories)}
            at = np.array([-1 if c is None else place.get(_text(c), -1) for c in column], dtype=int)
            values = (at[:, None] == np.arange(len(place))).astype(float)
            return values, (at < 0) & ~is_missing(column)
        if self.kind == FLAG:
            column = _flags(column)
        remedy = "correct it, or fit again with what this column is now"
        found = numbers(self.name, column, first_row=first_row, remedy=remedy)
        values = np.where(np.isnan(found), self.fill, found)[:, None]
        return values, np.zeros(len(column), dtype=bool)


def _flags(column: Iterable[Any]) -> Cells:
    """Cells with 1 for true and 0 for false."""
    spelt = {"true": 1.0, "false": 0.0}
    told = [spelt.get(c.lower(), c) if isinstance(c, str) else c for c in column]
    return np.fromiter(told, dtype=object, count=len(told))


def _categories(name: str, there: Sequence[float | str]) -> tuple[str, ...]:
    found = sorted({_text(cell) for cell in there})
    if all(DATE.fullmatch(category) for category in found):
        raise ValueError(
            f"column {name!r} holds dates such as {found[0]!r}: leave it out, or turn it into "
            "numbers such as the year or the days since some day"
        )
    if len(found) > min(MOST_CATEGORIES, max(2, len(there) / 2)):
        raise ValueError(
            f"column {name!r} has {len(found)} categories in {len(there)} rows, such as "
            f"{found[0]!r}, too many to learn from: leave it out or merge them"
        )
    return tuple(found)


@dataclass(frozen=True, eq=False)
class Encoded:
    """Rows of a table as inputs, and what was met on the way."""

    X: Array  # (m, dx)
    missing: Mask  # (m, columns)
    unseen: Mask  # (m, columns) categories that the fit did not know

    def refuse_missing(self, names: Sequence[str], *, first_row: int = 1, remedy: str) -> None:
        """Raise if any value is missing."""
        if self.missing.any():
            row, column = (int(i) for i in np.argwhere(self.missing)[0])
            raise ValueError(
                f"column {names[column]!r} has no value in row {first_row + row}: {remedy}"
            )


def encode(columns: Sequence[Column], table: Mapping[str, Any], *, first_row: int = 1) -> Encoded:
    """The rows of a table, as inputs."""
    check_columns([column.name for column in columns], getattr(table, "columns", table))
    read = [cells(table[column.name]) for column in columns]
    pairs = list(zip(columns, read, strict=True))
    parts = [column.encode(values, first_row=first_row) for column, values in pairs]
    return Encoded(
        np.hstack([values for values, _ in parts]),
        np.column_stack([is_missing(values) for values in read]),
        np.column_stack([unseen for _, unseen in parts]),
    )


def column_of(table: Mapping[str, Any], name: str) -> Any:
    """A column by its name."""
    check_columns([name], getattr(table, "columns", table))
    return table[name]


def check_columns(needed: Iterable[str], known: Iterable[str]) -> None:
    """Refuse a table that lacks columns."""
    known = list(known)
    lacking = [repr(name) for name in needed if name not in known]
    if lacking:
        columns = "column" if len(lacking) == 1 else "columns"
        raise ValueError(f"the table lacks the {columns} {', '.join(lacking)}: add what is needed")


def target_numbers(name: str, column: Cells) -> Array:
    """The numbers of a target, (m,)."""
    there = [cell for cell in column if cell is not None]
    strange = [cell for cell in there if np.isinf(_number(cell))]
    if 2 * len(strange) > len(there):
        raise ValueError(
            f"the target {name!r} holds text such as {_text(strange[0])!r}: a density is of "
            "numbers, so choose a column of numbers, or turn it into some"
        )
    return numbers(name, column, remedy="correct it, or leave these rows out")
