"""The runner: cells go to workers, records come back one by one.

Every cell has its own seed and one thread, so records do not depend on the number of workers.  An
error in a cell becomes its record.  A worker that dies takes the cells in flight with it: they are
tried once more, each alone, and the one that kills its worker again is recorded as failed.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from importlib.metadata import version
from typing import Any

from threadpoolctl import threadpool_limits

from condensity.experiments.records import Cell, Record, RecordFile

VERSIONS = ", ".join(f"{p} {version(p)}" for p in ("condensity", "numpy", "scipy", "scikit-learn"))
#: Gives the results of a cell.
Work = Callable[[Cell], dict[str, Any]]
#: Makes the workers; any executor of ``concurrent.futures`` will do.
Workers = Callable[[], Executor]


def run(
    cells: Iterable[Cell],
    work: Work,
    file: RecordFile,
    *,
    workers: Workers,
    in_flight: int,
    report: Callable[[Record], None] = lambda record: None,
    retry: bool = False,
) -> dict[Cell, Record]:
    """Do what has not been done, and return the records of all ``cells``.

    Cells that failed before are left as they are, unless ``retry``.
    """
    cells = list(cells)
    file.repair()
    waiting = missing(cells, file, retry=retry)
    while waiting:
        for cell in _run_until_broken(waiting, work, file, workers, in_flight, report):
            if _run_until_broken([cell], work, file, workers, 1, report):
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
    return lambda: ProcessPoolExecutor(
        jobs, mp_context=context, initializer=_end_with_parent, initargs=(os.getpid(),)
    )


def _run_until_broken(
    waiting: list[Cell],
    work: Work,
    file: RecordFile,
    workers: Workers,
    in_flight: int,
    report: Callable[[Record], None],
) -> list[Cell]:
    """Take cells from ``waiting``; return those that were in flight when a worker died."""
    flying: dict[Future[Record], Cell] = {}
    executor = workers()
    try:
        while waiting or flying:
            try:
                while waiting and len(flying) < in_flight:
                    flying[executor.submit(attempt, work, waiting[0])] = waiting[0]
                    waiting.pop(0)
            except BrokenProcessPool:
                if not flying:
                    return []
            done = wait(flying, return_when=FIRST_COMPLETED).done
            broken = [f for f in done if isinstance(f.exception(), BrokenProcessPool)]
            for future in done.difference(broken):
                _keep(future.result(), file, report)
                del flying[future]
            if broken:
                return list(flying.values())
    finally:
        executor.shutdown(wait=not flying, cancel_futures=True)  # an interrupted run does not wait
    return []


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
            record = replace(record, results=work(cell))
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
