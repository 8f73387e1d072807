"""The default LSCE without one of its ingredients, on benchmark tables of the paper.

    python benchmarks/ablation.py run RECORDS [--splits 10] [--without ...] [--tables ...]
    python benchmarks/ablation.py show RECORDS

RECORDS has one line for each (table, split, ingredient); existing records are not computed again.
``show`` prints the mean difference of Error_CDE to the default (positive: the ingredient helps),
with its standard error over the same splits, in per cent of the default.  Without averaging there
is no stacking either.  *All centres* means the second selection of settings with more than 200
centres. The last row adds an ingredient: members of a second random partition into folds.
"""

import argparse
import time
import warnings
from contextlib import ExitStack
from itertools import product
from unittest.mock import patch

import numpy as np
from records import mean_and_error, read, run_missing

from condensity import LSCE
from condensity.fitting.scores import Gaussians
from condensity.lsce.stacking import loss_of_average
from condensity.members.settings import Setting
from condensity.metrics import pit, squared_loss
from condensity.subspaces.chart import Minimum
from tables import TABLES, WORLDS, split

#: The smaller of the paper's tables, and its smallest robot, with four correlated outputs.
SMALL = ["Servo", "Auto MPG", "Yacht", "Housing", "Stock", "Forest Fires", "2 Joints"]


def same(max_steps, item, **options):
    """Replacement of refining: the subspace without a change."""
    return Minimum(item[1][0], np.nan, 0)


def plain_centers(V, sigma_y):
    """Replacement of shrunken centres: the samples."""
    return Gaussians(np.vstack([V, 0 * V[:1]]), np.append(np.full(len(V), sigma_y), 1.0))


def winner_takes_all(evaluations):
    """Replacement of stacking: the best configuration only."""
    losses = [loss_of_average([evaluation])(np.ones(1))[0] for evaluation in evaluations]
    best = int(np.argmin(losses))
    return np.eye(len(losses))[best], losses[best]


def unstretched(evaluations, *rest, **options):
    """Replacement of the calibration of widths: no change."""
    return 1.0


def tied(self, near, *, coarse, strides):
    """Replacement of two bandwidths: sigma_z in units of sqrt(dz) equals sigma_y."""
    root = len(self.Ws[0]) ** 0.5
    pairs = [(i, int(np.argmin(np.abs(np.log(self.y / (z / root)))))) for i, z in enumerate(self.z)]
    best = min(pairs, key=lambda pair: self.at(pair).min())
    penalty = self.search.penalties[int(np.argmin(self.at(best)))]
    return Setting(float(self.z[best[0]]), float(self.y[best[1]]), penalty)


ROOM = "condensity.lsce"
#: Ingredients by their key in the records: parameters of LSCE, and replacements of its parts.
WITHOUT = {
    "nothing": ({}, {}),
    "averaging": ({"n_members": 1}, {}),
    "stacking": ({}, {f"{ROOM}.fit.stack": winner_takes_all}),
    "all centres": ({}, {f"{ROOM}.fit.reselect_setting": lambda c, crossfit, search: c}),
    "refining": (
        {},
        {f"{ROOM}.configurations.refine_subspace": same, f"{ROOM}.consensus.refine_subspace": same},
    ),
    "stretching": ({}, {f"{ROOM}.fit.best_stretch": unstretched}),
    "linear location": ({"location": "none"}, {}),
    "separate bandwidths": ({}, {f"{ROOM}.settings.SettingSelector.choose": tied}),
    "pulled centres": (
        {},
        {
            f"{ROOM}.member.variance_preserving": plain_centers,
            "condensity.fitting.leave_one_out.variance_preserving": plain_centers,
        },
    ),
    "background": ({}, {f"{ROOM}.member.BACKGROUND": 1e-6}),
    "more starts": ({"n_starts": 1}, {}),
    "reduction": ({"n_components": None}, {}),
    "(with a second deal)": ({"n_members": 10}, {}),
}


def run(table, seed, without):
    """Record of a fit to one split."""
    X, Y, X_test, Y_test, unit = split(table, seed)
    warnings.simplefilter("ignore")
    parameters, parts = WITHOUT[without]
    varying = int((np.ptp(X, axis=0) > 0).sum())
    parameters = {k: varying if v is None else v for k, v in parameters.items()}
    started = time.perf_counter()
    with ExitStack() as stack:
        for name, part in parts.items():
            stack.enter_context(patch(name, part))
        dist = LSCE(random_state=seed, **parameters).fit(X, Y).predict_dist(X_test)
    u = pit(dist, Y_test)
    return {
        "table": table,
        "seed": seed,
        "without": without,
        "loss": unit * squared_loss(dist, Y_test),
        "coverage": float(np.mean((u > 0.05) & (u < 0.95))),
        "seconds": time.perf_counter() - started,
    }


def run_all(options):
    cells = list(product(options.tables, range(options.splits), options.without))
    run_missing(options.records, ("table", "seed", "without"), cells, run, options.jobs)


def show(options):
    records = {(r["table"], r["seed"], r["without"]): r for r in read(options.records)}
    tables = [t for t in options.tables if any(key[0] == t for key in records)]
    print("| without |", " | ".join(tables), "| 90 % intervals cover |")
    print("|---" * (len(tables) + 2) + "|")
    for without in WITHOUT:
        cells, covered = [], []
        for table in tables:
            seeds = [s for t, s, w in records if (t, w) == (table, without)]
            own, default = (
                np.array([records[table, s, w]["loss"] for s in seeds if (table, s, w) in records])
                for w in (without, "nothing")
            )
            covered += [records[table, s, without]["coverage"] for s in seeds]
            if not len(own) or len(own) != len(default):
                cells.append("")
            elif without == "nothing":
                cells.append(mean_and_error(own))
            else:
                percent = 100 * (own - default) / abs(default.mean())
                cells.append(f"{mean_and_error(percent)} %")
        cover = f"{np.mean(covered):.3f}" if covered else ""
        print("|", without, "|", " | ".join(cells), "|", cover, "|")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["run", "show"])
    parser.add_argument("records")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--without", nargs="+", choices=WITHOUT, default=list(WITHOUT))
    parser.add_argument("--tables", nargs="+", choices=[*TABLES, *WORLDS], default=SMALL)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    run_all(options) if options.what == "run" else show(options)


if __name__ == "__main__":
    main()
