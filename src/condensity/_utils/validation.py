"""Validation of the data that estimators receive.

Each error message contains the cause, the invalid value and the remedy.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence, Sized
from itertools import combinations
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from condensity._typing import Array, Indices, Mask
from condensity._utils.number_arrays import check_container, number_array
from condensity._utils.parameters import check_count

#: Limit for values; its inverse is the limit for standard deviations.  Beyond these limits,
#: products of squares could overflow or underflow.
LARGEST = 1e100
#: Training samples whose weight is a smaller share of the largest weight have the weight zero: they
#: change a fit by less than its rounding errors.
NEGLIGIBLE_WEIGHT = 1e-13


def check_sample(
    estimator: Any, X: Any, Y: Any, sample_weight: Any, *, part: bool = False
) -> tuple[Array, Array, Array, int]:
    """Training data as arrays: X (n, dx), Y (n, dy), weights (n,) and the number of axes of ``Y``.

    With ``part``, the data are one chunk of a larger sample: all weights may be zero, and the
    weights are not rescaled.
    """
    if Y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None: "
            "call fit(X, y)"
        )
    X = check_first_inputs(estimator, X)
    Y, axes = check_targets(Y)
    check_same_length(X, Y)
    weight = check_weight(sample_weight, len(X), empty=part)
    if not part:
        # Scale by a power of two: integer weights stay exact and act like repeated samples.
        weight = np.asarray(np.ldexp(weight, -int(np.frexp(weight.max())[1])))
        weight[weight < NEGLIGIBLE_WEIGHT * weight.max()] = 0.0
    return X, Y, weight, axes


def check_first_inputs(estimator: Any, X: Any) -> Array:
    """Training inputs as a finite float array (n, dx)."""
    check_container("X", X)
    names = column_names(X)
    remember_inputs(BaseEstimator(), X)  # raises an error for invalid feature names
    values = number_array("X", X, estimator=estimator, input_name="X")
    _representable("X", values, names)
    return values


def check_same_length(X: Sized, Y: Sized) -> None:
    """Raise an error unless X and Y have the same length."""
    if len(X) != len(Y):
        raise ValueError(
            f"X has {len(X)} rows but y has {len(Y)} (inconsistent numbers of samples): "
            "pass one target for each row of X"
        )


def remember_inputs(estimator: Any, X: Any) -> None:
    """Set ``n_features_in_`` and ``feature_names_in_``; called at the end of a successful fit."""
    validate_data(estimator, X, skip_check_array=True)


def check_inputs(estimator: Any, X: Any) -> Array:
    """Inputs as a finite float array (m, dx); the columns must be those of the fit."""
    values = number_array("X", X, estimator=estimator, input_name="X")
    validate_data(estimator, X, reset=False, skip_check_array=True)
    _representable("X", values, column_names(X))
    return values


def check_reduced(Z: Any, dz: int) -> Array:
    """Reduced inputs as a finite float array (m, dz)."""
    values = number_array("Z", Z)
    _representable("Z", values)
    if values.shape[1] != dz:
        raise ValueError(
            f"Z has {values.shape[1]} columns but n_components_ is {dz}: pass {dz} columns"
        )
    return values


def column_names(X: Any) -> Sequence[str] | None:
    """Column names of a data frame, or None."""
    return [str(name) for name in X.columns] if hasattr(X, "columns") else None


def check_targets(Y: Any, *, n_outputs: int | None = None) -> tuple[Array, int]:
    """Targets as a finite float array (m, dy), and the number of axes of the argument."""
    Y = number_array("y", Y, ensure_2d=False)
    axes = Y.ndim
    Y = Y.reshape(len(Y), -1)
    _representable("y", Y)
    if n_outputs is not None and Y.shape[1] != n_outputs:
        raise ValueError(
            f"y has {Y.shape[1]} columns but the density has {n_outputs} outputs: pass one column "
            "for each output"
        )
    return Y, axes


def check_weight(sample_weight: Any, n: int, *, empty: bool = False) -> Array:
    """Weights (n,), ones by default; with ``empty``, all of them may be zero."""
    if sample_weight is None:
        return np.ones(n)
    if isinstance(sample_weight, str):
        raise ValueError(
            f"sample_weight must contain one number for each sample, got {sample_weight!r}"
        )
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n, sample_weight)
    weight = number_array("sample_weight", sample_weight, ensure_2d=False)
    if weight.shape != (n,):
        raise ValueError(
            f"sample_weight must have shape ({n},), one weight for each sample, got {weight.shape}"
        )
    _finite("sample_weight", weight[:, None])
    if weight.min() < 0:
        row = int(weight.argmin())
        raise ValueError(
            f"sample_weight must be >= 0, got {weight[row]:g} at row {row}: "
            "use weight 0 for samples to ignore"
        )
    if not weight.any() and not empty:
        raise ValueError(
            "sample_weight is zero for every sample: at least two samples need a positive weight"
        )
    return weight


def check_folds(cv: Any, X: Array, Y: Array, weight: Array) -> int | Indices:
    """Number of folds, or the number of the test fold of each row (n,)."""
    if cv is None:
        return 5
    if isinstance(cv, Integral):
        return check_count("cv", cv, low=2, why=" (folds)")
    labels, times = np.zeros(len(X), dtype=np.intp), np.zeros(len(X), dtype=int)
    try:
        splits = list(cv.split(X, Y) if hasattr(cv, "split") else cv)
        for j, (_, held_out) in enumerate(splits):
            labels[held_out] = j
            np.add.at(times, held_out, 1)
    except (TypeError, ValueError, IndexError) as error:
        raise ValueError(
            "cv must be a number of folds, a splitter or a list of (train, test) row numbers for "
            f"the {len(X)} samples, got {cv!r} ({error})"
        ) from None
    if (times != 1).any():
        row = int(np.argmax(times != 1))
        raise ValueError(
            "cv must hold out every sample exactly once, like KFold and GroupKFold, "
            f"got row {row} in {times[row]} of {len(splits)} test folds"
        )
    if len(np.unique(labels[weight > 0])) < 2:
        raise ValueError(
            "cv has fewer than two folds with a positive weight: use a cv with more folds"
        )
    return labels


def check_usable(usable: Mask) -> None:
    """Raise an error if a fold contains all centres; ``usable`` is (folds, b)."""
    if not usable.any(axis=1).all():
        fold = int(np.argmin(usable.any(axis=1)))
        raise ValueError(
            f"fold {fold} contains all {usable.shape[1]} centres, so no model can be fitted "
            "without it: raise n_centers or use more folds"
        )


def check_pairs_of_folds(known: Mask) -> None:
    """Raise an error if two folds contain all centres; ``known`` is (folds, b).

    A model selected by cross-validation without one fold holds out a second fold.
    """
    n_folds, b = known.shape
    if n_folds < 3:
        raise ValueError(
            f"n_components='auto' needs at least 3 folds, got {n_folds}: raise cv or give "
            "n_components"
        )
    counts = known.sum(axis=0)
    for i, j in combinations(range(n_folds), 2):
        if not (counts > known[i].astype(int) + known[j]).any():
            raise ValueError(
                f"folds {i} and {j} contain all {b} centres, so no model can be selected without "
                "them: raise n_centers, use more folds or give n_components"
            )


def check_enough(name: str, n: int, n_distinct: int, *, n_folds: int | None, fix: str) -> None:
    """Raise an error if there are too few samples for the fit or for the folds.

    ``n_folds`` is None without cross-validation.  ``fix`` names the parameters to fix, which makes
    cross-validation unnecessary.
    """
    if n_distinct < 2:
        raise ValueError(
            f"{name} needs at least 2 distinct samples with positive weight, "
            f"got n_samples={n_distinct}: pass more data"
        )
    if n_folds is not None and n < n_folds:
        raise ValueError(
            f"{name} cannot split n_samples={n} (with positive weight) into cv={n_folds} "
            f"folds: pass cv={n} or less, or fix {fix}"
        )


def check_varies(
    x_sd: Array, y_sd: Array, names: Sequence[str] | None, *, subsample: int | None = None
) -> None:
    """Warn about constant inputs and raise an error for constant targets.

    ``x_sd`` (dx,) and ``y_sd`` (dy,) are standard deviations.  ``subsample`` is the size of the
    subsample that they come from, if there is one.
    """
    where = "" if subsample is None else f" in the subsample of {subsample} samples"
    if not y_sd.all():
        remedy = "drop this column or check its values"
        raise ValueError(
            f"y does not vary in column {_list(np.flatnonzero(y_sd == 0))}{where}: a constant has "
            f"no density; {remedy if subsample is None else 'raise subsample'}"
        )
    if not x_sd.any():
        raise ValueError(
            "X does not vary in any column: pass at least one input with different values"
        )
    for name, sd in (("X", x_sd), ("y", y_sd)):
        if sd[sd > 0].min() < 1 / LARGEST:
            raise ValueError(
                f"{name} has a standard deviation of only {sd[sd > 0].min():g}: rescale {name} "
                "to a standard deviation near 1"
            )
    if not x_sd.all():
        which = np.flatnonzero(x_sd == 0)
        warnings.warn(
            f"X does not vary in column {_list(which if names is None else np.take(names, which))}"
            f"{where}: it has no effect on the result; drop it"
            f"{' or raise subsample' if where else ''} to silence this warning",
            UserWarning,
            stacklevel=5,
        )


def _finite(name: str, values: Array, columns: Sequence[str] | None = None) -> None:
    """Raise an error if values (n, d) contain NaN or infinity."""
    bad = ~np.isfinite(values)
    if not bad.any():
        return
    row, column = np.argwhere(bad)[0]
    kind = "NaN" if np.isnan(values).any() else "infinity"
    where = column if columns is None else repr(columns[column])
    remedy = "drop these rows"
    if name in ("X", "Z"):
        remedy += " or impute them, for instance with sklearn.impute.SimpleImputer"
    raise ValueError(
        f"{name} contains {kind} in {int(bad.any(axis=1).sum())} of {len(values)} rows, first at "
        f"row {row}, column {where}: {remedy}"
    )


def _representable(name: str, values: Array, columns: Sequence[str] | None = None) -> None:
    """Raise an error unless values (n, d) are finite and not above the limit."""
    _finite(name, values, columns)
    largest = float(np.abs(values).max(initial=0.0))
    if largest > LARGEST:
        raise ValueError(
            f"{name} contains values as large as {largest:g}: rescale {name} to values near 1"
        )


def _list(items: Any) -> str:
    return ", ".join(str(item) for item in items)
