"""The default LSCE on the eleven benchmark tables of the paper (Table 1).

    python benchmarks/uci.py run RECORDS [--splits 10] [--methods ...] [--tables ...] [--jobs 2]
    python benchmarks/uci.py show RECORDS

RECORDS has one line for each (table, split, method); existing records are not computed again.
Error_CDE on at most 1000 test samples, y scaled to [0, 1], with the same splits for all methods.
``show`` prints the table and the losses that the methods expected, and draws a scatter plot of both
(``--picture FILE``).  ``benchmarks/results/uci.jsonl`` contains records that took hours.
"""

import argparse
import time
import warnings

import numpy as np
from records import mean_and_error, read, run_missing
from scipy.spatial.distance import cdist

from condensity import LSCDE, LSCE
from condensity.data.resolution import RecordedValues
from condensity.metrics import pit, squared_loss
from tables import PAPER, PAPER_COLUMNS, TABLES, split

METHODS = {
    "LSCE()": lambda seed: LSCE(random_state=seed),
    "single": lambda seed: LSCE(n_members=1, random_state=seed),
    "None/LSCDE": lambda seed: LSCDE(random_state=seed),
    "no floor": lambda seed: LSCE(min_bandwidth=0, random_state=seed),
    "published": lambda seed: LSCE.as_published(random_state=seed),
}
#: Methods whose kernels may not be narrower than the resolution of y.
FLOORED = {"LSCE()", "single"}
#: Tables whose target repeats values, which are also run without the floor.
REPEATING = ["Auto MPG", "White Wine", "Red Wine", "Forest Fires"]


def run(table, seed, method):
    """Record of the fit of one method to one split."""
    X, Y, X_test, Y_test, unit = split(table, seed)
    warnings.simplefilter("ignore")  # repeated values of y are intended here
    started = time.perf_counter()
    model = METHODS[method](seed).fit(X, Y)
    seconds = time.perf_counter() - started
    dist = model.predict_dist(X_test)
    u = pit(dist, Y_test)
    record = {
        "table": table,
        "seed": seed,
        "method": method,
        "loss": unit * squared_loss(dist, Y_test),
        "unconditional": unit * unconditional_loss(Y, Y_test, floored=method in FLOORED),
        "coverage": float(np.mean((u > 0.05) & (u < 0.95))),
        "pit": np.histogram(u, bins=10, range=(0, 1))[0].tolist(),
        "seconds": seconds,
        "n_components": getattr(model, "n_components_", None),
        "location": getattr(model, "location_", None),
        "stretch": np.ravel(getattr(model, "stretch_", 1.0)).tolist(),
    }
    if hasattr(model, "cv_score_"):
        record["expected"] = -unit * model.cv_score_
    return record


def unconditional_loss(Y, Y_test, floored):
    """The loss of a density of y that does not use x.

    It has Gaussian kernels on the training samples.  Their width, in standard deviations and the
    same for all outputs, is selected by leave-one-out.  The floor is that of ``LSCE``.
    """
    sd = Y.std(axis=0)
    floor = (
        max(
            RecordedValues.of(y / s, np.full(len(y), 1 / len(y))).least_bandwidth
            for y, s in zip(Y.T, sd, strict=True)
        )
        if floored
        else 0.0
    )
    widths = np.maximum(floor, np.logspace(-3, 0.3, 40))
    losses = [kernel_loss(Y / sd, Y / sd, width, own=True) for width in widths]
    return kernel_loss(Y / sd, Y_test / sd, widths[int(np.argmin(losses))]) / float(np.prod(sd))


def kernel_loss(Y, Y_test, width, own=False):
    """Squared loss at ``Y_test`` of the kernel density on ``Y``; ``own``: leave-one-out."""
    n, dy = Y.shape

    def kernels(A, B, s):
        return np.exp(-cdist(A, B, "sqeuclidean") / (2 * s**2)) / (2 * np.pi * s**2) ** (dy / 2)

    at = kernels(Y_test, Y, width)
    density = (at.sum(axis=1) - at[0, 0]) / (n - 1) if own else at.mean(axis=1)
    return 0.5 * kernels(Y, Y, 2**0.5 * width).mean() - density.mean()


def run_all(options):
    cells = [
        (table, seed, method)
        for method in options.methods
        for table in options.tables
        for seed in range(options.splits)
        if method != "no floor" or table in REPEATING
    ]
    run_missing(options.records, ("table", "seed", "method"), cells, run, options.jobs)


def show(options):
    records = read(options.records)
    print(
        "| |", " | ".join(f"paper {name}" for name in PAPER_COLUMNS), "|", " | ".join(METHODS), "|"
    )
    print("|---" * (len(PAPER_COLUMNS) + len(METHODS) + 1) + "|")
    for table in TABLES:
        cells = [f"{value:g}" for value in PAPER[table]]
        for method in METHODS:
            losses = [r["loss"] for r in records if (r["table"], r["method"]) == (table, method)]
            cells.append(mean_and_error(losses) if losses else "")
        print("|", table, "|", " | ".join(cells), "|")
    for method in METHODS:
        own = [r for r in records if r["method"] == method]
        worse = [(r["table"], r["seed"]) for r in own if r["loss"] > r.get("unconditional", np.inf)]
        print(f"\n{method}: {len(own)} splits, worse than the unconditional density: {worse}")
    print("\n| | expected | test | 90 % intervals cover | seconds |\n|---|---|---|---|---|")
    for table in TABLES:
        own = [r for r in records if (r["table"], r["method"]) == (table, "LSCE()")]
        if own:
            keys = ("expected", "loss", "coverage", "seconds")
            cells = [mean_and_error([r.get(key, np.nan) for r in own]) for key in keys]
            print("|", table, "|", " | ".join(cells), "|")
    if options.picture:
        draw([r for r in records if "expected" in r], options.picture)


def draw(records, path):
    """Plot the expected loss against the test loss, relative to the unconditional density."""
    import matplotlib.pyplot as plt

    ax = plt.subplots(figsize=(6, 6), layout="constrained")[1]
    ends = [0.5, 100]  # points beyond are drawn on the edge
    for method, color in (("LSCE()", "#6a3d9a"), ("single", "#33a02c")):
        own = [r for r in records if r["method"] == method]
        points = [(r["expected"] / r["unconditional"], r["loss"] / r["unconditional"]) for r in own]
        if points:
            ax.loglog(*np.clip(np.transpose(points), *ends), ".", color=color, label=method)
    ax.plot(ends, ends, color="#888888", lw=1)
    ax.set(xlabel="gain expected by cross-fitting", ylabel="gain on test samples")
    ax.set(title="Error_CDE / that of the unconditional density", xlim=ends, ylim=ends)
    ax.legend()
    ax.figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["run", "show"])
    parser.add_argument("records")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--picture", help="file for the scatter")
    options = parser.parse_args()
    run_all(options) if options.what == "run" else show(options)


if __name__ == "__main__":
    main()
