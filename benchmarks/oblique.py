"""Oblique, noisy problems with known truth: many inputs, few directions, several kinds of noise.

    python benchmarks/oblique.py [--runs 5] [--samples 400] [--jobs 2] [--cases ...]

Error_DR; Error_CDE of LSCE(), of the truth and without reduction; the share of test samples in 90 %
intervals; and the Kolmogorov distance of the PIT from uniform.  Mean (standard error) over runs.
"""

import argparse
import time
import warnings

import numpy as np
from joblib import Parallel, delayed
from library import Block, Mixture
from scipy.stats import kstest, ortho_group

from condensity import LSCDE, LSCE
from condensity.metrics import pit, squared_loss, subspace_error

N_TEST = 2000


def directions(dx, dz):
    return ortho_group(dx, seed=dx + dz).rvs()[:dz]


def one_component(mean, sd):
    """The Gaussians N(mean_i, sd_i^2) as a mixture."""
    ones = np.zeros((len(mean), 1))
    return Mixture([Block(ones, np.zeros((1, 1)), np.eye(1), shift=mean[:, None], scale=sd)])


def heteroscedastic(Z):
    return one_component(np.sin(2 * Z[:, 0]), 0.1 + 0.5 / (1 + np.exp(-2 * Z[:, 0])))


def curved(Z):
    return one_component(Z[:, 0] + 0.5 * Z[:, 1] ** 2, np.full(len(Z), 0.4))


def saddle(Z):
    return one_component(Z[:, 0] * Z[:, 1] + Z[:, 2], np.full(len(Z), 0.5))


def skewed(Z):
    """A narrow peak with a long tail to the right, shifted by a function of z."""
    parts = [(0.6, 0.0, 0.25), (0.3, 0.6, 0.5), (0.1, 1.8, 0.8)]
    return shifted(2 * np.tanh(Z[:, 0]) + Z[:, 1], parts)


def bimodal(Z):
    apart = 1.5 / (1 + np.exp(-3 * Z[:, 0]))
    dists = [shifted(sign * apart, [(1.0, 0.0, 0.3)]) for sign in (-1, 1)]
    return Mixture.average(dists)


def shifted(shift, parts):
    ones = np.zeros((len(shift), 1))
    blocks = [
        Block(ones + np.log(w), np.full((1, 1), c), np.full((1, 1), s), shift=shift[:, None])
        for w, c, s in parts
    ]
    return Mixture(blocks)


def three_outputs(Z):
    L = np.linalg.cholesky(0.16 * np.array([[1, 0.8, 0.5], [0.8, 1, 0.8], [0.5, 0.8, 1]]))
    mean = np.column_stack([Z[:, 0], np.sin(2 * Z[:, 0]), Z[:, 1] ** 2])
    return Mixture([Block(np.zeros((len(Z), 1)), np.zeros((1, 3)), L, shift=mean)])


CASES = {  # name: density given z, dx, dz, function that rounds y or None
    "heteroscedastic": (heteroscedastic, 20, 1, None),
    "heteroscedastic, wide": (heteroscedastic, 50, 1, None),
    "curved": (curved, 20, 2, None),
    "saddle": (saddle, 20, 3, None),
    "skewed": (skewed, 20, 2, None),
    "bimodal": (bimodal, 20, 1, None),
    "rounded": (curved, 20, 2, lambda y: np.rint(2 * y) / 2),
    "three outputs": (three_outputs, 20, 2, None),
}


def run(case, n, seed):
    """Results of the defaults on one training sample."""
    truth, dx, dz, rounding = CASES[case]
    W, rng = directions(dx, dz), np.random.default_rng(seed)
    X = rng.standard_normal((n + N_TEST, dx))
    dist = truth(X @ W.T)
    y = dist.sample(1, random_state=seed)
    y = y.reshape(len(X), -1)
    recorded = y if rounding is None else rounding(y)
    (X, X_test), (_, y_test) = np.split(X, [n]), np.split(y, [n])
    warnings.simplefilter("ignore")
    started = time.perf_counter()
    model = LSCE(random_state=seed).fit(X, recorded[:n])
    seconds = time.perf_counter() - started
    estimate = model.predict_dist(X_test)
    u = pit(estimate, y_test).reshape(len(y_test), -1)
    return {
        "dz": model.n_components_,
        "Error_DR": subspace_error(model.components_, W),
        "Error_CDE": squared_loss(estimate, y_test),
        "no reduction": -LSCDE(random_state=seed).fit(X, recorded[:n]).score(X_test, y_test),
        "truth": squared_loss(dist[n:], y_test),
        "coverage": np.mean((u > 0.05) & (u < 0.95)),
        "PIT": max(kstest(column, "uniform").statistic for column in u.T),
        "seconds": seconds,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    options = parser.parse_args()
    for i, case in enumerate(options.cases):
        rows = Parallel(n_jobs=options.jobs)(
            delayed(run)(case, options.samples, seed) for seed in range(options.runs)
        )
        table = {key: np.array([row[key] for row in rows], dtype=float) for key in rows[0]}
        if i == 0:
            print("| | dx, dz |", " | ".join(table), "|", flush=True)
            print("|---" * (len(table) + 2) + "|")
        cells = [f"{v.mean():.3f} ({v.std(ddof=1) / len(v) ** 0.5:.3f})" for v in table.values()]
        print(
            f"| {case} | {CASES[case][1]}, {CASES[case][2]} |", " | ".join(cells), "|", flush=True
        )


if __name__ == "__main__":
    main()
