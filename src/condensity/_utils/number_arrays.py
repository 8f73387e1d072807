"""Input data as arrays of floats; everything that is not a number is refused with the remedy."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, time, timedelta
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from condensity._typing import Array

#: Cells that stand for times; numpy would convert some of them to integers without an error.
TIMES = (date, time, timedelta, np.datetime64, np.timedelta64)


def number_array(name: str, values: Any, **options: Any) -> Array:
    """Values as floats; text, dates and complex numbers raise an error."""
    check_container(name, values)
    try:
        raw = check_array(values, dtype=None, order="C", ensure_all_finite=False, **options)
    except ValueError as error:
        if "Complex data" not in str(error):
            raise
        raise ValueError(_complex(name)) from None
    cells = raw.ravel() if raw.dtype == object else ()
    if raw.dtype.kind in "US" or any(isinstance(cell, str | bytes) for cell in cells):
        remedy = "pass numbers; convert numeric text with astype(float)"
        if name == "X":
            remedy += " and categories with sklearn.preprocessing.OneHotEncoder"
        raise ValueError(f"{name} contains text: {remedy}")
    if any(isinstance(cell, complex) for cell in cells):
        raise ValueError(_complex(name))
    if raw.dtype.kind in "mM" or any(isinstance(cell, TIMES) for cell in cells):
        raise ValueError(_times(name))
    try:
        return np.asarray(raw, dtype=np.float64)
    except ValueError as error:
        raise ValueError(
            f"{name} contains values that are not numbers ({error}): pass one number in each cell"
        ) from None


def check_container(name: str, values: Any) -> None:
    """Raise an error for a dict, and for an array whose mask would be lost."""
    if isinstance(values, Mapping) and not hasattr(values, "shape"):  # sparse matrices may be dicts
        raise ValueError(
            f"{name} is a {type(values).__name__}: pass pandas.DataFrame({name}), or an array with "
            "np.column_stack of its values; condensity.tables.fit_table accepts a dict of columns"
        )
    if np.ma.is_masked(values):
        raise ValueError(
            f"{name} is a masked array with {int(np.ma.getmaskarray(values).sum())} masked values: "
            "drop these rows, or impute the values and pass filled values"
        )
    if hasattr(values, "columns") and hasattr(values, "dtypes"):
        pairs = zip(values.columns, values.dtypes, strict=True)
        columns = [repr(str(column)) for column, dtype in pairs if _is_time(dtype)]
        if columns:
            raise ValueError(_times(f"{name} in column {', '.join(columns)}"))


def _is_time(dtype: Any) -> bool:
    """Whether a type of pandas or polars is a date, a time or a duration."""
    kind, is_temporal = getattr(dtype, "kind", None), getattr(dtype, "is_temporal", None)
    return kind in ("m", "M") or (callable(is_temporal) and bool(is_temporal()))


def _times(name: str) -> str:
    """Error message for dates and times."""
    return (
        f"{name} contains dates or times: replace them by numbers, for instance the days since the "
        "first date, or the year, the month and the hour as separate columns"
    )


def _complex(name: str) -> str:
    """Error message for complex numbers."""
    return (
        f"Complex data not supported: {name} is complex; pass real and imaginary parts as "
        "separate columns"
    )
