"""Effect of one outlier on LSCE: the outlier is kept, or left out as by default.

    python benchmarks/outliers.py [--runs 5] [--sizes 50 200] [--components 1]

The model is y = x1 + 0.3 e with five normal inputs.  One value of y or of x1 is replaced.  Scores
(minus Error_CDE) on 2000 test samples without outliers, mean (standard error).
"""

import argparse
import warnings

import numpy as np

from condensity import LSCE

OUTLIERS = (10.0, 1e2, 1e4, 1e8)


def sample(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5))
    return X, X[:, 0] + 0.3 * rng.standard_normal(n)


def score(n, seed, components, column=None, value=None, outliers="omit"):
    """The score of a fit with ``value`` in the first row of a column: x1 is 0, y is -1."""
    X, y = sample(n, seed)
    if column is not None:
        (y if column == -1 else X[:, column])[0] = value
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="left out of the fit")
        model = LSCE(components, outliers=outliers, random_state=seed).fit(X, y)
    return model.score(*sample(2000, 10_000 + seed))


def cell(values):
    return f"{np.mean(values):.3f} ({np.std(values, ddof=1) / len(values) ** 0.5:.3f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 200])
    parser.add_argument("--components", type=lambda text: int(text) if text != "auto" else text)
    parser.set_defaults(components="auto")
    options = parser.parse_args()
    print("| n | outlier | kept | left out |\n|---|---|---|---|")
    for n in options.sizes:
        seeds, dz = range(options.runs), options.components
        print(f"| {n} | none | {cell([score(n, seed, dz) for seed in seeds])} | |", flush=True)
        for name, column in (("y", -1), ("x1", 0)):
            for value in OUTLIERS:
                cells = [
                    cell([score(n, seed, dz, column, value, choice) for seed in seeds])
                    for choice in ("keep", "omit")
                ]
                print(f"| {n} | {name} = {value:g} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
