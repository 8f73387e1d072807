"""Coverage and sizes of conformal regions on ten problems, beside MAPIE and crepes.

    python benchmarks/conformal.py ours FILE [--runs 200]
    python benchmarks/conformal.py peers FILE [--runs 200]     needs mapie and crepes only
    python benchmarks/conformal.py table FILE...
    python benchmarks/conformal.py local PICTURE [--runs 50]   coverage as a function of x

Each line of FILE is one cell: a problem, a sample size, a repetition and a method, with the share
of 100 new samples that lie in the regions of level 0.5, 0.8 and 0.9, and the size of the last one.
Lines that are there already are not computed again.  Half of the samples train, half calibrate; all
split methods have the same halves.  Ours is ``LSCDE`` with fixed settings, on purpose: the
guarantee does not depend on the model.  MAPIE conformalises gradient boosted quantiles, crepes a
random forest with estimated difficulty.
"""

import argparse
import json
import sys
import warnings
from pathlib import Path

import numpy as np

LEVELS, SIZES, N_TEST, N_SIZES = (0.5, 0.8, 0.9), (50, 200, 1000), 100, 20


def gaussian(rng, n):
    X = rng.uniform(-1, 1, (n, 2))
    return X, X[:, 0] + 0.3 * rng.standard_normal(n)


def heteroscedastic(rng, n):
    X = rng.uniform(-1, 1, (n, 2))
    return X, np.sin(3 * X[:, 0]) + (0.1 + 0.5 * (X[:, 0] > 0)) * rng.standard_normal(n)


def two_branches(rng, n):
    X = rng.uniform(-1, 1, (n, 2))
    return X, X[:, 0] + rng.choice([-1, 1], n) * (0.5 + X[:, 0]) + 0.15 * rng.standard_normal(n)


def heavy_tails(rng, n):
    X = rng.uniform(-1, 1, (n, 2))
    return X, X[:, 0] + 0.2 * rng.standard_t(2, n)


def no_variance(rng, n):
    X = rng.uniform(-1, 1, (n, 2))
    return X, X[:, 0] + 0.2 * rng.standard_cauchy(n)


def skewed(rng, n):
    X = rng.uniform(-1, 1, (n, 2))
    return X, np.exp(X[:, 0] + 0.7 * rng.standard_normal(n))


def rounded(rng, n):
    X = rng.uniform(-1, 1, (n, 2))
    return X, np.round(2 * X[:, 0] + 0.7 * rng.standard_normal(n))


def hidden_input(rng, n):
    """A wrong model: y depends on what is not in X."""
    X, hidden = rng.uniform(-1, 1, (n, 2)), rng.uniform(-1, 1, n)
    return X, 3 * hidden**3 + 0.1 * rng.standard_normal(n)


def shifted(rng, n, new=False):
    """New inputs have the density ``(1 + x) / 2`` instead of 1 / 2."""
    X = rng.uniform(-1, 1, (n, 2))
    if new:
        X[:, 0] = 2 * np.sqrt(rng.random(n)) - 1
    return X, X[:, 0] + (0.1 + 0.4 * (X[:, 0] + 1)) * rng.standard_normal(n)


def four_outputs(rng, n):
    X = rng.uniform(-1, 1, (n, 2))
    noise = rng.standard_normal((n, 4)) @ (0.2 * np.eye(4) + 0.1)
    return X, np.column_stack([X[:, 0], X[:, 1] ** 2, -X[:, 0], np.sin(3 * X[:, 1])]) + noise


PROBLEMS = (
    *(gaussian, heteroscedastic, two_branches, heavy_tails, no_variance, skewed, rounded),
    *(hidden_input, shifted, four_outputs),
)


def ratio(X):
    """Ratio of the densities of new and old inputs in the problem ``shifted``."""
    return 1 + X[:, 0]


