"""The paper's artificial datasets (Figure 3): the published procedure and the default.

    python benchmarks/toys.py [--runs 20] [--sizes 50 100 200 400] [--methods ...] [--jobs 2]

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


def published(X, y, seed, dz):
    return LSCE.as_published(dz, random_state=seed).fit(X, y)


#: Function that fits with the true number of directions; whether its inputs are the true z instead
#: of x; whether W is a result.
METHODS = {
    "published": (published, False, True),
    "LSCE()": (lambda X, y, seed, dz: LSCE(dz, random_state=seed).fit(X, y), False, True),
    "true subspace": (published, True, False),
    # With one component per input there is no reduction: the same procedure with a fixed W.
    "no reduction": (lambda X, y, seed, dz: published(X, y, seed, X.shape[1]), False, False),
    "true, LSCDE()": (lambda X, y, seed, dz: LSCDE(random_state=seed).fit(X, y), True, False),
    "none, LSCDE()": (lambda X, y, seed, dz: LSCDE(random_state=seed).fit(X, y), False, False),
}


def run(problem, n, seed, methods):
    """Error_DR and Error_CDE of every method on one training sample."""
    X, y = problem.sample(n, random_state=seed)
    X_test, y_test = problem.sample(N_TEST, random_state=10_000 + seed)
    W = problem.components
    record = {}
    for name in methods:
        fit, reduced, learns = METHODS[name]
        A = W.T if reduced else np.eye(X.shape[1])
        started = time.perf_counter()
        model = fit(X @ A, y, seed, len(W))
        record[f"seconds {name}"] = time.perf_counter() - started
        record[f"CDE {name}"] = -model.score(X_test @ A, y_test)
        if learns:
            record[f"DR {name}"] = subspace_error(model.components_, W)
    record["CDE truth"] = squared_loss(problem.conditional(X_test), y_test)
    return record


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 100, 200, 400])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    for problem in (toy_a(), toy_b()):
        for n in options.sizes:
            rows = Parallel(n_jobs=options.jobs)(
                delayed(run)(problem, n, seed, options.methods) for seed in range(options.runs)
            )
            table = {key: np.array([row[key] for row in rows]) for key in rows[0]}
            if n == options.sizes[0]:
                print(f"\n| {problem.name}, n |", " | ".join(table), "|", flush=True)
                print("|---" * (len(table) + 1) + "|")
            cells = [
                f"{v.mean():.3f} ({v.std(ddof=1) / len(v) ** 0.5:.3f})" for v in table.values()
            ]
            print(f"| {n} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
