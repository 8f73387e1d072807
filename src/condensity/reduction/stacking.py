"""Stacking: the weights with which configurations enter the average.

They minimise the loss of the weighted average at samples new to its members, over the simplex:
for quadratic scores a small quadratic programme, ``1/2 w^T M w - w^T b`` with M the means of
products like ``int p_c p_c'``, for the log loss a convex programme.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import minimize

from condensity.core.averaged import as_blocks
from condensity.core.blocks import Block
from condensity.core.kernels import Array, row_blocks
from condensity.core.pairs import overlap
from condensity.core.scores import Score
from condensity.reduction.configurations import Configuration
from condensity.reduction.crossfit import Crossfit, Judged

#: Configurations with less weight are left out: they cost more than they tell.
NEGLIGIBLE = 0.02


def stack(
    configurations: Sequence[Configuration], judged: Sequence[Sequence[Judged]]
) -> tuple[Array, float]:
    """Weights of the configurations, (C,), non-negative, their sum one, and the average's loss.

    ``judged`` tells for each how the samples look that every member has not seen.
    """
    names = [c.location for c in configurations]
    weights = np.zeros(len(configurations))
    for name in dict.fromkeys(names):  # first by themselves: products between locations are dear
        own = [i for i, other in enumerate(names) if other == name]
        loss = _loss([configurations[i] for i in own], [judged[i] for i in own])
        weights[own] = minimise_on_simplex(loss, len(own))
    kept = [i for i, weight in enumerate(weights) if weight > NEGLIGIBLE]
    weights[:] = 0.0
    loss = _loss([configurations[i] for i in kept], [judged[i] for i in kept])
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


def _loss(configurations: Sequence[Configuration], judged: Sequence[Sequence[Judged]]) -> Loss:
    """The loss of a weighted average at samples new to its members."""
    crossfit = _crossfit(configurations[0])
    weight, sign = crossfit.whole.weight, crossfit.score.sign
    matches = [crossfit.by_sample([j.match for j in own])[0] for own in judged]
    if sign == 0:
        density = np.column_stack(matches)
        return lambda w: _log_loss(w, density, weight)
    M = np.empty((len(judged), len(judged)))
    for i, a in enumerate(configurations):
        for j, b in enumerate(configurations[: i + 1]):
            M[i, j] = M[j, i] = weight @ _products(a, judged[i], b, judged[j])
    gain = np.array([weight @ match for match in matches])
    return lambda w: (sign * float(0.5 * w @ M @ w - w @ gain), sign * (M @ w - gain))


def _log_loss(w: Array, density: Array, weight: Array) -> tuple[float, Array]:
    """``-sum_i weight_i log (w^T density_i)`` and its gradient."""
    mixed = np.maximum(density @ w, 1e-300)
    return -float(weight @ np.log(mixed)), -(weight / mixed) @ density


def _crossfit(c: Configuration) -> Crossfit:
    assert c.crossfit is not None  # only what was judged can be stacked
    return c.crossfit


def _products(
    a: Configuration, ours: Sequence[Judged], b: Configuration, theirs: Sequence[Judged]
) -> Array:
    """``int p_a p_b``, or what the score has in its place, at samples new to both: (n,)."""
    crossfit = _crossfit(a)
    if a.location == b.location:
        return np.asarray(crossfit.products(ours, theirs)[0])
    found = []
    for member in range(len(ours)):  # both locations deal the samples alike
        left, right = densities(a, member, ours[member]), densities(b, member, theirs[member])
        products = [_product(crossfit.score, x, y) for x in left for y in right]
        found.append(np.sum(products, axis=0)[None])
    return np.asarray(crossfit.by_sample(found)[0])


def densities(c: Configuration, member: int, judged: Judged) -> list[Block]:
    """The densities of held-out samples in the frame of their location: kernels, background."""
    view = _crossfit(c).views[member]
    shift = view.location.at(view.held_out.X)
    return as_blocks(judged.weights[0], judged.components, view.factor, shift)


def _product(score: Score, a: Block, b: Block) -> Array:
    if score.name == "squared":
        return overlap(a, b)
    out = np.zeros(len(a))
    variance = a.covariance[0, 0] + b.covariance[0, 0]
    for rows in row_blocks(len(a), a.centers.size * b.centers.size):
        x, y = a.take(rows), b.take(rows)
        squared = (x.means()[:, :, None, 0] - y.means()[:, None, :, 0]) ** 2
        table = score.compare(squared, np.asarray(variance), 1)
        left, right = np.exp(x.log_weights), np.exp(y.log_weights)
        out[rows] = np.einsum("rk,rkl,rl->r", left, table, right, optimize=True)
    return out
