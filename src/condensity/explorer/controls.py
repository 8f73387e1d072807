"""Controls of the page: single inputs, and categories encoded as inputs of zeros and ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from condensity._typing import Array


@dataclass(frozen=True)
class Control:
    """One input, or one column of categories.

    Parameters
    ----------
    name : str
        Name of the input or column.
    inputs : tuple of int
        Indices of the inputs that it sets.
    labels : tuple of str, default=()
        Names of the categories: the input of the selected category is 1, the others are 0.
    """

    name: str
    inputs: tuple[int, ...]
    labels: tuple[str, ...] = ()


def controls_of(
    names: Sequence[str], categories: Mapping[str, Mapping[str, str | int]]
) -> list[Control]:
    """Controls of inputs with these names, in the order of the inputs."""
    grouped: dict[int, Control] = {}
    for column, members in categories.items():
        if not members:
            raise ValueError(
                f"categories of {column!r} are empty: map each category to an input of the model"
            )
        inputs = tuple(_index_of(names, column, member) for member in members.values())
        control = Control(str(column), inputs, tuple(map(str, members)))
        if grouped.keys() & inputs or len(set(inputs)) < len(members):
            raise ValueError(
                f"categories of {column!r} use an input twice: map each input to one category"
            )
        grouped |= dict.fromkeys(inputs, control)
    single = (grouped.get(j, Control(name, (j,))) for j, name in enumerate(names))
    return list(dict.fromkeys(single))


def _index_of(names: Sequence[str], column: str, member: Any) -> int:
    """Index of an input that is identified by its name or its index."""
    if isinstance(member, Integral):
        matches = [int(member)] if 0 <= int(member) < len(names) else []
    else:
        matches = [j for j, name in enumerate(names) if name == member]
    if len(matches) != 1:
        raise ValueError(
            f"categories of {column!r} refer to {member!r}, which matches {len(matches)} inputs "
            f"instead of one: pass the name of one input, or its index, 0 to {len(names) - 1}"
        )
    return matches[0]


def check_categories(controls: Sequence[Control], X: Array) -> None:
    """Raise ValueError if a sample is in two categories of a column, or partly in one."""
    for control in controls:
        values = X[:, control.inputs]
        if control.labels and not (np.isin(values, (0, 1)).all() and values.sum(axis=1).max() <= 1):
            raise ValueError(
                f"in each row of X, the inputs of the categories of {control.name!r} must be 0, "
                "with at most one that is 1: remove this column from categories"
            )
