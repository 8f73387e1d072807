"""Fitted models as files that hold numbers and names, and nothing that could be run.

A model is a tree of parameters, fitted attributes and a few kinds of values of this library, each
known by its name; the numbers are arrays in a ``container``.  Reading builds those kinds and no
others, and asks the model one question before it is handed out.
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
from condensity.estimators import LSCDE, LSCE, LSMI, SAVE, SIR, EpsilonKDE, FixedSubspace, Reduced
from condensity.estimators.published_lsce import PublishedLSCE
from condensity.estimators.regressor_location import FittedRegressor
from condensity.estimators.subspace_search import Start
from condensity.fitting.density import KernelDensity
from condensity.fitting.neighbors import NeighborDensity
from condensity.fitting.scores import Gaussians
from condensity.io.atomic import write_at_once
from condensity.io.container import DamagedFileError, pack, unpack
from condensity.io.integrity import check_sound
from condensity.lsce.averaged import AveragedMembers, Ensemble
from condensity.lsce.location import Constant, Plane
from condensity.lsce.member import Coefficients
from condensity.tables.frames import Column
from condensity.tables.model import TableModel, Verdict

#: The kinds of values in files, by the keys they have there.  Keys and field names are part of the
#: file format: they stay when a class is renamed.
VALUES: dict[str, Any] = {
    "Averaged": AveragedMembers,
    "Bounds": Bounds,
    "Coefficients": Coefficients,
    "Column": Column,
    "Components": Gaussians,
    "Constant": Constant,
    "Density": KernelDensity,
    "Ensemble": Ensemble,
    "NeighborDensity": NeighborDensity,
    "Plane": Plane,
    "Sample": Sample,
    "Scaling": Scaling,
    "Start": Start,
    "TableModel": TableModel,
    "Verdict": Verdict,
}
#: The estimators in files, by the keys they have there.
MODELS: dict[str, Any] = {
    "EpsilonKDE": EpsilonKDE,
    "FixedSubspace": FixedSubspace,
    "LSCDE": LSCDE,
    "LSCE": LSCE,
    "LSMI": LSMI,
    "PublishedLSCE": PublishedLSCE,
    "Reduced": Reduced,
    "SAVE": SAVE,
    "SIR": SIR,
}
VALUE_KEYS = {kind: key for key, kind in VALUES.items()}
MODEL_KEYS = {kind: key for key, kind in MODELS.items()}


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to one file, at once or not at all.

    Parameters
    ----------
    model : a fitted estimator of this library, or a TableModel with one
    path : where to; an existing file is replaced

    Notes
    -----
    Parameters that are neither numbers nor names (a splitter given as ``cv``) are not stored; the
    model that is read has their defaults.  A location by a regressor cannot be stored: only pickle
    could, and reading a pickle runs it.
    """
    arrays: list[NDArray[Any]] = []
    writer, written = _Writer(arrays), {"version": version("condensity")}
    check_is_fitted(model.model if isinstance(model, TableModel) else model)
    told = writer.value(model) if isinstance(model, TableModel) else writer.model(model)
    content = written | told
    write_at_once(Path(path), pack(content, arrays))


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that ``save`` wrote, or ``condensity fit``, which gives a ``TableModel``.

    A ``TableModel`` is asked with tables: ``load("model.cdn").predict_dist(frame)``.

    Parameters
    ----------
    path : where the file is

    Returns
    -------
    The fitted estimator, or the TableModel that holds it

    Raises
    ------
    ValueError
        If the file is damaged or is something else; nothing of it is run.  Its checksum tells
        accidents, not intent: trust the numbers as you trust where they come from.
    """
    data, origin = Path(path).read_bytes(), ""
    try:
        content, arrays = unpack(data)
        if isinstance(content, dict) and "version" in content:
            origin = f" (written by version {content['version']!s:.20})"
        model = _Reader(arrays).value(content)
        estimator = model.model if isinstance(model, TableModel) else model
        if type(estimator) not in MODEL_KEYS:
            raise DamagedFileError("it holds no model")
        check_sound(estimator)
    except DamagedFileError as error:
        raise ValueError(
            f"{os.fspath(path)} is no model that can be read: {error}{origin}; "
            "write it again, with condensity fit or condensity.save"
        ) from error
    return model


class _Writer:
    """Turns values into what JSON knows; arrays go into a list and are called by their number."""

    def __init__(self, arrays: list[NDArray[Any]]) -> None:
        self.arrays = arrays

    def model(self, model: Any) -> dict[str, Any]:
        name = type(model).__name__
        if type(model) not in MODEL_KEYS:
            raise TypeError(
                f"save takes a fitted estimator of this library, got {name}: of a pipeline or a "
                "search save the step or the best_estimator_ that is one"
            )
        given, state, parameters = model.get_params(deep=False), {}, {}
        for key, value in vars(model).items():
            if key not in given:
                try:
                    state[key] = self.value(value)
                except TypeError as error:
                    raise TypeError(
                        f"{name} cannot be stored: its {key.strip('_')} holds {error}; keep it "
                        "with pickle, or fit it with what this library has alone"
                    ) from error
        for key, value in given.items():
            try:
                parameters[key] = self.value(value)
            except TypeError:
                warnings.warn(
                    f"{key}={value!r} is not stored: the model that is read has the default",
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
            own = {f.name: self.value(getattr(value, f.name)) for f in fields(value)}
            return {"value": VALUE_KEYS[type(value)], "fields": own}
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
        self.arrays.append(array)
        return {"array": len(self.arrays) - 1}


class _Reader:
    """Builds values again: those kinds that are known here, and no others."""

    def __init__(self, arrays: list[NDArray[Any]]) -> None:
        self.arrays = arrays

    def value(self, told: Any) -> Any:
        if told is None or isinstance(told, bool | int | float | str):
            return told
        if not isinstance(told, dict):
            raise DamagedFileError("it holds a value of no known kind")
        readers: dict[str, Callable[[Any], Any]] = {
            "array": self._array,
            "names": lambda names: np.array([str(name) for name in names], dtype=object),
            "tuple": lambda items: tuple(self.value(item) for item in items),
            "list": lambda items: [self.value(item) for item in items],
            "dict": lambda items: {str(key): self.value(item) for key, item in items.items()},
        }
        try:
            if "model" in told:
                return self._model(told)
            if "value" in told:
                kind = VALUES[told["value"]]
                return kind(**{name: self.value(v) for name, v in told["fields"].items()})
            ((kind_name, content),) = told.items()
            return readers[kind_name](content)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            if isinstance(error, DamagedFileError):
                raise
            raise DamagedFileError(f"it holds a value of no known kind ({error})") from error

    def _array(self, index: Any) -> NDArray[Any]:
        if not isinstance(index, int) or not 0 <= index < len(self.arrays):
            raise DamagedFileError("it speaks of an array that it does not hold")
        return self.arrays[index]

    def _model(self, told: dict[str, Any]) -> Any:
        kind = MODELS[told["model"]]
        parameters = {name: self.value(v) for name, v in told["parameters"].items()}
        if not parameters.keys() <= set(signature(kind).parameters):
            raise DamagedFileError(f"it has parameters that {kind.__name__} does not know")
        model = kind(**parameters)
        for name, value in told["state"].items():
            if not name.isidentifier() or name.startswith("__") or hasattr(kind, name):
                raise DamagedFileError(f"it has an attribute {name!r} that no model has")
            setattr(model, name, self.value(value))
        return model
