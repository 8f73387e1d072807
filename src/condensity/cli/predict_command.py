"""``condensity predict``: answers for the rows of a table, block by block."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from itertools import chain, islice
from pathlib import Path
from typing import IO, Annotated, Any

import numpy as np
import typer

from condensity.cli import options, questions
from condensity.cli.messages import plain_errors
from condensity.cli.new_values import IMPUTED, Met
from condensity.cli.questions import Question
from condensity.cli.reading import BLOCK_ROWS, Block, open_table, read_model, regrouped
from condensity.io.atomic import open_atomically
from condensity.tables.frames import check_columns, encode
from condensity.tables.model import TableModel

#: Rows asked at a time.  Sums may depend on how many there are, in their last bits: with as many
#: whatever the blocks that are read, so do the answers not.
ROWS = 256


class Gaps(StrEnum):
    """What to do about missing inputs."""

    error = "error"
    blank = "blank"
    impute = "impute"


AS_FITTED = {"error": Gaps.error, "drop": Gaps.blank, "impute": Gaps.impute}
BECAME = {Gaps.error: "", Gaps.blank: "their answers are left blank", Gaps.impute: IMPUTED}


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
        found = read_model(model)
        if not (quantiles or interval or prob_above or sample or pdf):
            quantiles = "0.05,0.5,0.95"
        asked = [
            questions.means(found),
            questions.quantiles(found, quantiles),
            questions.intervals(found, interval),
            questions.above(found, prob_above),
            questions.samples(found, sample, seed),
            questions.density(found, pdf),
        ]
        if out is not None:
            options.out_file(out, model, data)
        met = Met(found.columns)
        with open_table(data) as source:
            check_columns([column.name for column in found.columns], source.names)
            copied = options.names("--keep", keep, source.names)
            gaps = missing or AS_FITTED[found.missing]
            rows = chain.from_iterable(
                answers(found, asked, block, copied, gaps, met)
                for block in regrouped(source.blocks(block_rows), ROWS)
            )
            first = list(islice(rows, 1))  # whatever it meets is told before anything is written
            with _writer(out) as stream:
                lines = csv.writer(stream, lineterminator="\n")
                lines.writerow([*copied, *(name for one in asked for name in one.names)])
                lines.writerows(chain(first, rows))
        met.tell(BECAME[gaps])


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
        if sys.stdout is None:
            raise ValueError("there is no standard output to write to: name a file with --out")
        yield sys.stdout
        sys.stdout.flush()
        return
    with open_atomically(out) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
        yield text
        text.detach()
