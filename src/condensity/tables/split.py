"""Training rows and held-out rows of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from condensity._typing import Array, Indices, Mask
from condensity._utils.parameters import check_rng
from condensity.data.bounded_targets import check_bounds, is_automatic
from condensity.tables.column_selection import ColumnSelection
from condensity.tables.columns import DATE, Column
from condensity.tables.errors import ParameterValue, Part, TableError, count_noun
from condensity.tables.table_problems import all_problems, identifier_parts, identifiers
from condensity.tables.training import CompleteRows, TrainingTable, complete_rows, learn_table

#: Minimum number of training rows.
FEWEST_ROWS = 10
#: Largest share of the rows that can be held out.
LARGEST_TEST_SIZE = 0.9


#: A fact for the user, as text or as parts of a message.
Note = str | Sequence[Part]


@dataclass(frozen=True, eq=False)
class SplitTable:
    """Training rows and held-out rows of a table, as arrays."""

    training: TrainingTable
    held_out: tuple[Array, Array] | None  # X (m, dx), Y (m, dy)
    notes: tuple[Note, ...]  # facts for the user


def split_table(
    frame: Mapping[str, Any],
    selection: ColumnSelection,
    density: Any,
    *,
    missing: str,
    test_size: float,
    random_state: Any,
) -> SplitTable:
    """Split the complete rows, and learn the columns from the training rows alone.

    If the table cannot be used, one error lists all its problems.
    """
    try:
        return _split(frame, selection, density, missing, test_size, random_state)
    except TableError as error:
        problems = all_problems(frame, selection, missing)
        if problems is None:
            raise
        raise problems from error


def _split(
    frame: Mapping[str, Any],
    selection: ColumnSelection,
    density: Any,
    missing: str,
    test_size: float,
    random_state: Any,
) -> SplitTable:
    complete = complete_rows(frame, selection.features, selection.targets, missing=missing)
    _check_targets_inside(density, complete, selection.targets)
    train, test = split_rows(len(complete), test_size, random_state)
    training = learn_table(
        complete, train, categorical=selection.categorical, dates=selection.dates
    )
    _check_components(density, training.X)
    notes: list[Note] = [
        *selection.notes,
        *_missing_notes(complete, missing),
        *_identifier_notes(complete, selection),
        *_date_notes(training, selection),
        *_constant_notes(training),
    ]
    if not len(test):
        return SplitTable(training, None, tuple(notes))
    encoded = complete.encode(training.columns, test)
    held_out = encoded.X, complete.Y[test]
    notes += [*_unseen_notes(training.columns, encoded.unseen), *_copy_notes(training, held_out)]
    return SplitTable(training, held_out, tuple(notes))


def split_rows(n: int, test_size: float, random_state: Any) -> tuple[Indices, Indices]:
    """Training rows and held-out rows, drawn at random, both in increasing order."""
    number = isinstance(test_size, Real) and not isinstance(test_size, bool)
    if not (number and 0 <= test_size <= LARGEST_TEST_SIZE):
        raise TableError(
            ParameterValue("test_size"),
            f" must be a number from 0 to {LARGEST_TEST_SIZE}, got {test_size!r}",
        )
    rows = check_rng(random_state).permutation(n)
    n_test = max(2, round(test_size * n)) if test_size > 0 else 0
    if n - n_test < FEWEST_ROWS:
        raise TableError(
            f"{max(n - n_test, 0)} complete rows are left for training, which is too few: give at "
            f"least {FEWEST_ROWS}, choose ",
            ParameterValue("missing", "impute"),
            ", or hold no rows out with ",
            ParameterValue("test_size", 0),
        )
    return np.sort(rows[n_test:]), np.sort(rows[:n_test])


def _check_targets_inside(density: Any, complete: CompleteRows, targets: Sequence[str]) -> None:
    """Raise an error that names a row of the table; the estimator has no row numbers of it."""
    given = getattr(density, "bounds", None)
    if given is None or is_automatic(given):
        return
    bounds = check_bounds(given, len(targets))
    for name, y, lower, upper in zip(
        targets, complete.Y.T, bounds.lower, bounds.upper, strict=True
    ):
        outside = np.flatnonzero((y <= lower) | (y >= upper))
        if len(outside):
            first = outside[0]
            raise TableError(
                f"{len(outside)} of {count_noun(len(y), 'value')} of {name!r} are not strictly "
                f"between {lower:g} and {upper:g} (",
                ParameterValue("bounds"),
                f"), the first is {y[first]:g} in row {complete.rows[first]}: widen the bounds, "
                "or model the values at a bound separately",
            )


def _check_components(density: Any, X: Array) -> None:
    n_components, n_inputs = getattr(density, "n_components", None), X.shape[1]
    if isinstance(n_components, int) and n_components > n_inputs:
        raise TableError(
            ParameterValue("n_components", n_components),
            f" is more than the {count_noun(n_inputs, 'input')} that the columns give: choose at "
            f"most {n_inputs}, or auto",
        )


def _missing_notes(complete: CompleteRows, missing: str) -> Iterator[str]:
    if not complete.missing:
        return
    listed = ", ".join(f"{name!r} ({n})" for name, n in complete.missing.items())
    treatment = []
    if complete.n_dropped:
        which = " without a target" if missing == "impute" else ""
        treatment += [
            f"{count_noun(complete.n_dropped, 'row')}{which} left out, "
            f"{count_noun(len(complete), 'row')} used"
        ]
    if missing == "impute":
        treatment += ["missing numbers are replaced by medians, missing categories by zeros"]
    yield f"missing values in {listed}: {'; '.join(treatment)}"


def _identifier_notes(complete: CompleteRows, selection: ColumnSelection) -> Iterator[Note]:
    for name in identifiers(complete.inputs, selection):
        yield identifier_parts(name, complete.inputs[name])


def _date_notes(training: TrainingTable, selection: ColumnSelection) -> Iterator[Note]:
    for column in training.columns:
        if column.kind == DATE and column.name not in selection.dates:
            yield [
                f"column {column.name!r} holds dates, which become the inputs "
                f"{', '.join(column.names)}: to leave them out, name the column in ",
                ParameterValue("exclude"),
            ]


def _constant_notes(training: TrainingTable) -> Iterator[str]:
    names = [name for column in training.columns for name in column.names]
    for name, values in zip(names, training.X.T, strict=True):
        if (values == values[0]).all():
            yield f"input {name!r} is constant in the training rows and has no effect"


def _unseen_notes(columns: Sequence[Column], unseen: Mask) -> Iterator[str]:
    for column, mask in zip(columns, unseen.T, strict=True):
        if mask.any():
            rows = count_noun(int(mask.sum()), "held-out row")
            yield (
                f"column {column.name!r} has categories in {rows} that do not occur in the "
                "training rows; they are encoded as zeros"
            )


def _copy_notes(training: TrainingTable, held_out: tuple[Array, Array]) -> Iterator[str]:
    known = {row.tobytes() for row in np.hstack([training.X, training.Y])}
    copies = sum(row.tobytes() in known for row in np.hstack(held_out))
    if copies:
        rows = count_noun(len(held_out[0]), "held-out row")
        yield (
            f"{copies} of {rows} equal training rows; if the table has duplicates, the evaluation "
            "is too good"
        )
