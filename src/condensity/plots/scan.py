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
from condensity.plots.canvas import almost_all, counted, one_column, output_name


@dataclass(frozen=True, eq=False)
class Scan:
    """Densities of one output at positions in increasing order, and samples beside them."""

    positions: Array  # (g,)
    dist: Distribution  # g rows, one output
    along: Array  # (n,) where the samples lie
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
    """Densities over one direction of a reducer, or over one feature of X.

    Parameters
    ----------
    estimator : fitted estimator of densities, or a composite that ends in one
    X, y : samples, which say where to draw; y may be None
    component : int, optional
        Index of the direction.  When None and there are several, the line is that in the space of
        z along which the conditional mean changes most.
    feature : int or str, optional
        Column of X to vary.
    at : None, mapping or array-like (dx,)
        Values of the other features: for some by index or name, or for all; medians otherwise.
    output, n_positions : int
    """
    if feature is None and at is not None:
        raise ValueError("at holds the other features fixed: say which one varies, feature=...")
    if feature is not None and component is not None:
        raise ValueError("component and feature are two pictures: pass one of them")
    if feature is None:
        along, positions, dist, name = _over_z(estimator, X, component, output, n_positions)
    else:
        along, positions, dist, name = _over_feature(estimator, X, feature, at, n_positions)
    marginal, values, label = _chosen(y, dist, output, along)
    return Scan(positions, marginal, along, values, name, label)


def rows_in_order(y: Any, dist: Distribution, x: Any, x_name: str, output: int) -> Scan:
    """Densities as they are, in the order of ``x`` (m,), or in their own when it is None."""
    marginal, values, label = _chosen(y, dist, output, dist)
    place = np.arange(len(dist), dtype=float) if x is None else as_numbers(x, "x")
    if place.shape != (len(dist),):
        raise ValueError(f"x must have shape ({len(dist)},), one a density, got {place.shape}")
    order = np.argsort(place, kind="stable")
    name = "row" if x is None else str(getattr(x, "name", None) or x_name)
    values = None if values is None else values[order]
    return Scan(place[order], marginal[order], place[order], values, name, label)


def _chosen(
    y: Any, dist: Distribution, output: int, rows: Sized
) -> tuple[Distribution, Array | None, str]:
    """The marginals of one output, its samples (one for each of ``rows``) and its name."""
    index = counted("output", output, dist.n_outputs)
    marginal = dist.marginal(index)
    if y is None:
        return marginal, None, output_name(None, index, dist.n_outputs)
    values, label = one_column(y, output, dist.n_outputs)
    check_same_length(rows, values)
    return marginal, values, label


def _over_z(
    estimator: Any, X: Any, component: int | None, output: int, n: int
) -> tuple[Array, Array, Distribution, str]:
    model, inputs = density_step(estimator, X)
    if not hasattr(model, "predict_dist_reduced"):
        raise TypeError(
            f"{type(model).__name__} has no directions z to draw over: choose a column of X, "
            "feature=0, or reduce first, Reduced(SIR(), ...)"
        )
    Z = np.asarray(model.transform(inputs), dtype=float)
    if component is not None:
        index = counted("component", component, Z.shape[1])
        direction = np.eye(Z.shape[1])[index]
        name = direction_names(Z.shape[1])[index]
    elif Z.shape[1] == 1:
        direction, name = np.ones(1), "z"
    else:
        means = np.reshape(model.predict(inputs), (len(Z), -1))
        column = counted("output", output, means.shape[1])
        direction = np.linalg.lstsq(Z - Z.mean(axis=0), means[:, column], rcond=None)[0]
        direction, name = direction / np.linalg.norm(direction), "z, where the mean changes most"
    along, middle = Z @ direction, Z.mean(axis=0)
    positions = np.linspace(*almost_all(along, margin=0.0), n)
    rest = middle - (middle @ direction) * direction
    return along, positions, model.predict_dist_reduced(positions[:, None] * direction + rest), name


def _over_feature(
    estimator: Any, X: Any, feature: int | str, at: Any, n: int
) -> tuple[Array, Array, Distribution, str]:
    names = column_names(X)
    # Values may be missing where the first step of a pipeline fills them in.
    values = check_array(X, dtype=float, ensure_all_finite="allow-nan", input_name="X")
    varied = _column(feature, names, values.shape[1])
    rest = _fixed(at, np.nanmedian(values, axis=0), names)
    positions = np.linspace(*almost_all(values[:, varied], margin=0.0), n)
    rows = np.tile(rest, (n, 1))
    rows[:, varied] = positions
    # A frame again, where a frame came: pipelines may ask for columns by name.
    told = rows if names is None else type(X)(dict(zip(X.columns, rows.T, strict=True)))
    name = (names or input_names(len(rest)))[varied]
    if len(rest) > 1:
        name += f" (others {'at their medians' if at is None else 'fixed'})"
    return values[:, varied], positions, predict_dist(estimator, told), name


def _column(feature: Any, names: Any, dx: int) -> int:
    if isinstance(feature, str):
        if names is None or feature not in names:
            known = "X has no names" if names is None else f"X has {', '.join(names)}"
            raise ValueError(f"feature {feature!r} is no column of X: {known}")
        return int(names.index(feature))
    return counted("feature", feature, dx)


def _fixed(at: Any, medians: Array, names: Any) -> Array:
    """Values of all features, as the caller wants them fixed and medians otherwise: (dx,)."""
    if at is None:
        return medians
    if isinstance(at, Mapping):
        out = medians.copy()
        for key, value in at.items():
            out[_column(key, names, len(medians))] = value
        return out
    out = np.asarray(at, dtype=float).ravel()
    if out.shape != medians.shape:
        raise ValueError(
            f"at must hold {len(medians)} values, one for each feature, or be a mapping of some, "
            f"got {out.size}"
        )
    return out
