"""Dawid-Sebastiani loss of the mean and the variance of a weighted sample.

A sample is described by weights q that sum to one.  They give each function of y a mean m and a
variance v.  The loss of a value t is, up to a constant, that of a normal distribution with these
moments:

    1/2 log v + (t - m)^2 / (2 v).

It uses the size of each residual, and so it tells more about the directions of the mean and of the
spread than the squared loss of a density does.  It tells nothing about the rest of the shape.
"""

from __future__ import annotations

import numpy as np

from condensity._typing import Array

#: Added to the variance, in units of the variance of y.
FLOOR = 0.05


def powers(values: Array) -> Array:
    """Functions of y (b, J) and their squares: (b, 2 J)."""
    return np.hstack([values, values**2])


def moment_loss(q: Array, table: Array, targets: Array) -> tuple[Array, Array]:
    """Mean loss over J functions of y, and its derivative with respect to the weights.

    Parameters
    ----------
    q : ndarray of shape (..., n, b)
        Weights of each sample.
    table : ndarray of shape (b, 2 J)
        The ``powers`` of the values that the weights belong to.
    targets : ndarray of shape (n, J)
        The values to describe.

    Returns
    -------
    ndarray of shape (..., n), ndarray of shape (..., n, b)
        The losses, and their derivatives as if the weights were independent.
    """
    moments = q @ table
    n_functions = targets.shape[-1]
    mean, square = moments[..., :n_functions], moments[..., n_functions:]
    variance = square - mean**2 + FLOOR
    residual = targets - mean
    squared = residual**2 / variance
    losses = 0.5 * np.mean(np.log(variance) + squared, axis=-1)
    by_variance = 0.5 * (1.0 - squared) / variance
    by_mean = -residual / variance - 2.0 * mean * by_variance
    return losses, np.concatenate([by_mean, by_variance], -1) @ (table.T / n_functions)
