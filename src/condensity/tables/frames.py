"""Columns of tables, and their encoding as arrays.

A table is an object that gives a column by its name: a pandas or polars data frame, or a dict.
Cells are numbers, text or missing.  Text that spells a number is a number.  Column kinds,
categories and medians are learned once, from the training rows.  A chunk of rows is therefore
encoded as it would be within the whole table.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
#: Maximum number of categories in a column.  Each category becomes an input.
MOST_CATEGORIES = 100
NUMBER, FLAG, CATEGORY = KINDS = ("number", "flag", "category")
POLICIES = ("error", "drop", "impute")
LARGEST_EXACT = 2**53  # greater integers are not exact as floats
WHOLE = re.compile(r"([+-]?\d+)\.0*")
DATE = re.compile(r"(\d{4}([-/.])\d{1,2}\2\d{1,2}|\d{1,2}([-/.])\d{1,2}\3\d{4})([T ].*)?")


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
) -> Array:
    """Numbers of a column, NaN for a missing value; an error for other text: (m,).

    The error names the row: rows are counted from ``first_row``, or have the numbers ``rows``.
    """
    values = np.array([np.nan if cell is None else _number(cell) for cell in column], dtype=float)
    invalid = np.isinf(values)
    if invalid.any():
        place = int(np.argmax(invalid))
        row = first_row + place if rows is None else rows[place]
        raise TableError(
            f"column {name!r} must hold numbers, got {_text(column[place])!r} in row {row}: ",
            *remedy,
        )
    return values


def _number(cell: float | str) -> float:
    """A finite number, or infinity for all other cells."""
    try:
        number = float("inf" if isinstance(cell, str) and "_" in cell else cell)
    except ValueError:
        return np.inf
    return number if np.isfinite(number) else np.inf


def _text(cell: float | str) -> str:
    """Name of a category, the same whether it was read as a number or as text."""
    if isinstance(cell, str):
        spelt = WHOLE.fullmatch(cell)
        return spelt[1] if spelt else cell
    return str(int(cell)) if np.isfinite(cell) and cell == round(cell) else repr(cell)


@dataclass(frozen=True)
class Column:
    """An input column of a table, with the rule that turns its values into numbers.

    A number stays a number.  A flag becomes 0 or 1.  A category becomes one input of zeros and
    ones for each of its values.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : {"number", "flag", "category"}
        Kind of its values.
    categories : tuple of str, default=()
        Values of a category.  Empty for numbers and flags.
    fill : float, default=0.0
        Number that replaces a missing value: the median of the training rows.

    See Also
    --------
    TableModel : Fitted estimator with the columns of its table.

    Examples
    --------
    >>> import numpy as np
    >>> from condensity.tables import Column
    >>> colour = Column.learn("colour", np.array(["red", "blue", "red", "blue"], dtype=object))
    >>> colour.names
    ['colour=blue', 'colour=red']
    """

    name: str
    kind: str
    categories: tuple[str, ...] = ()
    fill: float = 0.0

    def __post_init__(self) -> None:
        valid = isinstance(self.name, str) and self.kind in KINDS and np.isfinite(self.fill)
        names = isinstance(self.categories, tuple) and all(
            isinstance(category, str) for category in self.categories
        )
        distinct = names and len(set(self.categories)) == len(self.categories)
        if not (valid and distinct and bool(self.categories) == (self.kind == CATEGORY)):
            raise ValueError(
                f"invalid column {self.name!r}: kind must be one of {', '.join(map(repr, KINDS))}, "
                "categories different strings (empty unless kind is 'category'), fill a finite "
                f"number, got {self.kind!r}, {self.categories!r}, {self.fill!r}"
            )

    @classmethod
    def learn(
        cls, name: str, column: Cells, *, as_category: bool = False, rows: Indices | None = None
    ) -> Column:
        """Column with the kind, categories and median of some values.

        Parameters
        ----------
        name : str
            Name of the column.
        column : ndarray of shape (n,)
            Cells: floats, text, or None for a missing value.
        as_category : bool, default=False
            Whether numbers are categories.
        rows : None or ndarray of shape (n,), default=None
            Row numbers for error messages.  None: 1, 2, ...

        Returns
        -------
        Column
            The column.

        Raises
        ------
        TableError
            If the values cannot be an input: no values, dates, too many categories, or a word
            among numbers.
        """
        present = [cell for cell in column if cell is not None]
        if not present:
            raise TableError(f"column {name!r} has no values: ", *LEAVE_OUT)
        if as_category:
            return cls(name, CATEGORY, _categories(name, present))
        if {_text(cell).lower() for cell in present} <= {"true", "false"}:
            return cls(name, FLAG, fill=float(np.mean(_flags(present)) > 0.5))
        values = np.array([_number(cell) for cell in present])
        finite = values[np.isfinite(values)]
        if 2 * len(finite) > len(present):
            remedy = (
                "correct the value, or name the column in ",
                ParameterValue("exclude"),
                " or ",
                ParameterValue("categorical"),
            )
            number_column(name, column, *remedy, rows=rows)
            return cls(name, NUMBER, fill=float(np.median(finite)))
        return cls(name, CATEGORY, _categories(name, present))

    @property
    def names(self) -> list[str]:
        """Names of the inputs that the column becomes."""
        return [f"{self.name}={c}" for c in self.categories] or [self.name]

    def encode(self, column: Cells, *, first_row: int = 1) -> tuple[Array, Mask]:
        """Encode values of the column as numbers.

        Parameters
        ----------
        column : ndarray of shape (m,)
            Cells: floats, text, or None for a missing value.
        first_row : int, default=1
            Number of the first row, for error messages.

        Returns
        -------
        values : ndarray of shape (m, k)
            Inputs.  A missing number is replaced by ``fill``.  A missing or unknown category is
            zero in all inputs.
        unseen : ndarray of shape (m,)
            Mask of the categories that are unknown.
        """
        if self.kind == CATEGORY:
            index = {category: k for k, category in enumerate(self.categories)}
            at = np.array([-1 if c is None else index.get(_text(c), -1) for c in column], dtype=int)
            one_hot = (at[:, None] == np.arange(len(index))).astype(float)
            return one_hot, (at < 0) & ~is_missing(column)
        if self.kind == FLAG:
            column = _flags(column)
        remedy = "correct the value, or fit a new model to the new kind of values"
        values = number_column(self.name, column, remedy, first_row=first_row)
        filled = np.where(np.isnan(values), self.fill, values)[:, None]
        return filled, np.zeros(len(column), dtype=bool)


LEAVE_OUT = ("name it in ", ParameterValue("exclude"))


def _flags(column: Iterable[Any]) -> Cells:
    """Cells with 1 for true and 0 for false."""
    spelt = {"true": 1.0, "false": 0.0}
    values = [spelt.get(c.lower(), c) if isinstance(c, str) else c for c in column]
    return np.fromiter(values, dtype=object, count=len(values))


def _categories(name: str, present: Sequence[float | str]) -> tuple[str, ...]:
    categories = sorted({_text(cell) for cell in present})
    if all(DATE.fullmatch(category) for category in categories):
        raise TableError(
            f"column {name!r} holds dates such as {categories[0]!r}: ",
            *LEAVE_OUT,
            ", or replace it by numbers such as the year or the days since a fixed day",
        )
    if len(categories) > min(MOST_CATEGORIES, max(2, len(present) / 2)):
        raise TableError(
            f"column {name!r} has {len(categories)} categories in {len(present)} rows, such as "
            f"{categories[0]!r}, which is too many: ",
            *LEAVE_OUT,
            ", or merge categories",
        )
    return tuple(categories)


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """Rows of a table as inputs, with masks of missing values and unknown categories."""

    X: Array  # (m, dx)
    missing: Mask  # (m, columns)
    unseen: Mask  # (m, columns) categories that did not occur in the training rows

    def refuse_missing(self, names: Sequence[str], *, first_row: int = 1, remedy: str) -> None:
        """Raise an error if a value is missing."""
        if self.missing.any():
            row, column = (int(i) for i in np.argwhere(self.missing)[0])
            raise TableError(
                f"column {names[column]!r} has no value in row {first_row + row}: {remedy}"
            )


def encode(
    columns: Sequence[Column], table: Mapping[str, Any], *, first_row: int = 1
) -> EncodedRows:
    """Rows of a table as inputs."""
    check_columns([column.name for column in columns], column_names_of(table))
    values = [cells(table[column.name]) for column in columns]
    pairs = list(zip(columns, values, strict=True))
    parts = [column.encode(column_cells, first_row=first_row) for column, column_cells in pairs]
    return EncodedRows(
        np.hstack([encoded for encoded, _ in parts]),
        np.column_stack([is_missing(column_cells) for column_cells in values]),
        np.column_stack([unseen for _, unseen in parts]),
    )


def column_names_of(table: Any) -> list[Any]:
    """Column names of a data frame or a dict of columns."""
    if isinstance(table, np.ndarray | str) or not hasattr(table, "__getitem__"):
        raise TypeError(
            "table must be a data frame or a dict of columns, got "
            f"{'an array' if isinstance(table, np.ndarray) else type(table).__name__}"
        )
    return list(getattr(table, "columns", table))


def first_repeated(names: Iterable[Any]) -> Any | None:
    """The first name that occurs more than once, or None."""
    return next((name for name, count in Counter(names).items() if count > 1), None)


def column_of(table: Mapping[str, Any], name: str) -> Any:
    """A column of a table by its name."""
    check_columns([name], column_names_of(table))
    return table[name]


def check_columns(needed: Iterable[str], known: Iterable[str]) -> None:
    """Raise an error if a table lacks columns."""
    known = set(known)
    lacking = [repr(name) for name in needed if name not in known]
    if lacking:
        columns, them = ("column", "it") if len(lacking) == 1 else ("columns", "them")
        raise TableError(f"the table lacks the {columns} {', '.join(lacking)}: add {them}")


def target_numbers(name: str, column: Cells) -> Array:
    """Numbers of a target column, NaN for a missing value: (m,)."""
    present = [cell for cell in column if cell is not None]
    text = [cell for cell in present if np.isinf(_number(cell))]
    if 2 * len(text) > len(present):
        raise TableError(
            f"target {name!r} holds text such as {_text(text[0])!r}: a density needs numbers, so "
            "choose a column of numbers, or replace the text by numbers"
        )
    return number_column(name, column, "correct the value, or leave the row out")
