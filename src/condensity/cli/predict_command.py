"""``condensity predict``: predictions for the rows of a table, block by block."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from itertools import chain, islice
from pathlib import Path
from typing import IO, Annotated, Any

import numpy as np
import typer

from condensity.cli import options, queries
from condensity.cli.messages import plain_errors
from condensity.cli.new_values import IMPUTED, NewValues
from condensity.cli.queries import Query
from condensity.cli.reading import BLOCK_ROWS, RowBlock, open_table, read_model, regrouped
from condensity.cli.spelling import POINT, Spelling
from condensity.io.atomic import open_atomically
from condensity.tables import TableModel
from condensity.tables.column_selection import check_names
from condensity.tables.frames import EncodedRows, check_columns, encode

#: Rows that are predicted at a time.  The last bits of a sum can depend on this number.  It is
#: fixed, so results are the same for every --block-rows.
CHUNK_SIZE = 256
#: First characters of what spreadsheets run as a formula, and numbers, which may have a sign.
FORMULA = "=+-@\t\r"
NUMBER = re.compile(r"[+-]?(\d[\d.,]*|[.,]\d+)([eE][+-]?\d+)?")
#: Column of the output that names the inputs outside the range of the training rows.
OUTSIDE = "outside"
DEFAULT_QUANTILES = "0.05,0.5,0.95"


class MissingInputs(StrEnum):
    """Treatment of rows with missing inputs."""

    error = "error"
    blank = "blank"
    impute = "impute"


AS_FITTED = {
    "error": MissingInputs.error,
    "drop": MissingInputs.blank,
    "impute": MissingInputs.impute,
}
TREATMENTS = {
    MissingInputs.error: "",
    MissingInputs.blank: "their predictions are blank",
    MissingInputs.impute: IMPUTED,
}

FittedModel = Annotated[str, typer.Argument(help="model file, written by fit")]
NewRows = Annotated[
    str,
    typer.Argument(help=options.TABLE_HELP),
]
Quantiles = Annotated[list[str] | None, typer.Option(help="levels such as 0.05,0.5,0.95")]
Interval = Annotated[
    list[str] | None, typer.Option(help="central intervals of this probability, such as 0.9")
]
ProbAbove = Annotated[
    list[str] | None, typer.Option(help="probability that the target is above this, such as 100")
]
Draws = Annotated[int, typer.Option(min=0, help="number of draws from each density")]
DensityAt = Annotated[
    list[str] | None,
    typer.Option(
        help="density at these numbers, or at the values of these columns; for several targets, "
        "the joint density at one number or column for each"
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(help="columns to copy: a,b,...; formulas get an apostrophe in front"),
]
MissingRows = Annotated[
    MissingInputs | None,
    typer.Option(
        help="rows with missing inputs: stop with an error, leave their predictions blank, or "
        "impute (default: as in the fit)"
    ),
]
Predictions = Annotated[Path | None, typer.Option(help="CSV file (default: standard output)")]
DrawSeed = Annotated[int, typer.Option(min=0, help="seed of the draws")]
BlockRows = Annotated[int, typer.Option(min=1, help="rows to read at a time")]


def predict_command(
    model: FittedModel,
    data: NewRows,
    quantiles: Quantiles = None,
    interval: Interval = None,
    prob_above: ProbAbove = None,
    sample: Draws = 0,
    pdf: DensityAt = None,
    keep: Keep = None,
    missing: MissingRows = None,
    out: Predictions = None,
    seed: DrawSeed = 0,
    block_rows: BlockRows = BLOCK_ROWS,
) -> None:
    """Predict means, quantiles, intervals, probabilities, draws or densities for each row.

    Without options: means and the quantiles 0.05, 0.5 and 0.95.
    """
    with plain_errors():
        fitted = read_model(model)
        if not (quantiles or interval or prob_above or sample or pdf):
            quantiles = [DEFAULT_QUANTILES]
        selected = [
            queries.means(fitted),
            queries.quantiles(fitted, options.joined(quantiles)),
            queries.intervals(fitted, options.joined(interval)),
            queries.probabilities_above(fitted, options.joined(prob_above)),
            queries.random_draws(fitted, sample, seed),
            queries.density_values(fitted, options.joined(pdf)),
        ]
        if out is not None:
            options.check_out_file(out, model, data)
        treatment = missing or AS_FITTED[fitted.missing]
        _predict_file(fitted, data, selected, keep, treatment, out, block_rows)


def _predict_file(
    model: TableModel,
    data: str,
    selected: Sequence[Query],
    keep: Sequence[str] | None,
    treatment: MissingInputs,
    out: Path | None,
    block_rows: int,
) -> None:
    """Read, predict and write block by block, then print notes."""
    new_values = NewValues(model.columns)
    with open_table(data) as source:
        check_columns([column.name for column in model.columns], source.names)
        copied = options.parse_names(keep, source.names)
        check_names("keep", copied, source.names)
        source.print_note()
        rows = chain.from_iterable(
            predictions(model, selected, source.spelling, block, copied, treatment, new_values)
            for block in regrouped(source.read(block_rows), CHUNK_SIZE)
        )
        first = list(islice(rows, 1))  # an error in the first block comes before any output
        with _writer(out, source.encoding()) as stream:
            lines = csv.writer(stream, delimiter=source.delimiter, lineterminator="\n")
            names = [name for query in selected for name in query.names]
            lines.writerow([*copied, *names, *([OUTSIDE] if model.knows_ranges else [])])
            lines.writerows(chain(first, rows))
    new_values.print_notes(TREATMENTS[treatment])


def predictions(
    model: TableModel,
    selected: Sequence[Query],
    spelling: Spelling,
    cells: RowBlock,
    copied: Sequence[str],
    treatment: MissingInputs,
    new_values: NewValues,
) -> Iterator[list[str]]:
    """Rows of the output for a block of rows, with the cells as in the file."""
    first_row, block = new_values.rows + 1, spelling.plain(cells)
    encoded = encode(model.columns, block, first_row=first_row)
    if treatment is MissingInputs.error:
        names = [column.name for column in model.columns]
        remedy = "fill it in, or choose --missing blank or --missing impute"
        encoded.refuse_missing(names, first_row=first_row, remedy=remedy)
    new_values.add(block, encoded)
    dist = model.model.predict_dist(encoded.X)
    values = np.hstack([query.answer(dist, block, first_row) for query in selected])
    blank = np.asarray(encoded.missing.any(axis=1)) & (treatment is MissingInputs.blank)
    outside = _outside(model, encoded)
    kept = [[_inert(cell) for cell in cells[name]] for name in copied]
    for i, row in enumerate(values):  # text takes many times the memory of numbers: row by row
        numbers = ["" if blank[i] or v != v else f"{v:.10g}" for v in row.tolist()]
        if spelling.decimal != POINT:
            numbers = [number.replace(POINT, spelling.decimal) for number in numbers]
        yield [*(column[i] for column in kept), *numbers, *outside[i]]


def _outside(model: TableModel, encoded: EncodedRows) -> list[list[str]]:
    """For each row, one cell with the columns that are outside the training rows.

    No cells if the model, from an older file, does not know the ranges of its training rows.
    """
    if not model.knows_ranges:
        return [[] for _ in encoded.X]
    names = [column.name for column in model.columns]
    masks = (encoded.outside | encoded.unseen).tolist()
    return [
        [_inert(", ".join(name for name, out in zip(names, mask, strict=True) if out))]
        for mask in masks
    ]


def _inert(cell: Any) -> str:
    """Text that a spreadsheet shows and does not run: a formula gets an apostrophe in front."""
    text = "" if _is_null(cell) else str(cell)
    if len(text) > 1 and text[0] in FORMULA and not NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def _is_null(cell: Any) -> bool:
    return cell is None or cell != cell


@contextmanager
def _writer(out: Path | None, encoding: str) -> Iterator[IO[str]]:
    """Text stream to a file that appears when it is complete, or to standard output.

    The file has the encoding of the table that was read.
    """
    if out is None:
        if sys.stdout is None:
            raise ValueError("standard output is closed: name a file with --out")
        yield sys.stdout
        sys.stdout.flush()
        return
    with open_atomically(out) as stream:
        text = io.TextIOWrapper(
            stream, encoding=encoding, errors="replace", newline="", write_through=True
        )
        yield text
        text.detach()
