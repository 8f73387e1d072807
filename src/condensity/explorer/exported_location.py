"""The location of a fitted model as arrays: the sum of a plane, Gaussian bells and trees.

Bells are functions of all inputs, or of the directions of a reduced location.  The page evaluates
the location at standardised inputs, in standard deviations of y.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from condensity._typing import Array
from condensity.explorer.encoded_arrays import (
    PageData,
    encode_array,
    encode_indices,
    encode_single,
)
from condensity.fitting.gaussian_process import SmoothFunction
from condensity.fitting.trees import TreeSum
from condensity.locations.flexible import WeightedFunctions
from condensity.locations.location import Constant, Plane, ReducedFunction


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms of a location, each multiplied by its weight."""

    intercept: Array  # (dy,)
    slope: Array | None = None  # (dx, dy)
    bells: tuple[PageData, ...] = ()
    trees: tuple[PageData, ...] = ()

    def __add__(self, other: Terms) -> Terms:
        slopes = [slope for slope in (self.slope, other.slope) if slope is not None]
        return Terms(
            self.intercept + other.intercept,
            np.sum(slopes, axis=0) if slopes else None,
            self.bells + other.bells,
            self.trees + other.trees,
        )

    def as_page_data(self) -> PageData:
        """The arrays of all terms for the page."""
        return {
            "intercept": encode_array(self.intercept),
            "slope": None if self.slope is None else encode_array(self.slope),
            "bells": list(self.bells),
            "trees": list(self.trees),
        }


def terms_of(location: Any, weight: float = 1.0) -> Terms:
    """The terms of ``weight`` times a location; ``TypeError`` for one that the page cannot run."""
    if isinstance(location, WeightedFunctions):
        pairs = zip(location.weights, location.functions, strict=True)
        return reduce(Terms.__add__, (terms_of(f, weight * own) for own, f in pairs))
    if isinstance(location, Constant):
        return Terms(weight * location.mean)
    if isinstance(location, Plane):
        return Terms(weight * location.intercept, weight * location.slope)
    if isinstance(location, SmoothFunction):
        return _smooth_terms(location, np.eye(len(location.lengths)), weight)
    if isinstance(location, ReducedFunction):
        return _smooth_terms(location.function, location.W, weight)
    if isinstance(location, TreeSum):
        return Terms(weight * location.intercept, trees=(_trees_data(location, weight),))
    raise TypeError(
        "the location of this model is a regressor, which the page cannot run: "
        "fit the model with location='auto', 'linear' or 'none'"
    )


def _smooth_terms(smooth: SmoothFunction, W: Array, weight: float) -> Terms:
    """Terms of ``weight`` times a function of ``W x``, ``W`` (dz, dx).

    There are bells at the centres, in units of the lengths.  The linear part of the covariance adds
    up to a plane.
    """
    A = weight * smooth.coefficients
    bells = {
        "matrix": encode_array(W / smooth.lengths[:, None]),
        "centers": encode_array(smooth.centers / smooth.lengths),
        "coefficients": encode_array(A),
    }
    intercept = weight * smooth.mean + A.sum(axis=0)
    slope = smooth.slope * (W.T @ (smooth.centers.T @ A))
    return Terms(intercept, slope, bells=(bells,))


def _trees_data(trees: TreeSum, weight: float) -> PageData:
    """Inner nodes and leaves, each numbered from 0; the node ``-1 - k`` is leaf k."""
    here = np.arange(len(trees.below))
    leaf = (trees.below == here) & (trees.above == here)
    number = np.where(leaf, -np.cumsum(leaf), np.cumsum(~leaf) - 1)
    return {
        "roots": encode_indices(number[trees.roots]),
        "feature": encode_indices(trees.feature[~leaf]),
        "threshold": encode_single(_rounded_down(trees.threshold[~leaf])),
        "below": encode_indices(number[trees.below[~leaf]]),
        "above": encode_indices(number[trees.above[~leaf]]),
        "value": encode_array(weight * trees.value[leaf]),
    }


def _rounded_down(threshold: Array) -> Array:
    """The largest numbers in single precision that are not above ``threshold``.

    Inputs are compared in single precision, so the result of a comparison does not change.
    """
    with np.errstate(over="ignore"):
        nearest = threshold.astype(np.float32)
    lower = np.nextafter(nearest, np.float32(-np.inf))
    return np.asarray(np.where(nearest > threshold, lower, nearest))
