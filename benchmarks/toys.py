"""The published procedure on the paper's artificial datasets (Figure 3).

    python benchmarks/toys.py [--runs 20] [--sizes 50 100 200 400] [--centers auto] [--jobs 2]

Error_DR against the true subspace and Error_CDE on 1000 test samples, mean (standard error) over
runs; the same training and test samples for every method.
"""

import argparse
import time

import numpy as np
from joblib import Parallel, delayed

from condensity import LSCDE, LSCE
from condensity.datasets import toy_a, toy_b
from condensity.metrics import squared_loss, subspace_error

N_TEST = 1000


def run(problem, n, seed, n_centers):
    """One training sample, every method: Error_DR and Error_CDE."""
    X, y = problem.sample(n, random_state=seed)
    X_test, y_test = problem.sample(N_TEST, random_state=10_000 + seed)
    W, dz = problem.components, len(problem.components)
    centers = n if n_centers == "all" else n_centers
    published = LSCE.as_published(dz, n_centers=centers, random_state=seed).fit(X, y)
    default = LSCE(dz, n_centers=centers, random_state=seed).fit(X, y)
    # With as many components as inputs there is nothing to reduce: the same procedure, W settled.
    none = LSCE.as_published(5, n_centers=centers, random_state=seed).fit(X, y)
    true = LSCE.as_published(dz, n_centers=centers, random_state=seed).fit(X @ W.T, y)
    plain = LSCDE(n_centers=centers, random_state=seed)
    return {
        "DR published": subspace_error(published.components_, W),
        "DR LSCE()": subspace_error(default.components_, W),
        "CDE published": -published.score(X_test, y_test),
        "CDE LSCE()": -default.score(X_test, y_test),
        "CDE true subspace": -true.score(X_test @ W.T, y_test),
        "CDE no reduction": -none.score(X_test, y_test),
        "CDE true, LSCDE()": -plain.fit(X @ W.T, y).score(X_test @ W.T, y_test),
        "CDE none, LSCDE()": -plain.fit(X, y).score(X_test, y_test),
        "CDE truth": squared_loss(problem.conditional(X_test), y_test),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 100, 200, 400])
    parser.add_argument("--centers", choices=["auto", "all"], default="auto")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    for problem in (toy_a(), toy_b()):
        for n in options.sizes:
            begun = time.perf_counter()
            rows = Parallel(n_jobs=options.jobs)(
                delayed(run)(problem, n, seed, options.centers) for seed in range(options.runs)
            )
            table = {key: np.array([row[key] for row in rows]) for key in rows[0]}
            if n == options.sizes[0]:
                print(f"\n| {problem.name}, n |", " | ".join(table), "| seconds |", flush=True)
                print("|---" * (len(table) + 2) + "|")
            cells = [
                f"{v.mean():.3f} ({v.std(ddof=1) / len(v) ** 0.5:.3f})" for v in table.values()
            ]
            took = time.perf_counter() - begun
            print(f"| {n} |", " | ".join(cells), f"| {took:.0f} |", flush=True)


if __name__ == "__main__":
    main()
