"""A transformer and an estimator of densities, fitted one after the other to the same samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from condensity._typing import Array, Indices
from condensity.metrics import squared_loss


@dataclass(frozen=True, eq=False)
class TwoSteps:
    """A reducer and a density, not fitted, and the samples they may be fitted to."""

    reducer: Any
    density: Any
    X: Any  # (n, dx) as the caller gave it, where it is a frame with names
    values: Array  # (n, dx) the same in numbers
    y: Array  # (n,) or (n, dy)
    weight: Array  # (n,)
    labels: Indices | None  # (n,) folds given by the caller, who keeps samples together by them

    def fit(self, rows: Indices, n_components: int | None) -> tuple[Any, Any]:
        """Both steps, fitted to ``rows`` alone."""
        reducer, density = clone(self.reducer), clone(self.density)
        if n_components is not None:
            _set(reducer, "n_components", n_components)
        if self.labels is not None:
            folds = splits(self.labels[rows])
            _set(reducer, "cv", folds)
            _set(density, "cv", folds)
        y, weight = self.y[rows], self.weight[rows]
        _fit(reducer, _safe_indexing(self.X, rows), y, weight)
        # Equal inputs must stay equal to the last bit, or the density would not know its twins.
        _, first, which = np.unique(
            self.values[rows], axis=0, return_index=True, return_inverse=True
        )
        Z = self.reduce(reducer, rows[first])[which.ravel()]
        return reducer, _fit(density, Z, y, weight)

    def reduce(self, reducer: Any, rows: Indices) -> Array:
        """What a fitted reducer makes of ``rows``, (r, dz)."""
        return np.asarray(reducer.transform(_safe_indexing(self.X, rows)))

    def loss(self, trial: tuple[int | None, Indices, Indices]) -> float:
        """The squared loss at samples that neither step has seen.

        A trial is a number of components, the rows to fit to and the rows to judge by.
        """
        n_components, train, test = trial
        try:
            reducer, density = self.fit(train, n_components)
        except ValueError as error:
            raise ValueError(
                f"n_components={n_components} cannot be tried on {len(train)} of the samples "
                f"({error}): pass {self._remedy(train)}"
            ) from error
        dist = density.predict_dist(self.reduce(reducer, test))
        return squared_loss(dist, self.y[test], self.weight[test])

    def _remedy(self, train: Indices) -> str:
        """What to pass where a trial failed."""
        if self.labels is not None and len(np.unique(self.labels[train])) < 2:
            return "a cv of three folds or more, or a single n_components"
        name = type(self.reducer).__name__
        return f"the numbers to try as a sequence without it, or None to leave {name} as it is"


def _fit(part: Any, X: Any, y: Array, weight: Array) -> Any:
    """Fit with the weights, if there is a difference between them."""
    if np.ptp(weight) == 0:
        return part.fit(X, y)
    if not has_fit_parameter(part, "sample_weight"):
        raise ValueError(
            f"{type(part).__name__} takes no sample_weight, which samples of unequal weight need: "
            "choose one that does, or repeat samples in place of weights"
        )
    return part.fit(X, y, sample_weight=weight)


def splits(labels: Indices) -> list[tuple[Indices, Indices]]:
    """Rows outside and inside of each fold."""
    return [
        (np.flatnonzero(labels != label), np.flatnonzero(labels == label))
        for label in np.unique(labels)
    ]


def _names(part: Any, name: str) -> list[str]:
    """The parameter of that name, or those of steps within where there is none."""
    parameters = part.get_params()
    if name in parameters:
        return [name]
    return [nested for nested in parameters if nested.endswith(f"__{name}")]


def _set(part: Any, name: str, value: Any) -> None:
    part.set_params(**dict.fromkeys(_names(part, name), value))


def check_has_components(reducer: Any) -> None:
    """Refuse a reducer that has no number of components, or several."""
    found = _names(reducer, "n_components")
    if len(found) != 1:
        raise ValueError(
            f"n_components is for a reducer with one parameter of that name, {reducer!r} has "
            f"{len(found)}: set it there and leave n_components=None"
        )
