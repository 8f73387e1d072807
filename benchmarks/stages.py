"""Where the time of a fit goes, stage by stage.

    python benchmarks/stages.py

``LSCE()`` under cProfile: the functions of ``condensity.reduction`` that are the stages, and what
lies between them.
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

STAGES = {  # what is done, by which function (file, name)
    "members learn subspaces": ("configurations.py", "learn"),
    "members refine them": ("configurations.py", "refine"),
    "settings are chosen": ("settings.py", "choose"),
    "configurations are stacked": ("stacking.py", "stack"),
    "densities are stretched": ("stretch.py", "best_stretch"),
    "location from all samples": ("ship.py", "relocate"),
    "subspaces refined by all samples": ("ship.py", "refine"),
    "coefficients from all samples": ("ship.py", "fit"),
}
SIZES = ((300, 10), (100_000, 20))


def profile(n, dx):
    """Calls and seconds, with what they call, by (file, function), and the seconds of all."""
    X, y = data(n, dx)
    watch = cProfile.Profile(time.process_time)
    watch.runcall(LSCE(random_state=0).fit, X, y)
    stats = pstats.Stats(watch)
    found = {
        (Path(file).name, name): (times[1], times[3])
        for (file, _, name), times in stats.stats.items()
        if "reduction" in Path(file).parts
    }
    return found, stats.total_tt


def main():
    warnings.simplefilter("ignore")
    columns = []
    for n, dx in SIZES:
        print(f"n = {n}, dx = {dx}", file=sys.stderr, flush=True)
        found, total = profile(n, dx)
        own = [found.get(key, (0, 0.0))[1] / total for key in STAGES.values()]
        columns.append([*own, 1.0 - sum(own)])
    print("Shares of the time of `LSCE().fit`, by cProfile.\n")
    show_header("stage", *(f"n = {n}, dx = {dx}" for n, dx in SIZES))
    for name, *shares in zip([*STAGES, "all else"], *columns, strict=True):
        show_row(name, *(f"{share:.1%}" for share in shares))
    steps = found.get(("ship.py", "at"), (0, 0.0))[0]
    print(f"\nThe last made {steps} passes over all samples to refine subspaces.")


if __name__ == "__main__":
    main()
