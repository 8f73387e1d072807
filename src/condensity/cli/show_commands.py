"""``condensity inspect``, ``evaluate``, ``report`` and ``demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from condensity._typing import Array, Mask
from condensity.cli import options
from condensity.cli.describe import (
    NEW,
    TRAINING,
    describe_evaluation,
    describe_model,
    evaluation_lines,
    model_lines,
)
from condensity.cli.messages import RowProgress, note, plain_errors, print_result
from condensity.cli.new_values import IMPUTED, NewValues
from condensity.cli.reading import BLOCK_ROWS, RowBlock, open_table, read_model
from condensity.demo import PICTURE, run_demo
from condensity.explorer import write_report
from condensity.tables import TableModel, evaluate_model
from condensity.tables.cells import cells, number_column
from condensity.tables.errors import count_noun
from condensity.tables.frames import check_columns, encode
from condensity.tables.model import used_rows_note

Model = Annotated[str, typer.Argument(help="model file, written by fit")]
Json = Annotated[bool, typer.Option("--json", help="print the result as JSON")]


def inspect_command(model: Model, json: Json = False) -> None:
    """Describe a model: targets, columns, directions and held-out evaluation."""
    with plain_errors():
        fitted = read_model(model)
        print_result(describe_model(fitted), model_lines(fitted), json)


def evaluate_command(
    model: Model,
    data: Annotated[
        str, typer.Argument(help="table with the targets; rows of the fit are left out")
    ],
    json: Json = False,
) -> None:
    """Evaluate a model on rows with known targets that were not used in the fit."""
    with plain_errors():
        fitted = read_model(model)
        X, Y = labelled_rows(fitted, data)
        used = used_rows(fitted, X, Y)
        kind = NEW
        if used.all():
            note(used_rows_note(used))
            kind = TRAINING
        elif used.any():
            note(used_rows_note(used))
            X, Y = X[~used], Y[~used]
        with RowProgress("evaluating", len(X)) as progress:
            evaluation = evaluate_model(fitted.model, X, Y, report=progress.show)
        values = describe_evaluation(evaluation, fitted.targets)
        values |= {"rows_of": kind, "rows_used_in_fit": rows_in_fit(fitted, used)}
        print_result(values, evaluation_lines(evaluation, fitted.targets, kind), json)


def used_rows(model: TableModel, X: Array, Y: Array) -> Mask:
    """Mask of the rows that the model was fitted to; a note if the model does not know them."""
    if model.row_hashes is None:
        note(
            "the model does not know its training rows (it was fitted with --no-samples or by an "
            "older version): if the table has some of them, the losses are too small"
        )
        return np.zeros(len(X), dtype=bool)
    return model.row_hashes.contain(X, Y)


def rows_in_fit(model: TableModel, used: Mask) -> int | None:
    """Number of rows that were used in the fit, if it is known."""
    return None if model.row_hashes is None else int(used.sum())


def report_command(
    model: Model,
    data: Annotated[
        str | None,
        typer.Argument(
            help="table with the targets, for the calibration plot (default: the rows that fit "
            "held out)"
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="file for the page")] = Path("report.html"),
) -> None:
    """Write a web page to explore the model; the page needs no network."""
    with plain_errors():
        options.check_out_file(out, model, data)
        fitted = read_model(model)
        X_test, Y_test = _test_rows(fitted, data)
        try:
            with RowProgress("writing the page", 1) as progress:
                page = write_report(
                    fitted.model,
                    out,
                    X=fitted.X,
                    y=fitted.Y,
                    X_test=X_test,
                    y_test=Y_test,
                    feature_names=fitted.feature_names,
                    categories=fitted.categories,
                    target_names=fitted.targets,
                    n_train=fitted.rows,
                    input_ranges=fitted.input_ranges,
                    progress=progress.show,
                )
        except TypeError as error:  # write_report does not support this kind of model
            raise ValueError(f"{model}: {error}") from error
        typer.echo(page)


def _test_rows(model: TableModel, data: str | None) -> tuple[Array | None, Array | None]:
    """Rows for the calibration: those of a table, but not of the fit, or those that it held out."""
    held_out = model.X_test, model.Y_test
    if data is None:
        if model.X_test is None:
            note("the model has no held-out rows: the page shows no calibration")
        return held_out
    X, Y = labelled_rows(model, data)
    used = used_rows(model, X, Y)
    if not used.any():
        return X, Y
    if not used.all():
        note(used_rows_note(used))
        return X[~used], Y[~used]
    shown = "the held-out rows of the fit" if model.X_test is not None else "no calibration"
    note(f"all {len(used)} rows were used in the fit: the page shows {shown} instead")
    return held_out


def demo_command(
    out: Annotated[
        Path, typer.Option(help="file for the picture; a page of the same name is written too")
    ] = PICTURE,
    rows: Annotated[
        int | None,
        typer.Option(min=20, help="number of training rows; fewer are faster (default: all)"),
    ] = None,
) -> None:
    """Fit two problems, print the results, draw them, write a page to explore one of them."""
    with plain_errors():
        run_demo(out, n_train=rows)


def labelled_rows(model: TableModel, path: str) -> tuple[Array, Array]:
    """Inputs and targets of a table; missing values are treated as in the fit."""
    new_values = NewValues(model.columns)
    with open_table(path) as source:
        check_columns([*(c.name for c in model.columns), *model.targets], source.names)
        parts = [_labelled_block(model, block, new_values) for block in source.blocks(BLOCK_ROWS)]
        if not parts:
            raise ValueError("the table has no rows: give rows with known targets")
    new_values.print_notes(IMPUTED if model.missing == "impute" else "left out")
    X, Y, incomplete = (np.concatenate(values) for values in zip(*parts, strict=True))
    if incomplete.any():
        rows = count_noun(len(incomplete), "row")
        note(f"{int(incomplete.sum())} of {rows} are left out because of missing values")
    if incomplete.all():
        raise ValueError(
            f"{path}: none of the {len(incomplete)} rows is complete: give complete rows"
        )
    return X[~incomplete], Y[~incomplete]


def _labelled_block(
    model: TableModel, block: RowBlock, new_values: NewValues
) -> tuple[Array, Array, Mask]:
    """Inputs, targets, and a mask of the rows to leave out."""
    first_row, remedy = new_values.rows + 1, "correct the value, or leave the row out"
    encoded = encode(model.columns, block, first_row=first_row)
    targets = [
        number_column(name, cells(block[name]), remedy, first_row=first_row)
        for name in model.targets
    ]
    Y = np.column_stack(targets)
    incomplete = np.asarray(np.isnan(Y).any(axis=1))
    if model.missing == "error":
        remedy = "leave the row out, or fit with --missing drop or --missing impute"
        encoded.refuse_missing([c.name for c in model.columns], first_row=first_row, remedy=remedy)
    new_values.add(block, encoded)
    if model.missing != "impute":
        incomplete = incomplete | encoded.missing.any(axis=1)
    return encoded.X, Y, incomplete
