"""The runner: cells go to workers, records come back one by one.

Every cell has its own seed and one thread, so records do not depend on the number of workers, nor
on where they are.  An error in a cell becomes its record.  A worker that dies takes the cells it
was given with it: they are tried once more, each alone, and the one that kills its worker again is
recorded as failed.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

import condensity
from condensity.experiments.records import Cell, Record, RecordFile

#: The code that results depend on.
COUNTS = (
    *(
        f"{folder}/**/*.py"
        for folder in (
            "distributions",
            "data",
            "fitting",
            "subspaces",
            "lsce",
            "estimators",
            "datasets",
        )
    ),
    *(f"experiments/{name}.py" for name in ("methods", "problems", "studies")),
)


def _source() -> str:
    """A name for the code that results depend on, as it is, to the letter."""
    digest, home = hashlib.sha256(), Path(condensity.__file__).parent
    for part in COUNTS:
        for path in sorted(home.glob(part)):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


VERSIONS = f"condensity {version('condensity')} ({_source()}), " + ", ".join(
    f"{package} {version(package)}" for package in ("numpy", "scipy", "scikit-learn")
)
#: Gives the results of a cell.
Work = Callable[[Cell], dict[str, Any]]


class UndoneError(RuntimeError):
    """The workers cannot be reached, or do not know what to make of a cell."""


@dataclass(frozen=True)
class Workers:
    """Who does the cells."""

    start: Callable[[], Executor]  # any executor of concurrent.futures will do
    at_once: int  # cells that it is given
    lost: type[Exception] = BrokenExecutor  # what it says of a cell whose worker died


def run(
    cells: Iterable[Cell],
    work: Work,
    file: RecordFile,
    *,
    workers: Workers,
    report: Callable[[Record], None] = lambda record: None,
    retry: bool = False,
) -> dict[Cell, Record]:
    """Do what has not been done, and return the records of all ``cells``.

    Cells that failed before are left as they are, unless ``retry``.
    """
    cells = list(cells)
    with file.alone():
        file.repair()
        waiting = missing(cells, file, retry=retry)
        while waiting:
            for cell in _run_until_broken(waiting, work, file, workers, report):
                if _run_until_broken([cell], work, file, workers, report):
                    _keep(Record(cell, error="its worker process died"), file, report)
        records = file.read()
    return {cell: records[cell] for cell in cells}


def missing(cells: Iterable[Cell], file: RecordFile, *, retry: bool = False) -> list[Cell]:
    """The cells without a record; with ``retry``, without one that is no error."""
    done = {cell for cell, record in file.read().items() if not (retry and record.error)}
    return [cell for cell in cells if cell not in done]


def local_workers(jobs: int) -> Workers:
    """Processes of this machine, which end when this one does."""
    context = multiprocessing.get_context("spawn")

    def start() -> Executor:
        return ProcessPoolExecutor(
            jobs, mp_context=context, initializer=_end_with_parent, initargs=(os.getpid(),)
        )

    return Workers(start, at_once=jobs)


def _run_until_broken(
    waiting: list[Cell],
    work: Work,
    file: RecordFile,
    workers: Workers,
    report: Callable[[Record], None],
) -> list[Cell]:
    """Take cells from ``waiting`` while there are workers; return those whose worker died."""
    flying: dict[Future[Record], Cell] = {}
    suspects: list[Cell] = []
    executor = workers.start()
    try:
        while waiting or flying:
            try:
                while waiting and len(flying) < workers.at_once:
                    flying[executor.submit(attempt, work, waiting[0])] = waiting[0]
                    waiting.pop(0)
            except workers.lost:  # all of them: what is in flight will hear of it too
                if not flying:
                    break
            for future in wait(flying, return_when=FIRST_COMPLETED).done:
                try:
                    record = future.result()
                except workers.lost:
                    suspects.append(flying[future])
                except Exception as error:  # not the cell's, which would be in its record
                    told = f"{flying[future]} could not be done ({error!r})"
                    raise UndoneError(told) from error
                else:
                    _keep(record, file, report)
                del flying[future]
    finally:
        executor.shutdown(wait=not flying, cancel_futures=True)  # an interrupted run does not wait
    return suspects


def _keep(record: Record, file: RecordFile, report: Callable[[Record], None]) -> None:
    file.append(record)
    report(record)


def attempt(work: Work, cell: Cell) -> Record:
    """Do one cell, on one thread; an error is a result."""
    begun = time.perf_counter()
    record = Record(cell, made_by=VERSIONS)
    try:
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            results = work(cell)
            json.dumps(results, allow_nan=False)  # what is no number is no result
            record = replace(record, results=results)
    except (Exception, SystemExit) as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        told = f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})"
        record = replace(record, error=told)
    return replace(record, seconds=time.perf_counter() - begun)


def _end_with_parent(parent: int) -> None:
    """Leave when the parent is gone: a killed run must not leave workers behind."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.2)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
