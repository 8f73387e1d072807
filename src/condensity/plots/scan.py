"""Densities along a line through the inputs: one direction z of a model, or one feature."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from condensity._typing import Array
from condensity._utils.composites import density_step, predict_dist
from condensity._utils.names import direction_names, input_names
from condensity._utils.validation import check_same_length, column_names
from condensity.distributions._checks import as_numbers
from condensity.distributions.base import Distribution
from condensity.plots.canvas import check_index, one_column, output_name, robust_range


@dataclass(frozen=True, eq=False)
class Scan:
    """Densities of one output at increasing positions, and samples at their own positions."""

    positions: Array  # (g,)
    dist: Distribution  # g rows, one output
    along: Array  # (n,) positions of the samples
    y: Array | None  # (n,)
    position_name: str
    output_name: str


def scan(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    component: int | None,
    feature: int | str | None,
    at: Any,
    output: int,
    n_positions: int,
) -> Scan:
    """Densities along one direction of a reducer, or along one feature of X.

    Parameters
    ----------
    estimator : estimator
        Fitted estimator of densities, or a pipeline or search that ends in one.
    X : array-like of shape (n, dx)
        Samples, which determine the range of positions.
    y : array-like of shape (n,) or (n, dy), or None
        Outputs of the samples.
    component : int or None
        Index of the direction.  None with several directions: the line in the space of z along
        which the conditional mean changes most.
    feature : int, str or None
        Column of X to vary.
    at : None, mapping or array-like of shape (dx,)
        Values of the other features: of some by index or name, or of all.  Others have their
        medians.
    output : int
        Index of the output.
    n_positions : int
        Number of positions.
    """
    if feature is None and at is not None:
        raise ValueError("at was passed without feature: pass the feature that varies, feature=...")
    if feature is not None and component is not None:
        raise ValueError("component and feature cannot be combined: pass one of them")
    if feature is None:
        along, positions, dist, name = _over_z(estimator, X, component, output, n_positions)
    else:
        along, positions, dist, name = _over_feature(estimator, X, feature, at, n_positions)
    marginal, values, label = _select_output(y, dist, output, along)
    return Scan(positions, marginal, along, values, name, label)


def rows_in_order(y: Any, dist: Distribution, x: Any, x_name: str, output: int) -> Scan:
    """Predicted densities sorted by ``x`` (m,), or in the order of the rows if it is None."""
    marginal, values, label = _select_output(y, dist, output, dist)
    positions = np.arange(len(dist), dtype=float) if x is None else as_numbers(x, "x")
    if positions.shape != (len(dist),):
        raise ValueError(
            f"x must have shape ({len(dist)},), one value for each density, got {positions.shape}"
        )
    order = np.argsort(positions, kind="stable")
    name = "row" if x is None else str(getattr(x, "name", None) or x_name)
    values = None if values is None else values[order]
    return Scan(positions[order], marginal[order], positions[order], values, name, label)


def _select_output(
    y: Any, dist: Distribution, output: int, rows: Sized
) -> tuple[Distribution, Array | None, str]:
    """The marginals of one output, its samples (one for each of ``rows``) and its name."""
    index = check_index("output", output, dist.n_outputs)
    marginal = dist.marginal(index)
    if y is None:
        return marginal, None, output_name(None, index, dist.n_outputs)
    values, label = one_column(y, output, dist.n_outputs)
    check_same_length(rows, values)
    return marginal, values, label


def _over_z(
    estimator: Any, X: Any, component: int | None, output: int, n: int
) -> tuple[Array, Array, Distribution, str]:
    """Positions of the samples, positions of the densities, densities, name of the axis."""
    model, inputs = density_step(estimator, X)
    if not hasattr(model, "predict_dist_reduced"):
        raise TypeError(
            f"{type(model).__name__} has no directions z to draw over: pass a column of X, such as "
            "feature=0, or a model with directions, such as Reduced(SIR(), ...)"
        )
    Z = np.asarray(model.transform(inputs), dtype=float)
    if component is not None:
        index = check_index("component", component, Z.shape[1])
        direction = np.eye(Z.shape[1])[index]
        name = direction_names(Z.shape[1])[index]
    elif Z.shape[1] == 1:
        direction, name = np.ones(1), "z"
    else:
        means = np.reshape(model.predict(inputs), (len(Z), -1))
        column = check_index("output", output, means.shape[1])
        direction = np.linalg.lstsq(Z - Z.mean(axis=0), means[:, column], rcond=None)[0]
        direction, name = direction / np.linalg.norm(direction), "z, where the mean changes most"
    along, centre = Z @ direction, Z.mean(axis=0)
    positions = np.linspace(*robust_range(along, margin=0.0), n)
    rest = centre - (centre @ direction) * direction
    return along, positions, model.predict_dist_reduced(positions[:, None] * direction + rest), name


def _over_feature(
    estimator: Any, X: Any, feature: int | str, at: Any, n: int
) -> tuple[Array, Array, Distribution, str]:
    """Positions of the samples, positions of the densities, densities, name of the axis."""
    names = column_names(X)
    # The first step of a pipeline may impute missing values.
    values = check_array(X, dtype=float, ensure_all_finite="allow-nan", input_name="X")
    column = _column_index(feature, names, values.shape[1])
    fixed = _fixed_values(at, np.nanmedian(values, axis=0), names)
    positions = np.linspace(*robust_range(values[:, column], margin=0.0), n)
    rows = np.tile(fixed, (n, 1))
    rows[:, column] = positions
    # Steps of a pipeline may select columns by name, so a frame stays a frame.
    inputs = rows if names is None else type(X)(dict(zip(X.columns, rows.T, strict=True)))
    name = (names or input_names(len(fixed)))[column]
    if len(fixed) > 1:
        name += f" (others {'at their medians' if at is None else 'fixed'})"
    return values[:, column], positions, predict_dist(estimator, inputs), name


def _column_index(feature: Any, names: Any, dx: int) -> int:
    if isinstance(feature, str):
        if names is None or feature not in names:
            hint = (
                "X has no column names, pass an index"
                if names is None
                else f"pass one of {', '.join(names)}"
            )
            raise ValueError(f"feature {feature!r} is not a column of X: {hint}")
        return int(names.index(feature))
    return check_index("feature", feature, dx)


def _fixed_values(at: Any, medians: Array, names: Any) -> Array:
    """Values (dx,) of all features: those in ``at``, medians otherwise."""
    if at is None:
        return medians
    if isinstance(at, Mapping):
        out = medians.copy()
        for key, value in at.items():
            out[_column_index(key, names, len(medians))] = value
        return out
    out = np.asarray(at, dtype=float).ravel()
    if out.shape != medians.shape:
        raise ValueError(
            f"at must have {len(medians)} values, one for each feature, or be a mapping from "
            f"features to values, got {out.size} values"
        )
    return out
