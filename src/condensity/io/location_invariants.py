"""Invariants of the locations in files: shapes fit together, numbers are finite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from condensity.fitting.gaussian_process import SmoothFunction
from condensity.fitting.trees import TreeSum
from condensity.io.container import DamagedFileError
from condensity.io.value_checks import (
    STANDARD,
    check_array,
    check_kernel_width,
    check_kind,
    check_number,
    row_count,
)
from condensity.locations.extrapolation import LocationRange
from condensity.locations.flexible import WeightedFunctions
from condensity.locations.location import Constant, Plane, PredictedInput, ReducedFunction


def check_location_range(limits: Any, dy: int) -> None:
    """Check the limits of a location."""
    check_kind("the range of a location", limits, LocationRange)
    check_array("the middle of a location", limits.middle, (dy,))
    for distances in (limits.below, limits.above):
        check_array("the range of a location", distances, (dy,), least=1 / STANDARD)


def check_predicted(predicted: Any, dy: int) -> None:
    """Check the combination of outputs that is one more input."""
    check_kind("the value of a location as an input", predicted, PredictedInput)
    check_array("the axis of a location", predicted.axis, (dy,))
    check_number("the mean of a location", predicted.mean, least=-STANDARD)
    check_kernel_width("the spread of a location", predicted.sd)


def check_location_function(location: Any, dx: int, dy: int) -> None:
    """Check a location with ``dx`` inputs and ``dy`` outputs."""
    checks: dict[type[Any], Callable[[Any, int, int], None]] = {
        Constant: _check_constant,
        Plane: _check_plane,
        SmoothFunction: _check_smooth,
        TreeSum: check_trees,
        WeightedFunctions: _check_sum,
        ReducedFunction: _check_reduced,
    }
    if type(location) not in checks:
        raise DamagedFileError(f"a {type(location).__name__} is stored in place of a location")
    checks[type(location)](location, dx, dy)


def _check_constant(constant: Constant, dx: int, dy: int) -> None:
    check_array("a constant location", constant.mean, (dy,))


def _check_plane(plane: Plane, dx: int, dy: int) -> None:
    check_array("the intercept of a linear location", plane.intercept, (dy,))
    check_array("the slope of a linear location", plane.slope, (dx, dy))


def _check_sum(total: WeightedFunctions, dx: int, dy: int) -> None:
    if not len(total.weights) == len(total.functions) > 0:
        raise DamagedFileError("a sum of locations needs a weight for each of its functions")
    for weight, function in zip(total.weights, total.functions, strict=True):
        check_number("the weight of a location", weight, least=-STANDARD)
        check_location_function(function, dx, dy)


def _check_smooth(smooth: SmoothFunction, dx: int, dy: int) -> None:
    n = row_count("the centres of a smooth location", smooth.centers)
    check_array("the centres of a smooth location", smooth.centers, (n, dx))
    check_array("the coefficients of a smooth location", smooth.coefficients, (n, dy))
    check_array("the mean of a smooth location", smooth.mean, (dy,))
    check_array("the lengths of a smooth location", smooth.lengths, (dx,), least=1 / STANDARD)
    check_number("the slope of a smooth location", smooth.slope, least=-STANDARD)


def _check_reduced(reduced: ReducedFunction, dx: int, dy: int) -> None:
    """Check the directions, and the function of z with one input for each of them."""
    dz = row_count("the directions of a reduced location", reduced.W)
    check_array("the directions of a reduced location", reduced.W, (dz, dx))
    check_kind("the function of a reduced location", reduced.function, SmoothFunction)
    _check_smooth(reduced.function, dz, dy)


def check_trees(trees: TreeSum, dx: int, dy: int) -> None:
    """Check all nodes: an input visits only some of them."""
    nodes = row_count("the nodes of a tree location", trees.value)
    check_array("the intercept of a tree location", trees.intercept, (dy,))
    check_array("the values of a tree location", trees.value, (nodes,))
    check_array("the thresholds of a tree location", trees.threshold, (nodes,))
    n_trees = row_count("the roots of a tree location", trees.roots)
    _check_indices(trees.roots, (n_trees, dy), nodes)
    _check_indices(trees.feature, (nodes,), dx)
    _check_indices(trees.below, (nodes,), nodes)
    _check_indices(trees.above, (nodes,), nodes)
    reached = np.unique(trees.roots)
    for _ in range(trees.depth):
        reached = np.unique([trees.below[reached], trees.above[reached]])
    if np.any(trees.below[reached] != reached) or np.any(trees.above[reached] != reached):
        raise DamagedFileError("a tree location has paths that do not end at a leaf")


def _check_indices(indices: NDArray[Any], shape: tuple[int, ...], end: int) -> None:
    check_kind("an array of indices", indices, np.ndarray)
    if indices.dtype.kind != "i" or indices.shape != shape:
        raise DamagedFileError(f"indices of a tree location must have the shape {shape}")
    if indices.size and (indices.min() < 0 or indices.max() >= end):
        raise DamagedFileError("a tree location contains an index that does not exist")
