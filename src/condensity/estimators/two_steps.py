"""A transformer and a density estimator, fitted one after the other to the same samples."""

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
    """A reducer and a density estimator, not fitted, and the samples to fit them to."""

    reducer: Any
    density: Any
    X: Any  # (n, dx) as it was given, if it is a frame with names
    values: Array  # (n, dx) the same as an array
    y: Array  # (n,) or (n, dy)
    weight: Array  # (n,)
    labels: Indices | None  # (n,) folds given by the caller: rows of one fold belong together

    def fit(self, rows: Indices, n_components: int | None) -> tuple[Any, Any]:
        """Both steps, fitted to ``rows``."""
        reducer, density = clone(self.reducer), clone(self.density)
        if n_components is not None:
            _set(reducer, "n_components", n_components)
        if self.labels is not None:
            folds = splits(self.labels[rows])
            _set(reducer, "cv", folds)
            _set(density, "cv", folds)
        y, weight = self.y[rows], self.weight[rows]
        fit_part(reducer, _safe_indexing(self.X, rows), y, weight)
        # Duplicates must stay bit-identical, so that the density merges them.
        _, first, which = np.unique(
            self.values[rows], axis=0, return_index=True, return_inverse=True
        )
        Z = self.reduce(reducer, rows[first])[which.ravel()]
        return reducer, fit_part(density, Z, y, weight)

    def reduce(self, reducer: Any, rows: Indices) -> Array:
        """The reduced inputs of ``rows``, (r, dz)."""
        return np.asarray(reducer.transform(_safe_indexing(self.X, rows)))

    def loss(self, trial: tuple[int | None, Indices, Indices]) -> float:
        """The squared loss on held-out samples.

        A trial is a number of components, the rows for the fit and the held-out rows.
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
        """What to pass after a trial has failed."""
        if self.labels is not None and len(np.unique(self.labels[train])) < 2:
            return "a cv of three folds or more, or a single n_components"
        name = type(self.reducer).__name__
        return f"a sequence of numbers to try without it, or None to use {name} as it is"


def fit_part(part: Any, X: Any, y: Array, weight: Array) -> Any:
    """Fit a part of an estimator with the weights, if they differ."""
    if np.ptp(weight) == 0:
        return part.fit(X, y)
    if not has_fit_parameter(part, "sample_weight"):
        raise ValueError(
            f"{type(part).__name__} does not accept sample_weight, which unequal weights need: "
            "choose one that does, or repeat samples instead of weighting them"
        )
    return part.fit(X, y, sample_weight=weight)


def splits(labels: Indices) -> list[tuple[Indices, Indices]]:
    """Training and held-out rows for each fold."""
    return [
        (np.flatnonzero(labels != label), np.flatnonzero(labels == label))
        for label in np.unique(labels)
    ]


def _names(part: Any, name: str) -> list[str]:
    """The parameter ``name`` of an estimator, or else those of its nested steps."""
    parameters = part.get_params()
    if name in parameters:
        return [name]
    return [nested for nested in parameters if nested.endswith(f"__{name}")]


def _set(part: Any, name: str, value: Any) -> None:
    part.set_params(**dict.fromkeys(_names(part, name), value))


def check_has_components(reducer: Any) -> None:
    """Check that a reducer has exactly one parameter ``n_components``."""
    names = _names(reducer, "n_components")
    if len(names) != 1:
        raise ValueError(
            f"n_components needs a reducer with exactly one parameter of that name, {reducer!r} "
            f"has {len(names)}: set the number on the reducer and leave n_components=None"
        )
