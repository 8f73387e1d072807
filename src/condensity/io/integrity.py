"""Whether what a file holds is a model that can answer."""

from __future__ import annotations

import warnings
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from condensity.data.sample import Scaling
from condensity.io.container import DamagedFileError

#: Models that keep no scaling of their own, and more inputs than anyone has.
UNSCALED, MOST_INPUTS = ("FixedSubspace", "Reduced"), 10**6
#: Numbers that are told of models, and how many axes they may have.
TOLD = {
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


def _row(model: Any) -> NDArray[Any]:
    """Inputs for one question, as many as the model's own scalings are of."""
    n = model.n_features_in_
    own = {len(s.sd) for s in _scalings(vars(model)) if len(s.sd) == n}
    if not own and type(model).__name__ not in UNSCALED:
        raise DamagedFileError("it does not fit its own number of inputs")
    if n > MOST_INPUTS:
        raise DamagedFileError(f"it claims to have {n} inputs")
    return np.zeros((1, n))


def _scalings(value: Any) -> list[Scaling]:
    """All scalings within a value, which must be sound."""
    if isinstance(value, Scaling):
        if not (np.isfinite(value.mean).all() and np.isfinite(value.sd).all()):
            raise DamagedFileError("its scaling is no numbers")
        return [value]
    if is_dataclass(value):
        value = {f.name: getattr(value, f.name) for f in fields(value)}
    if isinstance(value, dict):
        value = list(value.values())
    found = [_scalings(item) for item in value] if isinstance(value, tuple | list) else []
    return [scaling for part in found for scaling in part]


def check_sound(model: Any) -> None:
    """One question: a model that cannot answer it is no model."""
    try:
        _check_told(model)
        row = _row(model)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a row without the names of its columns
            answer = model.predict(row) if hasattr(model, "predict_dist") else model.transform(row)
            if hasattr(model, "predict_dist"):
                model.score(row, answer)  # which knows how many outputs there are
        sound = bool(np.isfinite(answer).all())
    except Exception as error:
        raise DamagedFileError(f"what it holds does not fit together ({error})") from error
    if not sound:
        raise DamagedFileError("its answers are no numbers")


def _check_told(model: Any) -> None:
    """What is told of a model besides its answers must be of its kind."""
    n, own = model.n_features_in_, vars(model)
    names = own.get("feature_names_in_")
    if names is not None and (np.shape(names) != (n,) or len(set(names)) != n):
        raise DamagedFileError("the names of its inputs are not as many as its inputs")
    if not isinstance(own.get("location_", ""), str):
        raise DamagedFileError("its location has no name")
    for name, axes in TOLD.items():
        value = own.get(name)
        if value is None:
            continue
        array = np.asarray(value)
        if array.dtype.kind not in "fiu" or array.ndim not in axes:
            raise DamagedFileError(f"its {name} is no numbers of their kind")
    if "components_" in own and np.shape(own["components_"])[1] != n:
        raise DamagedFileError("its directions are not of its inputs")
