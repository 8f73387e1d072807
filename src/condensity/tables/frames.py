"""Tables as arrays: access to their columns, and encoded rows.

A table is an object that gives a column by its name: a pandas or polars data frame, or a dict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from condensity._typing import Array, Mask
from condensity.tables.cells import cells, is_missing
from condensity.tables.columns import Column
from condensity.tables.errors import TableError


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """Rows of a table as inputs, with masks of missing values and unknown categories."""

    X: Array  # (m, dx)
    missing: Mask  # (m, columns)
    unseen: Mask  # (m, columns) categories that did not occur in the training rows
    outside: Mask  # (m, columns) numbers and dates outside the range of the training rows

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
    outside = [column.outside(encoded) for column, (encoded, _) in zip(columns, parts, strict=True)]
    return EncodedRows(
        np.hstack([encoded for encoded, _ in parts]),
        np.column_stack([is_missing(column_cells) for column_cells in values]),
        np.column_stack([unseen for _, unseen in parts]),
        np.column_stack(outside),
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
