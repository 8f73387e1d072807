"""How well directions are found on the standard models of the central-subspace literature.

    python benchmarks/subspaces.py --runs 40 --jobs 2 --out subspaces.jsonl
    python benchmarks/subspaces.py --table subspaces.jsonl

The error is |P - P'|_F / sqrt(2 k), between 0 and 1, for k directions that are known (the number of
directions is given to every method).  Models E1 to E7 are those of ensemble conditional variance
estimation (Fertl and Bura 2021, arXiv 2102.13435) as far as their formulae are known to us; C1 to
C7 those of conditional variance estimation (arXiv 2102.08782); toys (a) and (b) those of the LSCE
paper.  Published figures are for n = 200.  Finished lines are skipped on a restart.
"""

import argparse
import json
import os
import sys
import time
import warnings
from collections import defaultdict
from itertools import product
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from joblib import Parallel, delayed

from condensity import LSCE, LSMI, OPG, SAVE, SIR, DirectionalRegression
from condensity.datasets import toy_a, toy_b

#: Published errors at n = 200, correlated normal inputs: the best method, and csMAVE.
PUBLISHED = {
    "E1": (0.120, 0.128),
    "E2": (0.219, 0.219),
    "E3": (0.369, 0.374),
    "E4": (0.545, 0.685),
    "E6": (0.194, 0.194),
    "E7": (0.143, 0.425),
}


def correlated(rng, n, p):
    """Normal inputs with covariances 0.5^|i - j|."""
    powers = 0.5 ** abs(np.subtract.outer(np.arange(p), np.arange(p)))
    return rng.standard_normal((n, p)) @ np.linalg.cholesky(powers).T


def uniform(rng, n, p):
    """Independent uniform inputs with unit variance."""
    return rng.uniform(-np.sqrt(3), np.sqrt(3), (n, p))


INPUTS = {"normal": correlated, "uniform": uniform}

#: Functions of the first two inputs and the noise, and the number of directions.
CENTRAL = {
    "E1": (lambda a, b, e: 1 / a + 0.2 * e, 1),
    "E2": (lambda a, b, e: np.cos(2 * a) + np.cos(b) + 0.2 * e, 2),
    "E3": (lambda a, b, e: b + (0.5 + a**2) * e, 2),
    "E4": (lambda a, b, e: a / (0.5 + (1.5 + b) ** 2) + (abs(a) + b**2 + 0.5) * e, 2),
    "E6": (lambda a, b, e: 0.5 * a**2 * e, 1),
    "E7": (lambda a, b, e: np.cos(a - np.pi) + np.cos(2 * a) * e, 1),
}


def central(name, inputs, n, rng, p=10):
    """A model of ensemble conditional variance estimation."""
    function, k = CENTRAL[name]
    X = INPUTS[inputs](rng, n, p)
    return X, function(X[:, 0], X[:, 1], rng.standard_normal(n)), np.eye(p)[:k]


def mean_model(name, n, rng, p=20):
    """A model of conditional variance estimation: y = g(B x) + noise."""
    b1, b2, e = np.zeros(p), np.zeros(p), np.eye(p)
    b1[:6], b2[:6] = 1 / np.sqrt(6), np.array([1, -1, 1, -1, 1, -1]) / np.sqrt(6)
    noise = 0.5 * rng.standard_normal(n)
    X = rng.standard_normal((n, p))
    if name == "C1":
        X, B = correlated(rng, n, p), b1[None]
        sizes = rng.gamma(2.0, size=n) ** 2  # generalised normal noise with shape 1/2
        noise = 0.5 * rng.choice([-1, 1], n) * sizes / np.sqrt(120)
        y = np.cos(X @ b1)
    elif name == "C2":
        X, B = X + np.where(rng.uniform(size=n) < 0.3, 1, -1)[:, None], b1[None]
        y = np.cos(X @ b1)
    elif name == "C3":
        B, y = b1[None], 2 * np.log(abs(X @ b1) + 2)
    elif name == "C4":
        X, B = correlated(rng, n, p), np.stack([b1, b2])
        y = X @ b1 / (0.5 + (1.5 + X @ b2) ** 2)
    elif name == "C5":
        X, B = rng.uniform(size=(n, p)), np.stack([b1, b2])
        y = np.cos(np.pi * (X @ b1)) * (X @ b2 + 1) ** 2
    elif name == "C6":
        B = e[[0, 1, p - 1]]
        y = np.sum((X @ B.T) ** 2, axis=1)
    else:
        X = X * np.sqrt(3 / rng.chisquare(3, n))[:, None]
        B, noise = e[[0, 1, 2, p - 1]], rng.laplace(scale=0.5 / np.sqrt(2), size=n)
        y = X[:, 0] * X[:, 1] ** 2 + X[:, 2] * X[:, p - 1]
    return X, y + noise, B


#: Number of samples of the mean models in their paper.
MEAN_SIZES = {"C1": 100, "C2": 100, "C3": 100, "C4": 200, "C5": 200, "C6": 200, "C7": 400}
TOYS = {"toy (a)": toy_a, "toy (b)": toy_b}


def problem(name, inputs, n, seed):
    """Inputs, output and true directions (k, dx)."""
    rng = np.random.default_rng([seed, n, *name.encode(), *inputs.encode()])
    if name in CENTRAL:
        return central(name, inputs, n, rng)
    if name in MEAN_SIZES:
        return mean_model(name, n, rng)
    toy = TOYS[name]()
    return *toy.sample(n, random_state=rng), toy.components


