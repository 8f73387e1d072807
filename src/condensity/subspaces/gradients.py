"""Outer products of gradients (OPG).

The gradients of functions m_t(x) = E[f_t(y) | x] lie in the subspace on which y depends.  They are
estimated by local linear regressions around the samples.  The estimated directions are the leading
eigenvectors of

    M = mean_j sum_t g_jt g_jt^T,    g_jt = (S_j + r_j I)^(-1) c_jt,

where S_j and c_jt are the covariances of x, and of x and f_t(y), under the kernel around sample j
[1]_.  With f(y) = y these are directions of the mean.  With cosines and sines of y, which determine
its distribution, they are all directions on which y depends [2]_.

The kernels are wide at first, because neighbours are far apart if there are many inputs.  Then they
become narrower along the directions that were found and wider across them, step by step [1]_.

References
----------
.. [1] Y. Xia, H. Tong, W. K. Li, L.-X. Zhu, "An adaptive estimation of dimension reduction space,"
   Journal of the Royal Statistical Society B 64(3), 2002.
.. [2] X. Yin, B. Li, "Sufficient dimension reduction based on an ensemble of minimum average
   variance estimators," Annals of Statistics 39(6), 2011.
"""

from __future__ import annotations

import numpy as np

from condensity._typing import Array, Indices
from condensity.data.sample import Sample
from condensity.subspaces.grassmann import orient_signs
from condensity.subspaces.slices import whitening

#: Frequencies of the cosines and sines of the normal scores of y.
FREQUENCIES = np.array([0.5, 1.0, 1.5, 2.0])
#: Number of times that the kernels are adapted to the directions.
N_STEPS = 12
#: Kernels have the width ``WIDTH sqrt(d) n^(-1/(d + 6))`` at first.  In every step they become
#: narrower by NARROWER, down to ``WIDTH sqrt(dz) n^(-1/(dz + 4))``.
WIDTH, NARROWER = 0.9, 0.8
#: Distances across the directions count half as much in every step, but at least this much.
LEAST_SHARE = 0.02
#: Ridge, relative to the mean of the variances under the kernel, and absolute.
RIDGE, LEAST_RIDGE = 0.1, 1e-6
#: Largest number of samples around which regressions are local.
MOST_POINTS = 500
#: Number of numbers in the largest array.
BLOCK = 2**22


def cosines_and_sines(scores: Array) -> Array:
    """Functions of y that determine its distribution, from its scores (n, dy): (n, 8 dy)."""
    angles = (scores[:, :, None] * FREQUENCIES).reshape(len(scores), -1)
    return np.hstack([np.cos(angles), np.sin(angles)])


def gradient_directions(
    sample: Sample, functions: Array, dz: int, most_points: int = MOST_POINTS
) -> tuple[Array, Array]:
    """Eigenvalues (d,), the largest first, and directions (d, d), the rows, for standardised x.

    ``functions`` (n, t) are the values of functions of y.  Kernels adapt to ``dz`` directions.
    Regressions are local to at most ``most_points`` of the samples.  The projections of x on the
    directions are uncorrelated and have unit variance, or less if a ridge was added.  The sign of a
    direction is such that its projection has a covariance >= 0 with the first output.
    """
    A = whitening(sample.X, sample.weight)
    X, weight = sample.X @ A, sample.weight
    n, d = X.shape
    points = np.linspace(0, n - 1, min(n, most_points), dtype=int)
    shares = weight[points] / weight[points].sum()
    functions = functions - weight @ functions
    width, least = (WIDTH * np.sqrt(q) * n ** (-1.0 / (q + more)) for q, more in ((d, 6), (dz, 4)))
    metric = np.eye(d)
    for step in range(N_STEPS + 1):
        gradients = local_gradients(X, functions, weight, points, X @ metric / width)
        G = (np.sqrt(shares)[:, None, None] * gradients).transpose(0, 2, 1).reshape(-1, d)
        values, vectors = np.linalg.eigh(G.T @ G)
        values, vectors = values[::-1], vectors[:, ::-1]
        across = max(0.5 ** (step + 1), LEAST_SHARE)
        metric = vectors * np.where(np.arange(d) < dz, 1.0, across)
        width = max(NARROWER * width, least)
    return values, orient_signs((A @ vectors).T, sample)


def local_gradients(X: Array, functions: Array, weight: Array, points: Indices, Z: Array) -> Array:
    """Slopes of local linear regressions of ``functions`` (n, t) on ``X`` (n, d): (m, d, t).

    Around the sample j in ``points`` (m,), sample i has the weight
    ``weight[i] exp(-|Z[i] - Z[j]|^2 / 2)``.
    """
    n, d = X.shape
    upper = np.triu_indices(d)
    n_products = len(upper[0]) + d * (1 + functions.shape[1]) + functions.shape[1]
    slopes = np.empty((len(points), d, functions.shape[1]))
    size = max(1, BLOCK // max(d * d, n_products))
    for start in range(0, len(points), size):
        block = points[start : start + size]
        sums = np.zeros((len(block), n_products))
        mass = np.zeros((len(block), 1))
        rows = max(1, BLOCK // max(n_products, len(block)))
        for first in range(0, n, rows):
            part = slice(first, first + rows)
            kernels = weight[part] * _gaussian(Z[block], Z[part])
            mass += kernels.sum(axis=1, keepdims=True)
            sums += kernels @ _products(X[part], functions[part], upper)
        slopes[start : start + size] = _slopes(sums / mass, d, upper)
    return np.asarray(slopes)


def _gaussian(U: Array, Z: Array) -> Array:
    """Kernels of width 1 between the rows of ``U`` (m, d) and ``Z`` (n, d), (m, n)."""
    squared = np.sum(U**2, axis=1)[:, None] + np.sum(Z**2, axis=1) - 2.0 * U @ Z.T
    return np.asarray(np.exp(-0.5 * np.maximum(squared, 0.0)))


def _products(X: Array, F: Array, upper: tuple[Indices, Indices]) -> Array:
    """X, F, the products of columns of X, and those of columns of X and F, for every row."""
    between = (X[:, :, None] * F[:, None, :]).reshape(len(X), -1)
    return np.hstack([X, F, X[:, upper[0]] * X[:, upper[1]], between])


def _slopes(means: Array, d: int, upper: tuple[Indices, Indices]) -> Array:
    """Slopes (m, d, t) from the means of these products (m, ...)."""
    n_functions = (means.shape[1] - d - len(upper[0])) // (d + 1)
    ends = np.cumsum([d, n_functions, len(upper[0])])
    x, f, xx, xf = np.split(means, ends, axis=1)
    S = np.empty((len(means), d, d))
    S[:, upper[0], upper[1]] = S[:, upper[1], upper[0]] = xx
    S -= x[:, :, None] * x[:, None, :]
    c = xf.reshape(len(means), d, n_functions) - x[:, :, None] * f[:, None, :]
    diagonal = np.arange(d)
    ridge = RIDGE * np.trace(S, axis1=1, axis2=2) / d + LEAST_RIDGE
    S[:, diagonal, diagonal] += ridge[:, None]
    return np.asarray(np.linalg.solve(S, c))
