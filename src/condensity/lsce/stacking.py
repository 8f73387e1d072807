"""Stacking: the weights of the configurations in the average.

They minimise the held-out loss of the weighted average over the simplex.  For quadratic scores this
is a small quadratic programme, ``1/2 w^T M w - w^T b`` with M the means of products like ``int p_c
p_c'``; for the log loss it is a convex programme.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from condensity._typing import Array, Indices
from condensity._utils.numerics import row_blocks
from condensity.distributions._overlap import mean_overlaps
from condensity.distributions.block import Block
from condensity.fitting.simplex import Loss, minimise_on_simplex
from condensity.lsce.configurations import (
    Configuration,
    expected_optimism,
    fewest_components,
    stacking_excess,
)
from condensity.members.crossfit import Crossfit, HeldOutEvaluation
from condensity.members.settings import EnsembleOptions

#: Configurations with less weight are dropped: their gain is not worth their cost.
NEGLIGIBLE = 0.02


def weigh(options: EnsembleOptions, configurations: Sequence[Configuration]) -> tuple[Array, float]:
    """Stacking weights and the loss to expect; a single model is the best configuration."""
    if options.n_members > 1:
        evaluations = [c.evaluate() for c in configurations]
        weights, loss = stack(evaluations, stacking_excess(configurations))
    else:
        best = fewest_components(configurations)
        weights, loss = np.array([float(c is best) for c in configurations]), best.loss
    return weights, loss + float(weights @ expected_optimism(configurations))


def stack(evaluations: Sequence[HeldOutEvaluation], excess: Array) -> tuple[Array, float]:
    """Weights (C,) of the evaluated densities, and the held-out loss of their average.

    The weights are non-negative and sum to one.  They minimise the held-out loss of the average
    plus the weighted mean of ``excess`` (C,), which makes them prefer densities with few choices if
    there are few samples.
    """
    loss = loss_of_average(evaluations)
    weights = minimise_on_simplex(with_excess(loss, excess), len(evaluations))
    kept = np.flatnonzero(weights >= NEGLIGIBLE)

    def loss_of_kept(w: Array) -> tuple[float, Array]:
        value, gradient = loss(_padded(w, kept, len(evaluations)))
        return value, gradient[kept]

    stacked = minimise_on_simplex(with_excess(loss_of_kept, excess[kept]), len(kept))
    stacked[stacked < NEGLIGIBLE] = 0.0
    stacked /= stacked.sum()
    return _padded(stacked, kept, len(evaluations)), loss_of_kept(stacked)[0]


def _padded(w: Array, kept: Indices, size: int) -> Array:
    """Weights (size,) that are ``w`` where they are kept, and 0 elsewhere."""
    weights = np.zeros(size)
    weights[kept] = w
    return weights


def with_excess(loss: Loss, excess: Array) -> Loss:
    """The loss plus the weighted mean of ``excess`` (C,)."""

    def total(w: Array) -> tuple[float, Array]:
        value, gradient = loss(w)
        return value + float(w @ excess), gradient + excess

    return total


def loss_of_average(evaluations: Sequence[HeldOutEvaluation]) -> Loss:
    """The held-out loss of a weighted average of densities, as a function of the weights."""
    crossfit = evaluations[0].crossfit
    weight, sign = crossfit.weight, crossfit.score.sign
    if sign == 0:
        density = np.column_stack([j.matches for j in evaluations])
        return lambda w: _log_loss(w, density, weight)
    M = _mean_products(evaluations)
    gain = np.array([weight @ j.matches for j in evaluations])
    return lambda w: (sign * float(0.5 * w @ M @ w - w @ gain), sign * (M @ w - gain))


def _mean_products(evaluations: Sequence[HeldOutEvaluation]) -> Array:
    """Means of ``int p_a p_b``, or the analogue for the score, over held-out samples: (C, C)."""
    crossfit = evaluations[0].crossfit
    M = np.zeros((len(evaluations), len(evaluations)))
    one_output = crossfit.whole.Y.shape[1] == 1
    if crossfit.score.name == "squared" and one_output and crossfit.slope.flat:
        for view, member in enumerate(crossfit.views):
            densities = [evaluation.densities(view) for evaluation in evaluations]
            M += mean_overlaps(densities, member.held_out.weight)
        return np.asarray(M / crossfit.held_mass.sum())
    for i, ours in enumerate(evaluations):
        for j, theirs in enumerate(evaluations[: i + 1]):
            M[i, j] = M[j, i] = crossfit.weight @ _products(ours, theirs)
    return M


def _log_loss(w: Array, density: Array, weight: Array) -> tuple[float, Array]:
    """``-sum_i weight_i log (w^T density_i)`` and its gradient."""
    mixed = np.maximum(density @ w, 1e-300)
    return -float(weight @ np.log(mixed)), -(weight / mixed) @ density


def _products(ours: HeldOutEvaluation, theirs: HeldOutEvaluation) -> Array:
    """``int p_a p_b``, or the analogue for the score, at held-out samples: (n,)."""
    crossfit = ours.crossfit
    if crossfit is theirs.crossfit:
        return np.asarray(crossfit.products(ours.parts, theirs.parts)[0])
    values = []
    for view in range(len(crossfit.views)):  # both locations have the same folds
        left, right = ours.densities(view), theirs.densities(view)
        products = [_product(crossfit, a, b) for a in left for b in right]
        values.append(np.sum(products, axis=0)[None])
    return np.asarray(crossfit.by_sample(values)[0])


def _product(crossfit: Crossfit, a: Block, b: Block) -> Array:
    score = crossfit.score
    if score.name == "squared":
        return crossfit.slope.overlap(a, b)
    out = np.zeros(len(a))
    variance = a.covariance[0, 0] + b.covariance[0, 0]
    for rows in row_blocks(len(a), a.centers.size * b.centers.size):
        x, y = a.take(rows), b.take(rows)
        squared = (x.means()[:, :, None, 0] - y.means()[:, None, :, 0]) ** 2
        table = score.compare(squared, np.asarray(variance), 1)
        out[rows] = np.einsum("rk,rkl,rl->r", x.weights, table, y.weights, optimize=True)
    return out
