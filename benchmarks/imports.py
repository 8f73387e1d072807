"""Time of ``import condensity``, compared with ``import sklearn.linear_model``.

    python benchmarks/imports.py [--runs 9]

Each import runs in a new process, alternately.  Medians of the processor time of the import.
"""

import argparse
import subprocess
import sys

import numpy as np
from ratios import at_most, show_header, show_row

MODULES, LIMIT = ("sklearn.linear_model", "condensity"), 1.3
CODE = "import time; started = time.process_time(); import {}; print(time.process_time() - started)"


def seconds(module):
    """Processor time of one import."""
    command = [sys.executable, "-c", CODE.format(module)]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(out.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=9)
    runs = parser.parse_args().runs
    seconds_by_run = np.array([[seconds(module) for module in MODULES] for _ in range(runs + 1)])
    theirs, own = np.median(seconds_by_run[1:], axis=0)  # the first import fills the file cache
    print(f"Processor time of an import in a new process, median of {runs} alternating runs.\n")
    show_header(*(f"`import {module}`" for module in MODULES), "ratio", "target")
    ratio = own / theirs
    show_row(f"{theirs:.2f} s", f"{own:.2f} s", f"{ratio:.2f}", at_most(ratio, LIMIT))


if __name__ == "__main__":
    main()
