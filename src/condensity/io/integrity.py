"""Integrity checks of a model that was read from a file."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from condensity.data.sample import Scaling
from condensity.fitting.gaussian_process import SmoothFunction
from condensity.fitting.trees import TreeSum
from condensity.io.container import DamagedFileError
from condensity.lsce.averaged import AveragedMembers
from condensity.lsce.flexible import WeightedFunctions
from condensity.lsce.location import PredictedInput
from condensity.lsce.reduced import ReducedFunction

#: Models without a scaling of the inputs.
UNSCALED = ("FixedSubspace", "Reduced")
#: Maximum number of inputs, so that a damaged file cannot cause a huge allocation.
MAX_INPUTS = 10**6
#: Numeric attributes of fitted models, and the numbers of axes they may have.
AXES = {
    "components_": (2,),
    "subspace_agreement_": (1,),
    "stretch_": (1,),
    "bandwidth_": (0, 1),
    "penalty_": (0,),
    "epsilon_": (0,),
    "cv_score_": (0,),
    "n_components_": (0,),
    "n_centers_": (0,),
}


def check_integrity(model: Any) -> None:
    """Check that the loaded model can answer one query."""
    try:
        _check_attributes(model)
        for part in _within(model, AveragedMembers):
            _check_location(part.location, len(part.scaling.sd), len(part.factor))
            _check_predicted(part.predicted, len(part.factor))
        row = _query(model)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the query has no column names
            answer = model.predict(row) if hasattr(model, "predict_dist") else model.transform(row)
            if hasattr(model, "predict_dist"):
                model.score(row, answer)  # fails if the number of outputs is wrong
        finite = bool(np.isfinite(answer).all())
    except Exception as error:
        raise DamagedFileError(f"its parts do not fit together ({error})") from error
    if not finite:
        raise DamagedFileError("its predictions are not finite numbers")


def _query(model: Any) -> NDArray[Any]:
    """Inputs of one query, with the number of columns that the scalings of the model have."""
    n = model.n_features_in_
    scalings = list(_within(model, Scaling))
    if not all(_is_finite(scaling.mean, scaling.sd) for scaling in scalings):
        raise DamagedFileError("a scaling contains values that are not finite")
    scaled = any(len(scaling.sd) == n for scaling in scalings)
    if not scaled and type(model).__name__ not in UNSCALED:
        raise DamagedFileError(f"n_features_in_ is {n}, but no scaling has {n} columns")
    if n > MAX_INPUTS:
        raise DamagedFileError(f"n_features_in_ is {n}, the maximum is {MAX_INPUTS}")
    return np.zeros((1, n))


def _within(value: Any, kind: type[Any]) -> Iterator[Any]:
    """All values of one class within a value."""
    if isinstance(value, kind):
        yield value
    elif is_dataclass(value):
        value = [getattr(value, f.name) for f in fields(value)]
    elif isinstance(value, BaseEstimator):
        value = vars(value)
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, tuple | list):
        for item in value:
            yield from _within(item, kind)


def _is_finite(*values: Any) -> bool:
    return all(np.isfinite(value).all() for value in values)


def _check_location(location: Any, dx: int, dy: int) -> None:
    """Check what the query does not evaluate of a location with ``dx`` inputs, ``dy`` outputs."""
    if isinstance(location, SmoothFunction):
        _check_smooth(location, dx, dy)
    if isinstance(location, TreeSum):
        _check_trees(location, dx, dy)
    if isinstance(location, ReducedFunction):
        _check_reduced(location, dx, dy)
    if isinstance(location, WeightedFunctions):
        for function in location.functions:
            _check_location(function, dx, dy)


def _check_predicted(predicted: PredictedInput | None, dy: int) -> None:
    if predicted is None:
        return
    numbers = predicted.axis, predicted.mean, predicted.sd
    if predicted.axis.shape != (dy,) or not _is_finite(*numbers) or predicted.sd <= 0:
        raise DamagedFileError("the value of a location as an input is invalid")


def _check_smooth(smooth: SmoothFunction, dx: int, dy: int) -> None:
    n = len(smooth.centers)
    shapes = (n, dx), (n, dy), (dy,), (dx,)
    arrays = smooth.centers, smooth.coefficients, smooth.mean, smooth.lengths
    if n == 0 or tuple(array.shape for array in arrays) != shapes:
        raise DamagedFileError("the arrays of a smooth location do not fit together")
    if not (_is_finite(*arrays, smooth.slope) and np.all(smooth.lengths > 0)):
        raise DamagedFileError("a smooth location contains an invalid number")


def _check_reduced(reduced: ReducedFunction, dx: int, dy: int) -> None:
    """Check the directions, and the function of z with one input for each of them."""
    W, function = reduced.W, reduced.function
    if W.ndim != 2 or W.shape[1] != dx or not _is_finite(W):
        raise DamagedFileError("the directions of a reduced location are invalid")
    if not isinstance(function, SmoothFunction):
        raise DamagedFileError("a reduced location contains no smooth function")
    _check_smooth(function, len(W), dy)


def _check_trees(trees: TreeSum, dx: int, dy: int) -> None:
    """Check all nodes: a query visits only some of them."""
    nodes = len(trees.value)
    arrays = trees.feature, trees.threshold, trees.below, trees.above, trees.value
    of_outputs = trees.intercept.shape == (dy,) and trees.roots.shape[1:] == (dy,)
    if not of_outputs or any(array.shape != (nodes,) for array in arrays):
        raise DamagedFileError("the arrays of a tree location do not fit together")
    if not _is_finite(trees.intercept, trees.threshold, trees.value):
        raise DamagedFileError("a tree location contains values that are not finite")
    for indices, end in ((trees.roots, nodes), (trees.below, nodes), (trees.above, nodes)):
        _check_indices(indices, end)
    _check_indices(trees.feature, dx)
    reached = np.unique(trees.roots)
    for _ in range(trees.depth):
        reached = np.unique([trees.below[reached], trees.above[reached]])
    if np.any(trees.below[reached] != reached) or np.any(trees.above[reached] != reached):
        raise DamagedFileError("a tree location has paths that do not end at a leaf")


def _check_indices(indices: NDArray[Any], end: int) -> None:
    if indices.dtype.kind != "i" or not indices.size or indices.min() < 0 or indices.max() >= end:
        raise DamagedFileError("a tree location contains an index that does not exist")


def _check_attributes(model: Any) -> None:
    """Check the attributes that predictions do not use."""
    n, attributes = model.n_features_in_, vars(model)
    names = attributes.get("feature_names_in_")
    if names is not None and (np.shape(names) != (n,) or len(set(names)) != n):
        raise DamagedFileError(f"feature_names_in_ must contain {n} different names")
    if not isinstance(attributes.get("location_", ""), str):
        raise DamagedFileError("location_ must be a string")
    for name, axes in AXES.items():
        value = attributes.get(name)
        if value is None:
            continue
        array = np.asarray(value)
        if array.dtype.kind not in "fiu" or array.ndim not in axes:
            numbers = " or ".join(map(str, axes))
            raise DamagedFileError(f"{name} must be a numeric array with {numbers} axes")
    if "components_" in attributes and np.shape(attributes["components_"])[1] != n:
        raise DamagedFileError(f"components_ must have {n} columns, one for each input")
