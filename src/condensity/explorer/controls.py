"""What the reader sets: single inputs, and categories that are several inputs of zeros and ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np

from condensity._typing import Array


@dataclass(frozen=True)
class Control:
    """One input, or one column of categories.

    Parameters
    ----------
    name : str
    inputs : tuple of int
        The inputs that it sets.
    labels : tuple of str, default=()
        Of categories, their names: the input of the category chosen is 1, all others are 0.
    """

    name: str
    inputs: tuple[int, ...]
    labels: tuple[str, ...] = ()


def controls_of(
    names: Sequence[str], categories: Mapping[str, Mapping[str, str | int]]
) -> list[Control]:
    """The controls of inputs with these names, in the order of the inputs."""
    grouped: dict[int, Control] = {}
    for column, members in categories.items():
        if not members:
            raise ValueError(f"categories of {column!r} name no inputs: name inputs of the model")
        inputs = tuple(_place(names, column, member) for member in members.values())
        control = Control(str(column), inputs, tuple(map(str, members)))
        if grouped.keys() & inputs or len(set(inputs)) < len(members):
            raise ValueError(f"categories of {column!r} name an input twice: name each once")
        grouped |= dict.fromkeys(inputs, control)
    single = (grouped.get(j, Control(name, (j,))) for j, name in enumerate(names))
    return list(dict.fromkeys(single))


def _place(names: Sequence[str], column: str, member: str | int) -> int:
    """Where an input is that is told by its name or its place."""
    if isinstance(member, Integral):
        found = [int(member)] if 0 <= member < len(names) else []
    else:
        found = [j for j, name in enumerate(names) if name == member]
    if len(found) != 1:
        raise ValueError(
            f"categories of {column!r} name {member!r}, which is no single input: name inputs of "
            f"the model, or give their places, 0 to {len(names) - 1}"
        )
    return found[0]


def check_categories(controls: Sequence[Control], X: Array) -> None:
    """Refuse samples that are in two categories of a column, or partly in one."""
    for control in controls:
        values = X[:, control.inputs]
        if control.labels and not (np.isin(values, (0, 1)).all() and values.sum(axis=1).max() <= 1):
            raise ValueError(
                f"inputs of the categories of {control.name!r} must be 0, but for one that may be "
                "1: leave it out of categories"
            )
