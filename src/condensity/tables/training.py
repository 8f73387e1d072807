"""Tables to fit to: which rows can be used, and what their columns are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from condensity._typing import Array, Indices
from condensity.tables.frames import (
    CATEGORY,
    Cells,
    Column,
    cells,
    column_of,
    encode,
    is_missing,
    target_numbers,
)


@dataclass(frozen=True, eq=False)
class Complete:
    """The rows of a table that are complete enough to fit to, and nothing learned from them yet."""

    inputs: dict[str, Cells]  # (n,) each
    Y: Array  # (n, dy)
    rows: Indices  # (n,) their numbers in the table, from 1
    missing: dict[str, int]  # values, by the names of columns that lack some
    n_dropped: int

    def __len__(self) -> int:
        return len(self.Y)

    def some(self, rows: Indices) -> dict[str, Cells]:
        """Some of the rows, by their places here."""
        return {name: column[rows] for name, column in self.inputs.items()}

    def learn(self, rows: Indices, *, categorical: Sequence[str] = ()) -> tuple[Column, ...]:
        """What the columns are, from some of the rows."""
        found = tuple(
            Column.learn(name, column, as_category=name in categorical, rows=self.rows[rows])
            for name, column in self.some(rows).items()
        )
        names = [name for column in found for name in column.names]
        for column in found:
            twice = [name for name in column.names if names.count(name) > 1]
            if twice and column.kind == CATEGORY:
                raise ValueError(
                    f"column {column.name!r} has a category that becomes an input {twice[0]!r}, "
                    "and there is a column of that name: give it another"
                )
        return found


@dataclass(frozen=True, eq=False)
class Learned:
    """A table to fit to: its columns, and the rows that are complete enough."""

    columns: tuple[Column, ...]
    X: Array  # (n, dx)
    Y: Array  # (n, dy)
    missing: dict[str, int]  # values, by the names of columns that lack some
    n_dropped: int


def learn(
    table: Mapping[str, Any],
    features: Sequence[str],
    targets: Sequence[str],
    *,
    categorical: Sequence[str] = (),
    missing: str = "error",
) -> Learned:
    """Learn the columns of a table, and encode its rows; of ``missing`` see ``complete``."""
    found = complete(table, features, targets, missing=missing)
    columns = found.learn(np.arange(len(found)), categorical=categorical)
    X = encode(columns, found.inputs).X
    return Learned(columns, X, found.Y, found.missing, found.n_dropped)


def complete(
    table: Mapping[str, Any],
    features: Sequence[str],
    targets: Sequence[str],
    *,
    missing: str = "error",
) -> Complete:
    """The rows of a table that can be used.

    ``missing`` says what to do about missing values: refuse them (error), leave their rows out
    (drop), or put the median for a number and no category for a category (impute).  Rows without
    a target are never filled in.
    """
    read = {name: cells(column_of(table, name)) for name in (*features, *targets)}
    gaps = {name: is_missing(column) for name, column in read.items()}
    counts = {name: int(gap.sum()) for name, gap in gaps.items() if gap.any()}
    if counts and missing == "error":
        told = ", ".join(f"{name!r} ({count})" for name, count in counts.items())
        raise ValueError(
            f"values are missing in {told}: choose --missing drop (leave their rows out) or "
            "--missing impute (fill them in), or leave these columns out"
        )
    needed = targets if missing == "impute" else list(read)
    drop = np.any([gaps[name] for name in needed], axis=0)
    if drop.all():
        raise ValueError(f"none of the {len(drop)} rows is complete: leave columns out or impute")
    Y = np.column_stack([target_numbers(name, read[name]) for name in targets])[~drop]
    rows = np.flatnonzero(~drop)
    inputs = {name: read[name][rows] for name in features}
    return Complete(inputs, Y, rows + 1, counts, len(drop) - len(rows))
