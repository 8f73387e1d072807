"""The way in: from what the caller gives to the samples that all is chosen with.

Of more samples than that, the others wait: coefficients are fitted to them as well, part by part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from condensity._validation import check_folds, check_sample, column_names
from condensity.core.kernels import Array, Indices
from condensity.core.lottery import drawn, tickets
from condensity.core.rows import Held, Rows, Spread
from condensity.core.sample import Sample


@dataclass(frozen=True, eq=False)
class Taken:
    """Training data past the gate."""

    X: Array  # (n, dx)
    Y: Array  # (n, dy)
    weight: Array  # (n,)
    folds: int | Indices | None  # how many, or the fold of each sample; None: nothing is held out
    y_axes: int
    names: Sequence[str] | None  # of the inputs
    n_all: int  # samples that were given
    others: Rows | None = None  # those that nothing is chosen with
    share: float = 1.0  # of the weight of all that were given


def take_in(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    cv: Any,
    subsample: int | None,
    seed: int,
    spread: Spread = map,
) -> Taken:
    """Pass the gate, and draw at most ``subsample`` samples that differ."""
    names = column_names(X)
    X, Y, weight, y_axes = check_sample(estimator, X, y, sample_weight)
    folds = None if cv is None else check_folds(cv, X, Y, weight)
    if subsample is None or len(X) <= subsample:
        return Taken(X, Y, weight, folds, y_axes, names, len(X))
    rows = np.flatnonzero(weight)
    rows = rows[drawn(tickets(X[rows], Y[rows], seed), subsample)]
    left = weight > 0
    left[rows] = False
    others = Held(Sample(X, Y, weight), left, spread) if left.any() else None
    return Taken(
        X[rows],
        Y[rows],
        weight[rows],
        folds[rows] if isinstance(folds, np.ndarray) else folds,
        y_axes,
        names,
        len(X),
        others,
        float(weight[rows].sum() / weight.sum()),
    )
