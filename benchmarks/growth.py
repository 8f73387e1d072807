"""Growth of the time and memory of a fit with the numbers of samples and inputs.

    python benchmarks/growth.py [--largest 1000000] [--widest 500] [--picture FILE]

``LSCE(n_jobs=2)`` with default parameters, on an oblique problem with two directions.  Every size
runs in its own process.  Memory is the peak of this process and its workers, above the memory of
the process with the data.
"""

import argparse
import json
import subprocess
import sys
import time
import warnings

import numpy as np
from machine import peak_memory, present_memory, workers_memory
from oblique import directions
from ratios import at_most, show_header, show_row

from condensity import LSCE

SAMPLES, INPUTS = (1_000, 10_000, 100_000, 1_000_000), (5, 20, 100, 500)
DX, N, JOBS = 20, 2_000, 2
LINEAR = 1.05  # largest power that counts as linear
MEMORY, MINUTES = 2048, 5  # limits for a million samples, in MiB and minutes


def data(n, dx):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, dx))
    Z = X @ directions(dx, 2).T
    return X, Z[:, 0] + 0.5 * Z[:, 1] ** 2 + 0.4 * rng.standard_normal(n)


def fit(n, dx):
    """Seconds, MiB and number of directions of one fit in this process."""
    X, y = data(n, dx)
    warnings.simplefilter("ignore")
    workers = []  # measured during model selection, because workers may end after it
    before, started = present_memory(), time.perf_counter()
    model = LSCE(random_state=0, n_jobs=JOBS, verbose=lambda _: workers.append(workers_memory()))
    model.fit(X, y)
    seconds, own = time.perf_counter() - started, peak_memory() - before
    return {
        "seconds": seconds,
        "memory": own + max(workers),
        "own": own,
        "dz": model.n_components_,
    }


def measure(n, dx):
    """The results of ``fit`` in a new process."""
    print(f"n = {n}, dx = {dx}", file=sys.stderr, flush=True)
    command = [sys.executable, __file__, "--one", str(n), str(dx)]
    out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(out.stdout)


def slope(sizes, values):
    """Slope of the last two points in a plot with logarithmic axes."""
    return np.log(values[-1] / values[-2]) / np.log(sizes[-1] / sizes[-2])


def show(name, sizes, results):
    """One table."""
    show_header(
        name, "directions", "s", "relative to the first", "MiB above the data", "without workers"
    )
    for size, f in zip(sizes, results, strict=True):
        ratio = f["seconds"] / results[0]["seconds"]
        memory = f"{f['memory']:.0f}", f"{f['own']:.0f}"
        show_row(size, f["dz"], f"{f['seconds']:.1f}", f"{ratio:.1f}", *memory)
    if len(sizes) > 1:
        power = slope(sizes, [f["seconds"] for f in results])
        print(
            f"\nBetween the last two sizes, time grows with the power {power:.2f} of the size "
            f"({at_most(power, LINEAR, '')}).\n"
        )


def draw(panels, path):
    """Plot time and memory against the numbers of samples and inputs."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for label, sizes, results in panels:
        axes[0].loglog(sizes, [f["seconds"] for f in results], "o-", label=label)
        axes[1].semilogx(sizes, [f["memory"] for f in results], "o-", label=label)
    sizes, results = panels[0][1:]
    if len(sizes) > 1:
        line = results[-1]["seconds"] / sizes[-1]
        reach = np.array([sizes[-1] / 30, sizes[-1]])
        axes[0].loglog(reach, line * reach, ":", color="grey", label="linear")
    axes[0].yaxis.set_major_formatter("{x:g}")
    axes[1].axhline(MEMORY, ls=":", color="grey", label="2 GiB")
    axes[1].set_ylim(bottom=0)
    for ax, title in zip(axes, ("seconds", "MiB above the data"), strict=True):
        ax.set(title=title, xlabel="number of samples, or of inputs")
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False)
    figure.savefig(path, dpi=120, metadata={"Software": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=SAMPLES[-1])
    parser.add_argument("--widest", type=int, default=INPUTS[-1])
    parser.add_argument("--picture")
    parser.add_argument("--one", type=int, nargs=2, metavar=("N", "DX"), help="this size only")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(fit(*options.one)))
        return
    print(
        f"`LSCE(n_jobs={JOBS})` with default parameters; the true number of directions is two. "
        "Model selection uses at most 2000 samples. Up to this size, time grows with model "
        "selection; beyond it, with the passes over all samples. Memory is that of the process and "
        f"its {JOBS} workers, above the data.\n"
    )
    panels = []
    samples = [n for n in SAMPLES if n <= options.largest]
    by_samples = [measure(n, DX) for n in samples]
    panels.append((f"samples, dx = {DX}", samples, by_samples))
    show(f"n (dx = {DX})", samples, by_samples)
    if samples[-1] == SAMPLES[-1]:
        memory, minutes = by_samples[-1]["memory"], by_samples[-1]["seconds"] / 60
        print(
            f"A million samples: {memory:.0f} MiB ({at_most(memory, MEMORY, 'MiB')}), "
            f"{minutes:.1f} minutes ({at_most(minutes, MINUTES, 'minutes')}).\n"
        )
    inputs = [dx for dx in INPUTS if dx <= options.widest]
    by_inputs = [measure(N, dx) for dx in inputs]
    panels.append((f"inputs, n = {N}", inputs, by_inputs))
    show(f"dx (n = {N})", inputs, by_inputs)
    if options.picture:
        draw(panels, options.picture)


if __name__ == "__main__":
    main()
