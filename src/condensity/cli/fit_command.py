"""``condensity fit``: fit a model to a table and write it to a file."""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from condensity.cli import options
from condensity.cli.describe import describe_model, model_lines
from condensity.cli.messages import FitProgress, plain_errors, print_result
from condensity.cli.reading import RowBlock, open_table
from condensity.io.persistence import save
from condensity.tables import TableModel, fit_table
from condensity.tables.cells import cells, count_missing
from condensity.tables.split import LARGEST_TEST_SIZE
from condensity.tables.table_fit import KEPT_ROWS


class Missing(StrEnum):
    """Treatment of missing values."""

    error = "error"
    drop = "drop"
    impute = "impute"


#: Functions for options with columns that are not plain lists of names.
PARSERS: dict[str, Callable[..., Any]] = {"dates": options.parse_dates}
#: Parameters of ``LSCE`` for a first look; docs/cli.md shows what they cost and what they lose.
QUICK = {
    "cv": 3,
    "max_iter": 15,
    "n_members": 3,
    "n_starts": 5,
    "subsample": 300,
}
N_CPUS = os.cpu_count() or 1

TableFile = Annotated[
    str,
    typer.Argument(help=options.TABLE_HELP),
]
Target = Annotated[list[str], typer.Option(help="column to predict; repeat for several")]
ModelFile = Annotated[Path, typer.Option(help="file for the model")]
InputColumns = Annotated[
    list[str] | None, typer.Option(help="input columns: a,b,... or repeated (default: all others)")
]
Exclude = Annotated[
    list[str] | None, typer.Option(help="columns to leave out: a,b,... or repeated")
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(help="columns of numbers that are categories: a,b,... or repeated"),
]
Dates = Annotated[
    list[str] | None,
    typer.Option(
        help="columns of dates, if they are not recognised: a,b,... or repeated; a:dmy or a:mdy "
        "gives the order of day, month and year"
    ),
]
MissingValues = Annotated[
    Missing,
    typer.Option(
        help="missing values: stop with an error, drop their rows, or impute (numbers by medians, "
        "categories by zeros)"
    ),
]
NumberOfDirections = Annotated[str, typer.Option(help="number of directions, or auto")]
Members = Annotated[int, typer.Option(min=1, help="models to average; 1: a single one")]
MinBandwidth = Annotated[
    float | None,
    typer.Option(min=0, help="minimum kernel width (default: the resolution of the target)"),
]
TargetBounds = Annotated[
    list[str] | None,
    typer.Option(
        help="LOWER,UPPER of the target, either may be empty, repeat for several; auto: 0, if "
        "that describes a positive target better; none: no bounds (default: auto)"
    ),
]
Atoms = Annotated[
    str | None,
    typer.Option(
        help="values of the target with a probability of their own, such as 0 or 0,50; auto: all "
        "frequent values (default: none)"
    ),
]
KeepOutliers = Annotated[
    bool,
    typer.Option("--keep-outliers", help="fit to rows with a value very far from all others too"),
]
Seed = Annotated[int, typer.Option(min=0, help="the same seed gives the same model")]
Jobs = Annotated[int, typer.Option(min=1, help="parallel workers")]
TestShare = Annotated[
    float,
    typer.Option(
        min=0, max=LARGEST_TEST_SIZE, help="share of the rows held out for evaluation; 0: none"
    ),
]
KeepSamples = Annotated[
    bool,
    typer.Option(
        help=f"keep up to {KEPT_ROWS} training and {KEPT_ROWS} held-out rows in the file, for "
        "report, and hashes of all training rows"
    ),
]
QuickFit = Annotated[
    bool,
    typer.Option("--quick", help="a first look: about a third of the time, somewhat less accurate"),
]
JsonSummary = Annotated[bool, typer.Option("--json", help="print the summary as JSON")]


def fit_command(
    context: typer.Context,
    data: TableFile,
    target: Target,
    out: ModelFile,
    features: InputColumns = None,
    exclude: Exclude = None,
    categorical: Categorical = None,
    dates: Dates = None,
    missing: MissingValues = Missing.error,
    components: NumberOfDirections = "auto",
    members: Members = 5,
    min_bandwidth: MinBandwidth = None,
    bounds: TargetBounds = None,
    atoms: Atoms = None,
    keep_outliers: KeepOutliers = False,
    seed: Seed = 0,
    jobs: Jobs = N_CPUS,
    test_share: TestShare = 0.2,
    samples: KeepSamples = True,
    quick: QuickFit = False,
    json: JsonSummary = False,
) -> None:
    """Fit the density of the targets given the other columns, and evaluate it."""
    with plain_errors(context):
        parameters = {
            "missing": str(missing),
            "n_components": options.parse_components(components),
            "n_members": members,
            "min_bandwidth": min_bandwidth,
            "bounds": options.parse_bounds(bounds or [], len(target)),
            "atoms": options.parse_atoms(atoms),
            "outliers": "keep" if keep_outliers else "omit",
            "random_state": seed,
            "n_jobs": jobs,
            "test_size": test_share,
            "keep_rows": KEPT_ROWS if samples else 0,
        }
        parameters |= _quick_parameters(context) if quick else {}
        options.check_out_file(out, data)
        columns = {
            "features": features,
            "exclude": exclude,
            "categorical": categorical,
            "dates": dates,
        }
        table, model = _fit_file(data, target, columns, parameters)
        save(model, out)
        file = {"file": os.fspath(out), "missing_values": _missing_values(table, model)}
        print_result(describe_model(model) | file, [*model_lines(model), f"model: {out}"], json)


def _quick_parameters(context: typer.Context) -> dict[str, Any]:
    """The parameters of ``--quick``; a number of members that was given is kept."""
    source: Any = context.get_parameter_source("members")
    given = {"n_members"} if source is not None and source.name == "COMMANDLINE" else set()
    return {name: value for name, value in QUICK.items() if name not in given}


def _fit_file(
    path: str, targets: list[str], columns: dict[str, list[str] | None], parameters: dict[str, Any]
) -> tuple[RowBlock, TableModel]:
    """The table in a file, and the model fitted to it; ``columns`` are options with names."""
    with open_table(path) as source:
        names: dict[str, Any] = {
            key: PARSERS.get(key, options.parse_names)(texts, source.names)
            for key, texts in columns.items()
        }
        table = source.whole()
    with FitProgress(expected_steps(parameters)) as progress:
        return table, fit_table(table, targets, verbose=progress.show, **names, **parameters)


def expected_steps(parameters: dict[str, Any]) -> int:
    """About how many lines of progress a fit gives: its configurations, and the evaluation."""
    if parameters["n_components"] != "auto":
        configurations = 5  # one or two for no location, a linear and a reduced one
    else:  # about five numbers of directions for each location, and two for a reduced one
        configurations = 17 if parameters["n_members"] > 1 else 12
    return configurations + int(parameters["test_size"] > 0)


def _missing_values(table: RowBlock, model: TableModel) -> dict[str, int]:
    """Numbers of missing values, for the columns of the model that have some."""
    names = [*(column.name for column in model.columns), *model.targets]
    return count_missing({name: cells(table[name]) for name in names})
