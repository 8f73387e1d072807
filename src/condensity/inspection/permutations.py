"""Samples whose inputs, or whose directions, have the values of other samples.

A direction is moved without its neighbours: if ``z = T' x + c`` are the directions and ``x'`` is
another sample, then ``x + A' (z'_k - z_k) e_k`` with ``T' A' = I`` has the k-th direction of x' and
all others of x.  Of these A, the one with the smallest moves in standard deviations is taken.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from condensity._typing import Array, Indices
from condensity._utils.composites import density_step
from condensity._utils.names import direction_names, input_names
from condensity._utils.validation import column_names
from condensity.distributions.base import Distribution

#: Densities of samples after a permutation (m,) of their rows.
Permuted = Callable[[Indices], Distribution]
#: What is left of the inputs if all directions stay.
REST = "all but the directions"


@dataclass(frozen=True, eq=False)
class PermutedInputs:
    """Groups of columns of X that are permuted together."""

    predict: Callable[[Any], Distribution]
    X: Any  # (m, dx) a data frame or an array
    groups: Mapping[str, list[int]]

    @classmethod
    def of(cls, estimator: Any, X: Any, groups: Mapping[str, Any] | None) -> PermutedInputs:
        """Single columns, or the given groups of names or numbers of columns."""

        def predict(inputs: Any) -> Distribution:
            model, inner = density_step(estimator, inputs)
            dist: Distribution = model.predict_dist(inner)
            return dist

        X = X if hasattr(X, "columns") else np.asarray(X)
        names = column_names(X)
        if len(X.shape) != 2:
            raise ValueError(f"X must have two axes, got shape {np.shape(X)}: use X.reshape(-1, 1)")
        known = list(names or input_names(X.shape[1]))
        if groups is None:
            return cls(predict, X, {name: [j] for j, name in enumerate(known)})
        chosen = {name: [_column(c, known) for c in columns] for name, columns in groups.items()}
        return cls(predict, X, chosen)

    def variants(self) -> dict[str, Permuted]:
        """The densities after a permutation of each group."""
        return {name: self._with(columns) for name, columns in self.groups.items()}

    def _with(self, columns: list[int]) -> Permuted:
        def predict(order: Indices) -> Distribution:
            if not hasattr(self.X, "columns"):
                moved = self.X.copy()
                moved[:, columns] = moved[:, columns][order]
                return self.predict(moved)
            values = {name: self.X[name] for name in self.X.columns}
            for name in np.asarray(self.X.columns, dtype=object)[columns]:
                values[name] = np.asarray(self.X[name])[order]
            return self.predict(type(self.X)(values))

        return predict


@dataclass(frozen=True, eq=False)
class PermutedDirections:
    """The directions of a model, each permuted without the others."""

    model: Any
    inputs: Array  # (m, dx) of the model
    Z: Array  # (m, dz)
    lift: Array  # (dz, dx) moves of x for one unit of each direction

    @classmethod
    def of(cls, estimator: Any, X: Any) -> PermutedDirections | PermutedReduced:
        """The directions of the density estimator at the end of ``estimator``."""
        model, inner = density_step(estimator, X)
        if not hasattr(model, "predict_dist_reduced"):
            raise TypeError(
                f"{type(model).__name__} has no directions: use directions=False, or a model that "
                "finds directions, such as LSCE or Reduced(SIR(), ...)"
            )
        Z = np.asarray(model.transform(inner), dtype=float)
        if hasattr(model, "density_"):  # the density is a function of z alone
            return PermutedReduced(model, Z)
        inputs = np.asarray(inner, dtype=float)
        return cls(model, inputs, Z, lift_of(model.transform, inputs))

    def variants(self) -> dict[str, Permuted]:
        """The densities after a permutation of each direction, and of everything else."""
        out = {name: self._with([k]) for k, name in enumerate(direction_names(self.Z.shape[1]))}
        if self.Z.shape[1] < self.inputs.shape[1]:
            out[REST] = self._rest
        return out

    def _with(self, columns: list[int]) -> Permuted:
        def predict(order: Indices) -> Distribution:
            step = (self.Z[order] - self.Z)[:, columns] @ self.lift[columns]
            return self._predict(self.inputs + step)

        return predict

    def _rest(self, order: Indices) -> Distribution:
        return self._predict(self.inputs[order] + (self.Z - self.Z[order]) @ self.lift)

    def _predict(self, inputs: Array) -> Distribution:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # these inputs have no column names
            dist: Distribution = self.model.predict_dist(inputs)
        return dist


@dataclass(frozen=True, eq=False)
class PermutedReduced:
    """The reduced inputs of a density that is a function of them alone."""

    model: Any
    Z: Array  # (m, dz)

    def variants(self) -> dict[str, Permuted]:
        """The densities after a permutation of each reduced input."""
        names = direction_names(self.Z.shape[1])
        return {name: self._with(k) for k, name in enumerate(names)}

    def _with(self, k: int) -> Permuted:
        def predict(order: Indices) -> Distribution:
            moved = self.Z.copy()
            moved[:, k] = moved[order, k]
            dist: Distribution = self.model.predict_dist_reduced(moved)
            return dist

        return predict


def lift_of(transform: Callable[[Array], Any], inputs: Array) -> Array:
    """The moves of x (dz, dx) that change one direction of a linear ``transform`` by one.

    Constant inputs are not moved.
    """
    centre, sd = inputs.mean(axis=0), inputs.std(axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # these inputs have no column names
        Z = np.asarray(transform(np.vstack([centre, centre + np.diag(sd)])), dtype=float)
    # The directions per standard deviation of each input: (dx, dz).
    return np.asarray(np.linalg.pinv(Z[1:] - Z[0]) * sd)


def _column(column: Any, names: list[str]) -> int:
    """The number of a column from its name or number."""
    if isinstance(column, str) and column in names:
        return names.index(column)
    if isinstance(column, int | np.integer) and 0 <= column < len(names):
        return int(column)
    raise ValueError(
        f"groups names the column {column!r}, which X does not have: use one of "
        f"{', '.join(names)}, or numbers from 0 to {len(names) - 1}"
    )
