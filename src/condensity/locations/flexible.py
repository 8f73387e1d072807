"""Locations that may depend on all inputs: a Gaussian process, boosted trees, and their average.

Each has residuals of samples that were left out of its fit.  The average weighs the linear, the
smooth and the tree location by these residuals: if ``r_j`` are the residuals of location j, those
of the average with weights v that sum to one are ``sum_j v_j r_j``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from condensity._typing import Array, Indices
from condensity.fitting.gaussian_process import fit_process, fit_sparse_process
from condensity.fitting.simplex import minimise_on_simplex
from condensity.locations.boosting import (
    BINNED_ROWS,
    Bins,
    add_trees,
    mean_of_trees,
    without_trees,
)
from condensity.locations.location import (
    INNER_FOLDS,
    Location,
    linear_location,
    location_of_all,
    mean_location,
    on_grid,
)

#: Number of trees that are added at a time, and the largest number.
TREES_A_ROUND, MOST_TREES = 40, 400
#: Folds for the residuals of trees with many samples: each fold costs one more fit.
FOLDS_OF_MANY = 3
#: With more outputs the average has no trees: their cost is proportional to the number of outputs.
MOST_TREE_OUTPUTS = 4
#: With more samples the Gaussian process is carried by this number of them: the exact one needs
#: the inverse of an n x n matrix.
SMOOTH_CENTERS = 1000
#: Locations with less weight are left out of the average.
NEGLIGIBLE = 0.02


def smooth_location(X: Array, Y: Array, weight: Array, labels: Indices | None = None) -> Location:
    """Gaussian process regression on all inputs, with a length scale for each of them."""
    if len(X) <= 2 * SMOOTH_CENTERS:
        function, residuals = fit_process(X, Y, weight, labels)
    else:
        function, residuals = fit_sparse_process(X, Y, weight, labels, SMOOTH_CENTERS)
    return location_of_all(function, residuals, X, Y, weight)


def tree_location(X: Array, Y: Array, weight: Array, labels: Indices | None = None) -> Location:
    """Boosted trees, the mean over fits that leave out one fold each.

    The residuals of a fold are those of the fit without it.  Trees are added as long as these
    residuals become smaller.
    """
    if labels is None or len(np.unique(labels)) < 2:
        n_folds = INNER_FOLDS if len(X) < BINNED_ROWS else FOLDS_OF_MANY
        labels = np.random.default_rng(0).permutation(len(X)) % min(n_folds, len(X))
    parts = [(labels != label, labels == label) for label in np.unique(labels)]
    if min(train.sum() for train, _ in parts) < 2:
        return mean_location(X, Y, weight)
    fits = [[without_trees(len(X)) for _ in Y.T] for _ in parts]
    # Thresholds are compared with inputs in single precision.
    inputs, grid_Y = on_grid(X).astype(np.float32).astype(float), on_grid(Y)
    bins = None if len(X) < BINNED_ROWS else Bins.of(inputs)
    if bins is not None:
        inputs = bins.numbers(inputs)
    variance = weight @ (Y - weight @ Y) ** 2
    best, residuals, n_trees = np.inf, Y, 0
    for size in range(TREES_A_ROUND, MOST_TREES + 1, TREES_A_ROUND):
        left_out = np.empty_like(Y)
        for (train, test), models in zip(parts, fits, strict=True):
            for model, column in zip(models, grid_Y[train].T, strict=True):
                add_trees(model, size, inputs[train], column, weight[train])
            left_out[test] = Y[test] - np.column_stack([m.predict(inputs[test]) for m in models])
        error = float(np.mean(weight @ left_out**2 / np.maximum(variance, 1e-300)))
        if error >= best:
            break
        best, residuals, n_trees = error, left_out, size
    return location_of_all(mean_of_trees(fits, n_trees, bins), residuals, X, Y, weight)


def flexible_location(X: Array, Y: Array, weight: Array, labels: Indices | None = None) -> Location:
    """The average of the linear, the smooth and the tree location with the best weights.

    With many outputs there is no tree location.
    """
    locators = [linear_location, smooth_location]
    if Y.shape[1] <= MOST_TREE_OUTPUTS:
        locators.append(tree_location)
    parts = [locator(X, Y, weight, labels) for locator in locators]
    shares = average_weights([part.residuals for part in parts], weight)
    used = [(float(v), part) for v, part in zip(shares, parts, strict=True) if v > 0]
    residuals = np.sum([v * part.residuals for v, part in used], axis=0)
    function = WeightedFunctions(tuple(v for v, _ in used), tuple(part.at for _, part in used))
    return location_of_all(function, residuals, X, Y, weight)


def average_weights(residuals: Sequence[Array], weight: Array) -> Array:
    """Weights whose combination of ``residuals`` (n, dy) has the smallest covariance determinant.

    The determinant does not depend on the basis of the outputs.  Weights are non-negative, sum to
    one, and are 0 if they are negligible.
    """
    R = np.stack(residuals)

    def mean_variance(v: Array) -> tuple[float, Array]:
        mean = np.tensordot(v, R, axes=1)
        covariance = (mean * weight[:, None]).T @ mean
        diagonal = np.diag_indices_from(covariance)
        covariance[diagonal] += 1e-10 * covariance[diagonal] + 1e-300
        factor = cho_factor(covariance, lower=True)
        slope = cho_solve(factor, (mean * weight[:, None]).T).T
        # The geometric mean of the variances in uncorrelated coordinates.
        value = float(np.exp(2.0 * np.mean(np.log(np.diagonal(factor[0])))))
        return value, value * (2.0 / R.shape[2]) * np.einsum("jnd,nd->j", R, slope)

    # With several outputs there may be several minima.
    equal = np.full(len(R), 1.0 / len(R))
    starts = [equal, *(0.9 * vertex + 0.1 * equal for vertex in np.eye(len(R)))]
    if R.shape[2] == 1:
        starts = starts[:1]
    ends = [minimise_on_simplex(mean_variance, len(R), start) for start in starts]
    v = min(ends, key=lambda end: mean_variance(end)[0])
    v[v < NEGLIGIBLE] = 0.0
    return np.asarray(v / v.sum())


@dataclass(frozen=True, eq=False)
class WeightedFunctions:
    """A weighted sum of functions of x."""

    weights: tuple[float, ...]
    functions: tuple[Any, ...]

    def __call__(self, X: Array) -> Array:
        """For the rows of ``X`` (m, dx)."""
        parts = zip(self.weights, self.functions, strict=True)
        return np.asarray(sum(weight * function(X) for weight, function in parts))
