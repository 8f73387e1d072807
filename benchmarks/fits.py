"""How long a fit takes beside the published procedure, in one run on the same samples.

    python benchmarks/fits.py [--samples 300] [--inputs 10] [--runs 3]

An oblique problem of two directions with known truth.  Seconds of processor time and Error_CDE,
mean (standard error) over runs; the ratio is that of the means.
"""

import argparse
import time
import warnings

import numpy as np
from oblique import curved, directions
from records import mean_and_error

from condensity import LSCE
from condensity.metrics import squared_loss, subspace_error

N_TEST = 2000
METHODS = {
    "as_published()": lambda seed: LSCE.as_published(random_state=seed),
    "LSCE()": lambda seed: LSCE(random_state=seed),
    "LSCE(n_members=1)": lambda seed: LSCE(n_members=1, random_state=seed),
    "as_published(2)": lambda seed: LSCE.as_published(2, random_state=seed),
    "LSCE(2)": lambda seed: LSCE(2, random_state=seed),
    "LSCE(2, n_members=1)": lambda seed: LSCE(2, n_members=1, random_state=seed),
}


def run(method, n, dx, seed):
    """Seconds, Error_CDE and Error_DR of one fit."""
    W, rng = directions(dx, 2), np.random.default_rng(seed)
    X = rng.standard_normal((n + N_TEST, dx))
    dist = curved(X @ W.T)
    y = dist.sample(1, random_state=seed)[:, 0]
    begun = time.process_time()
    model = METHODS[method](seed).fit(X[:n], y[:n])
    seconds = time.process_time() - begun
    loss = squared_loss(model.predict_dist(X[n:]), y[n:])
    return seconds, loss, subspace_error(model.components_, W)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=300)
    parser.add_argument("--inputs", type=int, default=10)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| | seconds | Error_CDE | Error_DR | times as fast |\n|---|---|---|---|---|")
    reference = {}
    for method in METHODS:
        found = [run(method, options.samples, options.inputs, s) for s in range(options.runs)]
        seconds, losses, errors = np.transpose(found)
        given = "(2" in method  # the number of directions
        reference.setdefault(given, seconds.mean())
        cells = [mean_and_error(values) for values in (seconds, losses, errors)]
        ratio = reference[given] / seconds.mean()
        print("|", method, "|", " | ".join(cells), f"| {ratio:.1f} |", flush=True)


if __name__ == "__main__":
    main()
