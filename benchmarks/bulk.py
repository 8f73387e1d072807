"""Time of answers for very many rows of an averaged model whose output has bounds.

    python benchmarks/bulk.py [--rows 100000] [--gaussians 2000] [--revision 6328d74]

The model has the shape of a large fit of ``LSCE()``: ten configurations of five members each, with
their own locations and kernel widths.  It is made without a fit.  Memory is the peak of the process
above its memory before the predictions.  Ratios compare with an earlier version of the library,
with fewer rows, alternately.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from machine import peak_memory, present_memory
from ratios import at_most, seconds_of, show_header, show_row

from condensity.data.sample import Scaling
from condensity.distributions import Bounds
from condensity.distributions.chunked import in_chunks
from condensity.fitting.scores import Gaussians
from condensity.members.averaged import AveragedMembers, Ensemble
from condensity.members.member import Coefficients

HERE = Path(__file__).resolve().parent
INPUTS, MEMBERS, CONFIGURATIONS, LEVELS = 8, 5, 10, (0.05, 0.25, 0.5, 0.75, 0.95)
BOUNDS = ((0.0, np.inf), (-np.inf, np.inf), (-1.0, 6.0))
LIMIT = 60  # seconds for each answer


def member(rng, n_kernels, directions, sigma_z):
    W = np.linalg.qr(rng.standard_normal((INPUTS, directions)))[0].T
    alphas = rng.exponential(size=(1, n_kernels + 1))
    alphas[0, -1] = 0.01 * alphas.mean() * n_kernels * 0.05
    return Coefficients(W, rng.standard_normal((n_kernels, directions)), sigma_z, alphas)


def configuration(rng, n_kernels):
    """Members with common Gaussians of v, and a linear location."""
    coefficients, width = 0.4 * rng.standard_normal((INPUTS, 1)), rng.uniform(0.25, 0.5)
    centers = np.append(np.sqrt(1 - width**2) * rng.standard_normal((n_kernels, 1)), [[0.0]], 0)
    return AveragedMembers(
        Scaling(np.zeros(INPUTS), np.ones(INPUTS)),
        lambda X: X @ coefficients,
        np.array([[rng.uniform(0.5, 0.8)]]),
        Gaussians(centers, np.append(np.full(n_kernels, width), 1.0)),
        [member(rng, n_kernels, 1 + j % 2, rng.uniform(0.4, 1.0)) for j in range(MEMBERS)],
    )


def model(n_gaussians, lower=0.0, upper=np.inf, seed=0):
    """An average of configurations; infinite bounds are no bounds."""
    rng = np.random.default_rng(seed)
    n_kernels = n_gaussians // CONFIGURATIONS - 1
    parts = [(1 / CONFIGURATIONS, configuration(rng, n_kernels)) for _ in range(CONFIGURATIONS)]
    scaling = Scaling(np.zeros(1), np.ones(1))
    x_scaling, stretch = Scaling(np.zeros(INPUTS), np.ones(INPUTS)), np.array([1.05])
    bounds = Bounds(np.array([lower]), np.array([upper]))
    bounds = bounds if np.isfinite([lower, upper]).any() else None
    return Ensemble(parts, scaling, x_scaling, np.eye(INPUTS)[:2], stretch, bounds)


def answers(fitted, X):
    """The densities, observed values and functions for all answers."""
    dist = in_chunks(X, fitted.at, fitted.width, 1)
    y = fitted.at(X[:200]).quantile(0.3)
    Y, grid = np.resize(y, len(X)), np.linspace(y.min(), y.max(), 301)
    return {
        "mean()": dist.mean,
        f"quantile({list(LEVELS)})": lambda: dist.quantile(LEVELS),
        "pdf_on(grid), 301 points": lambda: dist.pdf_on(grid),
        "crps(Y)": lambda: dist.crps(Y),
        "squared_norm()": dist.squared_norm,
    }


def measured(source, rows, gaussians):
    """Seconds of all answers, with the library at ``source``."""
    command = [sys.executable, __file__, "--one", f"--rows={rows}", f"--gaussians={gaussians}"]
    settings = {**os.environ, "PYTHONPATH": str(source)}
    out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=settings)
    return json.loads(out.stdout)


def both_versions(o):
    """Seconds of an earlier version, and of this one."""
    git = ("git", "-C", str(HERE.parent))
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            (*git, "archive", o.revision, "src"), stdout=subprocess.PIPE, check=True
        )
        subprocess.run(("tar", "x", "-C", folder), input=archive.stdout, check=True)
        sources = next(Path(folder).rglob("condensity")).parent, HERE.parent / "src"
        return [measured(source, o.few, o.gaussians) for source in sources]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--few", type=int, default=1000, help="rows for both versions")
    parser.add_argument("--gaussians", type=int, default=2000)
    parser.add_argument("--revision", default="6328d74", help="the earlier version")
    parser.add_argument("--one", action="store_true", help="only print the seconds of each answer")
    o = parser.parse_args()
    X = np.random.default_rng(1).standard_normal((o.rows, INPUTS))
    if o.one:
        tasks = {
            f"{name}, bounds {pair}": task
            for pair in BOUNDS
            for name, task in answers(model(o.gaussians, *pair), X).items()
        }
        print(json.dumps({name: seconds_of(task)[0] for name, task in tasks.items()}))
        return
    fitted = model(o.gaussians, *BOUNDS[0])
    print(
        f"{o.rows} rows of an averaged model with {fitted.width} Gaussians in each density and "
        f"bounds {BOUNDS[0]}; processor seconds on one thread.\n"
    )
    show_header("answer", "seconds", "target", "peak memory above the inputs")
    before = present_memory()
    for name, answer in answers(fitted, X).items():
        seconds, _ = seconds_of(answer)
        memory = f"{peak_memory() - before:.0f} MiB"
        show_row(f"`{name}`", f"{seconds:.1f}", at_most(seconds, LIMIT, "seconds"), memory)
    print(f"\nThe same for {o.few} rows, and with the version `{o.revision}`.\n")
    old, new = both_versions(o)
    show_header("answer", "s before", "s now", "speed-up")
    for name in new:
        show_row(name, f"{old[name]:.2f}", f"{new[name]:.2f}", f"{old[name] / new[name]:.1f}")


if __name__ == "__main__":
    main()
