"""Comparison of readings of the paper: which one gives its results without dimension reduction?

    python benchmarks/readings.py [--runs 10] [--jobs 2] [--out FOLDER]

The column None/LSCDE of the paper's Table 1 is plain least-squares conditional density estimation.
No search for a subspace influences it.  The paper leaves some details open.  This benchmark tries
all combinations of the following options.

score       The loss in cross-validation is that of the raw fit, or that of the clipped and
            normalised density.  The loss in the test is always that of the density.
scale       x and y have mean 0 and variance 1 on the training sample ("variance"), or the range of
            the whole table, known in advance, is mapped to [0, 1].
candidates  Widths of the kernels, the same for x and y.  The penalties are always nine values from
            0.001 to 10.
centres     100 random training samples, or all of them.
guard       "none": densities are computed with logarithms, so every row has mass 1.
            "eps": machine epsilon is added to the normaliser, as a plain program would do to avoid
            0/0.  Rows far from all centres lose their mass.  The guard acts on densities: in the
            test, and in cross-validation if the score is that of the density.

A centre never belongs to the fold that is held out.  Errors are those of y in [0, 1].

Two distances from the paper are printed.  Both are over the eleven tables.

distance      Sum of (ours - paper)² / (se_ours² + se_paper²), where se is the standard error.
              A noisy reading has large standard errors, and so a small distance.
log distance  Root mean square of log(ours / paper).  It does not depend on standard errors.
              A ratio below 0.01 counts as 0.01, also if our error is not negative.

The code shares no formula with the library.
"""

import argparse
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from condensity.datasets import load
from condensity.experiments import published_results as paper
from condensity.experiments.methods import MODEL_SEEDS, folds_of

COLUMN = paper.COLUMNS.index(("None", "LSCDE"))
TABLES = list(paper.ERRORS)
PAPER = np.array([paper.ERRORS[name][COLUMN] for name in TABLES])  # mean, standard error
PENALTIES = np.logspace(-3, 1, 9)
#: Candidates for the bandwidth, as exponents of 10 in eighths.  None above 4/8 is ever selected.
CANDIDATES = {
    "quarter decades from 0.03": range(-12, 5, 2),
    "3/8 decades from 0.03": range(-12, 13, 3),
    "quarter decades from 0.1": range(-8, 5, 2),
    "quarter decades from 0.18": range(-6, 5, 2),
}
EIGHTHS = sorted(set().union(*CANDIDATES.values()))
BANDWIDTHS = 10.0 ** (np.array(EIGHTHS) / 8)
SCORES = ("raw", "normalised")
SCALES = ("variance", "[0, 1]")
CENTERS = ("100", "all")
#: Logarithms of the number that is added to the normaliser.
GUARDS = {"none": -np.inf, "eps": np.log(np.finfo(float).eps)}
LOG_GUARDS = np.array(list(GUARDS.values()))
#: Smallest ratio of errors in the log distance.
SMALLEST_RATIO = 0.01


class Reading(NamedTuple):
    """One reading of the paper."""

    score: str
    scale: str
    candidates: str
    centers: str
    guard: str


READINGS = [Reading(*r) for r in product(SCORES, SCALES, CANDIDATES, CENTERS, GUARDS)]
#: Readings whose errors are printed for each table.
SHOWN = [
    Reading("raw", "variance", "quarter decades from 0.1", "all", "none"),
    Reading("normalised", "variance", "quarter decades from 0.18", "all", "none"),
    Reading("normalised", "[0, 1]", "quarter decades from 0.03", "all", "none"),
    Reading("normalised", "[0, 1]", "quarter decades from 0.03", "all", "eps"),
]


class Kernels(NamedTuple):
    """Gaussian kernels of one bandwidth, for m rows and b centres."""

    log_x: np.ndarray  # (m, b) logarithms of the kernels of x
    y: np.ndarray  # (m, b) kernels of y
    overlap: np.ndarray  # (b, b) integrals over y of products of two kernels
    mass: float  # integral over y of one kernel

    def part(self, rows, centers):
        """The kernels for some of the rows and some of the centres."""
        cells = np.ix_(rows, centers)
        overlap = self.overlap[np.ix_(centers, centers)]
        return Kernels(self.log_x[cells], self.y[cells], overlap, self.mass)

    def moments(self):
        """G (b, b) and h (b,) of the loss ½ a·G a - h·a of the raw fit."""
        x = np.exp(self.log_x)
        return x.T @ x / len(x) * self.overlap, (x * self.y).mean(axis=0)


