"""Proper scores of mixtures of isotropic Gaussians, computed from tables.

A mixture with weights w and components ``N(c_k, s_k^2 I)`` has, at y,

- the squared loss ``1/2 int p^2 - p(y) = 1/2 w^T A w - w^T a``,
- the CRPS ``E|Y - y| - 1/2 E|Y - Y'| = w^T a - 1/2 w^T A w``,
- the log loss ``-log w^T a``,

where the vector a compares the components with y, and the matrix A compares the components with
each other.  All three are proper scoring rules [1]_.  The first two are quadratic in w, so the loss
of an average of members follows from tables for pairs of members.

References
----------
.. [1] T. Gneiting, A. E. Raftery, "Strictly proper scoring rules, prediction, and estimation,"
   Journal of the American Statistical Association 102(477), 2007.
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
    """Score of a mixture: ``sign * (1/2 w^T A w - w^T a)``, or ``-log w^T a`` if sign is 0."""

    name: str
    sign: float  # 1, -1, or 0 for the log loss
    compare: Callable[[Array, Array, float], Array]  # of squared distances, variances and dy
    unit: Callable[[Array], float]  # unit of the loss after y is multiplied by a factor (dy, dy)

    def worth(self, loss: float, share: float) -> float:
        """Tolerance for a loss: relative to the loss, but absolute for the log loss."""
        return share * abs(loss) if self.sign else share

    def in_units(self, losses: Array, factor: Array) -> Array:
        """Losses of ``factor @ y`` from the losses of a standardised y; ``factor`` (dy, dy)."""
        unit = self.unit(factor)
        return losses * unit if self.sign else losses - np.log(unit)

    def match(self, V: Array, components: Gaussians) -> Array:
        """Table ``a`` for the rows of ``V`` (m, dy): (m, b)."""
        squared = squared_distances(V, components.centers)
        return self.compare(squared, components.widths[None, :] ** 2, V.shape[1])

    def pair(self, ours: Gaussians, theirs: Gaussians) -> Array:
        """Table ``A`` for two sets of components: (b, b')."""
        squared = squared_distances(ours.centers, theirs.centers)
        variance = ours.widths[:, None] ** 2 + theirs.widths[None, :] ** 2
        return self.compare(squared, variance, ours.centers.shape[1])


def _normal_density(squared: Array, variance: Array, dy: float) -> Array:
    """Density of ``N(0, variance I)`` at squared distances ``squared``."""
    density: Array = np.exp2(squared * (-0.5 * LOG2_E / variance))
    density *= (2 * np.pi * variance) ** (-0.5 * dy)
    return density


def _mean_distance(squared: Array, variance: Array, dy: float) -> Array:
    """``E|d + s e|`` with e ~ N(0, 1), one output: ``d (2 Phi(d/s) - 1) + 2 s phi(d/s)``."""
    sd = np.sqrt(variance)
    t = np.sqrt(squared) / sd
    distance: Array = sd * (t * (2 * ndtr(t) - 1) + 2 * np.exp(-0.5 * t**2) / np.sqrt(2 * np.pi))
    return distance


def _inverse_volume(factor: Array) -> float:
    """Unit of a density: ``1 / det(factor)``."""
    return float(1.0 / np.prod(np.diagonal(factor)))


def _length(factor: Array) -> float:
    """Unit of a distance, for one output."""
    return float(factor[0, 0])


SCORES = {
    "squared": Score("squared", 1.0, _normal_density, _inverse_volume),
    "crps": Score("crps", -1.0, _mean_distance, _length),
    "log": Score("log", 0.0, _normal_density, _inverse_volume),
}
