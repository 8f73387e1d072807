"""Rows of a table that a model can be fitted to, and the columns learned from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from condensity._typing import Array, Indices
from condensity.tables.cells import Cells, cells, count_missing, is_missing, target_numbers
from condensity.tables.columns import CATEGORY, Column
from condensity.tables.errors import ParameterValue, TableError
from condensity.tables.frames import EncodedRows, column_of, encode

#: No column is named as a column of dates.
NO_DATES: Mapping[str, str] = {}


@dataclass(frozen=True, eq=False)
class CompleteRows:
    """Rows of a table that are complete enough for a fit; nothing is learned from them yet."""

    inputs: dict[str, Cells]  # (n,) each
    Y: Array  # (n, dy)
    rows: Indices  # (n,) row numbers in the table, from 1
    missing: dict[str, int]  # numbers of missing values, for the columns that have some
    n_dropped: int

    def __len__(self) -> int:
        return len(self.Y)

    def learn_columns(
        self,
        rows: Indices,
        *,
        categorical: Sequence[str] = (),
        dates: Mapping[str, str] = NO_DATES,
    ) -> tuple[Column, ...]:
        """Columns learned from some of the rows."""
        columns = tuple(
            Column.learn(
                name,
                column[rows],
                as_category=name in categorical,
                as_date=dates.get(name),
                rows=self.rows[rows],
            )
            for name, column in self.inputs.items()
        )
        counts = Counter(name for column in columns for name in column.names)
        for column in columns:
            repeated = [name for name in column.names if counts[name] > 1]
            if repeated and column.kind == CATEGORY:
                raise TableError(
                    f"column {column.name!r} has a category that becomes the input "
                    f"{repeated[0]!r}, which is also the name of a column: rename that column"
                )
        return columns

    def encode(self, columns: Sequence[Column], rows: Indices) -> EncodedRows:
        """Some of the rows as inputs."""
        return encode(columns, {name: column[rows] for name, column in self.inputs.items()})


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """Columns learned from training rows, and these rows as arrays."""

    columns: tuple[Column, ...]
    X: Array  # (n, dx)
    Y: Array  # (n, dy)


def learn_table(
    complete: CompleteRows,
    rows: Indices,
    *,
    categorical: Sequence[str] = (),
    dates: Mapping[str, str] = NO_DATES,
) -> TrainingTable:
    """Columns learned from some of the rows, and these rows encoded."""
    columns = complete.learn_columns(rows, categorical=categorical, dates=dates)
    return TrainingTable(columns, complete.encode(columns, rows).X, complete.Y[rows])


def complete_rows(
    table: Mapping[str, Any],
    features: Sequence[str],
    targets: Sequence[str],
    *,
    missing: str = "error",
) -> CompleteRows:
    """Rows of a table that can be used.

    ``missing`` is the treatment of missing values: "error" raises an error, "drop" leaves their
    rows out, "impute" keeps the rows of missing inputs.  Rows without a target are always left
    out.
    """
    columns = {name: cells(column_of(table, name)) for name in (*features, *targets)}
    gaps = {name: is_missing(column) for name, column in columns.items()}
    counts = count_missing(columns)
    if counts and missing == "error":
        raise missing_values(counts, "drop")
    required = targets if missing == "impute" else list(columns)
    drop = np.any([gaps[name] for name in required], axis=0)
    if drop.all():
        raise TableError(
            f"none of the {len(drop)} rows is complete: name columns with many missing values in ",
            ParameterValue("exclude"),
            ", or choose ",
            ParameterValue("missing", "impute"),
        )
    Y = np.column_stack([target_numbers(name, columns[name]) for name in targets])[~drop]
    rows = np.flatnonzero(~drop)
    inputs = {name: columns[name][rows] for name in features}
    return CompleteRows(inputs, Y, rows + 1, counts, len(drop) - len(rows))


def missing_values(counts: Mapping[str, int], correction: str) -> TableError:
    """Error for missing values, the numbers of which are given by column."""
    listed = ", ".join(f"{name!r} ({count})" for name, count in counts.items())
    return TableError(
        f"values are missing in {listed}: choose ",
        ParameterValue("missing", "drop"),
        " (leave their rows out) or ",
        ParameterValue("missing", "impute"),
        " (fill them in), or name these columns in ",
        ParameterValue("exclude"),
        corrections=[ParameterValue("missing", correction)],
    )
