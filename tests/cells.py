"""Cells that are quick to do, for the tests of the runner; run it to do them all.

python cells.py FILE JOBS
"""

import os
import sys
import time
from pathlib import Path

import numpy as np

from condensity.experiments.records import Cell, RecordFile
from condensity.experiments.runner import local_workers, run_cells

CELLS = [
    Cell("study", f"problem {p}", m, 10, seed) for p in "ab" for m in "xy" for seed in range(12)
]


def draw(cell):
    """Numbers that depend on the cell alone, after a while."""
    time.sleep(0.05)
    rng = np.random.default_rng([ord(cell.problem[-1]), ord(cell.method), cell.seed])
    return {"value": rng.standard_normal(), "many": rng.standard_normal(50).tolist()}


def draw_or_fail(cell):
    if cell.seed == 2:
        raise ValueError(f"no {cell.method}")
    return {"value": cell.seed}


def draw_or_die(cell):
    if cell.seed == 3 and cell.method == "x":
        os._exit(9)
    return {"value": cell.seed}


def draw_slowly_or_die(cell):
    """One cell kills its worker while another is at work."""
    if cell.seed == 1:
        time.sleep(0.5)
        os._exit(9)
    time.sleep(1.0 if cell.seed == 0 else 0.0)
    return {"value": cell.seed}


#: Seconds that a cell may take and no one should wait for.
STAY = 10


def draw_or_stay(cell):
    time.sleep(STAY if cell.seed == 1 else 0)
    return {"value": cell.seed}


def draw_or_leave(cell):
    if cell.seed == 1:
        sys.exit("enough")
    return {"value": cell.seed}


def draw_and_warn(cell):
    np.log(np.zeros(1))
    return {"threads": [pool["num_threads"] for pool in pools()]}


def where(cell):
    return os.getpid()


def pools():
    from threadpoolctl import threadpool_info

    return threadpool_info()


if __name__ == "__main__":
    jobs = int(sys.argv[2])
    run_cells(CELLS, draw, RecordFile(Path(sys.argv[1])), workers=local_workers(jobs))
