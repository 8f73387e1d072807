"""``condensity fit``: from a table to a model in a file."""

from __future__ import annotations

import os
import warnings
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from condensity._typing import Array, Indices
from condensity.cli import options
from condensity.cli.describe import described, in_words
from condensity.cli.messages import Progress, answer, count, note, plain_errors
from condensity.cli.reading import Source, open_table
from condensity.estimators import LSCE
from condensity.io.persistence import save
from condensity.tables.evaluate import compare
from condensity.tables.frames import Column, encode
from condensity.tables.model import TableModel, Verdict
from condensity.tables.training import Complete, complete

#: Rows that a fit cannot do without, and training rows that the file keeps for the report.
FEWEST_ROWS, KEPT_ROWS = 10, 500


class Missing(StrEnum):
    """What to do about missing values."""

    error = "error"
    drop = "drop"
    impute = "impute"


def fit_command(
    data: Annotated[str, typer.Argument(help="table: CSV (also .gz) or Parquet; - reads stdin")],
    target: Annotated[list[str], typer.Option(help="column to predict; repeat for several")],
    out: Annotated[Path, typer.Option(help="file for the model")],
    features: Annotated[
        str | None, typer.Option(help="columns to use: a,b,... (default: all)")
    ] = None,
    exclude: Annotated[str | None, typer.Option(help="columns to leave out: a,b,...")] = None,
    categorical: Annotated[
        str | None, typer.Option(help="columns of numbers that are categories: a,b,...")
    ] = None,
    missing: Annotated[
        Missing,
        typer.Option(
            help="missing values: refuse them, drop their rows, or impute "
            "(medians, and no category)"
        ),
    ] = Missing.error,
    components: Annotated[str, typer.Option(help="number of directions, or auto")] = "auto",
    members: Annotated[int, typer.Option(min=1, help="models to average; 1: a single one")] = 5,
    min_bandwidth: Annotated[
        float | None,
        typer.Option(min=0, help="no kernel is narrower than this (default: the steps of y)"),
    ] = None,
    bounds: Annotated[
        list[str] | None,
        typer.Option(help="LOWER,UPPER of the target, either may be empty; repeat for several"),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="the same seed gives the same model")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="workers")] = os.cpu_count() or 1,
    test_share: Annotated[
        float, typer.Option(min=0, max=0.9, help="share of rows held out to evaluate; 0: none")
    ] = 0.2,
    samples: Annotated[
        bool, typer.Option(help=f"keep up to {KEPT_ROWS} training rows in the file, for report")
    ] = True,
    json: Annotated[bool, typer.Option("--json", help="tell the summary as JSON")] = False,
) -> None:
    """Fit the density of targets given all other columns, and say how good it is."""
    with plain_errors():
        estimator = LSCE(
            options.components(components),
            n_members=members,
            min_bandwidth=min_bandwidth,
            bounds=options.bounds(bounds or [], len(target)),
            random_state=seed,
            n_jobs=jobs,
        )
        options.out_file(out, data)
        with open_table(data) as source:
            given = options.names("--features", features, source.names)
            left_out = options.names("--exclude", exclude, source.names)
            as_categories = options.names("--categorical", categorical, source.names)
            chosen = chosen_features(source, target, given, left_out)
            found = complete(source.whole(), chosen, target, missing=missing)
        _tell_missing(found, missing)
        _check_bounds(estimator, found, target)
        train, test = split(len(found), test_share, seed)
        columns = found.learn(train, categorical=as_categories)  # rows held out have no say
        X, Y = encode(columns, found.some(train)).X, found.Y[train]
        _check_components(estimator, X)
        _tell_constant(columns, X)
        new = _held_out(columns, found, test, (X, Y)) if len(test) else None
        with Progress() as progress:
            verdict = fit(estimator, (X, Y), new, progress)
        kept = _thinned(len(X), seed) if samples else None
        model = TableModel(
            estimator,
            columns,
            tuple(target),
            str(missing),
            None if kept is None else X[kept],
            None if kept is None else Y[kept],
            len(train),
            verdict,
        )
        save(model, out)
        told = described(model) | {"file": os.fspath(out), "missing_values": found.missing}
        answer(told, [*in_words(model), f"model: {out}"], json)


