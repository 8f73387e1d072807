"""``condensity reproduce``: the paper's tables and figures."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from condensity.cli.messages import note, plain_errors, refuse
from condensity.datasets import names
from condensity.experiments.dask_workers import dask_client, dask_workers
from condensity.experiments.records import Cell, Record
from condensity.experiments.reproduce import (
    cells_of,
    missing_plots,
    records_of,
    reproduce,
    unavailable_problems,
)
from condensity.experiments.runner import CellNotRunError, Workers, local_workers, missing_cells
from condensity.experiments.studies import STUDIES
from condensity.tables.errors import count_noun

ALL = "all"
N_PROCESSES = os.cpu_count() or 1


StudyName = Annotated[str, typer.Argument(help=f"{', '.join(STUDIES)}, or {ALL}")]
ResultFolder = Annotated[Path, typer.Option(help="folder for records, tables, figures, page")]
Processes = Annotated[int, typer.Option(min=1, help="worker processes")]
Quick = Annotated[bool, typer.Option(help="few and small cells only, for a first look")]
Only = Annotated[list[str] | None, typer.Option(help="this problem only; repeat for more")]
Retry = Annotated[bool, typer.Option(help="run cells again that failed before")]
Dask = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="run on the workers of this Dask scheduler instead"),
]


def reproduce_command(
    study: StudyName = ALL,
    out: ResultFolder = Path("reproduced"),
    jobs: Processes = N_PROCESSES,
    quick: Quick = False,
    only: Only = None,
    retry: Retry = False,
    dask: Dask = None,
) -> None:
    """Reproduce the paper's tables and figures; finished cells are not run again."""
    studies = _study_names(study)
    problems = _checked_problems(studies, only or [])
    cells = cells_of(studies, quick=quick, only=problems)
    with plain_errors():
        remaining = missing_cells(cells, records_of(out, quick=quick), retry=retry)
    unavailable = unavailable_problems(remaining)
    _print_missing(remaining, unavailable)
    cells = [cell for cell in cells if cell.problem not in unavailable]
    remaining = [cell for cell in remaining if cell.problem not in unavailable]
    console = Console(stderr=True)
    with plain_errors(), _workers(jobs, dask) as (workers, count):
        console.print(f"{len(cells)} cells, {len(remaining)} to do, {count} at a time")
        with _progress(console, len(remaining)) as report:
            page = reproduce(
                studies,
                out,
                workers=workers,
                quick=quick,
                only=problems,
                retry=retry,
                without=unavailable,
                report=report,
            )
    typer.echo(page)
    records = records_of(out, quick=quick).read()
    failed = sum(records[cell].error is not None for cell in cells)
    if failed:
        console.print(f"{failed} of these cells failed; --retry runs them again")
        raise typer.Exit(1)


def _print_missing(cells: list[Cell], unavailable: dict[str, str]) -> None:
    """One line for each thing that is missing; an error if nothing can be run without it."""
    groups: dict[str, list[str]] = {}
    for problem, cause in unavailable.items():
        groups.setdefault("tables" if problem in names() else cause, []).append(problem)
    if unavailable and {cell.problem for cell in cells} == unavailable.keys():
        what = "tables" if groups.keys() == {"tables"} else "problems"
        cause = "; ".join(unavailable[problems[0]] for problems in groups.values())
        refuse(f"none of the {len(unavailable)} {what} is available: {cause}")
    for problems in groups.values():
        count = sum(cell.problem in problems for cell in cells)
        note(
            f"{count_noun(count, 'cell')} of {', '.join(problems)} cannot be run: "
            f"{unavailable[problems[0]]}"
        )
    plots = missing_plots()
    if plots is not None:
        note(f"no figures are drawn: {plots}")


@contextmanager
def _progress(console: Console, total: int) -> Iterator[Callable[[Record], None]]:
    """A progress bar, as a function that is given each finished record."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console) as progress:
        task = progress.add_task("running", total=total)

        def report(record: Record) -> None:
            progress.update(task, advance=1, description=record.cell.problem)
            if record.error:
                failure = escape(f"{record.cell}: {record.error}")
                progress.console.print(f"[red]failed[/] {failure}")

        yield report


@contextmanager
def _workers(jobs: int, address: str | None) -> Iterator[tuple[Workers, int]]:
    """Workers on this machine or on a cluster, and the number of cells they run at a time."""
    if address is None:
        yield local_workers(jobs), jobs
        return
    with dask_client(address) as client:
        # The client prints a traceback if the scheduler is lost; the message below replaces it.
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        count = sum(client.nthreads().values())
        if not count:
            note(f"the cluster at {address} has no workers yet: cells wait for the first worker")
        try:
            yield dask_workers(client), count
        except CellNotRunError as error:
            refuse(
                f"{error}: check that the cluster at {address} is running, and that its scheduler "
                "and workers have this version of condensity; finished cells are kept"
            )


def _study_names(study: str) -> list[str]:
    if study != ALL and study not in STUDIES:
        refuse(f"{study!r} is not a study: choose {', '.join(STUDIES)} or {ALL}")
    return list(STUDIES) if study == ALL else [study]


def _checked_problems(studies: list[str], only: list[str]) -> list[str]:
    known = [problem for name in studies for problem in STUDIES[name].sizes]
    for problem in only:
        if problem not in known:
            refuse(f"{problem!r} is not a problem of this study: choose {', '.join(known)}")
    return only
