"""The runner: workers compute cells, and each record is written as soon as it is complete.

Every cell has its own seed and one thread, so records depend neither on the number of workers nor
on their location.  An error in a cell becomes its record.  If a worker dies, its cells are tried
once more, one at a time.  A cell whose worker dies again is recorded as failed.
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

#: Files with the code that results depend on.
RESULT_CODE = (
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


def _code_hash() -> str:
    """Hash of the code that results depend on."""
    digest, home = hashlib.sha256(), Path(condensity.__file__).parent
    for pattern in RESULT_CODE:
        for path in sorted(home.glob(pattern)):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


VERSIONS = f"condensity {version('condensity')} ({_code_hash()}), " + ", ".join(
    f"{package} {version(package)}" for package in ("numpy", "scipy", "scikit-learn")
)
#: Function from a cell to its results.
Work = Callable[[Cell], dict[str, Any]]


class CellNotRunError(RuntimeError):
    """A cell could not be run: workers are not reachable, or cannot read the cell."""


@dataclass(frozen=True)
class Workers:
    """Workers that compute cells."""

    start: Callable[[], Executor]  # returns an executor of concurrent.futures
    max_pending: int  # maximum number of submitted cells
    died_error: type[Exception] = BrokenExecutor  # raised for a cell whose worker died


def run_cells(
    cells: Iterable[Cell],
    work: Work,
    file: RecordFile,
    *,
    workers: Workers,
    report: Callable[[Record], None] = lambda record: None,
    retry: bool = False,
) -> dict[Cell, Record]:
    """Run the cells without a record, and return the records of all ``cells``.

    Cells that failed before are run again only if ``retry`` is true.
    """
    cells = list(cells)
    with file.locked():
        file.repair()
        waiting = missing_cells(cells, file, retry=retry)
        while waiting:
            for cell in _run_until_broken(waiting, work, file, workers, report):
                if _run_until_broken([cell], work, file, workers, report):
                    _store(Record(cell, error="its worker process died"), file, report)
        records = file.read()
    return {cell: records[cell] for cell in cells}


def missing_cells(cells: Iterable[Cell], file: RecordFile, *, retry: bool = False) -> list[Cell]:
    """Cells without a record; with ``retry``, also the cells that failed."""
    done = {cell for cell, record in file.read().items() if not (retry and record.error)}
    return [cell for cell in cells if cell not in done]


def local_workers(jobs: int) -> Workers:
    """Worker processes on this machine, which end together with this process."""
    context = multiprocessing.get_context("spawn")

    def start() -> Executor:
        return ProcessPoolExecutor(
            jobs, mp_context=context, initializer=_end_with_parent, initargs=(os.getpid(),)
        )

    return Workers(start, max_pending=jobs)


def _run_until_broken(
    waiting: list[Cell],
    work: Work,
    file: RecordFile,
    workers: Workers,
    report: Callable[[Record], None],
) -> list[Cell]:
    """Run cells from ``waiting`` until the workers fail; return the cells whose worker died."""
    pending: dict[Future[Record], Cell] = {}
    suspects: list[Cell] = []
    executor = workers.start()
    try:
        while waiting or pending:
            try:
                while waiting and len(pending) < workers.max_pending:
                    pending[executor.submit(run_cell, work, waiting[0])] = waiting[0]
                    waiting.pop(0)
            except (
                workers.died_error
            ):  # all workers are gone; the pending futures raise the same error
                if not pending:
                    break
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                try:
                    record = future.result()
                except workers.died_error:
                    suspects.append(pending[future])
                except Exception as error:  # not an error of the cell, which would be in its record
                    raise CellNotRunError(
                        f"{pending[future]} could not be run ({error!r})"
                    ) from error
                else:
                    _store(record, file, report)
                del pending[future]
    finally:
        executor.shutdown(wait=not pending, cancel_futures=True)  # do not wait if interrupted
    return suspects


def _store(record: Record, file: RecordFile, report: Callable[[Record], None]) -> None:
    file.append(record)
    report(record)


def run_cell(work: Work, cell: Cell) -> Record:
    """Record of one cell, computed on one thread; an error is recorded too."""
    started = time.perf_counter()
    record = Record(cell, made_by=VERSIONS)
    try:
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            results = work(cell)
            json.dumps(results, allow_nan=False)  # raises an error for NaN
            record = replace(record, results=results)
    except (Exception, SystemExit) as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        message = f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})"
        record = replace(record, error=message)
    return replace(record, seconds=time.perf_counter() - started)


def _end_with_parent(parent: int) -> None:
    """End this process when its parent is gone, so that a killed run leaves no workers."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.2)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
