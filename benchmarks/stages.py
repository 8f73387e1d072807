"""Time of the stages of a fit.

    python benchmarks/stages.py

``LSCE()`` under cProfile: the functions of its algorithm that are the stages, and the rest.
"""

import cProfile
import pstats
import sys
import time
import warnings
from pathlib import Path

from growth import data
from ratios import show_header, show_row

from condensity import LSCE

STAGES = {  # stage: its function (file, name)
    "members: fit the trees": ("flexible.py", "tree_location"),
    "members: learn subspaces": ("learning.py", "learn_subspace"),
    "members: refine subspaces": ("learning.py", "refine_subspace"),
    "members: select settings": ("settings.py", "choose"),
    "stack configurations": ("stacking.py", "stack"),
    "calibrate widths": ("calibration.py", "best_stretch"),
    "all samples: fit the location": ("full_data.py", "refit_location"),
    "all samples: refine the subspace": ("full_data.py", "refine_with_all"),
    "all samples: fit coefficients": ("full_data.py", "fit_coefficients"),
}
ROOMS = {"lsce", "members", "locations"}
SIZES = ((300, 10), (100_000, 20))


def profile(n, dx):
    """Calls and cumulative seconds by (file, function), and the total seconds."""
    X, y = data(n, dx)
    watch = cProfile.Profile(time.process_time)
    watch.runcall(LSCE(random_state=0).fit, X, y)
    stats = pstats.Stats(watch)
    times = {
        (Path(file).name, name): (counts[1], counts[3])
        for (file, _, name), counts in stats.stats.items()
        if ROOMS & set(Path(file).parts)
    }
    return times, stats.total_tt


def main():
    warnings.simplefilter("ignore")
    columns = []
    for n, dx in SIZES:
        print(f"n = {n}, dx = {dx}", file=sys.stderr, flush=True)
        times, total = profile(n, dx)
        own = [times.get(key, (0, 0.0))[1] / total for key in STAGES.values()]
        columns.append([*own, 1.0 - sum(own)])
    print("Shares of the time of `LSCE().fit`, measured with cProfile.\n")
    show_header("stage", *(f"n = {n}, dx = {dx}" for n, dx in SIZES))
    for name, *shares in zip([*STAGES, "everything else"], *columns, strict=True):
        show_row(name, *(f"{share:.1%}" for share in shares))
    steps = times.get(("full_data.py", "at"), (0, 0.0))[0]
    print(f"\nThe larger fit made {steps} passes over all samples to refine the subspace.")


if __name__ == "__main__":
    main()
