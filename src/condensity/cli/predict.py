"""``condensity predict``: answers for the rows of a table, block by block."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO, Annotated, Any

import numpy as np
import typer

from condensity._files import open_at_once
from condensity.cli import options
from condensity.cli.judge import marginals
from condensity.cli.met import Met
from condensity.cli.reading import BLOCK_ROWS, Block, open_table, regrouped
from condensity.cli.say import plain_errors
from condensity.core.kernels import Array
from condensity.frames import cells, check_columns, column_of, encode, numbers
from condensity.persistence import load
from condensity.tablemodel import TableModel

#: Rows asked at a time.  Sums may depend on how many there are, in their last bits: with as many
#: whatever the blocks that are read, so do the answers not.
ROWS = 256


class Gaps(StrEnum):
    """What to do about missing inputs."""

    error = "error"
    blank = "blank"
    impute = "impute"


AS_FITTED = {"error": Gaps.error, "drop": Gaps.blank, "impute": Gaps.impute}

Ask = Callable[[Any, Block, int], Array]  # densities, their rows, number of the first: (m, k)


@dataclass(frozen=True)
class Question:
    """Columns of the answer, by their names, and how they are found."""

    names: list[str]
    ask: Ask


def predict_command(
    model: Annotated[str, typer.Argument(help="file that fit wrote")],
    data: Annotated[str, typer.Argument(help="table: CSV (also .gz) or Parquet; - reads stdin")],
    quantiles: Annotated[str | None, typer.Option(help="such as 0.05,0.5,0.95")] = None,
    interval: Annotated[
        str | None, typer.Option(help="central intervals of this probability, such as 0.9")
    ] = None,
    prob_above: Annotated[
        str | None, typer.Option(help="probability that the target is above this, such as 100")
    ] = None,
    sample: Annotated[int, typer.Option(min=0, help="draws from each density")] = 0,
    pdf: Annotated[
        str | None,
        typer.Option(
            help="density at these numbers, or at the values of these columns; of several "
            "targets, one for each"
        ),
    ] = None,
    keep: Annotated[str | None, typer.Option(help="columns to copy: a,b,...")] = None,
    missing: Annotated[
        Gaps | None,
        typer.Option(
            help="rows with missing inputs: refuse, leave blank, impute (default: as fitted)"
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="CSV file (default: standard output)")] = None,
    seed: Annotated[int, typer.Option(min=0, help="of the draws")] = 0,
    block_rows: Annotated[int, typer.Option(min=1, help="rows read at a time")] = BLOCK_ROWS,
) -> None:
    """Means, and whatever else is asked for, of any number of rows: a row for each.

    Without any question: means and the quantiles 0.05, 0.5 and 0.95.
    """
    with plain_errors():
        found = TableModel.of(load(model))
        if not (quantiles or interval or prob_above or sample or pdf):
            quantiles = "0.05,0.5,0.95"
        asked = [
            _means(found),
            _quantiles(found, quantiles),
            _intervals(found, interval),
            _above(found, prob_above),
            _samples(found, sample, seed),
            _pdf(found, pdf),
        ]
        met = Met(found.columns)
        with open_table(data) as source:
            check_columns([column.name for column in found.columns], source.names)
            copied = options.names("--keep", keep, source.names)
            blocks = regrouped(source.blocks(block_rows), ROWS)
            with _writer(out) as stream:
                lines = csv.writer(stream, lineterminator="\n")
                lines.writerow([*copied, *(name for one in asked for name in one.names)])
                for block in blocks:
                    gaps = missing or AS_FITTED[found.missing]
                    for row in answers(found, asked, block, copied, gaps, met):
                        lines.writerow(row)
        met.tell()


def answers(
    model: TableModel,
    asked: Sequence[Question],
    block: Block,
    copied: Sequence[str],
    gaps: Gaps,
    met: Met,
) -> Iterator[list[str]]:
    """The rows of the answer for a block of rows."""
    first = met.rows + 1
    encoded = encode(model.columns, block, first_row=first)
    if gaps is Gaps.error:
        names = [column.name for column in model.columns]
        remedy = "fill it in, or choose --missing blank or impute"
        encoded.refuse_missing(names, first_row=first, remedy=remedy)
    met.hear(block, encoded)
    dist = model.model.predict_dist(encoded.X)
    values = np.hstack([question.ask(dist, block, first) for question in asked])
    incomplete = np.asarray(encoded.missing.any(axis=1))
    kept = [["" if _is_nothing(cell) else str(cell) for cell in block[name]] for name in copied]
    for i, row in enumerate(values.tolist()):
        told = (
            [""] * len(row)
            if incomplete[i] and gaps is Gaps.blank
            else ["" if v != v else f"{v:.10g}" for v in row]
        )
        yield [*(column[i] for column in kept), *told]


def _is_nothing(cell: Any) -> bool:
    return cell is None or cell != cell


@contextmanager
def _writer(out: Path | None) -> Iterator[IO[str]]:
    """Text for a file that is there as a whole or not at all, or for standard output."""
    if out is None:
        yield sys.stdout
        sys.stdout.flush()
        return
    with open_at_once(out) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
        yield text
        text.detach()


def _each(model: TableModel, parts: Sequence[str], ask: Callable[[Any], Array]) -> Question:
    """A question to every output: columns named by it."""
    names = [f"{target}_{part}" for target in model.targets for part in parts]

    def every(dist: Any, block: Block, first: int) -> Array:
        return np.hstack([ask(m).reshape(len(m), -1) for m in marginals(dist)])

    return Question(names, every)


def _means(model: TableModel) -> Question:
    return _each(model, ["mean"], lambda m: m.mean())


def _quantiles(model: TableModel, given: str | None) -> Question:
    found = options.levels("--quantiles", given)
    levels = np.array([q for _, q in found])
    return _each(model, [f"q{spelt}" for spelt, _ in found], lambda m: _at(m.quantile, levels, m))


def _intervals(model: TableModel, given: str | None) -> Question:
    found = options.levels("--interval", given)
    names = [f"{end}_{spelt}" for spelt, _ in found for end in ("lower", "upper")]
    ends = np.array([q for _, level in found for q in ((1 - level) / 2, (1 + level) / 2)])
    return _each(model, names, lambda m: _at(m.quantile, ends, m))


def _above(model: TableModel, given: str | None) -> Question:
    found = options.numbers("--prob-above", given)

    def ask(m: Any) -> Array:
        return _columns([m.prob(value, np.inf) for _, value in found], m)

    return _each(model, [f"prob_above_{spelt}" for spelt, _ in found], ask)


def _samples(model: TableModel, n: int, seed: int) -> Question:
    rng = np.random.default_rng(seed)
    names = [f"{target}_sample{k + 1}" for target in model.targets for k in range(n)]

    def ask(dist: Any, block: Block, first: int) -> Array:
        draws = dist.sample(n, rng).reshape(len(dist), n, -1) if n else np.empty((len(dist), 0, 1))
        return np.swapaxes(draws, 1, 2).reshape(len(dist), -1)

    return Question(names, ask)


def _pdf(model: TableModel, given: str | None) -> Question:
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
