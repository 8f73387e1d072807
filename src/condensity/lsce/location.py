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

from condensity._typing import Array, Indices

#: Ridge penalties, relative to the inputs' variances.
PENALTIES = tuple(np.logspace(-5.0, 1.5, 14).tolist())


@dataclass(frozen=True, eq=False)
class Location:
    """A location in standardised units, with residuals of samples as if not seen."""

    at: Callable[[Array], Array]  # x (m, dx) -> m(x) (m, dy)
    residuals: Array  # (n, dy)
    directions: Array  # (l, dx) orthonormal rows: m depends on x through these alone ...
    anywhere: bool = False  # ... unless it may depend on all of x
    shrinkage: Shrinkage | None = None  # how a plane was found


@dataclass(frozen=True, eq=False)
class Shrinkage:
    """Combinations of the outputs (dy, dy), columns, and the penalty of each."""

    axes: Array
    penalties: Array

    def slope(self, xx: Array, xy: Array, share: float) -> Array:
        """The plane's slope (dx, dy) for more samples than the penalties were chosen with.

        ``xx`` (dx, dx) and ``xy`` (dx, dy) are covariances over all samples; those before had
        ``share`` of their weight, and a penalty that is absolute weighs so much less.
        """
        columns = [
            np.linalg.solve(xx + share * penalty * np.eye(len(xx)), xy @ axis)
            for axis, penalty in zip(self.axes.T, self.penalties, strict=True)
        ]
        return np.asarray(np.column_stack(columns) @ self.axes.T)


#: Learns a location from X (n, dx), Y (n, dy), weights (n,) that sum to one and, or None, labels
#: (n,) of samples that must be left out together.
Locator = Callable[[Array, Array, Array, Indices | None], Location]


def constant_location(X: Array, Y: Array, weight: Array, labels: Indices | None = None) -> Location:
    """The mean of y, whatever x."""
    mean = weight @ Y
    return Location(Constant(mean), Y - mean, np.empty((0, X.shape[1])))


def linear_location(X: Array, Y: Array, weight: Array, labels: Indices | None = None) -> Location:
    """Ridge regression, its penalties chosen by residuals of samples left out.

    Outputs may lie near a sheet, and what holds them there must not be shrunk away with what moves
    them along it: penalties are chosen for uncorrelated combinations of the outputs, the principal
    axes of the residuals for the one penalty that makes their covariance smallest.
    """
    ridge = _Ridge.of(X, Y, weight, labels)
    axes = ridge.axes()
    penalties, left = ridge.best(axes)
    slopes = [ridge.slope(penalty, axis) for penalty, axis in zip(penalties, axes.T, strict=True)]
    slope = np.column_stack(slopes) @ axes.T  # orthonormal: combinations back to outputs
    plane = Plane(ridge.y_mean - ridge.x_mean @ slope, slope)
    return Location(
        plane,
        left @ axes.T / ridge.root,
        row_basis(slope.T),
        shrinkage=Shrinkage(axes, penalties),
    )


@dataclass(frozen=True, eq=False)
class _Ridge:
    """Regressions of all outputs for every penalty, from one decomposition."""

    x_mean: Array
    y_mean: Array
    root: Array  # (n, 1) of the weights
    U: Array
    S: Array
    Vt: Array
    target: Array  # (n, dy)
    labels: Indices | None

    @classmethod
    def of(cls, X: Array, Y: Array, weight: Array, labels: Indices | None) -> _Ridge:
        x_mean, y_mean, root = weight @ X, weight @ Y, np.sqrt(weight)[:, None]
        decomposed = np.linalg.svd(root * (X - x_mean), full_matrices=False)
        return cls(x_mean, y_mean, root, *decomposed, root * (Y - y_mean), labels)

    def left_out(self, penalty: float, axes: Array) -> Array:
        """Residuals of combinations of the outputs (dy, k), samples left out: (n, k)."""
        target, filters = self.target @ axes, self.S**2 / (self.S**2 + penalty)
        errors = target - self.U @ (filters[:, None] * (self.U.T @ target))
        return _left_out(errors, self.U * np.sqrt(filters), self.root[:, 0], self.labels)

    def slope(self, penalty: float, axis: Array) -> Array:
        """The coefficients of one combination of the outputs, (dx,)."""
        shrunk = self.S / (self.S**2 + penalty)
        return np.asarray(self.Vt.T @ (shrunk * (self.U.T @ (self.target @ axis))))

    def axes(self) -> Array:
        """Combinations of the outputs (dy, dy) whose residuals are uncorrelated."""
        dy = self.target.shape[1]
        if dy == 1:
            return np.eye(1)
        best, axes = np.inf, np.eye(dy)
        for penalty in PENALTIES:
            left = self.left_out(penalty, np.eye(dy))
            values, vectors = np.linalg.eigh(left.T @ left)
            volume = float(np.sum(np.log(np.maximum(values, 1e-16 * values[-1] + 1e-300))))
            if volume < best:
                best, axes = volume, vectors
        return np.asarray(axes)

    def best(self, axes: Array) -> tuple[Array, Array]:
        """The best penalty of each combination (dy,), and the residuals with it (n, dy)."""
        left = np.stack([self.left_out(penalty, axes) for penalty in PENALTIES])
        chosen = np.argmin(np.sum(left**2, axis=1), axis=0)
        return np.array(PENALTIES)[chosen], left[chosen, :, np.arange(len(chosen))].T


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


def row_basis(rows: Array) -> Array:
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
