"""``condensity inspect``, ``evaluate``, ``report`` and ``demo``: models that show themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from condensity._typing import Array, Mask
from condensity.cli import options
from condensity.cli.describe import described, in_words, judged, verdict_in_words
from condensity.cli.messages import answer, count, note, plain_errors
from condensity.cli.new_values import IMPUTED, Met
from condensity.cli.reading import BLOCK_ROWS, Block, open_table, read_model
from condensity.demo import PICTURE
from condensity.demo import main as run_demo
from condensity.explorer import write_report
from condensity.tables.evaluate import judge
from condensity.tables.frames import cells, check_columns, encode, numbers
from condensity.tables.model import TableModel

Model = Annotated[str, typer.Argument(help="file that fit wrote")]
Json = Annotated[bool, typer.Option("--json", help="tell it as JSON")]


def inspect_command(model: Model, json: Json = False) -> None:
    """Say what a model is: targets, columns, directions, and how good it was held to be."""
    with plain_errors():
        found = read_model(model)
        answer(described(found), in_words(found), json)


def evaluate_command(
    model: Model,
    data: Annotated[str, typer.Argument(help="table with the targets, new to the model")],
    json: Json = False,
) -> None:
    """Say how a model does at rows with known targets."""
    with plain_errors():
        found = read_model(model)
        verdict = judge(found.model, *labelled_rows(found, data))
        answer(judged(verdict, found.targets), verdict_in_words(verdict, found.targets), json)


def report_command(
    model: Model,
    data: Annotated[
        str | None, typer.Argument(help="table with the targets, new to the model: calibration")
    ] = None,
    out: Annotated[Path, typer.Option(help="the page")] = Path("report.html"),
) -> None:
    """Write a page in which the model can be explored, without any network."""
    with plain_errors():
        options.out_file(out, model, data)
        found = read_model(model)
        X_test, y_test = (None, None) if data is None else labelled_rows(found, data)
        try:
            page = write_report(
                found.model,
                out,
                X=found.X,
                y=found.Y,
                X_test=X_test,
                y_test=y_test,
                feature_names=found.feature_names,
                categories=found.categories,
                target_names=found.targets,
                n_train=found.rows,
            )
        except TypeError as error:  # a model that no page can show
            raise ValueError(f"{model}: {error}") from error
        typer.echo(page)


def demo_command(
    out: Annotated[
        Path, typer.Option(help="the picture; a page of the same name is written beside it")
    ] = PICTURE,
    rows: Annotated[
        int | None, typer.Option(min=20, help="fewer rows are quicker (default: all)")
    ] = None,
) -> None:
    """Fit two problems, say what was found, draw them, write a page to explore one."""
    with plain_errors():
        run_demo(out, n_train=rows)


def labelled_rows(model: TableModel, path: str) -> tuple[Array, Array]:
    """Inputs and targets of a table; rows with gaps as the model was fitted."""
    met = Met(model.columns)
    with open_table(path) as source:
        check_columns([*(c.name for c in model.columns), *model.targets], source.names)
        parts = [_labelled(model, block, met) for block in source.blocks(BLOCK_ROWS)]
        if not parts:
            raise ValueError("it has no rows: give rows with known targets")
    met.tell(IMPUTED if model.missing == "impute" else "left out")
    X, Y, gaps = (np.concatenate(values) for values in zip(*parts, strict=True))
    if gaps.any():
        note(f"{int(gaps.sum())} of {count(len(gaps), 'row')} left out for missing values")
    if gaps.all():
        raise ValueError(f"{path}: none of its {len(gaps)} rows is complete: give some that are")
    return X[~gaps], Y[~gaps]


def _labelled(model: TableModel, block: Block, met: Met) -> tuple[Array, Array, Mask]:
    """Inputs, targets, and whether a row must be left out."""
    first, remedy = met.rows + 1, "correct it, or leave the row out"
    encoded = encode(model.columns, block, first_row=first)
    targets = [
        numbers(name, cells(block[name]), first_row=first, remedy=remedy) for name in model.targets
    ]
    Y = np.column_stack(targets)
    gaps = np.asarray(np.isnan(Y).any(axis=1))
    if model.missing == "error":
        remedy = "leave the row out, or fit with --missing drop or impute"
        encoded.refuse_missing([c.name for c in model.columns], first_row=first, remedy=remedy)
    met.hear(block, encoded)
    if model.missing != "impute":
        gaps = gaps | encoded.missing.any(axis=1)
    return encoded.X, Y, gaps
