"""What the reader sets: single inputs, and categories that are several inputs of zeros and ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from condensity.core.kernels import Array


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


def controls_of(names: Sequence[str], categories: Mapping[str, Mapping[str, str]]) -> list[Control]:
    """The controls of inputs with these names, in the order of the inputs."""
    place = {name: j for j, name in enumerate(names)}
    grouped: dict[int, Control] = {}
    for column, members in categories.items():
        unclear = [name for name in members.values() if list(names).count(name) != 1]
        if unclear or not members:
            told = f"{unclear[0]!r}, which is no single input" if unclear else "no inputs"
            raise ValueError(f"categories of {column!r} name {told}: name inputs of the model")
        control = Control(column, tuple(place[name] for name in members.values()), tuple(members))
        if grouped.keys() & control.inputs or len(set(control.inputs)) < len(members):
            raise ValueError(f"categories of {column!r} name an input twice: name each once")
        grouped |= dict.fromkeys(control.inputs, control)
    single = (grouped.get(j, Control(name, (j,))) for j, name in enumerate(names))
    return list(dict.fromkeys(single))


def check_categories(controls: Sequence[Control], X: Array) -> None:
    """Refuse samples that are in two categories of a column, or partly in one."""
    for control in controls:
        values = X[:, control.inputs]
        if control.labels and not (np.isin(values, (0, 1)).all() and values.sum(axis=1).max() <= 1):
            raise ValueError(
                f"inputs of the categories of {control.name!r} must be 0, but for one that may be "
                "1: leave it out of categories"
            )
