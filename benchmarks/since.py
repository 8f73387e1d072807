"""Speed-up of this version over an earlier one; both are measured alternately in one run.

    python benchmarks/since.py [--revision cb8b2eb] [--rounds 2]

The earlier version is checked out for the time of the run; git must have it.  Each measurement runs
in its own process, with the library of one of the versions and with these scripts.  The shortest
time of several rounds counts.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import answers
import fits
import kernel
from ratios import show_header, show_row

import condensity

HERE = Path(__file__).parent
BEFORE = "cb8b2eb"  # the last version before the work on speed
ROWS, CENTERS = 20_000, 200
FITS = {
    "`LSCE.as_published(2)`, n = 300": (fits.METHODS["given"]["`LSCE.as_published(2)`"], 300),
    "`LSCE(2)`, n = 300": (fits.METHODS["given"]["`LSCE(2)`"], 300),
    "`LSCE()`, n = 300": (fits.METHODS["selected"]["`LSCE()`"], 300),
    "`LSCE()`, n = 1000": (fits.METHODS["selected"]["`LSCE()`"], 1000),
}


def kernel_seconds():
    own, least = kernel.measure(20_000, 200, 20, 3)
    return {"value and gradient of the SCE": [own, least]}


def answer_seconds():
    (least, *own), *_ = answers.measure(ROWS, CENTERS)
    names = [f"`{name}`, {ROWS} rows" for name in answers.ANSWERS]
    return {name: [seconds, least] for name, seconds in zip(names, own, strict=True)}


def fit_seconds():
    results = {name: fits.run(method, n, 10, seed=0) for name, (method, n) in FITS.items()}
    return {name: [seconds, None, loss] for name, (seconds, loss, _) in results.items()}


TASKS = {"kernel": kernel_seconds, "answers": answer_seconds, "fits": fit_seconds}


def measured(task, source):
    """The results of a task with the library at ``source``."""
    print(f"{task}: {source.parent.name}", file=sys.stderr, flush=True)
    settings = {**os.environ, "PYTHONPATH": str(source)}
    command = [sys.executable, __file__, "--one", task]
    out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=settings)
    return json.loads(out.stdout)


def compare(old, new, rounds):
    """Print the table, with one row for each measurement."""
    show_header(
        "", "s before", "s now", "speed-up", "time / floor: before, now", "loss: before, now"
    )
    for task in TASKS:
        results = [[measured(task, source) for source in (old, new)] for _ in range(rounds)]
        for name in results[0][0]:
            before, now = (min(one[side][name] for one in results) for side in (0, 1))
            floors, losses = "", ""
            if before[1]:
                floors = ", ".join(f"{own / least:.1f} x" for own, least, *_ in (before, now))
            if len(before) > 2:
                losses = f"{before[2]:.3f}, {now[2]:.3f}"
            seconds = f"{before[0]:.3g}", f"{now[0]:.3g}", f"{before[0] / now[0]:.1f}"
            show_row(name, *seconds, floors, losses)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--revision", default=BEFORE)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument(
        "--one", choices=TASKS, help="this task only, with the library in PYTHONPATH"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.one:
        assert Path(condensity.__file__).is_relative_to(os.environ["PYTHONPATH"])
        print(json.dumps(TASKS[options.one]()))
        return
    print(
        f"This version and the last one before the work on speed (`{options.revision}`), measured "
        f"alternately; the shortest of {options.rounds} rounds; processor time on one thread. A "
        "floor is the work that no algorithm can avoid, measured in the same run; the sections "
        "above describe it. Losses are those of the fits on new samples; lower is better.\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        old = Path(folder) / "before"
        git = ("git", "-C", str(HERE))
        add = (*git, "worktree", "add", "--quiet", "--detach", str(old), options.revision)
        subprocess.run(add, check=True)
        try:
            compare(old / "src", HERE.parent / "src", options.rounds)
        finally:
            subprocess.run((*git, "worktree", "remove", "--force", str(old)), check=True)


if __name__ == "__main__":
    main()
