"""The default LSCE on the eleven benchmark tables of the paper (Table 1).

    python benchmarks/uci.py run RECORDS [--splits 10] [--methods ...] [--tables ...] [--jobs 2]
    python benchmarks/uci.py show RECORDS

One record a line for each (table, split, method), appended to RECORDS; what is there is not run
again.  Error_CDE on at most 1000 test samples, y scaled to [0, 1]; the same splits for all.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from tables import PAPER, TABLES, split

from condensity import LSCDE, LSCE
from condensity.metrics import pit, squared_loss

METHODS = {
    "LSCE()": lambda seed: LSCE(random_state=seed),
    "single": lambda seed: LSCE(n_members=1, random_state=seed),
    "None/LSCDE": lambda seed: LSCDE(random_state=seed),
    "no floor": lambda seed: LSCE(min_bandwidth=0, random_state=seed),
    "published": lambda seed: LSCE.as_published(random_state=seed),
}
#: Tables whose target repeats values: shown without the floor too.
REPEATING = ["Auto MPG", "White Wine", "Red Wine", "Forest Fires"]


def run(table, seed, method):
    """Fit one method to one split: the record."""
    X, Y, X_test, Y_test, unit = split(table, seed)
    warnings.simplefilter("ignore")  # of atoms: they are the point of the column without floor
    begun = time.perf_counter()
    model = METHODS[method](seed).fit(X, Y)
    seconds = time.perf_counter() - begun
    dist = model.predict_dist(X_test)
    u = pit(dist, Y_test)
    record = {
        "table": table,
        "seed": seed,
        "method": method,
        "loss": unit * squared_loss(dist, Y_test),
        "unconditional": unit * unconditional_loss(Y, Y_test),
        "coverage": float(np.mean((u > 0.05) & (u < 0.95))),
        "seconds": seconds,
        "n_components": getattr(model, "n_components_", None),
        "location": getattr(model, "location_", None),
    }
    if "weight" in getattr(model, "cv_results_", {}):
        best = np.max(model.cv_results_["mean_test_score"])
        record["crossfitted"] = -unit * float(best)
    return record


def unconditional_loss(Y, Y_test):
    """The loss of the density of y that does not look at x: LSCDE on inputs of pure noise."""
    noise = np.random.default_rng(0).standard_normal((len(Y) + len(Y_test), 1))
    model = LSCDE(bandwidth=None, random_state=0).fit(noise[: len(Y)], Y)
    return squared_loss(model.predict_dist(noise[len(Y) :]), Y_test)


def read(path):
    path = Path(path)
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def run_all(options):
    done = {(r["table"], r["seed"], r["method"]) for r in read(options.records)}
    cells = [
        (table, seed, method)
        for method in options.methods
        for table in options.tables
        for seed in range(options.splits)
        if (method != "no floor" or table in REPEATING) and (table, seed, method) not in done
    ]
    work = Parallel(n_jobs=options.jobs, return_as="generator_unordered")
    for record in work(delayed(run)(*cell) for cell in cells):
        with Path(options.records).open("a") as stream:
            stream.write(json.dumps(record) + "\n")


def show(options):
    records = read(options.records)
    print("| | paper LSCE / best |", " | ".join(METHODS), "|")
    print("|---" * (len(METHODS) + 2) + "|")
    for table in TABLES:
        cells = []
        for method in METHODS:
            losses = [r["loss"] for r in records if (r["table"], r["method"]) == (table, method)]
            cells.append(mean_and_error(losses) if losses else "")
        published, best = PAPER[table]
        print(f"| {table} | {published:g} / {best:g} |", " | ".join(cells), "|")
    worse = [r for r in records if r["method"] == "LSCE()" and r["loss"] > r["unconditional"]]
    print(f"\nsplits where LSCE() loses to the unconditional density: {len(worse)}")


def mean_and_error(values):
    values = np.array(values)
    error = values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else np.nan
    return f"{values.mean():.2f} ({error:.2f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["run", "show"])
    parser.add_argument("records")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    run_all(options) if options.what == "run" else show(options)


if __name__ == "__main__":
    main()
