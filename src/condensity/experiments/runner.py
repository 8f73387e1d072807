"""The runner: cells go to workers, records come back one by one.

Every cell has its own seed and one thread, so records do not depend on the number of workers.  An
error in a cell becomes its record.  A worker that dies takes the cells in flight with it: they
are tried once more, and then recorded as failed.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from typing import Any

from threadpoolctl import threadpool_limits

from condensity.experiments.records import Cell, Record, RecordFile

#: Gives the results of a cell.
Work = Callable[[Cell], dict[str, Any]]
#: Makes the workers; any executor of ``concurrent.futures`` will do.
Workers = Callable[[], Executor]
#: How often a cell may see its worker die.
TRIES = 2


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
    done = {c for c, record in file.read().items() if not (retry and record.error)}
    waiting = [cell for cell in cells if cell not in done]
    deaths: Counter[Cell] = Counter()
    while waiting:
        lost = _run_until_broken(waiting, work, file, workers, in_flight, report)
        deaths.update(lost)
        for cell in [cell for cell in lost if deaths[cell] >= TRIES]:
            _keep(Record(cell, error="its worker process died"), file, report)
            lost.remove(cell)
        waiting = lost + waiting
    records = file.read()
    return {cell: records[cell] for cell in cells}


def local_workers(jobs: int) -> Workers:
    """Processes of this machine, which end when this one does."""
    context = multiprocessing.get_context("spawn")
    return lambda: ProcessPoolExecutor(jobs, mp_context=context, initializer=_end_with_parent)


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
    with workers() as executor:
        while waiting or flying:
            try:
                while waiting and len(flying) < in_flight:
                    flying[executor.submit(attempt, work, waiting[0])] = waiting[0]
                    waiting.pop(0)
                for future in wait(flying, return_when=FIRST_COMPLETED).done:
                    _keep(future.result(), file, report)
                    del flying[future]
            except BrokenProcessPool:
                return list(flying.values())
    return []


def _keep(record: Record, file: RecordFile, report: Callable[[Record], None]) -> None:
    file.append(record)
    report(record)


def attempt(work: Work, cell: Cell) -> Record:
    """Do one cell, on one thread; an error is a result."""
    begun = time.perf_counter()
    record = Record(cell)
    try:
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            record = replace(record, results=work(cell))
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        told = f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})"
        record = replace(record, error=told)
    return replace(record, seconds=time.perf_counter() - begun)


def _end_with_parent() -> None:
    """Leave when the parent is gone: a killed run must not leave workers behind."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.2)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
