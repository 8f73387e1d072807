"""What answers for many rows cost beside the kernel matrices that they are made of.

    python benchmarks/answers.py [--rows 100000] [--centers 200]

The floor is what no algorithm avoids: the kernels of z and of y, an exponential each for every row
and centre, part by part.  Ratios are to that; memory is what the process takes more at its peak.
"""

import argparse
import resource

import numpy as np
from kernel import quickest

from condensity import LSCE
from condensity.core.kernels import gaussian, row_blocks, squared_distances

QUESTIONS = {
    "mean": lambda dist, y: dist.mean(),
    "pdf": lambda dist, y: dist.pdf(y),
    "cdf": lambda dist, y: dist.cdf(y),
    "sample": lambda dist, y: dist.sample(1, random_state=0),
    "quantile": lambda dist, y: dist.quantile(0.9),
    "crps": lambda dist, y: dist.crps(y),
}


def floor(Z, y, U, V):
    """The kernels of z and of y."""
    for rows in row_blocks(len(Z), len(U), 1 << 17):
        gaussian(squared_distances(Z[rows], U), 0.7)
        gaussian(squared_distances(y[rows, None], V), 0.3)


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(rows, centers):
    """Seconds of the floor and of each question, and the peak of memory above the inputs in MB."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((centers + rows, 5))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.standard_normal(len(X))
    model = LSCE(
        2, n_members=1, n_starts=1, location="none", n_centers=centers, bandwidth=(0.7, 0.3),
        penalty=0.1, random_state=0,
    )  # fmt: skip
    model.fit(X[:centers], y[:centers])
    X, y = X[centers:], y[centers:]
    U, V, before = rng.standard_normal((centers, 2)), rng.standard_normal((centers, 1)), peak()
    tasks = [lambda: floor(X[:, :2], y, U, V)]
    tasks += [lambda f=f: f(model.predict_dist(X), y) for f in QUESTIONS.values()]
    return quickest(tasks, repeats=3), peak() - before


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--centers", type=int, default=200)
    options = parser.parse_args()
    seconds, memory = measure(options.rows, options.centers)
    for name, own in zip(QUESTIONS, seconds[1:], strict=True):
        print(f"{name}: {own / seconds[0]:.1f} x the kernels ({own:.2f} s)")
    print(f"at most {memory:.0f} MB above the inputs; densities of all rows would take "
          f"{8e-6 * options.rows * (options.centers + 1):.0f} MB")  # fmt: skip


if __name__ == "__main__":
    main()