def principal_hessian(X, y, k):
    """Principal Hessian directions from the residuals of a linear regression (Li 1992)."""
    C = X - X.mean(axis=0)
    root = np.linalg.inv(np.linalg.cholesky(np.cov(C.T))).T
    Z = C @ root
    residuals = y - y.mean() - Z @ np.linalg.lstsq(Z, y - y.mean(), rcond=None)[0]
    values, vectors = np.linalg.eigh((Z * residuals[:, None]).T @ Z / len(Z))
    strongest = np.argsort(-abs(values))[:k]
    return (root @ vectors[:, strongest]).T


def fitted_directions(model):
    """Directions of a transformer for inputs in their own units."""

    def learn(X, y, k, seed):
        made = model(k)
        if "random_state" in made.get_params():
            made.set_params(random_state=seed)
        return made.fit(X, y).components_ / X.std(axis=0)

    return learn


METHODS = {
    "LSCE": fitted_directions(LSCE),
    "as published": fitted_directions(LSCE.as_published),
    "LSMI": fitted_directions(LSMI),
    "SIR": fitted_directions(lambda k: SIR(n_components=k)),
    "SAVE": fitted_directions(lambda k: SAVE(n_components=k)),
    "DR": fitted_directions(lambda k: DirectionalRegression(n_components=k)),
    "OPG": fitted_directions(lambda k: OPG(n_components=k)),
    "OPG, mean": fitted_directions(lambda k: OPG(n_components=k, functions="mean")),
    "pHd": lambda X, y, k, seed: principal_hessian(X, y, k),
}


def distance(W, B):
    """Distance between the projectors on the rows of two matrices, in [0, 1]."""
    P, Q = (q @ q.T for q in (np.linalg.qr(M.T)[0] for M in (W, B)))
    return float(np.linalg.norm(P - Q) / np.sqrt(2 * len(B)))


def run(task):
    """One line of the records."""
    method, name, inputs, n, seed = task
    X, y, B = problem(name, inputs, n, seed)
    began = time.process_time()
    line = dict(zip(("method", "model", "inputs", "n", "seed"), task, strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if method == "LSCE()":  # the number of directions
            line["n_components"] = int(LSCE(random_state=seed).fit(X, y).n_components_)
        else:
            line["error"] = round(distance(METHODS[method](X, y, len(B), seed), B), 5)
    return line | {"k": len(B), "seconds": round(time.process_time() - began, 4)}


def tasks(methods, models, inputs, sizes, runs):
    """All tasks, run by run, so that an interrupted study has all models."""
    problems = [(m, i, n) for m, i, n in product(CENTRAL, INPUTS, (100, 200, 400))]
    problems += [(m, "own", n) for m, n in MEAN_SIZES.items()]
    problems += [(m, "own", n) for m, n in product(TOYS, (50, 100, 200, 400))]
    return [
        (method, model, kind, n, seed)
        for seed in range(runs)
        for model, kind, n in problems
        if (not models or model in models) and (not sizes or n in sizes)
        if not inputs or kind in inputs
        for method in methods
    ]


def key(line):
    return tuple(line[name] for name in ("method", "model", "inputs", "n", "seed"))


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def print_table(lines):
    """Mean (standard error) of the errors, and how often the number of directions is right."""
    cells = defaultdict(list)
    for line in lines:
        value = line.get("error", float(line.get("n_components", 0) == line["k"]))
        cells[line["model"], line["inputs"], line["n"], line["method"]].append(value)
    methods = [m for m in [*METHODS, "LSCE()"] if any(key[3] == m for key in cells)]
    heads = [*methods, "best published", "csMAVE"]
    print("| | " + " | ".join(heads) + " |\n" + "|---" * (len(heads) + 1) + "|")
    for row in sorted({key[:3] for key in cells}):
        texts = []
        for method in methods:
            values = cells.get((*row, method), [])
            mean, se = np.mean(values or [np.nan]), np.nan
            if len(values) > 1:
                se = np.std(values, ddof=1) / np.sqrt(len(values))
            right = f"{int(sum(values))} of {len(values)}" if values else ""
            texts.append(right if method == "LSCE()" else f"{mean:.3f} ({se:.3f})")
        known = PUBLISHED.get(row[0], ()) if row[1:] == ("normal", 200) else ()
        texts += [f"{value:.3f}" for value in known] or ["", ""]
        name = f"{row[0]}, {row[1]}, n = {row[2]}" if row[1] != "own" else f"{row[0]}, n = {row[2]}"
        print("| " + " | ".join([name, *texts]) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="+", default=[*METHODS], help="or 'LSCE()': how often k")
    parser.add_argument("--models", nargs="+", help="default: all")
    parser.add_argument("--inputs", nargs="+", choices=[*INPUTS, "own"], help="default: all")
    parser.add_argument("--sizes", nargs="+", type=int, help="default: all")
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("subspaces.jsonl"))
    parser.add_argument("--table", type=Path, nargs="+", help="print the table of these records")
    options = parser.parse_args()
    if options.table:
        return print_table([line for path in options.table for line in read(path)])
    done = {key(line) for line in read(options.out)}
    kinds = options.models, options.inputs, options.sizes
    wanted = tasks(options.methods, *kinds, options.runs)
    todo = [task for task in wanted if task not in done]
    print(f"{len(wanted)} fits, {len(todo)} to do", file=sys.stderr)
    with options.out.open("a") as file:
        for line in Parallel(options.jobs, return_as="generator_unordered")(
            delayed(run)(task) for task in todo
        ):
            file.write(json.dumps(line) + "\n")
            file.flush()
    return None


if __name__ == "__main__":
    main()
