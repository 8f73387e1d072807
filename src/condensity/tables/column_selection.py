"""Targets and inputs of a fit: which columns of a table they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from condensity.tables.dates import ORDERS
from condensity.tables.errors import ParameterValue, Part, TableError
from condensity.tables.frames import column_names_of, first_repeated

Names = str | Sequence[str] | None
DateOrders = Names | Mapping[str, str]


@dataclass(frozen=True)
class ColumnSelection:
    """Names of the columns of a fit."""

    targets: list[str]
    features: list[str]
    categorical: list[str]
    dates: dict[str, str]  # order of year, month and day in columns of dates, "" if not known
    named: list[str]  # inputs that the caller has named one by one
    excluded: list[str]
    notes: tuple[str, ...] = ()  # facts for the user


def select_columns(
    frame: Mapping[str, Any],
    target: Names,
    features: Names,
    exclude: Names,
    categorical: Names,
    dates: DateOrders = None,
) -> ColumnSelection:
    """Targets and inputs of a fit; an error names the parameter that is wrong."""
    known = _unique_names(frame)
    targets, included, excluded, categories = map(
        _as_list, (target, features, exclude, categorical)
    )
    orders = _date_orders(dates)
    others = {
        "features": included,
        "exclude": excluded,
        "categorical": categories,
        "dates": list(orders),
    }
    for parameter, names in {"target": targets, **others}.items():
        check_names(parameter, names, known)
    _check_targets(targets, others)
    inputs, notes = _inputs(included or known, omitted={*targets, *excluded})
    _check_kinds(orders, categories)
    return ColumnSelection(targets, inputs, categories, orders, included, excluded, notes)


def _check_targets(targets: list[str], others: Mapping[str, list[str]]) -> None:
    """Check that there is a target, and that each one is named once, by one parameter."""
    if not targets:
        raise TableError(ParameterValue("target"), " is empty: name at least one column")
    for name in targets:
        if targets.count(name) > 1:
            raise TableError(ParameterValue("target"), f" names {name!r} twice: name it once")
        for parameter, names in others.items():
            if name in names:
                raise TableError(
                    f"column {name!r} is a target: remove it from ", ParameterValue(parameter)
                )


def _inputs(candidates: list[str], omitted: set[str]) -> tuple[list[str], tuple[str, ...]]:
    """Different names of the input columns, at least one, and facts for the user."""
    chosen = [name for name in candidates if name not in omitted]
    notes: tuple[str, ...] = ()
    if "" in chosen:
        notes = ("the column without a name is left out; it may hold row numbers",)
        chosen.remove("")
    if not chosen:
        raise TableError(
            "no input column is left: name one in ",
            ParameterValue("features"),
            ", or remove one from ",
            ParameterValue("exclude"),
        )
    return list(dict.fromkeys(chosen)), notes


def _check_kinds(orders: Mapping[str, str], categories: list[str]) -> None:
    """Check that no column is of dates and of categories."""
    both = next((name for name in orders if name in categories), None)
    if both is not None:
        raise TableError(
            f"column {both!r} cannot be both: remove it from ",
            ParameterValue("dates"),
            " or from ",
            ParameterValue("categorical"),
        )


def _date_orders(dates: DateOrders) -> dict[str, str]:
    """Columns of dates, with the order of year, month and day or ""."""
    orders = dict(dates) if isinstance(dates, Mapping) else dict.fromkeys(_as_list(dates), "")
    for name, order in orders.items():
        if order not in ("", *ORDERS):
            raise TableError(
                ParameterValue("dates"),
                f" has the order {order!r} for the column {name!r}: choose {', '.join(ORDERS)}",
            )
    return orders


def _unique_names(frame: Any) -> list[str]:
    """Column names of a table, which must be different strings; columns must be equally long."""
    names = column_names_of(frame)
    for name in names:
        if not isinstance(name, str):
            raise TableError(f"column names must be strings, got {name!r}: rename the column")
    repeated = first_repeated(names)
    if repeated is not None:
        raise TableError(f"several columns are named {repeated!r}: rename all but one")
    shapes = {name: np.shape(frame[name]) for name in names}
    for name, shape in shapes.items():
        if len(shape) != 1:
            raise TableError(
                f"column {name!r} must be one-dimensional, got shape {shape}: give a value for "
                "each row"
            )
    lengths = {name: n for name, (n,) in shapes.items()}
    if len(set(lengths.values())) > 1:
        short, long = (f(lengths, key=lengths.__getitem__) for f in (min, max))
        raise TableError(
            f"columns must have equal lengths, got {lengths[short]} values in {short!r} and "
            f"{lengths[long]} in {long!r}: correct the table"
        )
    if not any(lengths.values()):
        raise TableError("the table has no rows: pass a table with rows")
    return names


def _as_list(names: Names) -> list[str]:
    return [] if names is None else [names] if isinstance(names, str) else list(names)


def check_names(parameter: str, names: Sequence[str], known: Sequence[str]) -> None:
    """Raise an error if a name that a parameter gives is not a column."""
    columns = set(known)
    for name in names:
        if name in columns:
            continue
        parts = [part.strip() for part in name.split(",")] if isinstance(name, str) else []
        if len(parts) > 1 and set(parts) <= columns:
            remedy: tuple[Part, ...] = ("pass ", ParameterValue(parameter, parts))
        else:
            remedy = (f"choose among {', '.join(map(repr, known))}",)
        raise TableError(
            ParameterValue(parameter), f" names {name!r}, which is not a column: ", *remedy
        )
