"""Fitted models as files that contain numbers and names, but no code.

A model is stored as a tree of parameters, fitted attributes and values of a few classes of this
library.  Each class has a key.  The arrays are stored in a ``container``.  Reading creates objects
of these classes only, and checks that the model can answer one query.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import fields
from importlib.metadata import version
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from condensity.data.sample import Sample, Scaling
from condensity.distributions.bounded import Bounds
from condensity.estimators import (
    LSCDE,
    LSCE,
    LSMI,
    OPG,
    SAVE,
    SIR,
    DirectionalRegression,
    EpsilonKDE,
    FixedSubspace,
    Reduced,
)
from condensity.estimators.published_lsce import PublishedLSCE
from condensity.estimators.subspace_search import Start
from condensity.fitting.density import KernelDensity
from condensity.fitting.gaussian_process import SmoothFunction
from condensity.fitting.neighbors import NeighborDensity
from condensity.fitting.scores import Gaussians
from condensity.fitting.trees import TreeSum
from condensity.io.atomic import write_atomically
from condensity.io.container import DamagedFileError, pack, unpack
from condensity.io.integrity import check_integrity
from condensity.locations.extrapolation import LocationRange
from condensity.locations.flexible import WeightedFunctions
from condensity.locations.location import (
    Constant,
    FittedRegressor,
    Plane,
    PredictedInput,
    ReducedFunction,
)
from condensity.members.averaged import AveragedMembers, Ensemble
from condensity.members.member import Coefficients
from condensity.tables.columns import Column
from condensity.tables.evaluate import Evaluation
from condensity.tables.model import TableModel
from condensity.tables.row_hashes import TrainingRowHashes
from condensity.targets.class_probabilities import ClassProbabilities, LogisticModel, TreeModel
from condensity.targets.with_atoms import WithAtoms

#: Classes of values in files, by their keys.  Keys and field names are part of the file format:
#: they stay when a class is renamed.
VALUES: dict[str, Any] = {
    "Averaged": AveragedMembers,
    "Bounds": Bounds,
    "ClassProbabilities": ClassProbabilities,
    "Coefficients": Coefficients,
    "Column": Column,
    "Components": Gaussians,
    "Constant": Constant,
    "Density": KernelDensity,
    "Ensemble": Ensemble,
    "LogisticModel": LogisticModel,
    "LocationRange": LocationRange,
    "NeighborDensity": NeighborDensity,
    "Plane": Plane,
    "PredictedInput": PredictedInput,
    "ReducedFunction": ReducedFunction,
    "RowHashes": TrainingRowHashes,
    "Sample": Sample,
    "Scaling": Scaling,
    "SmoothFunction": SmoothFunction,
    "Start": Start,
    "TableModel": TableModel,
    "TreeModel": TreeModel,
    "TreeSum": TreeSum,
    "Verdict": Evaluation,
    "WeightedFunctions": WeightedFunctions,
}
#: Estimators in files, by their keys.
MODELS: dict[str, Any] = {
    "DirectionalRegression": DirectionalRegression,
    "EpsilonKDE": EpsilonKDE,
    "FixedSubspace": FixedSubspace,
    "LSCDE": LSCDE,
    "LSCE": LSCE,
    "LSMI": LSMI,
    "OPG": OPG,
    "PublishedLSCE": PublishedLSCE,
    "Reduced": Reduced,
    "SAVE": SAVE,
    "SIR": SIR,
    "WithAtoms": WithAtoms,
}
#: Attributes of fitted models that have another name in files of older versions.
RENAMED = {"_scaling": "_x_scaling"}
#: Fields whose key in files is not their name.
FIELD_KEYS = {(TableModel, "evaluation"): "verdict"}
FIELD_NAMES = {(kind, key): name for (kind, name), key in FIELD_KEYS.items()}
VALUE_KEYS = {kind: key for key, kind in VALUES.items()}
MODEL_KEYS = {kind: key for key, kind in MODELS.items()}


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to one file.

    The file is written atomically: an interrupted call leaves an existing file as it was.

    Parameters
    ----------
    model : estimator object or TableModel
        A fitted estimator of this library, or a ``TableModel`` with one.
    path : str or path-like
        File to write.  An existing file is replaced.

    Raises
    ------
    TypeError
        If the model is not an estimator of this library, or contains an object that cannot be
        stored, such as a location by a regressor of another library.
    sklearn.exceptions.NotFittedError
        If the model is not fitted.

    See Also
    --------
    load : Read the file.

    Notes
    -----
    Parameters that are neither numbers nor strings, such as a splitter passed as ``cv``, are not
    stored.  A warning names them, and the loaded model has their defaults.  A location by a
    regressor cannot be stored, because this would need pickle, and reading a pickle executes code.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import condensity
    >>> from condensity.datasets import toy_b
    >>> X, y = toy_b().sample(100, random_state=0)
    >>> model = condensity.LSCDE(bandwidth=0.3, penalty=0.01, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "model.cdn"
    ...     condensity.save(model, path)
    ...     loaded = condensity.load(path)
    >>> bool((loaded.predict(X) == model.predict(X)).all())
    True
    """
    if isinstance(model, str | os.PathLike):
        raise TypeError(f"model must be a fitted model, got {model!r}: call save(model, path)")
    arrays: list[NDArray[Any]] = []
    writer, header = _Writer(arrays), {"version": version("condensity")}
    check_is_fitted(model.model if isinstance(model, TableModel) else model)
    stored = writer.value(model) if isinstance(model, TableModel) else writer.model(model)
    write_atomically(Path(path), pack(header | stored, arrays))


