"""Time of predictions for many rows, compared with the kernel matrices that they need.

    python benchmarks/answers.py [--rows 100000] [--centers 200]

The floor is the work that no algorithm can avoid: the kernels of z and of y, one exponential for
each row and centre, computed in chunks.  Ratios are relative to the floor.  Memory is the peak of
the process above its memory before the predictions.
"""

import argparse
from functools import partial

import numpy as np
from machine import peak_memory, present_memory
from ratios import at_most, quickest, show_header, show_row
from scipy.spatial.distance import cdist

from condensity import LSCE

ANSWERS = {
    "mean": lambda dist, y: dist.mean(),
    "pdf": lambda dist, y: dist.pdf(y),
    "cdf": lambda dist, y: dist.cdf(y),
    "sample": lambda dist, y: dist.sample(1, random_state=0),
    "quantile": lambda dist, y: dist.quantile(0.9),
    "crps": lambda dist, y: dist.crps(y),
}
LIMITS = {"pdf": 1.5, "quantile": 10.0}
ROWS = 650  # rows in a chunk; with 200 kernels it takes a megabyte
MORE = 4  # factor of rows in the check that memory does not grow


def squared_differences(A, B):
    if A.shape[1] == 1:
        D = A - B.T
        D *= D
        return D
    return cdist(A, B, "sqeuclidean")


def floor(Z, y, U, V):
    """The kernels of z and of y, in chunks that fit the cache."""
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
    """A model with this number of kernels, without model selection."""
    settings = {"bandwidth": (0.7, 0.3), "penalty": 0.1, "location": "none", "n_starts": 1}
    estimator = LSCE(2, n_members=1, n_centers=centers, random_state=0, **settings)
    return estimator.fit(*data(centers, rng))


def measure(rows, centers):
    """Seconds of the floor and of each answer; MiB above the inputs; number of kernels."""
    rng = np.random.default_rng(0)
    fitted, (X, y) = model(centers, rng), data(rows, rng)
    U, V = rng.standard_normal((centers, 2)), rng.standard_normal((centers, 1))
    tasks = [partial(floor, X[:, :2], y, U, V)]
    tasks += [lambda f=f: f(fitted.predict_dist(X), y) for f in ANSWERS.values()]
    before = present_memory()
    seconds, memory = quickest(tasks, repeats=3), [peak_memory() - before]
    X, y = data(MORE * rows, rng)
    before = present_memory()
    for name in LIMITS:
        ANSWERS[name](fitted.predict_dist(X), y)
    return seconds, [*memory, peak_memory() - before], fitted.predict_dist(X[:1]).width - 1


def measure_average(rows, samples):
    """Seconds of the floor and of each answer of LSCE(), and its number of kernels."""
    rng = np.random.default_rng(0)
    fitted, (X, y) = LSCE(random_state=0).fit(*data(samples, rng)), data(rows, rng)
    kernels = fitted.predict_dist(X[:1]).width
    U, V = rng.standard_normal((kernels, 2)), rng.standard_normal((kernels, 1))
    tasks = [partial(floor, X[:, :2], y, U, V)]
    tasks += [lambda f=f: f(fitted.predict_dist(X), y) for f in ANSWERS.values()]
    return quickest(tasks, repeats=2), kernels


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--centers", type=int, default=200)
    parser.add_argument("--samples", type=int, default=300, help="training samples of LSCE()")
    o = parser.parse_args()
    seconds, (memory, more), kernels = measure(o.rows, o.centers)
    print(
        f"Predictions for {o.rows} rows of one model with {o.centers} kernels, compared with the "
        f"kernel matrices of z and of y (the floor, {seconds[0]:.2f} s). {kernels} of the kernels "
        "have a positive weight. The floor includes all kernels; predictions use only these.\n"
    )
    average, many = measure_average(o.rows // 5, o.samples)
    print(
        f"For comparison, without a target: `LSCE()` fitted to {o.samples} samples, with {many} "
        f"kernels and the weights of several members, for {o.rows // 5} rows. Its floor has the "
        f"same number of kernels ({average[0]:.2f} s).\n"
    )
    show_header("method", "ratio", "target", "`LSCE()`")
    for name, own, theirs in zip(ANSWERS, seconds[1:], average[1:], strict=True):
        ratio = own / seconds[0]
        target = at_most(ratio, LIMITS[name]) if name in LIMITS else ""
        show_row(f"`{name}`", f"{ratio:.1f}", target, f"{theirs / average[0]:.1f}")
    whole = 8 * o.rows * (o.centers + 1) / 2**20
    print(
        f"\nPeak memory of all methods above the inputs: {memory:.0f} MiB; with {MORE} times the "
        f"rows, {more:.0f} MiB. (The densities of all rows would take {whole:.0f} MiB and "
        f"{MORE * whole:.0f} MiB; the results alone take {8 * o.rows / 2**20:.1f} and "
        f"{8 * MORE * o.rows / 2**20:.1f} MiB.)"
    )


if __name__ == "__main__":
    main()
