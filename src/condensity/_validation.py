"""The one gate: whatever comes from outside is checked here, and all refusals are worded here.

An error says what is wrong, which value was met and what to do about it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, validate_data

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


def check_sample(
    estimator: Any, X: Any, Y: Any, sample_weight: Any
) -> tuple[Array, Array, Array, int]:
    """Training data as arrays: X (n, dx), Y (n, dy), weights (n,) and how many axes Y had."""
    if Y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None: "
            "call fit(X, y)"
        )
    names = column_names(X)
    X = _numeric("X", lambda: check_array(X, estimator=estimator, input_name="X", **_OURS))
    _finite("X", X, names)
    Y, axes = check_targets(Y)
    if len(X) != len(Y):
        raise ValueError(
            f"X has {len(X)} rows but y has {len(Y)} (inconsistent numbers of samples): "
            "pass one target for each row of X"
        )
    return X, Y, check_weight(sample_weight, len(X)), axes


def remember_inputs(estimator: Any, X: Any) -> None:
    """Set ``n_features_in_`` and ``feature_names_in_``: once all else has succeeded."""
    validate_data(estimator, X, skip_check_array=True)


def check_inputs(estimator: Any, X: Any) -> Array:
    """Inputs as a finite float array (m, dx) with the columns of the fit."""
    names = column_names(X)
    X = _numeric("X", lambda: validate_data(estimator, X, reset=False, **_OURS))
    _finite("X", X, names)
    return np.asarray(X)


def check_reduced(Z: Any, dz: int) -> Array:
    """Reduced inputs as a finite float array (m, dz)."""
    Z = _numeric("Z", lambda: check_array(Z, **_OURS))
    _finite("Z", Z, None)
    if Z.shape[1] != dz:
        raise ValueError(f"Z has {Z.shape[1]} columns but n_components_ is {dz}: pass as many")
    return np.asarray(Z)


def column_names(X: Any) -> Sequence[str] | None:
    """The names of a frame's columns."""
    return [str(name) for name in X.columns] if hasattr(X, "columns") else None


def check_targets(Y: Any, *, n_outputs: int | None = None) -> tuple[Array, int]:
    """Targets as a finite float array (m, dy) and the number of axes they came with."""
    Y = _numeric("y", lambda: check_array(Y, ensure_2d=False, **_OURS))
    axes = Y.ndim
    Y = Y.reshape(len(Y), -1)
    _finite("y", Y, None)
    if n_outputs is not None and Y.shape[1] != n_outputs:
        raise ValueError(
            f"y has {Y.shape[1]} columns but {n_outputs} were fitted: pass the same targets"
        )
    return Y, axes


def check_weight(sample_weight: Any, n: int) -> Array:
    """Weights (n,), ones by default."""
    if sample_weight is None:
        return np.ones(n)
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n, sample_weight)
    weight = _numeric(
        "sample_weight",
        lambda: check_array(sample_weight, ensure_2d=False, **_OURS),
    )
    if weight.shape != (n,):
        raise ValueError(
            f"sample_weight must have shape ({n},), one weight a sample, got {weight.shape}"
        )
    _finite("sample_weight", weight[:, None], None)
    if weight.min() < 0:
        row = int(weight.argmin())
        raise ValueError(
            f"sample_weight must be >= 0, got {weight[row]:g} at row {row}: "
            "give samples that should not count the weight 0"
        )
    if not weight.any():
        raise ValueError(
            "sample_weight is zero for every sample: at least two samples need a positive weight"
        )
    return np.asarray(weight)


def check_folds(cv: Any, X: Array, Y: Array) -> int | NDArray[np.intp]:
    """A number of folds, or for each row the fold that holds it out (n,)."""
    if isinstance(cv, Integral):
        return check_count("cv", cv, low=2, why=" (folds)")
    if (not hasattr(cv, "split") and not isinstance(cv, Iterable)) or isinstance(cv, str):
        raise ValueError(f"cv must be a number of folds, a splitter or splits, got {cv!r}")
    splits = list(cv.split(X, Y) if hasattr(cv, "split") else cv)
    labels, times = np.zeros(len(X), dtype=np.intp), np.zeros(len(X), dtype=int)
    for j, (_, held_out) in enumerate(splits):
        labels[held_out] = j
        times[held_out] += 1
    if (times != 1).any() or len(splits) < 2:
        row = int(np.argmax(times != 1))
        raise ValueError(
            f"cv must hold every sample out in exactly one of two or more folds, as KFold and "
            f"GroupKFold do, got {len(splits)} folds with row {row} in {times[row]} of them"
        )
    return labels


