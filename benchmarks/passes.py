"""Cost of one pass over very many samples, and a projection to a billion samples.

    python benchmarks/passes.py [--samples 100000] [--centers 500]

Rows per second of one thread for each kind of pass over the samples outside the subsample, relative
to the matrix product that no algorithm can avoid, and the bytes sent to a worker and back.  The
projection multiplies these figures; it was not measured.
"""

import argparse
import pickle
from functools import partial

import numpy as np
from growth import DX, data
from ratios import quickest, show_header, show_row

from condensity.data.chunks import CHUNK_ROWS, InMemoryChunks
from condensity.data.sample import Sample
from condensity.data.subsample import row_hashes
from condensity.locations.location_names import check_location
from condensity.lsce.full_data import _loss_and_gradient, _plane_sums, _sums
from condensity.members.member import MemberView, OutputKernels

SUBSAMPLE, SIGMA_Z, SIGMA_Y = 2000, 0.25, 0.35
ROWS, WORKERS, BANDWIDTH = 10**9, 100, 1e9 / 8  # samples, threads, bytes per second to each
STEP = "one step of refining W"
SEARCHES, STEPS = 2, 8  # relevant configurations, and passes to refine the subspace of each


def product(sample, work):
    """The (m, b) (b, b) matrix product of every pass, in chunks."""
    phi, square, out = work
    for _ in range(0, len(sample), CHUNK_ROWS):
        np.matmul(phi, square, out=out)


def passes(n, centers):
    """The sample, and the function of each kind of pass."""
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
    """Bytes sent to a worker; 0 for passes that need no earlier results."""
    return len(pickle.dumps(function)) if isinstance(function, partial) else 0


def measure(n, centers):
    """Seconds per row of the product and of every pass, with the bytes sent and returned."""
    sample, functions = passes(n, centers)
    rows, rng = InMemoryChunks(sample), np.random.default_rng(0)
    square = rng.standard_normal((centers, centers))
    work = rng.standard_normal((CHUNK_ROWS, centers)), square, np.empty((CHUNK_ROWS, centers))
    tasks = [lambda: product(sample, work), lambda: row_hashes(sample.X, sample.Y, 0)]
    tasks += [lambda f=f: rows.total(f) for f in functions.values()]
    floor, *seconds = quickest(tasks, repeats=3) / n
    back = [len(pickle.dumps(function(sample[:CHUNK_ROWS]))) for function in functions.values()]
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
    floor, costs = measure(o.samples, o.centers)
    print(
        f"Passes over the samples outside the subsample, dx = {DX}, b = {o.centers} centres, one "
        f"thread ({o.samples} samples in chunks of {CHUNK_ROWS}), compared with the product of an "
        "(m, b) and a (b, b) matrix.\n"
    )
    show_header(
        "pass",
        "rows per second",
        "relative to the product",
        "KiB to a worker",
        "KiB back per chunk",
    )
    for name, (seconds, (to_worker, back)) in costs.items():
        kibi = f"{to_worker / 1024:.0f}", f"{back / 1024:.1f}"
        show_row(name, f"{1 / seconds:.2g}", f"{seconds / floor:.1f}", *kibi)
    draw, plane, step, last = (seconds for seconds, _ in costs.values())
    counts = np.array([1, 1, SEARCHES * STEPS, SEARCHES])
    hours = counts * np.array([draw, plane, step, last]) * ROWS / WORKERS / 3600
    to_worker, _ = costs[STEP][1]
    print(
        f"\nProjection, not measured: {ROWS:.0e} samples on {WORKERS} threads of this speed, with "
        f"{SEARCHES} relevant configurations and {STEPS} steps for each, take {hours.sum():.1f} "
        f"hours, {hours[2] / hours.sum():.0%} of them for refining. Sending a step to a worker "
        f"takes {to_worker / BANDWIDTH:.2f} s at one gigabit per second."
    )


if __name__ == "__main__":
    main()
