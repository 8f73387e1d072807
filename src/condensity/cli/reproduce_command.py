"""``condensity reproduce``: the paper's tables and figures."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from condensity.cli.messages import note, plain_errors, refuse
from condensity.experiments.dask_workers import dask_client, dask_workers
from condensity.experiments.records import Record
from condensity.experiments.reproduce import cells_of, missing_tables, records_of, reproduce
from condensity.experiments.runner import CellNotRunError, Workers, local_workers, missing_cells
from condensity.experiments.studies import STUDIES

ALL = "all"


def reproduce_command(
    study: Annotated[str, typer.Argument(help=f"{', '.join(STUDIES)}, or {ALL}")] = ALL,
    out: Annotated[Path, typer.Option(help="folder for records, tables, figures, page")] = Path(
        "reproduced"
    ),
    jobs: Annotated[int, typer.Option(min=1, help="worker processes")] = os.cpu_count() or 1,
    quick: Annotated[bool, typer.Option(help="a first look: few and small cells")] = False,
    only: Annotated[
        list[str] | None, typer.Option(help="this problem only; repeat for more")
    ] = None,
    retry: Annotated[bool, typer.Option(help="try again what failed before")] = False,
    dask: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="run on the workers of this Dask scheduler instead"),
    ] = None,
) -> None:
    """Rebuild the paper's tables and figures; what was done before is not done again."""
    names = _studies(study)
    chosen = _problems(names, only or [])
    console = Console(stderr=True)
    cells = cells_of(names, quick=quick, only=chosen)
    with plain_errors():
        to_do = missing_cells(cells, records_of(out, quick=quick), retry=retry)
    lacking = missing_tables(to_do)
    if lacking:
        refuse(f"none of the {len(lacking)} tables is there: {next(iter(lacking.values()))}")
    left = len(to_do)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    bar = Progress(*columns, TimeRemainingColumn(), console=console)
    with plain_errors(), _workers(jobs, dask) as (workers, count), bar as progress:
        console.print(f"{len(cells)} cells, {left} to do, {count} at a time")
        task = progress.add_task("running", total=left)

        def hear(record: Record) -> None:
            progress.update(task, advance=1, description=record.cell.problem)
            if record.error:
                told = escape(f"{record.cell}: {record.error}")
                progress.console.print(f"[red]failed[/] {told}")

        page = reproduce(
            names,
            out,
            workers=workers,
            quick=quick,
            only=chosen,
            retry=retry,
            report=hear,
        )
    typer.echo(page)
    records = records_of(out, quick=quick).read()
    failed = sum(records[cell].error is not None for cell in cells)
    if failed:
        console.print(f"{failed} of these cells failed; --retry tries them again")
        raise typer.Exit(1)


@contextmanager
def _workers(jobs: int, address: str | None) -> Iterator[tuple[Workers, int]]:
    """Workers here or of a cluster, and how many cells they do at a time."""
    if address is None:
        yield local_workers(jobs), jobs
        return
    with dask_client(address) as client:
        # Its client would tell of a lost scheduler by a traceback; below it is told in a sentence.
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        count = sum(client.nthreads().values())
        if not count:
            note(f"the cluster at {address} has no workers yet: cells wait for the first")
        try:
            yield dask_workers(client), count
        except CellNotRunError as error:
            refuse(
                f"{error}: see that the cluster at {address} runs, and that its scheduler and "
                "workers have the condensity that is here; what was done is kept"
            )


def _studies(study: str) -> list[str]:
    if study != ALL and study not in STUDIES:
        refuse(f"there is no study {study!r}: choose {', '.join(STUDIES)} or {ALL}")
    return list(STUDIES) if study == ALL else [study]


def _problems(studies: list[str], only: list[str]) -> list[str]:
    known = [problem for name in studies for problem in STUDIES[name].sizes]
    for problem in only:
        if problem not in known:
            refuse(f"there is no problem {problem!r} in it: choose {', '.join(known)}")
    return only
