"""Locations: models of the mean of y given x, with residuals of samples left out.

``y = m(x) + r``.  The density is fitted to the residuals r.  They must be those of samples that
were left out of the fit of m, or the density is overconfident.  For a ridge regression they have a
closed form, ``r_F = (I - H_FF)^-1 (y_F - m(x_F))`` for samples F left out together, H the hat
matrix.  F is a single sample, or a whole fold if the caller's folds keep samples together.  For a
regressor they are out-of-fold residuals.

A reduced location is a smooth function of the directions z = W x.  So y depends on x only through
z, also if its mean is curved, and the kernels of the density need not follow the mean.

The value of a location that may depend on all inputs is one more input of the density of the
residuals, and always part of z: the spread and the shape of y often change with the mean of y.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from condensity._typing import Array, Indices
from condensity._utils.seeds import fill_seeds
from condensity.fitting.gaussian_process import SmoothFunction, fit_sparse_process
from condensity.locations.extrapolation import LocationRange

#: Ridge penalties, relative to the inputs' variances.
PENALTIES = tuple(np.logspace(-5.0, 1.5, 14).tolist())
#: Unit of the values that trees and reduced locations are learned from.
GRID = 2.0**-30
#: Number of samples that carry a smooth function of z: few are enough in a few dimensions.
REDUCED_CENTERS = 300
#: Folds for the out-of-fold residuals of a regressor.
INNER_FOLDS = 5
#: Limits for rows that are repeated to fit a regressor that does not accept weights: copies of the
#: lightest one, number of rows, and relative rounding error of the weights.
MOST_COPIES, MOST_ROWS, ROUNDING = 20, 10**6, 1e-9
#: Smallest unit of the value of a location as an input, in standard deviations of y.  If the
#: location is almost constant, it is a mean of y without the sample: the larger its y, the smaller
#: its input.  In a smaller unit, y could be read off.
LEAST_UNIT = 0.1


@dataclass(frozen=True, eq=False)
class Location:
    """A location in standardised units, and the residuals of samples left out."""

    at: Callable[[Array], Array]  # x (m, dx) -> m(x) (m, dy)
    residuals: Array  # (n, dy)
    directions: Array  # orthonormal rows that z contains: m depends on x only through these ...
    anywhere: bool = False  # ... unless it may depend on all of x
    shrinkage: Shrinkage | None = None  # the penalties of a plane
    predicted: PredictedInput | None = None  # the value of m as one more input, the last one
    limits: LocationRange | None = None  # of the values of m


@dataclass(frozen=True, eq=False)
class PredictedInput:
    """The value of a location as an input: a standardised linear combination of its outputs."""

    axis: Array  # (dy,)
    mean: float
    sd: float

    @classmethod
    def of(cls, predicted: Array, weight: Array) -> PredictedInput:
        """The combination with the largest variance over ``predicted`` (n, dy)."""
        mean = weight @ predicted
        rows = np.sqrt(weight)[:, None] * (predicted - mean)
        axis = np.linalg.svd(rows, full_matrices=False)[2][0]
        axis = axis * np.sign(axis[np.argmax(np.abs(axis))])
        sd = float(np.linalg.norm(rows @ axis))
        return cls(axis, float(mean @ axis), max(sd, LEAST_UNIT))

    def append(self, X: Array, predicted: Array) -> Array:
        """``X`` (m, dx) with this input as the last column, for ``predicted`` (m, dy)."""
        return np.column_stack([X, (predicted @ self.axis - self.mean) / self.sd])


@dataclass(frozen=True, eq=False)
class Shrinkage:
    """Combinations of the outputs (dy, dy), columns, and the penalty of each."""

    axes: Array
    penalties: Array

    def slope(self, xx: Array, xy: Array, share: float) -> Array:
        """The plane's slope (dx, dy) for more samples than the penalties were chosen with.

        ``xx`` (dx, dx) and ``xy`` (dx, dy) are covariances over all samples.  The penalties were
        chosen on a subsample with ``share`` of the total weight.  They are multiplied by it.
        """
        columns = [
            np.linalg.solve(xx + share * penalty * np.eye(len(xx)), xy @ axis)
            for axis, penalty in zip(self.axes.T, self.penalties, strict=True)
        ]
        return np.asarray(np.column_stack(columns) @ self.axes.T)


def location_of_all(
    function: Callable[[Array], Array], residuals: Array, X: Array, Y: Array, weight: Array
) -> Location:
    """A location that depends on all inputs; its value is one more input, and always part of z."""
    predicted = PredictedInput.of(Y - residuals, weight)
    last = np.eye(X.shape[1] + 1)[-1:]
    return Location(function, residuals, last, anywhere=True, predicted=predicted)


def mean_location(X: Array, Y: Array, weight: Array) -> Location:
    """The mean as a location of all inputs, for samples that are too few for a regressor."""
    mean = weight @ Y
    residuals = (Y - mean) / np.maximum(1.0 - weight, 1e-12)[:, None]
    return location_of_all(Constant(mean), residuals, X, Y, weight)


#: Learns a location from X (n, dx), Y (n, dy), weights (n,) that sum to one, and labels (n,) of
#: samples that must be left out together, or None.
Locator = Callable[[Array, Array, Array, Indices | None], Location]


def constant_location(X: Array, Y: Array, weight: Array, labels: Indices | None = None) -> Location:
    """Constant location: the mean of y."""
    mean = weight @ Y
    return Location(Constant(mean), Y - mean, np.empty((0, X.shape[1])))


def linear_location(X: Array, Y: Array, weight: Array, labels: Indices | None = None) -> Location:
    """Ridge regression, with penalties chosen by the residuals of samples left out.

    Outputs may lie near a surface.  A common penalty would shrink the relation that holds them
    there together with the motion along it.  So the penalties are chosen for uncorrelated
    combinations of the outputs: the principal axes of the residuals for the single penalty whose
    residual covariance has the smallest determinant.
    """
    ridge = _Ridge.of(X, Y, weight, labels)
    axes = ridge.axes()
    penalties, left = ridge.best(axes)
    slopes = [ridge.slope(penalty, axis) for penalty, axis in zip(penalties, axes.T, strict=True)]
    slope = np.column_stack(slopes) @ axes.T  # the axes are orthonormal: back to outputs
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
    """Orthonormal rows that span ``rows``, without directions that are rounding errors."""
    _, S, Vt = np.linalg.svd(rows, full_matrices=False)
    return np.asarray(Vt[1e-10 * max(float(S.max(initial=0.0)), 1e-300) < S])


@dataclass(frozen=True, eq=False)
class Constant:
    """A constant function of x."""

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


@dataclass(frozen=True, eq=False)
class RegressorLocation:
    """Learns a location with clones of a scikit-learn regressor."""

    regressor: Any

    def __call__(
        self, X: Array, Y: Array, weight: Array, labels: Indices | None = None
    ) -> Location:
        """Fit to all samples, and to all folds but one for the out-of-fold residuals."""
        if len(X) < 2:
            return mean_location(X, Y, weight)
        predicted, counts = np.empty_like(Y), self._counts(weight)
        if labels is None or len(np.unique(labels)) < 2:
            labels = np.random.default_rng(0).permutation(len(X)) % min(INNER_FOLDS, len(X))
        for label in np.unique(labels):
            train, test = labels != label, labels == label
            fitted = self._fit(X[train], Y[train], weight[train], counts[train])
            predicted[test] = fitted(X[test])
        whole = self._fit(X, Y, weight, counts)
        return location_of_all(whole, Y - predicted, X, Y, weight)

    def _counts(self, weight: Array) -> Indices:
        """How often each row is repeated: once if the regressor accepts weights."""
        if has_fit_parameter(self.regressor, "sample_weight"):
            return np.ones(len(weight), dtype=np.intp)
        counts = repetitions(weight)
        if counts is None:
            raise ValueError(
                f"location={type(self.regressor).__name__} does not accept sample_weight, which "
                "weights that are not whole numbers need: choose a regressor that accepts it"
            )
        return counts

    def _fit(self, X: Array, Y: Array, weight: Array, counts: Indices) -> FittedRegressor:
        # A fixed seed gives all members the same regressor.
        model, options = fill_seeds(clone(self.regressor), lambda: 0), {}
        if has_fit_parameter(model, "sample_weight"):
            options["sample_weight"] = weight * (len(weight) / weight.sum())
        X, Y = np.repeat(X, counts, axis=0), np.repeat(Y, counts, axis=0)
        try:
            return FittedRegressor(model.fit(X, Y if Y.shape[1] > 1 else Y[:, 0], **options))
        except ValueError as error:
            raise ValueError(
                f"location={type(model).__name__} cannot be fitted to {len(X)} samples of "
                f"{Y.shape[1]} outputs ({error}): choose another regressor, or wrap it in "
                "sklearn.multioutput.MultiOutputRegressor"
            ) from None


def repetitions(weight: Array) -> Indices | None:
    """The smallest numbers of repetitions (n,) that are proportional to ``weight`` (n,).

    None if there are none with at most ``MOST_COPIES`` of the lightest sample and ``MOST_ROWS``
    together.  Rounding errors of the weights do not matter.
    """
    for copies in range(1, MOST_COPIES + 1):
        exact = copies * weight / weight.min()
        counts = np.rint(exact)
        if counts.sum() > MOST_ROWS:
            break
        if np.all(np.abs(exact - counts) <= ROUNDING * exact):
            return np.asarray(counts, dtype=np.intp)
    return None


@dataclass(frozen=True, eq=False)
class FittedRegressor:
    """A fitted regressor as a function of x with values (m, dy)."""

    model: Any

    def __call__(self, X: Array) -> Array:
        """Predict for the rows of ``X`` (m, dx)."""
        return np.asarray(self.model.predict(X), dtype=float).reshape(len(X), -1)


def on_grid(values: Array) -> Array:
    """Values rounded to multiples of ``GRID``.

    Two choices may be equally good but for rounding errors, and then the units of the data would
    decide between them.
    """
    return np.asarray(np.round(values / GRID) * GRID)


@dataclass(frozen=True, eq=False)
class ReducedFunction:
    """A function of ``z = W x`` as a function of x."""

    W: Array  # (dz, dx)
    function: SmoothFunction

    def __call__(self, X: Array) -> Array:
        """For the rows of ``X`` (m, dx)."""
        return self.function(X @ self.W.T)


@dataclass(frozen=True, eq=False)
class ReducedLocator:
    """Learns a location that depends on x through given directions."""

    W: Array  # (dz, dx)

    def __call__(
        self, X: Array, Y: Array, weight: Array, labels: Indices | None = None
    ) -> Location:
        """Fit to samples with weights; see ``Locator``."""
        Z, Y = on_grid(X @ self.W.T), on_grid(Y)
        function, residuals = fit_sparse_process(Z, Y, weight, labels, REDUCED_CENTERS)
        return Location(ReducedFunction(self.W, function), residuals, self.W)
