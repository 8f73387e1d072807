"""Subspaces from methods without a search: starts and candidates.

Slices of y and gradients of local regressions give a subspace in a fraction of a second.  It is
often near a good minimum that random starts miss.
"""

from __future__ import annotations

import numpy as np

from condensity._typing import Array, Mask
from condensity.data.sample import Sample
from condensity.fitting.monotone_maps import NormalScores
from condensity.subspaces.gradients import cosines_and_sines, gradient_directions
from condensity.subspaces.grassmann import orthonormal
from condensity.subspaces.slices import (
    directional_kernel,
    save_kernel,
    sliced_directions,
    slices,
)

#: Largest number of samples, and of local regressions, for outer products of gradients.
GRADIENT_ROWS, GRADIENT_POINTS = 600, 150
N_SLICES = 5


def informed_starts(sample: Sample, active: Mask, dz: int) -> list[Array]:
    """Subspaces (dz, dx) from SAVE, directional regression, and gradients of functions of y.

    The inputs of the sample have mean zero; those that vary are ``active`` (dx,).  There is nothing
    to choose if ``dz`` is their number.
    """
    if dz >= active.sum():
        return []
    varying = Sample(sample.X[:, active], sample.Y, sample.weight)
    labels = [slices(column, sample.weight, N_SLICES) for column in sample.Y.T]
    sliced = [
        _expanded(sliced_directions(varying, labels, kernel)[1][:dz], active)
        for kernel in (save_kernel, directional_kernel)
    ]
    functions = cosines_and_sines(NormalScores.of(sample.Y, sample.weight)(sample.Y))
    return [
        *sliced,
        *(gradient_subspace(sample, values, active, dz) for values in (sample.Y, functions)),
    ]


def gradient_subspace(sample: Sample, functions: Array, active: Mask, dz: int) -> Array:
    """Outer products of gradients of functions of y (n, t): (dz, dx), for at most some samples."""
    n = len(sample)
    rows = np.linspace(0, n - 1, min(n, GRADIENT_ROWS), dtype=int)
    weight = sample.weight[rows] / sample.weight[rows].sum()
    part = Sample(sample.X[rows][:, active], sample.Y[rows], weight)
    directions = gradient_directions(part, functions[rows], dz, GRADIENT_POINTS)[1]
    return _expanded(directions[:dz], active)


def _expanded(directions: Array, active: Mask) -> Array:
    """Orthonormal rows for all inputs; those that do not vary get no weight."""
    W = np.zeros((len(directions), len(active)))
    W[:, active] = orthonormal(directions)
    return W
