"""Effect of the smallest bandwidth on the published procedure with standardised samples.

    python benchmarks/raw_grid.py [--scoring raw] [--runs 8] [--jobs 2]

Two grids, from 0.03 and from 0.1 standard deviations on, with the same samples.
"""

import argparse

import numpy as np
from joblib import Parallel, delayed

from condensity import LSCE
from condensity.datasets import toy_a, toy_b
from condensity.estimators import published_lsce
from condensity.metrics import subspace_error


def run(problem, n, seed, smallest, scoring):
    X, y = problem.sample(n, random_state=seed)
    X_test, y_test = problem.sample(1000, random_state=10_000 + seed)
    published_lsce.SMALLEST_IN_SD = smallest
    options = {"scoring": scoring, "scaling": "variance", "random_state": seed}
    model = LSCE.as_published(len(problem.components), **options).fit(X, y)
    directions = model.components_ / X.std(axis=0)
    return subspace_error(directions, problem.components), -model.score(X_test, y_test)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scoring", choices=("raw", "normalised"), default="raw")
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 100, 200])
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    print("| problem | n | least sigma | Error_DR | Error_CDE |\n|---|---|---|---|---|")
    for problem in (toy_a(), toy_b()):
        for n in options.sizes:
            for smallest in (0.03, 0.1):
                errors = np.array(
                    Parallel(n_jobs=options.jobs)(
                        delayed(run)(problem, n, seed, smallest, options.scoring)
                        for seed in range(options.runs)
                    )
                )
                mean, se = errors.mean(axis=0), errors.std(axis=0, ddof=1) / options.runs**0.5
                cells = " | ".join(f"{m:.3f} ({s:.3f})" for m, s in zip(mean, se, strict=True))
                print(f"| {problem.name} | {n} | {smallest:.2f} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
