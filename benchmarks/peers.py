"""Fit times and losses, compared with other estimators of conditional densities.

    python benchmarks/peers.py [--samples 500] [--runs 2]

A problem with two branches, ``y = sin(x_1) +- 1 + 0.25 e``, and four irrelevant inputs.  Other
packages use the settings that their documentation suggests, on one thread.  A package that is not
installed is skipped, and its row shows the reason.  RFCDE cannot select its bandwidth and gets one
that suits the noise.  Quantile forests give no density.  The loss is ``1/2 int p^2 - p(y)`` on new
samples.
"""

import argparse
import importlib
import sys
import warnings

import numpy as np
from joblib import parallel_config
from ratios import seconds_of, show_header, show_row

from condensity import LSCDE, LSCE
from condensity.distributions.block import Block
from condensity.distributions.mixture import Mixture

DX, N_TEST, GRID = 5, 1000, 401


def sample(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-np.pi, np.pi, (n, DX))
    return X, np.sin(X[:, 0]) + rng.choice([-1, 1], n) + 0.25 * rng.standard_normal(n)


def truth(X):
    """The true densities."""
    centers, logs = np.array([[-1.0], [1.0]]), np.full((len(X), 2), -np.log(2.0))
    return Mixture([Block(logs, centers, 0.25 * np.eye(1), shift=np.sin(X[:, :1]))])


def losses_of(dist, y):
    """The loss at each sample, in closed form."""
    return 0.5 * dist.squared_norm() - dist.pdf(y)


def losses_on(grid, P, y):
    """The loss at each sample of densities that are given on a grid."""
    P = np.maximum(P, 0.0)
    P = P / np.trapezoid(P, grid, axis=1)[:, None]
    match = [np.interp(point, grid, row) for point, row in zip(y, P, strict=True)]
    return 0.5 * np.trapezoid(P**2, grid, axis=1) - match


def ours(make):
    """A function that fits a model and returns a function for the losses on new samples."""

    def fit(X, y, seed):
        model = make(seed).fit(X, y)
        return lambda X, y: losses_of(model.predict_dist(X), y)

    return fit


def ngboost(X, y, seed):
    from ngboost import NGBRegressor

    model = NGBRegressor(verbose=False, random_state=seed).fit(X, y)

    def losses(X, y):
        normal = model.pred_dist(X)
        return 0.25 / (np.sqrt(np.pi) * normal.scale) - normal.pdf(y)

    return losses


def quantile_forest(X, y, seed):
    from quantile_forest import RandomForestQuantileRegressor

    RandomForestQuantileRegressor(min_samples_leaf=5, random_state=seed).fit(X, y)


def flexcode(X, y, seed):
    from flexcode import FlexCodeModel
    from flexcode.regression_models import RandomForest

    half = len(X) // 2
    model = FlexCodeModel(RandomForest, max_basis=31)
    model.fit(X[:half], y[:half])
    model.tune(X[half:], y[half:])

    def losses(X, y):
        P, grid = model.predict(X, n_grid=GRID)
        return losses_on(np.ravel(grid), P, y)

    return losses


def rfcde(X, y, seed):
    from rfcde import RFCDE

    model = RFCDE(n_trees=100, mtry=3, node_size=20, n_basis=15)
    model.train(X, y)
    grid = np.linspace(y.min() - 1, y.max() + 1, GRID)
    return lambda X, y: losses_on(grid, model.predict(X, grid, bandwidth=0.2), y)


METHODS = {  # required package, and function that fits the model
    "`LSCE()`": (None, ours(lambda seed: LSCE(random_state=seed))),
    "`LSCE(n_members=1)`": (None, ours(lambda seed: LSCE(n_members=1, random_state=seed))),
    "`LSCE(1)`": (None, ours(lambda seed: LSCE(1, random_state=seed))),
    "`LSCDE()`": (None, ours(lambda seed: LSCDE(random_state=seed))),
    "quantile-forest, a random forest": ("quantile_forest", quantile_forest),
    "RFCDE, a random forest, bandwidth given": ("rfcde", rfcde),
    "NGBoost, Gaussian": ("ngboost", ngboost),
    "FlexCode, random forests": ("flexcode", flexcode),
}
FORESTS = ("quantile_forest", "rfcde")


def measure(method, n, runs):
    """Seconds of a fit, and the losses on all new samples or None."""
    seconds, losses = [], []
    for seed in range(runs):
        with parallel_config(backend="sequential"):  # some packages use all cores otherwise
            time, losses_at = seconds_of(lambda seed=seed: method(*sample(n, seed), seed))
        seconds.append(time)
        if losses_at is not None:
            losses.append(losses_at(*sample(N_TEST, 1000 + seed)))
    return np.mean(seconds), np.concatenate(losses) if losses else None


def with_error(losses):
    if losses is None:
        return "no density"
    return f"{losses.mean():.3f} ({losses.std(ddof=1) / len(losses) ** 0.5:.3f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--runs", type=int, default=2)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        f"Two branches, `y = sin(x_1) ± 1 + 0.25 ε`, n = {options.samples}, {DX} inputs. Seconds "
        f"are processor time of a fit, mean of {options.runs}. The loss is `½∫p² − p(y)`, with its "
        f"standard error, on {N_TEST} new samples for each fit. Other packages use the settings "
        "that their documentation suggests. Target: ours is faster than all except a single random "
        "forest.\n"
    )
    show_header("method", "s", "relative to `LSCE()`", "loss", "`LSCE()` is")
    reference = None
    for name, (module, method) in METHODS.items():
        print(name, file=sys.stderr, flush=True)
        try:
            importlib.import_module(module or "condensity")
        except ImportError as error:
            show_row(name, "", "", f"skipped: {error}", "")
            continue
        seconds, losses = measure(method, options.samples, options.runs)
        reference = reference or seconds
        word = ""
        if module:
            word = "faster: met" if reference < seconds else "slower"
            if word == "slower" and module not in FORESTS:
                word = "**slower: missed**"
        ratio = seconds / reference
        show_row(name, f"{seconds:.2f}", f"{ratio:.2f}", with_error(losses), word)
    new = (sample(N_TEST, 1000 + seed) for seed in range(options.runs))
    best = [losses_of(truth(X), y) for X, y in new]
    show_row("truth", "", "", with_error(np.concatenate(best)), "")


if __name__ == "__main__":
    main()
