"""Effect of the number of centres: LSCDE on the true subspace of the toy problems, 400 samples.

    python benchmarks/centers.py [--runs 10]

Error_CDE on 1000 test samples, mean (standard error), and time relative to 100 centres.
"""

import argparse
import time

import numpy as np

from condensity import LSCDE
from condensity.datasets import toy_a, toy_b

CENTERS = (100, 200, 400)


def run(problem, seed):
    X, y = problem.sample(400, random_state=seed)
    X_test, y_test = problem.sample(1000, random_state=10_000 + seed)
    W = problem.components
    for n_centers in CENTERS:
        started = time.perf_counter()
        model = LSCDE(n_centers=n_centers, random_state=seed).fit(X @ W.T, y)
        took = time.perf_counter() - started
        yield -model.score(X_test @ W.T, y_test), took


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10)
    runs = parser.parse_args().runs
    print("| problem |", " | ".join(f"{c} centres | time" for c in CENTERS), "|")
    print("|---" * (1 + 2 * len(CENTERS)) + "|")
    for problem in (toy_a(), toy_b()):
        table = np.array([list(run(problem, seed)) for seed in range(runs)])  # run, centres, 2
        mean, se = table.mean(axis=0), table.std(axis=0, ddof=1) / runs**0.5
        ratio = mean[:, 1] / mean[0, 1]
        columns = mean[:, 0], se[:, 0], ratio
        cells = [f"{m:.3f} ({s:.3f}) | {r:.1f}×" for m, s, r in zip(*columns, strict=True)]
        print(f"| {problem.name} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
