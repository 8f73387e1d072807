"""What answers for many rows cost beside the kernel matrices that they are made of.

    python benchmarks/answers.py [--rows 100000] [--centers 200]

The floor is what no algorithm avoids: the kernels of z and of y, an exponential each for every row
and centre, part by part.  Ratios are to that; memory is what the process takes more at its peak.
"""

import argparse
from functools import partial

import numpy as np
from machine import peak_memory, present_memory
from ratios import at_most, quickest, show_header, show_row
from scipy.spatial.distance import cdist

from condensity import LSCE

QUESTIONS = {
    "mean": lambda dist, y: dist.mean(),
    "pdf": lambda dist, y: dist.pdf(y),
    "cdf": lambda dist, y: dist.cdf(y),
    "sample": lambda dist, y: dist.sample(1, random_state=0),
    "quantile": lambda dist, y: dist.quantile(0.9),
    "crps": lambda dist, y: dist.crps(y),
}
LIMITS = {"pdf": 1.5, "quantile": 10.0}
ROWS = 650  # of 200 kernels: a megabyte
MORE = 4  # times as many rows, that memory is to be seen not to grow


def squared_differences(A, B):
    if A.shape[1] == 1:
        D = A - B.T
        D *= D
        return D
    return cdist(A, B, "sqeuclidean")


def floor(Z, y, U, V):
    """The kernels of z and of y, in parts that fit a cache."""
    for start in range(0, len(Z), ROWS):
        rows = slice(start, start + ROWS)
        for A, B, sigma in ((Z[rows], U, 0.7), (y[rows, None], V, 0.3)):
            kernels = squared_differences(A, B)
            kernels *= -0.5 / (np.log(2) * sigma**2)
            np.exp2(kernels, out=kernels)


def data(rows, rng):
    X = rng.standard_normal((rows, 5))
    return X, np.sin(2 * X[:, 0]) + 0.3 * rng.standard_normal(rows)


def model(centers, rng):
    """One with as many kernels; nothing is chosen."""
    settings = {"bandwidth": (0.7, 0.3), "penalty": 0.1, "location": "none", "n_starts": 1}
    found = LSCE(2, n_members=1, n_centers=centers, random_state=0, **settings)
    return found.fit(*data(centers, rng))


def measure(rows, centers):
    """Seconds of the floor and of each question; MB above inputs, also of more rows; kernels."""
    rng = np.random.default_rng(0)
    fitted, (X, y) = model(centers, rng), data(rows, rng)
    U, V = rng.standard_normal((centers, 2)), rng.standard_normal((centers, 1))
    tasks = [partial(floor, X[:, :2], y, U, V)]
    tasks += [lambda f=f: f(fitted.predict_dist(X), y) for f in QUESTIONS.values()]
    before = present_memory()
    seconds, memory = quickest(tasks, repeats=3), [peak_memory() - before]
    X, y = data(MORE * rows, rng)
    before = present_memory()
    for name in LIMITS:
        QUESTIONS[name](fitted.predict_dist(X), y)
    return seconds, [*memory, peak_memory() - before], fitted.predict_dist(X[:1]).width - 1


def measure_average(rows, samples):
    """Seconds of the floor and of each question asked of LSCE(), and its number of kernels."""
    rng = np.random.default_rng(0)
    fitted, (X, y) = LSCE(random_state=0).fit(*data(samples, rng)), data(rows, rng)
    kernels = fitted.predict_dist(X[:1]).width
    U, V = rng.standard_normal((kernels, 2)), rng.standard_normal((kernels, 1))
    tasks = [partial(floor, X[:, :2], y, U, V)]
    tasks += [lambda f=f: f(fitted.predict_dist(X), y) for f in QUESTIONS.values()]
    return quickest(tasks, repeats=2), kernels


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--centers", type=int, default=200)
    parser.add_argument("--samples", type=int, default=300, help="that LSCE() is fitted to")
    o = parser.parse_args()
    seconds, (memory, more), kernels = measure(o.rows, o.centers)
    print(
        f"Answers for {o.rows} rows, one model with {o.centers} kernels, beside the bare kernel "
        f"matrices of z and of y ({seconds[0]:.2f} s). {kernels} of the kernels have weight; the "
        "floor is that of all, answers leave the others out.\n"
    )
    average, many = measure_average(o.rows // 5, o.samples)
    print(
        f"Beside it, without a target, `LSCE()` fitted to {o.samples} samples: {many} kernels "
        f"with the weights of several members, asked for {o.rows // 5} rows; its floor is that of "
        f"as many kernels ({average[0]:.2f} s).\n"
    )
    show_header("question", "ratio", "target", "`LSCE()`")
    for name, own, theirs in zip(QUESTIONS, seconds[1:], average[1:], strict=True):
        ratio = own / seconds[0]
        target = at_most(ratio, LIMITS[name]) if name in LIMITS else ""
        show_row(f"`{name}`", f"{ratio:.1f}", target, f"{theirs / average[0]:.1f}")
    whole = 8 * o.rows * (o.centers + 1) / 2**20
    print(
        f"\nMemory above inputs at the peak of all questions: {memory:.0f} MiB, and for "
        f"{MORE} times as many rows {more:.0f} MiB (the densities of all rows would take "
        f"{whole:.0f} MiB and {MORE * whole:.0f} MiB; answers alone are {8 * o.rows / 2**20:.1f} "
        f"and {8 * MORE * o.rows / 2**20:.1f} MiB)."
    )


if __name__ == "__main__":
    main()
