"""Time of answers for very many rows of an averaged model whose output has bounds.

    python benchmarks/bulk.py [--rows 100000] [--gaussians 2000] [--lower 0] [--upper inf]

The model has the shape of a large fit of ``LSCE()``: ten configurations of five members each, with
their own locations and kernel widths.  It is made without a fit.  Ratios are relative to the mean,
which needs the weights of all Gaussians and little else.  Memory is the peak of the process above
its memory before the predictions.
"""

import argparse

import numpy as np
from machine import peak_memory, present_memory
from ratios import seconds_of, show_header, show_row

from condensity.data.sample import Scaling
from condensity.distributions import Bounds
from condensity.distributions.chunked import in_chunks
from condensity.fitting.scores import Gaussians
from condensity.lsce.averaged import AveragedMembers, Ensemble
from condensity.lsce.member import Coefficients

INPUTS, MEMBERS, CONFIGURATIONS, LEVELS = 8, 5, 10, (0.05, 0.25, 0.5, 0.75, 0.95)


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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--gaussians", type=int, default=2000)
    parser.add_argument("--lower", type=float, default=0.0)
    parser.add_argument("--upper", type=float, default=np.inf)
    o = parser.parse_args()
    X = np.random.default_rng(1).standard_normal((o.rows, INPUTS))
    fitted = model(o.gaussians, o.lower, o.upper)
    print(f"{o.rows} rows, {fitted.width} Gaussians, bounds ({o.lower}, {o.upper}).\n")
    show_header("answer", "seconds", "relative to the mean", "memory above the inputs")
    before, first = present_memory(), None
    for name, answer in answers(fitted, X).items():
        seconds, _ = seconds_of(answer)
        first = first or seconds
        memory = f"{peak_memory() - before:.0f} MiB"
        show_row(f"`{name}`", f"{seconds:.1f}", f"{seconds / first:.1f}", memory)


if __name__ == "__main__":
    main()
