"""CRPS of ``LSCE()`` on public splits, beside published figures of tuned methods.

    python benchmarks/anchors.py [--tables Concrete Yacht] [--out anchors.jsonl]
    python benchmarks/anchors.py --table anchors.jsonl

Six folds: the rows are permuted by ``default_rng(0).permutation(n)``; on the permuted rows
``fold[default_rng(0).permutation(n)] = arange(n) % 6``.  Fold 0 is left to tuning, which ``LSCE()``
does not need.  Folds 1 to 5 are tested, each with all other folds as the training sample.  Finished
folds are skipped on a restart.
"""

import argparse
import json
import os
import time
import warnings
from collections import defaultdict
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.datasets import load_diabetes

from condensity import LSCE
from condensity.datasets import load

#: Published CRPS: the best tuned method, and NGBoost.
PUBLISHED = {
    "Concrete": (2.126, 2.645),
    "Energy": (0.204, 0.224),
    "Yacht": (0.283, 0.350),
    "Diabetes": (31.25, 34.1),
}
N_FOLDS = 6


def table(name):
    """Inputs and the (first) output of a table."""
    if name == "Diabetes":
        return load_diabetes(return_X_y=True, scaled=False)
    data = load(name)
    return np.asarray(data.X, float), np.asarray(data.Y, float).reshape(len(data.X), -1)[:, 0]


def folds(n):
    """The permutation of the rows, and the fold of each permuted row."""
    fold = np.empty(n, dtype=int)
    fold[np.random.default_rng(0).permutation(n)] = np.arange(n) % N_FOLDS
    return np.random.default_rng(0).permutation(n), fold


def run(name, k):
    """The record of one test fold."""
    X, y = table(name)
    order, fold = folds(len(y))
    X, y = X[order], y[order]
    train, test = fold != k, fold == k
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LSCE(random_state=0).fit(X[train], y[train])
    seconds = time.process_time() - began
    dist = model.predict_dist(X[test])
    return {
        "table": name,
        "fold": k,
        "n": int(train.sum()),
        "crps": float(np.mean(dist.crps(y[test]))),
        "nll": float(-np.mean(dist.log_pdf(y[test]))),
        "rmse": float(np.sqrt(np.mean((dist.mean() - y[test]) ** 2))),
        "seconds": seconds,
    }


def print_table(lines):
    """Mean (standard error) over the folds."""
    by_table = defaultdict(list)
    for line in lines:
        by_table[line["table"]].append(line)
    print("| | n | folds | CRPS | log loss | RMSE | best published CRPS | NGBoost | seconds |")
    print("|---" * 9 + "|")
    for name, rows in by_table.items():
        cells = []
        for key in ("crps", "nll", "rmse"):
            values = [row[key] for row in rows]
            se = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
            cells.append(f"{np.mean(values):.3f} ({se:.3f})")
        best, ngboost = PUBLISHED[name]
        seconds = np.mean([row["seconds"] for row in rows])
        print(
            f"| {name} | {rows[0]['n']} | {len(rows)} | {' | '.join(cells)} | {best} | {ngboost} "
            f"| {seconds:.0f} |"
        )


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", choices=[*PUBLISHED], default=[*PUBLISHED])
    parser.add_argument("--out", type=Path, default=Path("anchors.jsonl"))
    parser.add_argument("--table", type=Path, help="print the table of these records")
    options = parser.parse_args()
    if options.table:
        return print_table(read(options.table))
    done = {(line["table"], line["fold"]) for line in read(options.out)}
    with options.out.open("a") as file:
        for k in range(1, N_FOLDS):
            for name in options.tables:
                if (name, k) not in done:
                    file.write(json.dumps(run(name, k)) + "\n")
                    file.flush()
    return print_table(read(options.out))


if __name__ == "__main__":
    main()
