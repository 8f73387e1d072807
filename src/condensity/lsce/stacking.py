"""Stacking: the weights with which configurations enter the average.

They minimise the loss of the weighted average at samples new to its members, over the simplex:
for quadratic scores a small quadratic programme, ``1/2 w^T M w - w^T b`` with M the means of
products like ``int p_c p_c'``, for the log loss a convex programme.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import minimize

from condensity._typing import Array
from condensity._utils.numerics import row_blocks
from condensity.distributions._overlap import overlap
from condensity.distributions.block import Block
from condensity.fitting.scores import Score
from condensity.lsce.crossfit import HeldOutEvaluation

#: Configurations with less weight are left out: they cost more than they tell.
NEGLIGIBLE = 0.02


def stack(judgements: Sequence[HeldOutEvaluation]) -> tuple[Array, float]:
    """Weights of the judged densities, (C,), non-negative, their sum one; the average's loss."""
    names = [j.crossfit.location for j in judgements]
    weights = np.zeros(len(judgements))
    for name in dict.fromkeys(names):  # first by themselves: products between locations are dear
        own = [i for i, other in enumerate(names) if other == name]
        weights[own] = minimise_on_simplex(loss_of_average([judgements[i] for i in own]), len(own))
    kept = [i for i, weight in enumerate(weights) if weight > NEGLIGIBLE]
    weights[:] = 0.0
    loss = loss_of_average([judgements[i] for i in kept])
    found = minimise_on_simplex(loss, len(kept))
    found[found < NEGLIGIBLE] = 0.0
    weights[kept] = found / found.sum()
    return weights, loss(weights[kept])[0]


#: A function of the weights with its gradient.
Loss = Callable[[Array], tuple[float, Array]]


def minimise_on_simplex(loss: Loss, size: int) -> Array:
    """Minimise a convex ``loss``, given with its gradient, over weights that sum to one."""
    if size == 1:
        return np.ones(1)
    start = np.full(size, 1.0 / size)
    unit = max(abs(loss(start)[0]), 1e-300)
    found = minimize(
        lambda w: tuple(part / unit for part in loss(w)),
        start,
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * size,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1, "jac": lambda w: np.ones(size)},
        options={"ftol": 1e-10, "maxiter": 500},
    )
    weights = np.clip(found.x, 0.0, None)
    return np.asarray(weights / weights.sum())


def loss_of_average(judgements: Sequence[HeldOutEvaluation]) -> Loss:
    """The loss of a weighted average at samples new to its members."""
    crossfit = judgements[0].crossfit
    weight, sign = crossfit.whole.weight, crossfit.score.sign
    if sign == 0:
        density = np.column_stack([j.matches for j in judgements])
        return lambda w: _log_loss(w, density, weight)
    M = np.empty((len(judgements), len(judgements)))
    for i, ours in enumerate(judgements):
        for j, theirs in enumerate(judgements[: i + 1]):
            M[i, j] = M[j, i] = weight @ _products(ours, theirs)
    gain = np.array([weight @ j.matches for j in judgements])
    return lambda w: (sign * float(0.5 * w @ M @ w - w @ gain), sign * (M @ w - gain))


def _log_loss(w: Array, density: Array, weight: Array) -> tuple[float, Array]:
    """``-sum_i weight_i log (w^T density_i)`` and its gradient."""
    mixed = np.maximum(density @ w, 1e-300)
    return -float(weight @ np.log(mixed)), -(weight / mixed) @ density


def _products(ours: HeldOutEvaluation, theirs: HeldOutEvaluation) -> Array:
    """``int p_a p_b``, or what the score has in its place, at samples new to both: (n,)."""
    crossfit = ours.crossfit
    if crossfit.location == theirs.crossfit.location:
        return np.asarray(crossfit.products(ours.parts, theirs.parts)[0])
    found = []
    for view in range(len(crossfit.views)):  # both locations deal the samples alike
        left, right = ours.densities(view), theirs.densities(view)
        products = [_product(crossfit.score, a, b) for a in left for b in right]
        found.append(np.sum(products, axis=0)[None])
    return np.asarray(crossfit.by_sample(found)[0])


def _product(score: Score, a: Block, b: Block) -> Array:
    if score.name == "squared":
        return overlap(a, b)
    out = np.zeros(len(a))
    variance = a.covariance[0, 0] + b.covariance[0, 0]
    for rows in row_blocks(len(a), a.centers.size * b.centers.size):
        x, y = a.take(rows), b.take(rows)
        squared = (x.means()[:, :, None, 0] - y.means()[:, None, :, 0]) ** 2
        table = score.compare(squared, np.asarray(variance), 1)
        out[rows] = np.einsum("rk,rkl,rl->r", x.weights, table, y.weights, optimize=True)
    return out
