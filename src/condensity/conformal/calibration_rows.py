"""Which samples fit a model, and which ones calibrate it."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from condensity._typing import Indices
from condensity._utils.parameters import check_count, check_option

Splits = list[tuple[Indices, Indices]]


def calibration_rows(
    cv: Any, calibration_size: Any, X: Any, y: Any, groups: Any, rng: np.random.Generator
) -> Splits:
    """Training and calibration rows of each model."""
    rows = np.arange(len(y))
    if isinstance(cv, str):
        check_option("cv", cv, ("split", "prefit"))
        return [(rows[:0], rows)] if cv == "prefit" else [_split(calibration_size, len(y), rng)]
    integer = isinstance(cv, Integral)
    folds = _random_folds(cv, X, y, rng) if integer else _given_splits(cv, X, y, groups)
    _check_folds(folds, rows)
    return folds


def _split(calibration_size: Any, n: int, rng: np.random.Generator) -> tuple[Indices, Indices]:
    """A random part of the samples calibrates."""
    if n < 2:
        raise ValueError(f"Conformal needs at least 2 samples to split, got n_samples={n}")
    order = rng.permutation(n)
    count = _calibration_count(calibration_size, n)
    return np.sort(order[count:]), np.sort(order[:count])


def _calibration_count(size: Any, n: int) -> int:
    """Number of calibration samples out of n."""
    share = not isinstance(size, Integral)
    if (share and not 0 < float(size) < 1) or (not share and not 1 <= size < n):
        raise ValueError(
            "calibration_size must be a share strictly between 0 and 1 or a number of samples "
            f"below n_samples={n}, got {size!r}"
        )
    count = round(float(size) * n) if share else int(size)
    return min(max(count, 1), n - 1)


def _random_folds(cv: Any, X: Any, y: Any, rng: np.random.Generator) -> Splits:
    """Random folds; they ignore groups, which are only calibrated by themselves."""
    # Imported here because it imports rich if installed.
    from sklearn.model_selection import KFold

    check_count("cv", cv, low=2)
    if len(y) < int(cv):
        raise ValueError(
            f"Conformal cannot split n_samples={len(y)} into cv={cv} folds: pass more "
            "samples or fewer folds"
        )
    seed = int(rng.integers(2**31))
    return list(KFold(int(cv), shuffle=True, random_state=seed).split(X, y))


def _given_splits(cv: Any, X: Any, y: Any, groups: Any) -> Splits:
    """The splits of a splitter or an iterable."""
    from sklearn.model_selection import check_cv  # see above

    return list(check_cv(cv).split(X, y, groups))


def _check_folds(folds: Splits, rows: Indices) -> None:
    """Check that each row is held out once, and calibrates no model that was fitted to it."""
    held_out = np.sort(np.concatenate([test for _, test in folds]))
    if not np.array_equal(held_out, rows) or len(folds) < 2:
        raise ValueError("cv must hold out every sample exactly once, in at least two folds")
    for k, (train, test) in enumerate(folds):
        common = np.intersect1d(rows[train], rows[test])
        if len(common):
            raise ValueError(
                "cv must not fit a model to the samples that calibrate it, but "
                f"{len(common)} of the held-out rows of split {k} are also in its training "
                "rows: remove them there"
            )
