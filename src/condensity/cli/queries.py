"""Queries of densities, as columns of the output of ``condensity predict``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from condensity._typing import Array
from condensity.cli import options
from condensity.cli.reading import RowBlock
from condensity.distributions import Distribution
from condensity.tables import TableModel
from condensity.tables.cells import cells, number_column
from condensity.tables.frames import column_of

#: Most draws for each row: a block of 256 rows then takes a few hundred megabytes.
MOST_DRAWS = 100_000

#: Densities, their rows, and the number of the first row, to columns (m, k).
ColumnFunction = Callable[[Distribution, RowBlock, int], Array]


@dataclass(frozen=True)
class Query:
    """Columns of the output: their names, and the function that computes them."""

    names: list[str]
    answer: ColumnFunction


def _for_each_output(
    model: TableModel, suffixes: Sequence[str], compute: Callable[[Distribution], Array]
) -> Query:
    """A query for each output by itself."""
    names = [f"{target}_{suffix}" for target in model.targets for suffix in suffixes]

    def answer(dist: Distribution, block: RowBlock, first_row: int) -> Array:
        return np.hstack([compute(m).reshape(len(m), -1) for m in dist.marginals()])

    return Query(names, answer)


def means(model: TableModel) -> Query:
    """Means E[y|x]."""
    return _for_each_output(model, ["mean"], lambda m: m.mean())


def quantiles(model: TableModel, text: str | None) -> Query:
    """Quantiles at levels such as ``0.05,0.5``."""
    parsed = options.parse_levels("--quantiles", text)
    levels = np.array([level for _, level in parsed])
    names = [f"q{spelling}" for spelling, _ in parsed]
    return _for_each_output(model, names, lambda m: _quantiles(m, levels))


def intervals(model: TableModel, text: str | None) -> Query:
    """Ends of central intervals of probabilities such as ``0.9``."""
    parsed = options.parse_levels("--interval", text)
    names = [f"{end}_{spelling}" for spelling, _ in parsed for end in ("lower", "upper")]
    levels = np.array([q for _, p in parsed for q in ((1 - p) / 2, (1 + p) / 2)])
    return _for_each_output(model, names, lambda m: _quantiles(m, levels))


def probabilities_above(model: TableModel, text: str | None) -> Query:
    """Probabilities that the output exceeds numbers such as ``100``."""
    parsed = options.parse_numbers("--prob-above", text)

    def compute(m: Distribution) -> Array:
        return _columns([m.prob(value, np.inf) for _, value in parsed], len(m))

    return _for_each_output(model, [f"prob_above_{spelling}" for spelling, _ in parsed], compute)


def random_draws(model: TableModel, n: int, seed: int) -> Query:
    """``n`` draws from each joint density of the outputs."""
    if n * len(model.targets) > MOST_DRAWS:
        raise ValueError(
            f"--sample {n} gives {n * len(model.targets)} numbers for each row, the maximum is "
            f"{MOST_DRAWS}: ask for fewer, or run the command again with another --seed"
        )
    rng = np.random.default_rng(seed)
    names = [f"{target}_sample{k + 1}" for target in model.targets for k in range(n)]

    def answer(dist: Distribution, block: RowBlock, first_row: int) -> Array:
        draws = dist.sample(n, rng).reshape(len(dist), n, -1) if n else np.empty((len(dist), 0, 1))
        return np.swapaxes(draws, 1, 2).reshape(len(dist), -1)

    return Query(names, answer)


def density_values(model: TableModel, text: str | None) -> Query:
    """Densities at numbers or at columns; for several outputs, the joint density at one point."""
    parts = [part.strip() for part in text.split(",")] if text else []
    dy = len(model.targets)
    if dy > 1 and parts and len(parts) != dy:
        raise ValueError(
            f"--pdf has {len(parts)} parts for {dy} targets: give a number or a column for each"
        )
    names = (
        [f"{model.targets[0]}_pdf_{part}" for part in parts] if dy == 1 else ["pdf"][: len(parts)]
    )

    def answer(dist: Distribution, block: RowBlock, first_row: int) -> Array:
        points = [_point(part, block, len(dist), first_row) for part in parts]
        if dy > 1 and points:
            return np.asarray(dist.pdf(np.column_stack(points)))[:, None]
        return _columns([np.asarray(dist.pdf(y)) for y in points], len(dist))

    return Query(names, answer)


def _point(part: str, block: RowBlock, n: int, first_row: int) -> Array:
    """The same number for every row, or the values of a column: (n,)."""
    try:
        return np.full(n, float(part))
    except ValueError:
        column = cells(column_of(block, part))
        values = number_column(part, column, "correct the value for --pdf", first_row=first_row)
        if np.isnan(values).any():
            row = first_row + int(np.isnan(values).argmax())
            raise ValueError(
                f"column {part!r} has no value in row {row}: --pdf needs one in every row"
            ) from None
        return values


def _quantiles(m: Distribution, levels: Array) -> Array:
    return m.quantile(levels) if len(levels) else np.empty((len(m), 0))


def _columns(values: list[Array], n: int) -> Array:
    return np.column_stack(values) if values else np.empty((n, 0))
