"""Minimisation over weights that are non-negative and sum to one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from condensity._typing import Array

#: A function of the weights with its gradient.
Loss = Callable[[Array], tuple[float, Array]]


def minimise_on_simplex(loss: Loss, size: int, start: Array | None = None) -> Array:
    """Minimise a ``loss``, given with its gradient, over weights that sum to one.

    The minimum is the global one if the loss is convex.  The first weights are ``start`` (size,),
    or equal.
    """
    if size == 1:
        return np.ones(1)
    start = np.full(size, 1.0 / size) if start is None else start
    unit = max(abs(loss(start)[0]), 1e-300)
    solution = minimize(
        lambda w: tuple(part / unit for part in loss(w)),
        start,
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * size,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1, "jac": lambda w: np.ones(size)},
        options={"ftol": 1e-10, "maxiter": 500},
    )
    weights = np.clip(solution.x, 0.0, None)
    return np.asarray(weights / weights.sum())