def load(path: str | os.PathLike[str]) -> Any:
    """Read a fitted model from a file.

    Parameters
    ----------
    path : str or path-like
        File that ``save`` or the command ``condensity fit`` wrote.

    Returns
    -------
    estimator object or TableModel
        The fitted estimator.  For files of ``condensity fit``, a ``TableModel`` with the estimator
        in ``.model``; it takes tables: ``load("model.cdn").predict_dist(frame)``.

    Raises
    ------
    ValueError
        If the file is damaged or of another kind.

    See Also
    --------
    save : Write the file.

    Notes
    -----
    No code in the file is executed, because a file contains none.  The checksum detects accidental
    damage, not intentional changes: trust the numbers as much as their source.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import condensity
    >>> from condensity.datasets import toy_b
    >>> X, y = toy_b().sample(100, random_state=0)
    >>> model = condensity.LSCDE(bandwidth=0.3, penalty=0.01, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "model.cdn"
    ...     condensity.save(model, path)
    ...     loaded = condensity.load(path)
    >>> loaded.get_params()["bandwidth"]
    0.3
    """
    data, origin = Path(path).read_bytes(), ""
    try:
        content, arrays = unpack(data)
        if isinstance(content, dict) and "version" in content:
            origin = f" (written by version {content['version']!s:.20})"
        model = _Reader(arrays).value(content)
        estimator = model.model if isinstance(model, TableModel) else model
        if type(estimator) not in MODEL_KEYS:
            raise DamagedFileError("it does not contain a model")
        check_integrity(estimator)
    except DamagedFileError as error:
        raise ValueError(
            f"{os.fspath(path)} is not a readable model file: {error}{origin}. "
            "Write it again with condensity.save or condensity fit"
        ) from error
    return model


