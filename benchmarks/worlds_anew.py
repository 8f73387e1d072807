"""A second sample of the robots and the brush, not used in the development of the method.

    python benchmarks/worlds_anew.py [--seed 1000] [--splits 10] [--jobs 2]

Some choices of the default LSCE were made with the transitions of `condensity reproduce worlds` in
view.  Here the simulators draw new transitions.  LSCE() is compared with LSCDE without reduction,
with a linear regression with Gaussian residuals, and with the same Gaussian whose covariance is
multiplied by the factor that is best on held-out samples.  A method that selects its widths should
beat the last.
"""

import argparse
from functools import partial

import numpy as np
from joblib import Parallel, delayed
from ratios import show_header, show_row
from sklearn.model_selection import KFold

from condensity.datasets import brush, robot
from condensity.distributions.block import Block
from condensity.distributions.mixture import Mixture
from condensity.experiments.methods import LINEAR, OURS, evaluate
from condensity.experiments.problems import Data
from condensity.experiments.run_statistics import differences, summary_text
from condensity.metrics import squared_loss

WORLDS = {
    ("2 Joints", 100): partial(robot, 2),
    ("4 Joints", 200): partial(robot, 4),
    ("9 Joints", 500): partial(robot, 9),
    ("Simulated brush", 200): brush,
    ("Simulated brush", 250): brush,
    ("Simulated brush", 300): brush,
}
METHODS = (("None", "LSCDE"), (LINEAR, "Gaussian"), (OURS, "own"))
SCALED = "Linear, scaled"
RIVALS = ("None", LINEAR, SCALED)
SCALES = np.geomspace(0.3, 2.0, 12)


def gaussian(X, Y, X_new, scale):
    """``N(B x, scale S)``: least squares, and the covariance of the residuals."""
    A, A_new = (np.column_stack([Z, np.ones(len(Z))]) for Z in (X, X_new))
    B = np.linalg.lstsq(A, Y, rcond=None)[0]
    residuals = Y - A @ B
    factor = np.linalg.cholesky(scale * residuals.T @ residuals / (len(A) - A.shape[1]))
    centers = np.zeros((1, Y.shape[1]))
    return Mixture([Block(np.zeros((len(A_new), 1)), centers, factor, shift=A_new @ B)])


def scaled(data):
    """The loss of a Gaussian whose scale is selected by five-fold cross-validation."""
    losses = np.zeros(len(SCALES))
    for train, test in KFold(5, shuffle=True, random_state=0).split(data.X):
        for j, scale in enumerate(SCALES):
            dist = gaussian(data.X[train], data.Y[train], data.X[test], scale)
            losses[j] += squared_loss(dist, data.Y[test])
    best = SCALES[np.argmin(losses)]
    return data.unit * squared_loss(gaussian(data.X, data.Y, data.X_test, best), data.Y_test)


def run(table, n, split):
    """Losses of all methods on one split."""
    data = Data(*table.split(split, n_train=n))
    losses = {m: evaluate(m, data, split)[density]["Error_CDE"] for m, density in METHODS}
    return losses | {SCALED: float(scaled(data))}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1000, help="seed of the simulators")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    o = parser.parse_args()
    cells = [(world, split) for world in WORLDS for split in range(o.splits)]
    tables = {world: make(random_state=o.seed) for world, make in WORLDS.items()}
    results = Parallel(o.jobs)(delayed(run)(tables[w], w[1], split) for w, split in cells)
    show_header("", *(name for name, _ in METHODS), SCALED, *(f"LSCE() minus {m}" for m in RIVALS))
    for world in WORLDS:
        own = [losses for (which, _), losses in zip(cells, results, strict=True) if which == world]
        runs = {name: {i: one[name] for i, one in enumerate(own)} for name in own[0]}
        gaps = [differences(runs[OURS], runs[rival]) for rival in RIVALS]
        texts = [
            f"{summary_text(gap)}, lower on {sum(g < 0 for g in gap.values())}" for gap in gaps
        ]
        show_row(f"{world[0]}, n = {world[1]}", *map(summary_text, runs.values()), *texts)


if __name__ == "__main__":
    main()
