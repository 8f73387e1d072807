"""All problems of a table at once, with the settings that solve them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from condensity.tables.cells import (
    Cells,
    category_name,
    cells,
    count_missing,
    is_missing,
    target_numbers,
)
from condensity.tables.column_selection import ColumnSelection
from condensity.tables.columns import Column
from condensity.tables.errors import ParameterValue, Part, TableError
from condensity.tables.frames import column_of
from condensity.tables.training import missing_values

#: Largest share of rows that the proposed correction drops; it fills values in if there are more.
MOST_DROPPED = 0.05
#: Minimum number of rows for which different whole numbers may be an identifier.
FEWEST_IDENTIFIERS = 20


def all_problems(
    frame: Mapping[str, Any], selection: ColumnSelection, missing: str
) -> TableError | None:
    """One error for all problems of a table, or None if its columns can be used."""
    names = (*selection.features, *selection.targets)
    columns = {name: cells(column_of(frame, name)) for name in names}
    errors = [*_target_errors(columns, selection)]
    by_column = dict(_column_errors(columns, selection))
    used = {name: column for name, column in columns.items() if name not in by_column}
    counts = count_missing(used)
    if counts and missing == "error":
        dropped = np.any([is_missing(column) for column in used.values()], axis=0).mean()
        errors.append(missing_values(counts, "drop" if dropped <= MOST_DROPPED else "impute"))
    errors += by_column.values()
    if not errors:
        return None
    rest = {name: columns[name] for name in selection.features if name not in by_column}
    hints = [_identifier(name, rest[name]) for name in identifiers(rest, selection)]
    return _together(errors, hints, {"exclude": selection.excluded})


def _target_errors(
    columns: Mapping[str, Cells], selection: ColumnSelection
) -> Iterator[TableError]:
    for name in selection.targets:
        try:
            target_numbers(name, columns[name])
        except TableError as error:
            yield error


def _column_errors(
    columns: Mapping[str, Cells], selection: ColumnSelection
) -> Iterator[tuple[str, TableError]]:
    for name in selection.features:
        try:
            Column.learn(
                name,
                columns[name],
                as_category=name in selection.categorical,
                as_date=selection.dates.get(name),
            )
        except TableError as error:
            yield name, error


def identifiers(columns: Mapping[str, Cells], selection: ColumnSelection) -> list[str]:
    """Columns of different whole numbers that the caller has not named as inputs."""
    named = {*selection.named, *selection.categorical, *selection.dates}
    return [name for name, column in columns.items() if name not in named and _all_differ(column)]


def identifier_parts(name: str, column: Cells) -> list[Part]:
    """Parts of a message about a column that may be an identifier."""
    examples = ", ".join(category_name(cell) for cell in column[:3])
    return [
        f"column {name!r} has a different whole number in each row, such as {examples}: if it is "
        "an identifier, name it in ",
        ParameterValue("exclude"),
    ]


def _all_differ(column: Cells) -> bool:
    """Whether all cells are whole numbers, none occurs twice, and there are many."""
    if len(column) < FEWEST_IDENTIFIERS or is_missing(column).any():
        return False
    try:
        numbers = column.astype(float)
    except ValueError:
        return False
    whole = np.isfinite(numbers).all() and (numbers == np.round(numbers)).all()
    return bool(whole and len(np.unique(numbers)) == len(numbers))


def _identifier(name: str, column: Cells) -> TableError:
    correction = ParameterValue("exclude", [name])
    return TableError(*identifier_parts(name, column), corrections=[correction])


def _together(
    errors: Sequence[TableError], hints: Sequence[TableError], current: Mapping[str, list[str]]
) -> TableError:
    """One error with the messages and the corrections of all.

    There are no corrections if one of the errors has none.
    """
    found = [*errors, *hints]
    settings = [setting for error in found for setting in error.corrections]
    corrections = _merged(settings, current) if all(e.corrections for e in found) else []
    if len(found) == 1:
        return TableError(*found[0].parts, corrections=corrections)
    parts: list[Part] = [f"the table has {len(found)} problems:"]
    for error in found:
        parts += ["\n  - ", *error.parts]
    return TableError(*parts, corrections=corrections)


def _merged(
    settings: Sequence[ParameterValue], current: Mapping[str, list[str]]
) -> list[ParameterValue]:
    """One setting for each parameter; lists continue their current values."""
    values: dict[str, Any] = {}
    for setting in settings:
        if isinstance(setting.value, dict):
            values[setting.name] = values.get(setting.name, {}) | setting.value
        elif isinstance(setting.value, list):
            known = values.setdefault(setting.name, list(current.get(setting.name, [])))
            known += [value for value in setting.value if value not in known]
        else:
            values[setting.name] = setting.value
    return [ParameterValue(name, value) for name, value in values.items()]
