"""Locations by name, or by any regressor of scikit-learn's kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.utils.validation import has_fit_parameter

from condensity._typing import Array, Indices
from condensity.lsce.location import Location, Locator, constant_location, linear_location

NAMED: dict[str, Locator] = {"none": constant_location, "linear": linear_location}
#: Folds for the out-of-fold residuals of a regressor.
INNER_FOLDS = 5


def check_location(value: Any) -> dict[str, Locator]:
    """The locations to try, by name."""
    if isinstance(value, str) and value == "auto":
        return NAMED
    if isinstance(value, str) and value in NAMED:
        return {value: NAMED[value]}
    if not isinstance(value, str | type) and hasattr(value, "fit") and is_regressor(value):
        return {type(value).__name__: RegressorLocation(value)}
    raise ValueError(
        "location must be 'auto', 'none', 'linear' or a regressor with fit and predict, "
        f"got {value!r}"
    )


@dataclass(frozen=True, eq=False)
class RegressorLocation:
    """Learns a location by a clone of a regressor; residuals are out of fold."""

    regressor: Any

    def __call__(
        self, X: Array, Y: Array, weight: Array, labels: Indices | None = None
    ) -> Location:
        """Fit to all samples, and to all but each fold in turn."""
        predicted = np.empty_like(Y)
        if labels is None or len(np.unique(labels)) < 2:
            labels = np.random.default_rng(0).permutation(len(X)) % min(INNER_FOLDS, len(X))
        for label in np.unique(labels):
            train, test = labels != label, labels == label
            predicted[test] = self._fit(X[train], Y[train], weight[train])(X[test])
        nothing = np.empty((0, X.shape[1]))
        return Location(self._fit(X, Y, weight), Y - predicted, nothing, anywhere=True)

    def _fit(self, X: Array, Y: Array, weight: Array) -> Callable[[Array], Array]:
        model, options = _seeded(clone(self.regressor)), {}
        if has_fit_parameter(model, "sample_weight"):
            options["sample_weight"] = weight * (len(weight) / weight.sum())
        elif np.ptp(weight) > 1e-9 * weight.max():
            raise ValueError(
                f"location={type(model).__name__} takes no sample_weight, which samples of "
                "unequal weight or repeated rows need: choose a regressor that does"
            )
        try:
            return FittedRegressor(model.fit(X, Y if Y.shape[1] > 1 else Y[:, 0], **options))
        except ValueError as error:
            raise ValueError(
                f"location={type(model).__name__} cannot be fitted to {len(X)} samples of "
                f"{Y.shape[1]} outputs ({error}): choose another regressor, or wrap it in "
                "sklearn.multioutput.MultiOutputRegressor"
            ) from None


def _seeded(regressor: Any) -> Any:
    """The regressor with seeds where it has none: the same answer every time."""
    unseeded = {
        name: 0
        for name, value in regressor.get_params().items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    return regressor.set_params(**unseeded)


@dataclass(frozen=True, eq=False)
class FittedRegressor:
    """A fitted regressor as a function to (m, dy)."""

    model: Any

    def __call__(self, X: Array) -> Array:
        """Predict for the rows of ``X`` (m, dx)."""
        return np.asarray(self.model.predict(X), dtype=float).reshape(len(X), -1)
