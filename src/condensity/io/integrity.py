"""Integrity checks of a model that was read from a file."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from condensity._typing import Array
from condensity._utils.validation import LARGEST
from condensity.estimators import FixedSubspace, Reduced
from condensity.fitting.trees import TreeSum
from condensity.io.container import DamagedFileError
from condensity.io.invariants import check_density, check_scaling
from condensity.io.location_invariants import check_trees
from condensity.io.value_checks import check_array, check_kind, check_number
from condensity.targets.class_probabilities import ClassProbabilities, LogisticModel, TreeModel
from condensity.targets.with_atoms import WithAtoms

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
    """Check that the parts of the loaded model fit together and give finite densities."""
    try:
        _check_model(model)
        _check_query(model)
    except DamagedFileError:
        raise
    except Exception as error:
        raise DamagedFileError(f"its parts do not fit together ({error})") from error


def _check_model(model: Any) -> None:
    """Check shapes and numbers; the steps of a model in two steps are models themselves."""
    dx = _count(model, "n_features_in_")
    _check_attributes(model, dx)
    if isinstance(model, Reduced):
        _check_steps(model, dx)
    elif isinstance(model, WithAtoms):
        _check_atoms(model, dx)
    elif hasattr(model, "predict_dist"):
        check_density(model._density, dx, _count(model, "_n_outputs"))
        if hasattr(model, "transform"):
            _check_directions(model, dx)
            _check_reduced_inputs(model)
    else:
        _check_directions(model, dx)
        if not isinstance(model, FixedSubspace):
            check_scaling(model._x_scaling, dx)
    if hasattr(model, "predict_dist"):
        _check_outputs(model)


def _count(model: Any, name: str) -> int:
    """A positive whole number among the attributes of the model."""
    value = getattr(model, name, None)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise DamagedFileError(f"{name} must be a positive whole number, got {value!r:.20}")
    return value


def _check_steps(model: Reduced, dx: int) -> None:
    reducer, density = model.reducer_, model.density_
    if not hasattr(reducer, "transform") or not hasattr(density, "predict_dist"):
        raise DamagedFileError("its steps are not a reducer and a density")
    _check_model(reducer)
    _check_model(density)
    counts = _count(model, "n_components_"), _count(model, "_n_outputs")
    found = (reducer.n_features_in_, reducer._n_features_out, density.n_features_in_)
    if (*found, density._n_outputs) != (dx, counts[0], *counts):
        raise DamagedFileError("its reducer and its density do not fit together")


def _check_atoms(model: WithAtoms, dx: int) -> None:
    """Check the density, the atoms, and the model of their probabilities."""
    if not hasattr(model.density_, "predict_dist"):
        raise DamagedFileError("the density beside its atoms is not a density")
    _check_model(model.density_)
    if (model.density_.n_features_in_, model.density_._n_outputs, model._n_outputs) != (dx, 1, 1):
        raise DamagedFileError("its density does not fit its inputs, or has several outputs")
    atoms: Any = model.atoms_  # whatever the file holds
    count = len(atoms) if isinstance(atoms, np.ndarray) else -1
    check_array("atoms_", atoms, (count,), most=LARGEST)
    if np.any(np.diff(model.atoms_) <= 0):
        raise DamagedFileError("atoms_ must be in increasing order")
    if count > 0:
        _check_class_probabilities(model._probabilities, dx, count + 1)
    elif model._probabilities is not None:
        raise DamagedFileError("there are probabilities, but no atoms")


def _check_class_probabilities(probabilities: Any, dx: int, n_classes: int) -> None:
    """Check the probabilities of ``n_classes`` given ``dx`` inputs."""
    check_kind("probabilities of classes", probabilities, ClassProbabilities)
    weights, models = probabilities.weights, probabilities.models
    check_array(
        "the frequencies of classes", probabilities.frequencies, (n_classes,), least=0.0, most=1.0
    )
    if len(weights) != len(models) + 1:
        raise DamagedFileError("an average of probabilities needs a weight for each model")
    for weight in weights:
        check_number("the weight of a model", weight, least=0.0, most=1.0)
    # Every class has a probability, so that the sum of an answer is never zero.
    if weights[0] <= 0 or probabilities.frequencies.min() <= 0:
        raise DamagedFileError("a class has no probability")
    for model in models:
        check_kind("a model of classes", model, (LogisticModel, TreeModel))
        check_scaling(model.scaling, dx)
        if isinstance(model, LogisticModel):
            check_array("the intercept of a model of classes", model.intercept, (n_classes,))
            check_array("the slope of a model of classes", model.slope, (dx, n_classes))
        else:
            check_kind("trees", model.trees, TreeSum)
            check_trees(model.trees, dx, n_classes)


def _check_directions(model: Any, dx: int) -> None:
    dz = _count(model, "_n_features_out")
    check_array("components_", model.components_, (dz, dx))


def _check_reduced_inputs(model: Any) -> None:
    """Check the number of reduced inputs, which those who use the density alone give."""
    dz = _count(model, "n_components_")
    if not dz == model._n_features_out == len(model._density.W):
        raise DamagedFileError("n_components_ is not the number of directions")


def _check_outputs(model: Any) -> None:
    if model._y_axes not in (1, 2) or (model._y_axes == 1 and model._n_outputs > 1):
        raise DamagedFileError("the number of axes of the outputs must be 1 or 2")


def _check_query(model: Any) -> None:
    """Check the answer for the zero vector; its cost is proportional to the size of the model."""
    row = np.zeros((1, model.n_features_in_))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the query has no column names
        answers = [model.transform(row)] if hasattr(model, "transform") else []
        if hasattr(model, "predict_dist"):
            answers += _density_answers(model, row)
    if not all(np.isfinite(answer).all() for answer in answers):
        raise DamagedFileError("its predictions are not finite numbers")


def _density_answers(model: Any, row: Array) -> list[Array]:
    """The mean, and the density there."""
    dist = model.predict_dist(row)
    mass = dist.marginal(0).prob(-np.inf, np.inf)
    if abs(float(mass[0]) - 1.0) > 1e-6:
        raise DamagedFileError(f"its density has the mass {float(mass[0]):g}, not 1")
    mean = np.reshape(dist.mean(), (1, -1))
    return [mean, dist.pdf(mean)]


def _check_attributes(model: Any, dx: int) -> None:
    """Check the attributes that predictions do not use."""
    attributes = vars(model)
    names = attributes.get("feature_names_in_")
    if names is not None and (np.shape(names) != (dx,) or len(set(names)) != dx):
        raise DamagedFileError(f"feature_names_in_ must contain {dx} different names")
    if not isinstance(attributes.get("location_", ""), str):
        raise DamagedFileError("location_ must be a string")
    limits = attributes.get("input_range_")
    if limits is not None:
        check_array("input_range_", limits, (2, dx), most=LARGEST)
    for name, axes in AXES.items():
        value = attributes.get(name)
        if value is None:
            continue
        array = np.asarray(value)
        if array.dtype.kind not in "fiu" or array.ndim not in axes:
            numbers = " or ".join(map(str, axes))
            raise DamagedFileError(f"{name} must be a numeric array with {numbers} axes")
