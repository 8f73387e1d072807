"""What one pass over very many samples costs, and what a billion of them would take.

    python benchmarks/passes.py [--samples 100000] [--centers 500]

Rows a second of one thread for each kind of pass that a fit makes over samples beyond its
subsample, the matrix product that no algorithm avoids beside it, and the bytes that travel to a
worker and back.  The projection multiplies these; nothing of it was run.
"""

import argparse
import pickle
from functools import partial

import numpy as np
from growth import DX, data
from ratios import quickest, show_header, show_row

from condensity.data.chunks import PART, InMemoryChunks
from condensity.data.sample import Sample
from condensity.data.subsample import row_hashes
from condensity.estimators.regressor_location import check_location
from condensity.lsce.full_data import _loss_and_gradient, _plane_sums, _sums
from condensity.lsce.member import MemberView, OutputKernels

SUBSAMPLE, SIGMA_Z, SIGMA_Y = 2000, 0.25, 0.35
ROWS, WORKERS, BANDWIDTH = 10**9, 100, 1e9 / 8  # samples, threads, bytes a second to each
STEP = "one step of refining W"
SEARCHES, STEPS = 2, 8  # configurations that count, and passes to refine the subspace of each


def product(sample, work):
    """The b by b matrix product that every pass makes, part by part."""
    phi, square, out = work
    for _ in range(0, len(sample), PART):
        np.matmul(phi, square, out=out)


def passes(n, centers):
    """The sample, and what a pass of each kind makes of some of it."""
    X, y = data(n + SUBSAMPLE, DX)
    Y = ((y - y.mean()) / y.std())[:, None]
    whole = Sample(X[:SUBSAMPLE], Y[:SUBSAMPLE], np.full(SUBSAMPLE, 1.0 / SUBSAMPLE))
    (locator,) = check_location("linear").values()
    view = MemberView.of(whole, np.zeros(SUBSAMPLE), np.arange(centers), locator)
    W = np.linalg.qr(np.random.default_rng(0).standard_normal((DX, 2)))[0].T
    left = view.left_out(W, SIGMA_Z, SIGMA_Y).without_samples(view.sample.weight[view.basis])
    model = view.frame, OutputKernels.build(view, SIGMA_Y).basis, SIGMA_Z, [W]
    return Sample(X[SUBSAMPLE:], Y[SUBSAMPLE:], np.ones(n)), {
        "fit the location": _plane_sums,
        STEP: partial(_loss_and_gradient, view.frame, left, W),
        "fit coefficients, for each model": partial(_sums, [model]),
    }


def sent(function):
    """Bytes of what travels to a worker: nothing of note where nothing was learned before."""
    return len(pickle.dumps(function)) if isinstance(function, partial) else 0


def measure(n, centers):
    """Seconds a row of the bare product, and of every pass with the bytes sent and returned."""
    sample, functions = passes(n, centers)
    rows, rng = InMemoryChunks(sample), np.random.default_rng(0)
    square = rng.standard_normal((centers, centers))
    work = rng.standard_normal((PART, centers)), square, np.empty((PART, centers))
    tasks = [lambda: product(sample, work), lambda: row_hashes(sample.X, sample.Y, 0)]
    tasks += [lambda f=f: rows.total(f) for f in functions.values()]
    floor, *seconds = quickest(tasks, repeats=3) / n
    back = [len(pickle.dumps(function(sample[:PART]))) for function in functions.values()]
    travels = [
        (0, 8 * (DX + 2) * SUBSAMPLE),
        *zip(map(sent, functions.values()), back, strict=True),
    ]
    names = ["draw the subsample", *functions]
    return floor, dict(zip(names, zip(seconds, travels, strict=True), strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--centers", type=int, default=500)
    o = parser.parse_args()
    floor, found = measure(o.samples, o.centers)
    print(
        f"Passes over samples beyond the subsample, dx = {DX}, b = {o.centers} centres, one thread "
        f"({o.samples} samples in parts of {PART}); beside the bare product of an (m, b) and a "
        "(b, b) matrix.\n"
    )
    show_header("pass", "rows a second", "times the product", "KiB to a worker", "KiB back, a part")
    for name, (seconds, (there, back)) in found.items():
        kibi = f"{there / 1024:.0f}", f"{back / 1024:.1f}"
        show_row(name, f"{1 / seconds:.2g}", f"{seconds / floor:.1f}", *kibi)
    draw, plane, step, last = (seconds for seconds, _ in found.values())
    counts = np.array([1, 1, SEARCHES * STEPS, SEARCHES])
    hours = counts * np.array([draw, plane, step, last]) * ROWS / WORKERS / 3600
    there, _ = found[STEP][1]
    print(
        f"\nProjected, not run: {ROWS:.0e} samples on {WORKERS} threads of this speed, {SEARCHES} "
        f"configurations that count and {STEPS} steps for each: {hours.sum():.1f} hours, "
        f"{hours[2] / hours.sum():.0%} of them refining. What a step sends to a worker takes "
        f"{there / BANDWIDTH:.2f} s at a gigabit a second."
    )


if __name__ == "__main__":
    main()