class _Writer:
    """Converts values to JSON; arrays are collected in a list and stored as their index.

    An array that several values share is stored once.
    """

    def __init__(self, arrays: list[NDArray[Any]]) -> None:
        self.arrays = arrays
        self.places: dict[int, int] = {}  # from the identity of an array to its index

    def model(self, model: Any) -> dict[str, Any]:
        name = type(model).__name__
        if type(model) not in MODEL_KEYS:
            raise TypeError(
                f"save expects a fitted estimator of this library, got {name}: for a pipeline or a "
                "search, save its density step or its best_estimator_"
            )
        arguments, state, parameters = model.get_params(deep=False), {}, {}
        for key, value in vars(model).items():
            if key not in arguments:
                try:
                    state[key] = self.value(value)
                except TypeError as error:
                    raise TypeError(
                        f"{name} cannot be stored: its {key.strip('_')} contains {error}. Use "
                        "pickle, or fit it with parts of this library only"
                    ) from error
        for key, value in arguments.items():
            try:
                parameters[key] = self.value(value)
            except TypeError:
                warnings.warn(
                    f"{key}={value!r} is not stored: the loaded model will have the default",
                    stacklevel=3,
                )
        return {"model": MODEL_KEYS[type(model)], "parameters": parameters, "state": state}

    def value(self, value: Any) -> Any:
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, np.generic) and value.dtype.kind in "biuf":
            return value.item()
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, tuple | list):
            return {type(value).__name__: [self.value(item) for item in value]}
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            return {"dict": {key: self.value(item) for key, item in value.items()}}
        if type(value) in VALUE_KEYS:
            content = {
                FIELD_KEYS.get((type(value), f.name), f.name): self.value(getattr(value, f.name))
                for f in fields(value)
            }
            return {"value": VALUE_KEYS[type(value)], "fields": content}
        if type(value) in MODEL_KEYS:
            return self.model(value)
        name = type(value).__name__
        if isinstance(value, FittedRegressor):
            name = f"location by {type(value.model).__name__}"
        raise TypeError(f"a {name}")

    def _array(self, array: NDArray[Any]) -> dict[str, Any]:
        if array.dtype.kind in "OU":  # names of columns
            if not all(isinstance(item, str) for item in array.ravel()):
                raise TypeError(f"an array of {array.dtype}")
            return {"names": array.tolist()}
        if id(array) not in self.places:
            self.places[id(array)] = len(self.arrays)
            self.arrays.append(array)
        return {"array": self.places[id(array)]}


class _Reader:
    """Creates values from JSON; only those of the classes listed in this module."""

    def __init__(self, arrays: list[NDArray[Any]]) -> None:
        self.arrays = arrays

    def value(self, stored: Any) -> Any:
        if stored is None or isinstance(stored, bool | int | float | str):
            return stored
        if not isinstance(stored, dict):
            raise DamagedFileError("it contains a value of an unknown kind")
        readers: dict[str, Callable[[Any], Any]] = {
            "array": self._array,
            "names": lambda names: np.array([str(name) for name in names], dtype=object),
            "tuple": lambda items: tuple(self.value(item) for item in items),
            "list": lambda items: [self.value(item) for item in items],
            "dict": lambda items: {str(key): self.value(item) for key, item in items.items()},
        }
        try:
            if "model" in stored:
                return self._model(stored)
            if "value" in stored:
                kind = VALUES[stored["value"]]
                arguments = {
                    FIELD_NAMES.get((kind, key), key): self.value(v)
                    for key, v in stored["fields"].items()
                }
                return kind(**arguments)
            ((kind_name, content),) = stored.items()
            return readers[kind_name](content)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            if isinstance(error, DamagedFileError):
                raise
            raise DamagedFileError(f"it contains an invalid value ({error})") from error

    def _array(self, index: Any) -> NDArray[Any]:
        if not isinstance(index, int) or not 0 <= index < len(self.arrays):
            raise DamagedFileError(f"it has no array {index!r:.20}")
        return self.arrays[index]

    def _model(self, stored: dict[str, Any]) -> Any:
        kind = MODELS[stored["model"]]
        parameters = {name: self.value(v) for name, v in stored["parameters"].items()}
        if not parameters.keys() <= set(signature(kind).parameters):
            raise DamagedFileError(f"it contains parameters that {kind.__name__} does not have")
        model = kind(**parameters)
        for key, value in stored["state"].items():
            name = RENAMED.get(key, key)
            if not name.isidentifier() or name.startswith("__") or hasattr(kind, name):
                raise DamagedFileError(f"{name!r} is not a valid attribute of {kind.__name__}")
            setattr(model, name, self.value(value))
        return model
