"""Integrity checks of a model that was read from a file."""

from __future__ import annotations

import warnings
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from condensity.data.sample import Scaling
from condensity.io.container import DamagedFileError

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
    scaled = any(len(scaling.sd) == n for scaling in _scalings(vars(model)))
    if not scaled and type(model).__name__ not in UNSCALED:
        raise DamagedFileError(f"n_features_in_ is {n}, but no scaling has {n} columns")
    if n > MAX_INPUTS:
        raise DamagedFileError(f"n_features_in_ is {n}, the maximum is {MAX_INPUTS}")
    return np.zeros((1, n))


def _scalings(value: Any) -> list[Scaling]:
    """All scalings within a value; they must be finite."""
    if isinstance(value, Scaling):
        if not (np.isfinite(value.mean).all() and np.isfinite(value.sd).all()):
            raise DamagedFileError("a scaling contains values that are not finite")
        return [value]
    if is_dataclass(value):
        value = {f.name: getattr(value, f.name) for f in fields(value)}
    if isinstance(value, dict):
        value = list(value.values())
    nested = [_scalings(item) for item in value] if isinstance(value, tuple | list) else []
    return [scaling for scalings in nested for scaling in scalings]


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
