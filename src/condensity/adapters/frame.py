"""Numbers of conditional densities as the columns of a data frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condensity._utils.extras import require
from condensity._utils.names import output_names


def as_frame(
    dist: Any, quantiles: ArrayLike, index: Any = None, outputs: Sequence[str] | None = None
) -> Any:
    """Means, standard deviations and quantiles as a data frame of pandas.

    Parameters
    ----------
    dist : Distribution
        Densities of m rows, each over dy outputs.
    quantiles : array-like of shape (k,)
        Levels of the quantiles.
    index : pandas.Index or sequence of length m, default=None
        Names of the rows; None: 0, 1, ....
    outputs : sequence of str of length dy, default=None
        Names of the outputs.

    Returns
    -------
    pandas.DataFrame
        One row for each density.

    Raises
    ------
    ModuleNotFoundError
        If pandas is not installed.
    ValueError
        If the number of names is wrong.
    """
    pandas = require("pandas", "pandas")
    levels = np.asarray(quantiles, dtype=float)
    if levels.ndim != 1:
        raise ValueError(
            f"quantiles must be a list of levels, got shape {levels.shape}: pass (0.5,) for one"
        )
    _check_count("index", index, len(dist), "row")
    _check_count("outputs", outputs, dist.n_outputs, "output")
    prefixes = [f"{name}_" for name in outputs or output_names(dist.n_outputs)]
    if outputs is None and dist.n_outputs == 1:
        prefixes = [""]
    columns = {}
    for prefix, marginal in zip(prefixes, dist.marginals(), strict=True):
        columns[f"{prefix}mean"], columns[f"{prefix}std"] = marginal.mean(), marginal.std()
        for level, values in zip(levels.tolist(), marginal.quantile(levels).T, strict=True):
            columns[f"{prefix}q{level}"] = values
    return pandas.DataFrame(columns, index=index)


def _check_count(name: str, labels: Any, count: int, what: str) -> None:
    if labels is not None and (isinstance(labels, str) or len(labels) != count):
        found = repr(labels) if isinstance(labels, str) else len(labels)
        raise ValueError(
            f"{name} must have {count} names, got {found}: pass a list with one name for each "
            f"{what}"
        )
