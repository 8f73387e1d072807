"""How long a fit takes beside the published procedure, in one run on the same samples.

    python benchmarks/fits.py [--samples 300 1000] [--inputs 10] [--runs 1]

An oblique problem of two directions with known truth.  ``plain`` is the paper's procedure written
out in NumPy (``published.py``).  With the number of directions given it runs in full; to try every
number, a start or two of each are run and their time is multiplied.  Processor time on one thread,
means over runs.
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
MANY = 500  # samples from which on the slowest is measured less
SLOW = "`LSCE.as_published()`"
LIMITS = {"`LSCE()`": 10, "`LSCE(n_members=1)`": 30}


def plain(X, y, seed):
    """The procedure with the number of directions given, in full."""
    seconds, found = seconds_of(lambda: published.fit(X, y, DZ, seed))
    return seconds, found.loss, found.W


def plain_over_all(X, y, seed):
    """The procedure over all numbers of directions: what it would take, from a few starts."""
    total, fits, n_starts = 0.0, [], 2 if len(X) < MANY else 1
    for dz in range(1, X.shape[1] + 1):
        seconds, found = seconds_of(lambda dz=dz: published.fit(X, y, dz, seed, n_starts))
        total += seconds * (published.N_STARTS / n_starts if dz < X.shape[1] else 1)
        fits.append(found)
    best = min(fits, key=published.by_score)
    return total, best.loss, best.W


def ours(make):
    def fit(X, y, seed):
        seconds, model = seconds_of(lambda: make(random_state=seed).fit(X, y))
        return seconds, lambda X, y: squared_loss(model.predict_dist(X), y), model.components_

    return fit


METHODS = {  # by what is known of the number of directions; the first is what others are held to
    "given": {
        "plain": plain,
        "`LSCE.as_published(2)`": ours(lambda **o: LSCE.as_published(DZ, **o)),
        "`LSCE(2)`": ours(lambda **o: LSCE(DZ, **o)),
        "`LSCE(2, n_members=1)`": ours(lambda **o: LSCE(DZ, n_members=1, **o)),
    },
    "to be found": {
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
    seconds, loss, found = method(X[:n], y[:n], seed)
    return seconds, loss(X[n:], y[n:]), subspace_error(found, W)


def show(n, dx, runs):
    """The rows of one table; losses are held to those of the plain procedure run in full."""
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
        "The published procedure (20 starts, a grid search every 5 steps) written out plainly in "
        f"NumPy, and ours; dx = {options.inputs}, two directions. Where the number of directions "
        f"is to be found, the time of `plain` is that of two of the 20 starts for each number (of "
        f"one from n = {MANY} on), multiplied accordingly, and its errors are those of the best of "
        "these; all else was run in full. Losses are held to that of `plain` in full, which is "
        "told the number of directions. Seconds of processor time on one thread.\n"
    )
    show_header(
        "n", "directions", "method", "s", "times as fast", "held-out loss", "Error_DR", "target"
    )
    for n in options.samples:
        show(n, options.inputs, options.runs)


if __name__ == "__main__":
    main()
