"""Time of a fit, compared with the published procedure on the same samples.

    python benchmarks/fits.py [--samples 300 1000] [--inputs 10] [--runs 1]

An oblique problem with two directions and known truth.  ``plain`` is the paper's procedure in NumPy
(``published.py``).  It runs in full if the number of directions is given.  If the number is
selected, one start is run for each number, and its time is multiplied.  Processor time
on one thread, means over runs.
"""

import argparse
import sys
import warnings

import numpy as np
import published
from oblique import curved, directions
from ratios import at_least, seconds_of, show_header, show_row

from condensity import LSCE
from condensity.metrics import squared_loss, subspace_error

N_TEST, DZ = 2000, 2
MANY = 500  # from this number of samples on, the slowest methods have fewer runs
SLOW = "`LSCE.as_published()`"
LIMITS = {"`LSCE()`": 10, "`LSCE(n_members=1)`": 30}


def plain(X, y, seed):
    """The procedure in full, with the number of directions given."""
    seconds, fit = seconds_of(lambda: published.fit(X, y, DZ, seed))
    return seconds, fit.loss, fit.W


def plain_over_all(X, y, seed):
    """The procedure for all numbers of directions; its time is extrapolated from single starts."""
    total, losses, fits = 0.0, [], []
    for dz in range(1, X.shape[1] + 1):
        seconds, fit = seconds_of(lambda dz=dz: published.fit(X, y, dz, seed, 1))
        in_folds, loss = seconds_of(lambda dz=dz: published.held_out_loss(X, y, dz, seed, 1))
        more = dz < X.shape[1]  # the whole space is the only subspace of its dimension
        total += seconds * (published.N_STARTS if more else 1)
        total += in_folds * (published.N_STARTS // published.N_FOLDS if more else 1)
        losses.append(loss)
        fits.append(fit)
    best = fits[int(np.argmin(losses))]
    return total, best.loss, best.W


def ours(make):
    def fit(X, y, seed):
        seconds, model = seconds_of(lambda: make(random_state=seed).fit(X, y))
        return seconds, lambda X, y: squared_loss(model.predict_dist(X), y), model.components_

    return fit


METHODS = {  # by the number of directions, given or selected; the first method is the reference
    "given": {
        "plain": plain,
        "`LSCE.as_published(2)`": ours(lambda **o: LSCE.as_published(DZ, **o)),
        "`LSCE(2)`": ours(lambda **o: LSCE(DZ, **o)),
        "`LSCE(2, n_members=1)`": ours(lambda **o: LSCE(DZ, n_members=1, **o)),
    },
    "selected": {
        "plain": plain_over_all,
        SLOW: ours(LSCE.as_published),
        "`LSCE()`": ours(LSCE),
        "`LSCE(n_members=1)`": ours(lambda **o: LSCE(n_members=1, **o)),
    },
}


def run(method, n, dx, seed):
    """Seconds, Error_CDE and Error_DR of one fit."""
    W, rng = directions(dx, DZ), np.random.default_rng(seed)
    X = rng.standard_normal((n + N_TEST, dx))
    y = curved(X @ W.T).sample(1, random_state=seed)[:, 0]
    seconds, loss, estimate = method(X[:n], y[:n], seed)
    return seconds, loss(X[n:], y[n:]), subspace_error(estimate, W)


def show(n, dx, runs):
    """The rows of one table; losses are compared with that of the plain procedure in full."""
    least = None
    for known, methods in METHODS.items():
        slowest = None
        for name, method in methods.items():
            if n >= MANY and name == SLOW:
                continue
            print(f"n = {n}, directions {known}: {name}", file=sys.stderr, flush=True)
            seconds, loss, error = np.mean([run(method, n, dx, s) for s in range(runs)], axis=0)
            slowest, least = slowest or seconds, least or loss
            ratio = slowest / seconds
            figures = f"{seconds:.1f}", f"{ratio:.1f}", f"{loss:.3f}", f"{error:.2f}"
            target = ""
            if name in LIMITS:
                word = "no worse" if loss <= least else "**worse**"
                target = f"{at_least(ratio, LIMITS[name])}; loss {word} than `plain` in full"
            show_row(n, known, name, *figures, target)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, nargs="+", default=[300, 1000])
    parser.add_argument("--inputs", type=int, default=10)
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        "The published procedure (20 starts, a grid search every 5 steps) in plain NumPy (`plain`) "
        f"and ours; dx = {options.inputs}, two directions. If the number of directions is "
        "selected, `plain` runs one of the 20 starts for each number, and one of four in each "
        "fold. Its time is multiplied accordingly, and its errors are those of the best of these "
        "starts. All other fits ran in full. Losses are compared with that of `plain` in full, for "
        "which the number of directions is given. Seconds are processor time on one thread.\n"
    )
    show_header("n", "directions", "method", "s", "speed-up", "held-out loss", "Error_DR", "target")
    for n in options.samples:
        show(n, options.inputs, options.runs)


if __name__ == "__main__":
    main()