def check_enough(name: str, n: int, n_distinct: int, *, n_folds: int | None) -> None:
    """Refuse samples too small to fit, or to cut into folds when something is to be selected."""
    if n_distinct < 2:
        raise ValueError(
            f"{name} needs at least 2 distinct samples with positive weight, "
            f"got n_samples={n_distinct}: pass more data"
        )
    if n_folds is not None and n < n_folds:
        raise ValueError(
            f"{name} cannot cut n_samples={n} (with positive weight) into cv={n_folds} "
            f"folds: pass cv={n} or less, or fix both bandwidth and penalty"
        )


def check_varies(x_varies: Mask, y_varies: Mask, names: Sequence[str] | None) -> None:
    """Warn of constant inputs, refuse constant targets."""
    if not y_varies.all():
        raise ValueError(
            f"y does not vary in column {_list((~y_varies).nonzero()[0])}: a constant has no "
            "density; drop that column"
        )
    if not x_varies.any():
        raise ValueError("X does not vary in any column: there is nothing to condition on")
    if not x_varies.all():
        which = (~x_varies).nonzero()[0]
        warnings.warn(
            f"X does not vary in column {_list(which if names is None else np.take(names, which))}"
            ": kept with zero weight; drop it to silence this warning",
            UserWarning,
            stacklevel=4,
        )


def check_count(name: str, value: Any, *, low: int, high: int | None = None, why: str = "") -> int:
    """An integer in ``[low, high]``."""
    is_integer = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_integer or value < low or (high is not None and value > high):
        span = f">= {low}" if high is None else f"between {low} and {high}"
        raise ValueError(f"{name} must be an integer {span}{why}, got {value!r}")
    return int(value)


def check_bandwidth(value: Any) -> tuple[float, float] | None:
    """None, a number, or a pair ``(sigma_z, sigma_y)``, all positive."""
    if value is None:
        return None
    pair = (value, value) if isinstance(value, Real) else value
    ok = isinstance(pair, Sequence | np.ndarray) and not isinstance(pair, str) and len(pair) == 2
    if not ok or not all(isinstance(s, Real) and 0 < float(s) < np.inf for s in pair):
        raise ValueError(
            "bandwidth must be None (selected), a positive number or a pair of them "
            f"(sigma_z, sigma_y) in standardised units, got {value!r}"
        )
    return float(pair[0]), float(pair[1])


def check_penalty(value: Any) -> float | None:
    """None or a number >= 0."""
    if value is None:
        return None
    if not isinstance(value, Real) or not 0 <= float(value) < np.inf:
        raise ValueError(
            f"penalty must be None (selected) or a number >= 0, got {value!r}: "
            "it weighs |alpha|^2 / 2"
        )
    return float(value)


def check_option(name: str, value: Any, options: Sequence[str]) -> str:
    """One of ``options``."""
    if value not in options:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, options))}, got {value!r}")
    return str(value)


def check_rng(random_state: Any) -> np.random.Generator:
    """A generator from None, an integer, a ``RandomState`` or a ``Generator``."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, size=4, dtype=np.uint32))
    if random_state is None:
        return np.random.default_rng()
    return np.random.default_rng(
        check_count("random_state", random_state, low=0, why=", None, a RandomState or a Generator")
    )


# Finiteness is checked below, with words that say where.
_OURS: dict[str, Any] = {"dtype": np.float64, "order": "C", "ensure_all_finite": False}


def _numeric(name: str, convert: Callable[[], Array]) -> Array:
    """Run scikit-learn's conversion; add the remedy to its two tersest refusals."""
    try:
        return convert()
    except ValueError as error:
        if "Complex data" in str(error):
            raise ValueError(
                f"Complex data not supported: {name} is complex; pass real and imaginary parts as "
                "separate columns"
            ) from None
        if "could not convert string" in str(error):
            raise ValueError(
                f"{name} holds text ({error}): encode categories as numbers first, for instance "
                "with sklearn.preprocessing.OneHotEncoder"
            ) from None
        raise


def _finite(name: str, values: Array, columns: Sequence[str] | None) -> None:
    bad = ~np.isfinite(values)
    if not bad.any():
        return
    row, column = np.argwhere(bad)[0]
    kind = "NaN" if np.isnan(values).any() else "infinity"
    where = column if columns is None else repr(columns[column])
    raise ValueError(
        f"{name} contains {kind} in {int(bad.any(axis=1).sum())} of {len(values)} rows, first at "
        f"row {row}, column {where}: drop these rows or fill them in, for instance with "
        "sklearn.impute.SimpleImputer"
    )


def _list(items: Any) -> str:
    return ", ".join(str(item) for item in items)
