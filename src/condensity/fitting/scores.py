"""Proper scores of Gaussian mixtures with isotropic components, as tables.

A mixture with weights w over components ``N(c_k, s_k^2 I)`` has, at y,

- the squared loss ``1/2 int p^2 - p(y) = 1/2 w^T A w - w^T a``,
- the CRPS ``E|Y - y| - 1/2 E|Y - Y'| = w^T a - 1/2 w^T A w``,
- the log loss ``-log w^T a``,

where a compares the components with y and A the components with one another.  The first two are
quadratic, so the loss of an average of members is known from their pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from condensity._typing import Array
from condensity._utils.numerics import LOG2_E
from condensity.fitting.kernels import squared_distances


@dataclass(frozen=True, eq=False)
class Gaussians:
    """Centres (b, dy) and widths (b,) of isotropic Gaussians."""

    centers: Array
    widths: Array


@dataclass(frozen=True, eq=False)
class Score:
    """A score of mixtures: ``sign * (1/2 w^T A w - w^T a)``, or ``-log w^T a`` without sign."""

    name: str
    sign: float  # 1, -1, or 0 for the log loss
    compare: Callable[[Array, Array, float], Array]  # squared distances, variances, dy
    unit: Callable[[Array], float]  # what the kernels' factor (dy, dy) multiplies losses by

    def worth(self, loss: float, share: float) -> float:
        """A small difference: a ``share`` of the loss, or of a unit where the loss has no zero."""
        return share * abs(loss) if self.sign else share

    def in_units(self, losses: Array, factor: Array) -> Array:
        """Losses of a standardised y in the units that it has after ``factor`` (dy, dy)."""
        unit = self.unit(factor)
        return losses * unit if self.sign else losses - np.log(unit)

    def match(self, V: Array, components: Gaussians) -> Array:
        """``a`` for the rows of ``V`` (m, dy): (m, b)."""
        squared = squared_distances(V, components.centers)
        return self.compare(squared, components.widths[None, :] ** 2, V.shape[1])

    def pair(self, ours: Gaussians, theirs: Gaussians) -> Array:
        """``A`` between two sets of components: (b, b')."""
        squared = squared_distances(ours.centers, theirs.centers)
        variance = ours.widths[:, None] ** 2 + theirs.widths[None, :] ** 2
        return self.compare(squared, variance, ours.centers.shape[1])


def _normal_density(squared: Array, variance: Array, dy: float) -> Array:
    density: Array = np.exp2(squared * (-0.5 * LOG2_E / variance))
    density *= (2 * np.pi * variance) ** (-0.5 * dy)
    return density


def _mean_distance(squared: Array, variance: Array, dy: float) -> Array:
    """``E|d + s e|`` for one output: ``d (2 Phi(d/s) - 1) + 2 s phi(d/s)``."""
    sd = np.sqrt(variance)
    t = np.sqrt(squared) / sd
    distance: Array = sd * (t * (2 * ndtr(t) - 1) + 2 * np.exp(-0.5 * t**2) / np.sqrt(2 * np.pi))
    return distance


def _inverse_volume(factor: Array) -> float:
    return float(1.0 / np.prod(np.diagonal(factor)))


def _length(factor: Array) -> float:
    return float(factor[0, 0])


SCORES = {
    "squared": Score("squared", 1.0, _normal_density, _inverse_volume),
    "crps": Score("crps", -1.0, _mean_distance, _length),
    "log": Score("log", 0.0, _normal_density, _inverse_volume),
}
