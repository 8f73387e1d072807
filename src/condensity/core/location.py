"""Where y is expected given x, and what is left of it when nothing may judge itself.

``y = m(x) + r``.  The residuals that a density is fitted to must be those of samples the location
has not seen, or the density comes out overconfident: for a ridge regression they are known in
closed form, ``r_F = (I - H_FF)^-1 (y_F - m(x_F))`` for samples F left out together, H the hat
matrix.  F is a single sample, or all of a fold where folds keep together what belongs together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from condensity.core.kernels import Array, Indices

#: Ridge penalties, relative to the inputs' variances.
PENALTIES = tuple(np.logspace(-5.0, 1.5, 14).tolist())


@dataclass(frozen=True, eq=False)
class Location:
    """A location in standardised units, with residuals of samples as if not seen."""

    at: Callable[[Array], Array]  # x (m, dx) -> m(x) (m, dy)
    residuals: Array  # (n, dy)
    directions: Array  # (l, dx) orthonormal rows: m depends on x through these alone ...
    anywhere: bool = False  # ... unless it may depend on all of x


#: Learns a location from X (n, dx), Y (n, dy), weights (n,) that sum to one and, or None, labels
#: (n,) of samples that must be left out together.
Locator = Callable[[Array, Array, Array, Indices | None], Location]


def nowhere(X: Array, Y: Array, weight: Array, labels: Indices | None = None) -> Location:
    """The mean of y, whatever x."""
    mean = weight @ Y
    return Location(Constant(mean), Y - mean, np.empty((0, X.shape[1])))


def linear(X: Array, Y: Array, weight: Array, labels: Indices | None = None) -> Location:
    """Ridge regression, its penalty chosen for each output by residuals of samples left out."""
    x_mean, y_mean = weight @ X, weight @ Y
    root = np.sqrt(weight)[:, None]
    U, S, Vt = np.linalg.svd(root * (X - x_mean), full_matrices=False)
    target = root * (Y - y_mean)
    projected = U.T @ target
    best: list[tuple[float, Array, Array]] = []
    for penalty in PENALTIES:
        filters = S**2 / (S**2 + penalty)
        fitted = U @ (filters[:, None] * projected)
        left = _left_out(target - fitted, U * np.sqrt(filters), root[:, 0], labels)
        slope = Vt.T @ ((S / (S**2 + penalty))[:, None] * projected)
        errors = np.sum(left**2, axis=0)
        for j, error in enumerate(errors):
            if len(best) <= j:
                best.append((error, slope[:, j], left[:, j]))
            elif error < best[j][0]:
                best[j] = (error, slope[:, j], left[:, j])
    slope = np.column_stack([column for _, column, _ in best])
    residuals = np.column_stack([column for _, _, column in best]) / root
    return Location(Plane(y_mean - x_mean @ slope, slope), residuals, _row_basis(slope.T))


def _left_out(errors: Array, half: Array, root: Array, labels: Indices | None) -> Array:
    """``(I - H_FF)^-1 e_F`` with the hat matrix ``H = half half^T + root root^T``."""
    if labels is None or len(np.unique(labels)) < 2:
        leverage = np.sum(half**2, axis=1) + root**2
        return np.asarray(errors / np.maximum(1.0 - leverage, 1e-12)[:, None])
    out = np.empty_like(errors)
    for label in np.unique(labels):
        F = np.flatnonzero(labels == label)
        hat = half[F] @ half[F].T + np.outer(root[F], root[F])
        out[F] = np.linalg.solve((1.0 + 1e-12) * np.eye(len(F)) - hat, errors[F])
    return out


def _row_basis(rows: Array) -> Array:
    """Orthonormal rows that span those of ``rows``, but for what rounding alone adds."""
    _, S, Vt = np.linalg.svd(rows, full_matrices=False)
    return np.asarray(Vt[1e-10 * max(float(S.max(initial=0.0)), 1e-300) < S])


@dataclass(frozen=True, eq=False)
class Constant:
    """The same for all x."""

    mean: Array  # (dy,)

    def __call__(self, X: Array) -> Array:
        """For the rows of ``X`` (m, dx)."""
        return np.tile(self.mean, (len(X), 1))


@dataclass(frozen=True, eq=False)
class Plane:
    """A linear function of x."""

    intercept: Array  # (dy,)
    slope: Array  # (dx, dy)

    def __call__(self, X: Array) -> Array:
        """For the rows of ``X`` (m, dx)."""
        return np.asarray(self.intercept + X @ self.slope)
