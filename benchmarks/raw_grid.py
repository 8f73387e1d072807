"""Effect of the smallest bandwidth on the published procedure, which uses the raw score.

    python benchmarks/raw_grid.py [--runs 8] [--jobs 2]

Two grids, from 0.03 and from 0.1 standard deviations on, with the same samples.
"""

import argparse

import numpy as np
from joblib import Parallel, delayed

from condensity import LSCE
from condensity.datasets import toy_a, toy_b
from condensity.estimators import subspace_search
from condensity.fitting.selection import BANDWIDTHS
from condensity.metrics import subspace_error


def run(problem, n, seed, grid):
    X, y = problem.sample(n, random_state=seed)
    X_test, y_test = problem.sample(1000, random_state=10_000 + seed)
    subspace_search.RAW_BANDWIDTHS = grid
    model = LSCE.as_published(len(problem.components), random_state=seed).fit(X, y)
    return subspace_error(model.components_, problem.components), -model.score(X_test, y_test)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 100, 200])
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    print("| problem | n | least sigma | Error_DR | Error_CDE |\n|---|---|---|---|---|")
    for problem in (toy_a(), toy_b()):
        for n in options.sizes:
            for grid in (BANDWIDTHS, BANDWIDTHS[2:]):
                errors = np.array(
                    Parallel(n_jobs=options.jobs)(
                        delayed(run)(problem, n, seed, grid) for seed in range(options.runs)
                    )
                )
                mean, se = errors.mean(axis=0), errors.std(axis=0, ddof=1) / options.runs**0.5
                cells = " | ".join(f"{m:.3f} ({s:.3f})" for m, s in zip(mean, se, strict=True))
                print(f"| {problem.name} | {n} | {grid[0]:.2f} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