def sample(problem, n, run):
    """Training half, calibration half and new samples."""
    rng = np.random.default_rng([PROBLEMS.index(problem), n, run])
    X, y = problem(rng, n)
    new = problem(rng, N_TEST, new=True) if problem is shifted else problem(rng, N_TEST)
    return (X[: n // 2], y[: n // 2]), (X[n // 2 :], y[n // 2 :]), new


def ours(problem, n, run):
    """Records of our methods for one sample."""
    from condensity import LSCDE
    from condensity.conformal import Conformal

    train, calibration, (X_new, y_new) = sample(problem, n, run)
    centers = min(100, 2 * n // 5)
    base = LSCDE(bandwidth=(0.6, 0.3), penalty=0.02, n_centers=centers, random_state=0)
    methods = ["hpd"] if train[1].ndim > 1 else ["hpd", "quantile"]
    for method in methods:
        options = [("split", None)] + [("weighted", ratio)] * (problem is shifted)
        for name, weights in options:
            model = Conformal(
                base.fit(*train), method, "prefit", likelihood_ratio=weights, random_state=run
            ).fit(*calibration)
            yield f"{method}, {name}", *judged(model, X_new, y_new)
    whole = [np.concatenate(pair) for pair in zip(train, calibration, strict=True)]
    model = Conformal(base, methods[-1], 5, random_state=run).fit(*whole)
    yield f"{methods[-1]}, 5 folds", *judged(model, X_new, y_new)


def judged(model, X, y):
    """Coverage at each level, and the mean size at the last one."""
    p = model.predict_regions(X).p_value(y)
    some = model.predict_regions(X[:N_SIZES])
    coverage = [float(np.mean(p > 1 - level + 1e-12)) for level in LEVELS]
    return coverage, float(np.mean(some.size(LEVELS[-1], n_draws=200, random_state=0)))


def peers(problem, n, run):
    """Records of MAPIE and crepes for one sample."""
    from crepes import WrapRegressor
    from crepes.extras import DifficultyEstimator
    from mapie.regression import ConformalizedQuantileRegressor
    from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor

    train, calibration, (X_new, y_new) = sample(problem, n, run)
    if y_new.ndim > 1:
        return
    levels = LEVELS[-1:]
    boosted = [
        GradientBoostingRegressor(loss="quantile", alpha=a, random_state=0).fit(*train)
        for a in (0.05, 0.95, 0.5)
    ]
    cqr = ConformalizedQuantileRegressor(boosted, confidence_level=0.9, prefit=True)
    cqr.conformalize(*calibration)
    ends = cqr.predict_interval(X_new)[1][:, :, 0]
    yield "MAPIE CQR", *within([ends], y_new)
    forest = WrapRegressor(RandomForestRegressor(100, random_state=0))
    forest.fit(*train)
    difficulty = DifficultyEstimator()
    difficulty.fit(X=train[0], y=train[1], scaler=True, k=min(25, n // 2 - 1))
    forest.calibrate(*calibration, de=difficulty)
    yield "crepes", *within([forest.predict_int(X_new, confidence=c) for c in levels], y_new)


def within(ends, y):
    """Coverage of intervals at the last level, and their mean size."""
    found = [float(np.mean((low <= y) & (y <= high))) for low, high in (e.T for e in ends)]
    sizes = np.diff(ends[-1], axis=1)[:N_SIZES]
    return [None] * (len(LEVELS) - len(found)) + found, float(np.mean(sizes))


def run_all(records, path, runs):
    """Compute the cells that ``path`` lacks, all problems and sizes of one repetition first."""
    done = {tuple(cell[:3]) for cell in read([path])}
    with path.open("a") as file:
        for run in range(runs):
            for problem in PROBLEMS:
                for n in SIZES:
                    if (problem.__name__, n, run) in done:
                        continue
                    for method, coverage, size in records(problem, n, run):
                        cell = [problem.__name__, n, run, method, coverage, size]
                        file.write(json.dumps(cell) + "\n")
                    file.flush()


def read(paths):
    """All cells of some files."""
    lines = [line for path in paths if path.exists() for line in path.read_text().splitlines()]
    return [json.loads(line) for line in lines]


def table(paths):
    """Coverage with its standard error, and sizes, as Markdown."""
    cells = read(paths)
    keys = sorted({(c[0], c[1], c[3]) for c in cells}, key=lambda k: (names().index(k[0]), *k[1:]))
    print("| problem | n | method | runs | coverage at 0.5 | 0.8 | 0.9 | median size at 0.9 |")
    print("|---|---:|---|---:|---:|---:|---:|---:|")
    for problem, n, method in keys:
        own = [c for c in cells if (c[0], c[1], c[3]) == (problem, n, method)]
        parts = [summary([c[4][j] for c in own]) for j in range(len(LEVELS))]
        size = np.median([c[5] for c in own])
        print(f"| {problem} | {n} | {method} | {len(own)} | {' | '.join(parts)} | {size:.3g} |")


def names():
    return [problem.__name__ for problem in PROBLEMS]


def summary(values):
    """Mean and standard error, in percent."""
    if values[0] is None:
        return ""
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{100 * np.mean(values):.1f} ({100 * error:.1f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("ours", "peers", "table", "local"))
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--runs", type=int, default=200)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.what == "table":
        table(args.paths)
    elif args.what == "local":
        local(args.paths[0], args.runs)
    else:
        run_all({"ours": ours, "peers": peers}[args.what], args.paths[0], args.runs)


def rising_noise(rng, n):
    """The noise grows with x; the mean does not depend on x."""
    X = rng.uniform(-1, 1, (n, 1))
    return X, (0.6 + 0.5 * X[:, 0]) * rng.standard_normal(n)


def local(path, runs):
    """Coverage as a function of x of a density that ignores x, without and with groups of x."""
    import matplotlib.pyplot as plt

    from condensity import LSCDE
    from condensity.conformal import Conformal

    bins, inside = np.linspace(-1, 1, 17), {"no groups": [], "four groups of x": []}
    by = {"no groups": None, "four groups of x": lambda X: np.digitize(X[:, 0], [-0.5, 0, 0.5])}
    base = LSCDE(bandwidth=(100.0, 0.3), penalty=0.02, n_centers=100, random_state=0)
    for run in range(runs):
        rng = np.random.default_rng(run)
        (X, y), (X_cal, y_cal), (X_new, y_new) = (rising_noise(rng, n) for n in (500, 500, 2000))
        for name, groups in by.items():
            model = Conformal(base.fit(X, y), "quantile", "prefit", by=groups).fit(X_cal, y_cal)
            hit = model.predict_regions(X_new).contains(y_new, 0.9)
            found = np.digitize(X_new[:, 0], bins[1:-1])
            inside[name].append([hit[found == b].mean() for b in range(16)])
    figure, axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    for (name, shares), style in zip(inside.items(), ("o--", "s-"), strict=True):
        mean, error = np.mean(shares, axis=0), 2 * np.std(shares, axis=0) / np.sqrt(runs)
        axes.errorbar(0.5 * (bins[1:] + bins[:-1]), mean, error, fmt=style, ms=4, label=name)
    axes.axhline(0.9, color="0.4", lw=1)
    axes.set(xlabel="x", ylabel="coverage of the 90 % intervals", ylim=(0.6, 1.01))
    axes.legend(frameon=False, loc="lower left")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    sys.exit(main())
