"""Coverage of intervals of ``LSCE()`` on ten known truths, inside the data, at their edge, outside.

    python benchmarks/calibration.py --out benchmarks/results/calibration.jsonl [--runs 10]
    python benchmarks/calibration.py --out benchmarks/results/calibration.jsonl --show
        [--picture docs/images/calibration.png]

Every cell (truth, n, run) is one fit and one line of the file.  Cells in the file are not run
again, so an interrupted study continues where it stopped.

There are five standard normal inputs.  Rows "inside" are drawn like the samples.  Rows "at the
edge" have the radius that one sample in a hundred exceeds, rows "outside" have twice this radius;
their directions are random.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import chi, kstest

from condensity import LSCE
from condensity.metrics import pit

DX, ROWS, LEVELS = 5, 1000, (0.5, 0.9)
RUNS = {40: 10, 100: 10, 400: 4, 2000: 2}  # runs at most, by number of samples
PLACES = ("inside", "edge", "outside")


def logistic(u):
    return 1 / (1 + np.exp(-u))


def signal(X):
    return X[:, 0] + 0.5 * X[:, 1]


def branches(X, rng):
    sign = np.where(rng.random(len(X)) < 0.5, 1.0, -1.0)
    return sign * (1 + np.maximum(signal(X), 0)) + 0.3 * rng.normal(size=len(X))


def rare(X, rng):
    other = rng.random(len(X)) < 0.1
    return signal(X) + np.where(other, 3.0, 0.0) + 0.3 * rng.normal(size=len(X))


def two(X, rng):
    e = rng.normal(size=(2, len(X)))
    return np.column_stack([signal(X) + 0.5 * e[0], X[:, 2] + 0.5 * e[0] + 0.3 * e[1]])


#: The outputs for inputs (n, dx), and the parameters of the estimator.
TRUTHS = {
    "linear, normal": (lambda X, rng: signal(X) + 0.5 * rng.normal(size=len(X)), {}),
    "skewed": (lambda X, rng: signal(X) + 0.5 * rng.gamma(1.5, size=len(X)), {}),
    "heavy tails (t3)": (lambda X, rng: signal(X) + 0.4 * rng.standard_t(3, size=len(X)), {}),
    "two branches": (branches, {}),
    "changing spread": (
        lambda X, rng: signal(X) + 0.4 * np.exp(0.5 * X[:, 1]) * rng.normal(size=len(X)),
        {},
    ),
    "positive": (lambda X, rng: np.exp(0.5 * signal(X) + 0.5 * rng.normal(size=len(X))), {}),
    "share": (
        lambda X, rng: logistic(signal(X) + 0.7 * rng.normal(size=len(X))),
        {"bounds": (0, 1)},
    ),
    "wave": (lambda X, rng: np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=len(X)), {}),
    "rare cases": (rare, {}),
    "two outputs": (two, {}),
}


def test_inputs(rng):
    """The rows of each place."""
    inside = rng.normal(size=(ROWS, DX))
    directions = rng.normal(size=(ROWS, DX))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    radius = chi(DX).ppf(0.99)
    return dict(zip(PLACES, (inside, radius * directions, 2 * radius * directions), strict=True))


def measure(truth, n, run):
    """The record of one cell."""
    draw, parameters = TRUTHS[truth]
    rng = np.random.default_rng([run, n, list(TRUTHS).index(truth)])
    X = rng.normal(size=(n, DX))
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of values of y that are left out
        model = LSCE(random_state=run, **parameters).fit(X, draw(X, rng))
    seconds, record = time.perf_counter() - started, {"truth": truth, "n": n, "run": run}
    for place, rows in test_inputs(rng).items():
        Y = draw(rows, rng).reshape(ROWS, -1)
        parts = [pit(one, Y[:, j]) for j, one in enumerate(model.predict_dist(rows).marginals())]
        u = np.concatenate(parts)
        record[place] = {
            f"{level:g}": float(np.mean(np.abs(u - 0.5) <= 0.5 * level)) for level in LEVELS
        }
        record[place]["ks"] = float(np.mean([kstest(part, "uniform").statistic for part in parts]))
    return record | {"seconds": round(seconds, 1)}


def read(path):
    """The records of a file, by cell."""
    lines = path.read_text().splitlines() if path.exists() else []
    records = [json.loads(line) for line in lines]
    return {(r["truth"], r["n"], r["run"]): r for r in records}


def run_all(path, runs):
    """Run the missing cells: all truths and sizes of one run, then those of the next."""
    done = read(path)
    for run in range(runs):
        for n in (n for n, most in RUNS.items() if run < most):
            for truth in TRUTHS:
                if (truth, n, run) not in done:
                    record = measure(truth, n, run)
                    with path.open("a") as file:
                        file.write(json.dumps(record) + "\n")


def mean_and_error(values):
    """The mean over runs, and its standard error."""
    values = np.array(values)
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return float(values.mean()), float(error)


def as_text(values):
    """The mean, and its standard error if there are several runs."""
    if not values:
        return "-"
    mean, error = mean_and_error(values)
    return f"{mean:.3f}" if np.isnan(error) else f"{mean:.3f} ({error:.3f})"


def coverages(records, place, truth, n, level="0.9"):
    return [r[place][level] for (t, m, _), r in records.items() if (t, m) == (truth, n)]


def show(records):
    """The tables: coverage of 90 % intervals by truth, number of samples and place."""
    sizes = [n for n in RUNS if any(n == m for _, m, _ in records)]
    counts = [max(len(coverages(records, "inside", t, n)) for t in TRUTHS) for n in sizes]
    for place in PLACES:
        heads = [f"n = {n} ({c} runs)" for n, c in zip(sizes, counts, strict=True)]
        print(f"| {place} | " + " | ".join(heads) + " |\n|---|" + "---|" * len(sizes))
        for truth in TRUTHS:
            cells = [coverages(records, place, truth, n) for n in sizes]
            texts = [as_text(c) for c in cells]
            print(f"| {truth} | " + " | ".join(texts) + " |")
        print()


def draw(records, path):
    """One panel for each place: coverage against the number of samples, a line for each truth."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(11, 4.2), sharey=True, layout="constrained")
    titles = ("inside the data", "at the edge (1 % are farther out)", "twice as far out")
    colours = plt.get_cmap("tab10").colors
    for ax, place, title in zip(axes, PLACES, titles, strict=True):
        ax.axhline(0.9, color="grey", lw=1)
        for k, truth in enumerate(TRUTHS):
            sizes = [n for n in RUNS if coverages(records, place, truth, n)]
            found = [mean_and_error(coverages(records, place, truth, n)) for n in sizes]
            means, errors = np.array(found).T
            at = np.array(sizes) * 1.02 ** (k - 4.5)  # side by side
            options = {"color": colours[k], "ms": 4, "lw": 1, "elinewidth": 1}
            ax.errorbar(at, means, np.nan_to_num(errors), fmt="o-", label=truth, **options)
        ax.set(title=title, xscale="log", xlabel="number of samples", ylim=(0, 1))
        ax.set_xticks(list(RUNS), [str(n) for n in RUNS])
        ax.minorticks_off()
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("share of new y in 90 % intervals")
    figure.legend(*axes[0].get_legend_handles_labels(), frameon=False, loc="outside right center")
    figure.savefig(path, dpi=120, metadata={"Software": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=max(RUNS.values()))
    parser.add_argument("--show", action="store_true", help="show what is there, run nothing")
    parser.add_argument("--picture")
    options = parser.parse_args()
    if not options.show:
        run_all(options.out, options.runs)
    records = read(options.out)
    show(records)
    if options.picture:
        draw(records, options.picture)


if __name__ == "__main__":
    main()