def chosen_features(
    source: Source, targets: list[str], given: list[str], left_out: list[str]
) -> list[str]:
    """The columns to condition on: those given, or all that are neither target nor left out."""
    for name in targets:
        if name not in source.names:
            known = ", ".join(map(repr, source.names))
            several = [part.strip() for part in name.split(",")]
            remedy = f"choose among {known}"
            if len(several) > 1 and set(several) <= set(source.names):
                remedy = "repeat the option, " + " ".join(f"--target {part}" for part in several)
            raise ValueError(f"there is no column {name!r} for --target: {remedy}")
        if name in given or targets.count(name) > 1:
            raise ValueError(f"column {name!r} is named twice: a target is one target, no feature")
    found = [name for name in given or source.names if name not in (*targets, *left_out)]
    if "" in found:
        note("the column without a name, row numbers perhaps, is left out")
        found.remove("")
    if not found:
        raise ValueError("no column is left to condition on: name one with --features")
    return list(dict.fromkeys(found))


def split(n: int, test_share: float, seed: int) -> tuple[Indices, Indices]:
    """Rows to fit to and rows to hold out, drawn at random, each in their order."""
    rows = np.random.default_rng(seed).permutation(n)
    n_test = max(2, round(test_share * n)) if test_share > 0 else 0
    if n - n_test < FEWEST_ROWS:
        raise ValueError(
            f"{max(n - n_test, 0)} complete rows are left to fit to, which is too few: give at "
            f"least {FEWEST_ROWS}, impute missing values, or hold none out (--test-share 0)"
        )
    return np.sort(rows[n_test:]), np.sort(rows[:n_test])


def fit(
    estimator: LSCE,
    train: tuple[Array, Array],
    new: tuple[Array, Array] | None,
    progress: Progress,
) -> Verdict | None:
    """Fit to some rows, judge by others."""
    X, Y = train
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not vary in column")  # told by name
        estimator.set_params(verbose=progress.hear).fit(X, Y[:, 0] if Y.shape[1] == 1 else Y)
    estimator.set_params(verbose=0)
    if new is None:
        return None
    progress.say("evaluating")
    return compare(estimator, train, new)


def _held_out(
    columns: tuple[Column, ...], found: Complete, rows: Indices, train: tuple[Array, Array]
) -> tuple[Array, Array]:
    """Rows that the model is judged by, with a word on what makes them harder or easier."""
    encoded, Y = encode(columns, found.some(rows)), found.Y[rows]
    for column, unseen in zip(columns, encoded.unseen.T, strict=True):
        if unseen.any():
            there = count(int(unseen.sum()), "row")
            note(f"{column.name!r} has a category that no row fitted to has in {there} held out")
    known = {row.tobytes() for row in np.hstack(train)}
    copies = sum(row.tobytes() in known for row in np.hstack([encoded.X, Y]))
    if copies:
        note(
            f"{copies} of {count(len(rows), 'row')} held out equal rows fitted to: if rows were "
            "copied, the model looks better than it is"
        )
    return encoded.X, Y


def _check_components(estimator: LSCE, X: Array) -> None:
    d_z, width = estimator.n_components, X.shape[1]
    if isinstance(d_z, int) and d_z > width:
        raise ValueError(
            f"--components is {d_z}, but the columns make {count(width, 'input')}: give at most "
            f"{width}, or auto"
        )


def _check_bounds(estimator: LSCE, found: Complete, targets: list[str]) -> None:
    """Say which rows of the file lie outside: the estimator only knows those it is given."""
    for name, y, ends in zip(targets, found.Y.T, estimator.bounds or [], strict=False):
        lower, upper = (
            value if end is None else end
            for end, value in zip(ends, (-np.inf, np.inf), strict=True)
        )
        outside = np.flatnonzero((y <= lower) | (y >= upper))
        if len(outside):
            first = outside[0]
            raise ValueError(
                f"{len(outside)} of {count(len(y), 'value')} of {name!r} do not lie strictly "
                f"between the --bounds {lower:g} and {upper:g}, the first is {y[first]:g} in row "
                f"{found.rows[first]}: widen them, or model values at a bound apart"
            )


def _tell_constant(columns: tuple[Column, ...], X: Array) -> None:
    names = [name for column in columns for name in column.names]
    for name, values in zip(names, X.T, strict=True):
        if (values == values[0]).all():
            note(f"{name!r} does not vary in the rows to fit to, and tells nothing")


def _thinned(n: int, seed: int) -> Indices:
    if n <= KEPT_ROWS:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, KEPT_ROWS, replace=False))


def _tell_missing(found: Complete, missing: Missing) -> None:
    for name, n in found.missing.items():
        note(f"column {name!r} has {count(n, 'missing value')}")
    if found.n_dropped:
        what = "without a target" if missing is Missing.impute else "with missing values"
        rows = count(found.n_dropped, "row")
        note(f"{rows} {what} left out, {count(len(found), 'row')} used")
    if found.missing and missing is Missing.impute:
        note("numbers that were missing are filled in with medians, categories with none")