class Distances(NamedTuple):
    """Squared distances between rows and centres."""

    x: np.ndarray  # (m, b)
    y: np.ndarray  # (m, b)
    centers: np.ndarray  # (b, b) between the y of centres

    def kernels(self, bandwidth, dy):
        """Kernels of this bandwidth for dy outputs."""
        s2 = bandwidth**2
        overlap = np.sqrt(np.pi * s2) ** dy * np.exp(-self.centers / (4 * s2))
        mass = np.sqrt(2 * np.pi * s2) ** dy
        return Kernels(-self.x / (2 * s2), np.exp(-self.y / (2 * s2)), overlap, mass)


def squared_distances(A, B):
    D = (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2 * A @ B.T
    return np.maximum(D, 0.0)


def location_and_scale(scale, whole, train):
    """The numbers that a column is shifted and divided by; constant columns are not divided."""
    if scale == "variance":
        location, unit, extent = train.mean(axis=0), train.std(axis=0), np.ptp(train, axis=0)
    else:
        location, unit, extent = whole.min(axis=0), np.ptp(whole, axis=0), np.ptp(whole, axis=0)
    return location, np.where(extent > 0, unit, 1.0)


def fit(kernels):
    """Coefficients for each penalty, (penalties, b)."""
    G, h = kernels.moments()
    penalised = G + PENALTIES[:, None, None] * np.eye(len(G))
    return np.linalg.solve(penalised, h[:, None])[..., 0]


def raw_losses(kernels, coefficients):
    """Loss of the raw fit for each penalty."""
    G, h = kernels.moments()
    return 0.5 * ((coefficients @ G) * coefficients).sum(axis=1) - coefficients @ h


def density_losses(kernels, coefficients):
    """Loss of the clipped and normalised density, (penalties, guards)."""
    return np.array([_density_loss(kernels, a) for a in coefficients])


def _density_loss(kernels, a):
    k = a > 0
    weights = kernels.log_x[:, k] + np.log(a[k])
    top = weights.max(axis=1, keepdims=True)
    weights = np.exp(weights - top)
    total = weights.sum(axis=1, keepdims=True) * kernels.mass
    weights /= total
    log_normaliser = (top + np.log(total))[:, 0]
    squared_norm = ((weights @ kernels.overlap[np.ix_(k, k)]) * weights).sum(axis=1)
    at_y = (weights * kernels.y[:, k]).sum(axis=1)
    guarded = np.logaddexp(log_normaliser[:, None], LOG_GUARDS)
    mass = np.exp(log_normaliser[:, None] - guarded)  # (m, guards) mass that the guard leaves
    return (0.5 * mass**2 * squared_norm[:, None] - mass * at_y[:, None]).mean(axis=0)


def losses(whole, seed, scale, n_centers):
    """Losses of one split of a table for all candidates, in units of y in [0, 1].

    "raw" (bandwidths, penalties) and "normalised" (bandwidths, penalties, guards) are the losses in
    cross-validation.  "test" (bandwidths, penalties, guards) is the loss in the test.
    """
    data = whole.split(seed)
    shift, unit = location_and_scale(scale, whole.X, data.X)
    X, X_test = (data.X - shift) / unit, (data.X_test - shift) / unit
    shift, unit = location_and_scale(scale, whole.Y, data.Y)
    Y, Y_test = (data.Y - shift) / unit, (data.Y_test - shift) / unit
    centers = np.arange(len(X))
    if n_centers != "all":
        rng = np.random.default_rng(MODEL_SEEDS + seed)
        centers = np.sort(rng.permutation(len(X))[: int(n_centers)])
    U, V = X[centers], Y[centers]
    V_V = squared_distances(V, V)
    train = Distances(squared_distances(X, U), squared_distances(Y, V), V_V)
    test = Distances(squared_distances(X_test, U), squared_distances(Y_test, V), V_V)
    folds = [
        (rows, held_out, np.flatnonzero(~np.isin(centers, held_out)))
        for rows, held_out in folds_of(data, MODEL_SEEDS + seed)
    ]
    results = {"raw": [], "normalised": [], "test": []}
    for bandwidth in BANDWIDTHS:
        kernels = train.kernels(bandwidth, Y.shape[1])
        raw, normalised = cross_validate(kernels, folds)
        results["raw"].append(raw)
        results["normalised"].append(normalised)
        at_test = test.kernels(bandwidth, Y.shape[1])
        results["test"].append(density_losses(at_test, fit(kernels)))
    return {key: np.array(value) * data.unit / np.prod(unit) for key, value in results.items()}


def cross_validate(kernels, folds):
    """Mean over folds of the losses of the raw fit and of the density."""
    raw, normalised = [], []
    for rows, held_out, others in folds:
        coefficients = fit(kernels.part(rows, others))
        part = kernels.part(held_out, others)
        raw.append(raw_losses(part, coefficients))
        normalised.append(density_losses(part, coefficients))
    return np.mean(raw, axis=0), np.mean(normalised, axis=0)


def stored_losses(folder, *task):
    """The losses of a task (table, split, scale, centres), from the folder if it has them."""
    name, *rest = task
    with threadpool_limits(1):
        if folder is None:
            return losses(load(name), *rest)
        path = folder / ("-".join(map(str, task)) + ".npz")
        if not path.exists():
            unfinished = path.with_suffix(".part.npz")
            np.savez(unfinished, **losses(load(name), *rest))
            unfinished.replace(path)  # an interrupted run leaves no damaged file
        with np.load(path) as stored:
            return dict(stored)


def selected_error(result, reading):
    """Test error of the candidates with the smallest loss in cross-validation."""
    allowed = [EIGHTHS.index(k) for k in CANDIDATES[reading.candidates]]
    guard = list(GUARDS).index(reading.guard)
    score = result["raw"] if reading.score == "raw" else result["normalised"][..., guard]
    i, j = np.unravel_index(np.argmin(score[allowed]), score[allowed].shape)
    return result["test"][allowed[i], j, guard]


def summarise(results, reading, runs):
    """Mean and standard error over splits for each table, (tables, 2)."""
    keys = [[(name, i, reading.scale, reading.centers) for i in range(runs)] for name in TABLES]
    errors = np.array([[selected_error(results[key], reading) for key in row] for row in keys])
    return np.column_stack([errors.mean(axis=1), errors.std(axis=1, ddof=1) / np.sqrt(runs)])


def compare(ours):
    """Distance, log distance, and number of tables within two standard errors of the paper."""
    z = (ours[:, 0] - PAPER[:, 0]) / np.hypot(ours[:, 1], PAPER[:, 1])
    ratio = np.maximum(ours[:, 0] / PAPER[:, 0], SMALLEST_RATIO)
    log_distance = np.sqrt((np.log(ratio) ** 2).mean())
    return float((z**2).sum()), float(log_distance), int((abs(z) <= 2).sum())


def print_row(cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def print_readings(summaries):
    heads = "score", "scale", "candidates", "centres", "guard", "distance", "log distance"
    print_row([*heads, "tables within 2 standard errors"])
    print("|---" * (len(heads) + 1) + "|")
    compared = {reading: compare(ours) for reading, ours in summaries.items()}
    for reading in sorted(compared, key=compared.get):
        distance, log_distance, near = compared[reading]
        print_row([*reading, f"{distance:.0f}", f"{log_distance:.2f}", str(near)])


def print_tables(summaries):
    print_row(["", *(", ".join(reading) for reading in SHOWN), "paper"])
    print("|---" * (len(SHOWN) + 2) + "|")
    columns = [*(summaries[reading] for reading in SHOWN), PAPER]
    for i, name in enumerate(TABLES):
        print_row([name, *(f"{mean:.2f} ({se:.2f})" for mean, se in (c[i] for c in columns))])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10, help="number of splits, at least 2")
    parser.add_argument("--jobs", type=int, default=2, help="number of processes")
    parser.add_argument(
        "--out", type=Path, help="folder of stored losses; empty it if the code changes"
    )
    options = parser.parse_args()
    if options.runs < 2:
        parser.error(f"--runs is {options.runs}; standard errors need at least 2")
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
    tasks = list(product(TABLES, range(options.runs), SCALES, CENTERS))
    run = delayed(stored_losses)
    values = Parallel(options.jobs)(run(options.out, *task) for task in tasks)
    results = dict(zip(tasks, values, strict=True))
    summaries = {reading: summarise(results, reading, options.runs) for reading in READINGS}
    print_readings(summaries)
    print()
    print_tables(summaries)


if __name__ == "__main__":
    main()
