"""Which column of the wine tables is the output of the paper?

    python benchmarks/wines.py [--runs 10] [--jobs 2] [--lsce]

The figures of the paper without dimension reduction (None/LSCDE) do not agree with the quality of
the wines as y.  This benchmark takes every column in turn as y and the eleven others as x, in the
reading of the paper that agrees best on the other tables (benchmarks/readings.py).  With --lsce it
fits LSCE as published with one direction instead, only with the first column as y.
"""

import argparse
from dataclasses import replace

import numpy as np
from joblib import Parallel, delayed
from readings import COLUMN, Reading, losses, paper, print_row, selected_error
from threadpoolctl import threadpool_limits

from condensity import LSCE
from condensity.datasets import load
from condensity.experiments.methods import MODEL_SEEDS
from condensity.experiments.problems import in_unit_box
from condensity.metrics import squared_loss

WINES = ("White Wine", "Red Wine")
READING = Reading("normalised", "[0, 1]", "quarter decades from 0.03", "all", "eps")


def with_output(table, column):
    """The table with one of its columns as y and all others as x."""
    values = np.hstack([table.X, table.Y])
    names = [*table.feature_names, *table.target_names]
    return replace(
        table,
        X=np.delete(values, column, axis=1),
        Y=values[:, [column]],
        feature_names=tuple(name for i, name in enumerate(names) if i != column),
        target_names=(names[column],),
    )


def error(table, seed):
    """Error_CDE of one split, for y in [0, 1]."""
    with threadpool_limits(1):
        return selected_error(losses(table, seed, READING.scale, READING.centers), READING)


def lsce_error(table, seed):
    """Error_CDE of one split for LSCE as published with one direction, for y in [0, 1]."""
    data = in_unit_box(table.split(seed), table.X, table.Y)
    with threadpool_limits(1):
        model = LSCE.as_published(1, scaling="none", random_state=MODEL_SEEDS + seed)
        density = model.fit(data.X, data.Y).predict_dist(data.X_test)
    return squared_loss(density, data.Y_test)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10, help="number of splits, at least 2")
    parser.add_argument("--jobs", type=int, default=2, help="number of processes")
    parser.add_argument("--lsce", action="store_true", help="LSCE with one direction")
    options = parser.parse_args()
    if options.runs < 2:
        parser.error(f"--runs is {options.runs}; standard errors need at least 2")
    print_row(["y", *WINES])
    print("|---" * (len(WINES) + 1) + "|")
    tables = [load(name) for name in WINES]
    measure = lsce_error if options.lsce else error
    for column in range(1 if options.lsce else tables[0].X.shape[1] + 1):
        changed = [with_output(table, column) for table in tables]
        cells = []
        for table in changed:
            run = delayed(measure)
            errors = Parallel(options.jobs)(run(table, seed) for seed in range(options.runs))
            cells.append((np.mean(errors), np.std(errors, ddof=1) / np.sqrt(options.runs)))
        (name,) = changed[0].target_names
        print_row([name.replace("_", " "), *(f"{mean:.2f} ({se:.2f})" for mean, se in cells)])
    figures = [paper.ERRORS[name][0 if options.lsce else COLUMN] for name in WINES]
    print_row(["paper", *(f"{mean:.2f} ({se:.2f})" for mean, se in figures)])


if __name__ == "__main__":
    main()
