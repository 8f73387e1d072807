"""What densities are asked, as columns of the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from condensity._typing import Array
from condensity.cli import options
from condensity.cli.reading import Block
from condensity.tables.evaluate import marginals
from condensity.tables.frames import cells, column_of, numbers
from condensity.tables.model import TableModel

Ask = Callable[[Any, Block, int], Array]  # densities, their rows, number of the first: (m, k)


@dataclass(frozen=True)
class Question:
    """Columns of the answer, by their names, and how they are found."""

    names: list[str]
    ask: Ask


def _each(model: TableModel, parts: Sequence[str], ask: Callable[[Any], Array]) -> Question:
    """A question to every output: columns named by it."""
    names = [f"{target}_{part}" for target in model.targets for part in parts]

    def every(dist: Any, block: Block, first: int) -> Array:
        return np.hstack([ask(m).reshape(len(m), -1) for m in marginals(dist)])

    return Question(names, every)


def means(model: TableModel) -> Question:
    """E[y|x]."""
    return _each(model, ["mean"], lambda m: m.mean())


def quantiles(model: TableModel, given: str | None) -> Question:
    """Quantiles at levels such as ``0.05,0.5``."""
    found = options.levels("--quantiles", given)
    levels = np.array([q for _, q in found])
    return _each(model, [f"q{spelt}" for spelt, _ in found], lambda m: _at(m.quantile, levels, m))


def intervals(model: TableModel, given: str | None) -> Question:
    """Ends of central intervals of probabilities such as ``0.9``."""
    found = options.levels("--interval", given)
    names = [f"{end}_{spelt}" for spelt, _ in found for end in ("lower", "upper")]
    ends = np.array([q for _, level in found for q in ((1 - level) / 2, (1 + level) / 2)])
    return _each(model, names, lambda m: _at(m.quantile, ends, m))


def above(model: TableModel, given: str | None) -> Question:
    """Probabilities of more than numbers such as ``100``."""
    found = options.numbers("--prob-above", given)

    def ask(m: Any) -> Array:
        return _columns([m.prob(value, np.inf) for _, value in found], m)

    return _each(model, [f"prob_above_{spelt}" for spelt, _ in found], ask)


def samples(model: TableModel, n: int, seed: int) -> Question:
    """``n`` draws from each density, of all outputs together."""
    rng = np.random.default_rng(seed)
    names = [f"{target}_sample{k + 1}" for target in model.targets for k in range(n)]

    def ask(dist: Any, block: Block, first: int) -> Array:
        draws = dist.sample(n, rng).reshape(len(dist), n, -1) if n else np.empty((len(dist), 0, 1))
        return np.swapaxes(draws, 1, 2).reshape(len(dist), -1)

    return Question(names, ask)


def density(model: TableModel, given: str | None) -> Question:
    """Densities at numbers or at columns; of several outputs one, at a point for each."""
    parts = [part.strip() for part in given.split(",")] if given else []
    dy = len(model.targets)
    if dy > 1 and parts and len(parts) != dy:
        raise ValueError(
            f"--pdf has {len(parts)} parts for {dy} targets: give a number or a column for each"
        )
    names = (
        [f"{model.targets[0]}_pdf_{part}" for part in parts] if dy == 1 else ["pdf"][: len(parts)]
    )

    def ask(dist: Any, block: Block, first: int) -> Array:
        points = [_point(part, block, len(dist), first) for part in parts]
        if dy > 1 and points:
            return np.asarray(dist.pdf(np.column_stack(points)))[:, None]
        return _columns([np.asarray(dist.pdf(y)) for y in points], dist)

    return Question(names, ask)


def _point(part: str, block: Block, n: int, first: int) -> Array:
    """The same number for every row, or the values of a column."""
    try:
        return np.full(n, float(part))
    except ValueError:
        values = cells(column_of(block, part))
        found = numbers(part, values, first_row=first, remedy="correct it for --pdf")
        if np.isnan(found).any():
            row = first + int(np.isnan(found).argmax())
            raise ValueError(
                f"column {part!r} has no value in row {row}: --pdf needs one in every row"
            ) from None
        return found


def _at(quantile: Callable[[Any], Array], levels: Array, m: Any) -> Array:
    return quantile(levels) if len(levels) else np.empty((len(m), 0))


def _columns(found: list[Array], m: Any) -> Array:
    return np.column_stack(found) if found else np.empty((len(m), 0))
