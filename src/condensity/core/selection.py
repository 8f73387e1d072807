"""Cross-validation of bandwidths and penalty at a fixed W.  Paper, Sec. 2.4.

``CV(M) = 1/K sum_j CV_j(M)``, with CV_j the loss on fold j of the fit to all other samples.  "All
other samples" includes the centres: basis functions that sit on samples of fold j alone are left
out before the fold is solved, or a held-out sample would be explained by its own kernel.

Moments add up over folds, so one pass over the sample for each bandwidth serves all K fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial, reduce
from operator import add

import numpy as np
from scipy.special import softmax

from condensity.core import lattice
from condensity.core.kernels import Array, gaussian, squared_distances
from condensity.core.moments import Moments, Reference, moments
from condensity.core.plan import Plan
from condensity.core.ridge import solve

#: Bandwidths in units of the standard deviations of x and y, and penalties on ``alpha^T alpha``.
#: The raw score is not to be trusted with kernels narrower than a tenth (docs/choices.md).
BANDWIDTHS = tuple(np.logspace(-1.5, 0.5, 9).tolist())
RAW_BANDWIDTHS = BANDWIDTHS[2:]
PENALTIES = tuple(np.logspace(-3.0, 1.0, 9).tolist())
#: Losses that differ by less, relative to the largest, are equal.
ROUNDING = 1e-10


@dataclass(frozen=True, eq=False)
class Candidates:
    """What cross-validation may choose from."""

    bandwidths: tuple[tuple[float, float], ...]  # (sigma_z, sigma_y)
    penalties: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.bandwidths) * len(self.penalties)


@dataclass(frozen=True, eq=False)
class Choice:
    """The candidate with the smallest held-out loss, and the table that decided."""

    sigma_z: float
    sigma_y: float
    penalty: float
    loss: float  # mean over folds; NaN when nothing was scored
    candidates: Candidates
    losses: Array  # (bandwidths, penalties, folds)


@dataclass(frozen=True, eq=False)
class Fold:
    """A held-out fold as the basis functions that have not seen it describe it."""

    log_phi_z: Array  # (n_j, b_j)
    phi_y: Array  # (n_j, b_j)
    yy: Array  # (b_j, b_j)
    y_mass: float  # int phi_y dy
    weight: Array  # (n_j,)
    moments: Moments


Score = Callable[[Fold, Array], Array]


def raw_losses(fold: Fold, alphas: Array) -> Array:
    """The paper's ``CV_j``: loss of ``alpha @ phi`` as it stands, for each column of ``alphas``."""
    return fold.moments.loss(alphas)


def shipped_losses(fold: Fold, alphas: Array) -> Array:
    """Loss of the clipped and normalised density, the one that users get, for each column."""
    losses = np.empty(alphas.shape[1])
    for j, alpha in enumerate(alphas.T):
        kept = np.flatnonzero(alpha > 0)
        a = softmax(fold.log_phi_z[:, kept] + np.log(alpha[kept]), axis=1) / fold.y_mass
        half_norm = 0.5 * (a @ fold.yy[np.ix_(kept, kept)])
        losses[j] = fold.weight @ np.sum(a * (half_norm - fold.phi_y[:, kept]), axis=1)
    losses /= fold.weight.sum()
    return losses


def select(
    plan: Plan,
    W: Array,
    candidates: Candidates,
    score: Score,
    spread: Callable[..., Iterable[Array]] = map,
    reference: Reference = Reference.LEBESGUE,
) -> Choice:
    """Choose bandwidths and penalty in the coordinates ``z = W x`` by held-out loss.

    ``spread`` maps a function over the bandwidths; any map gives the same answer.
    """
    at_bandwidth = _judge(plan, W, candidates, score, reference)
    return _best(candidates, np.stack(list(spread(at_bandwidth, candidates.bandwidths))))


def select_near(
    plan: Plan,
    W: Array,
    score: Score,
    last: Choice,
    reference: Reference = Reference.LEBESGUE,
) -> Choice:
    """Choose as ``select`` does, among bandwidths downhill from the ``last`` choice.

    For a W that has moved a little.  Losses of bandwidths that were not tried are NaN.
    """
    candidates, at_bandwidth = last.candidates, _judge(plan, W, last.candidates, score, reference)
    losses = np.full(last.losses.shape, np.nan)

    def loss(index: lattice.Index) -> float:
        row = losses[index]
        if np.isnan(row).any():
            row[...] = at_bandwidth(candidates.bandwidths[index[0]])
        return float(row.mean(axis=-1).min())

    start = candidates.bandwidths.index((last.sigma_z, last.sigma_y))
    lattice.descend(loss, [(start,)], (len(candidates.bandwidths),), (1,))
    return _best(candidates, losses)


def _judge(
    plan: Plan, W: Array, candidates: Candidates, score: Score, reference: Reference
) -> Callable[[tuple[float, float]], Array]:
    """Held-out losses (penalties, folds) at given bandwidths, as a function of these."""
    Z, U = plan.sample.X @ W.T, plan.basis.X @ W.T
    squared = squared_distances(Z, U), squared_distances(plan.sample.Y, plan.basis.Y)
    return partial(_losses, plan, reference, squared, candidates.penalties, score)


def unscored(candidates: Candidates) -> Choice:
    """The first candidate, for when there is nothing to choose."""
    return _best(candidates, np.full((1, 1, 1), np.nan))


def first_least(losses: Array) -> int:
    """Flat index of the first of the losses that are the least but for rounding.

    Candidates that no sample tells apart differ by rounding, which must not choose between them.
    """
    return int(np.argmax(losses <= losses.min() + ROUNDING * abs(losses.min())))


def _best(candidates: Candidates, losses: Array) -> Choice:
    mean = losses.mean(axis=-1)
    known = np.where(np.isnan(mean), np.inf, mean)
    i, j = np.unravel_index(int(np.argmin(known)), mean.shape)
    sigma_z, sigma_y = candidates.bandwidths[i]
    return Choice(sigma_z, sigma_y, candidates.penalties[j], float(mean[i, j]), candidates, losses)


def _without(parts: list[Moments], total: Moments, j: int) -> Moments:
    """All parts but one; taken away where that loses no digits worth speaking of."""
    if parts[j].n < 0.9 * total.n:
        return total - parts[j]
    return reduce(add, parts[:j] + parts[j + 1 :])


def _losses(
    plan: Plan,
    reference: Reference,
    squared: tuple[Array, Array],
    penalties: tuple[float, ...],
    score: Score,
    bandwidths: tuple[float, float],
) -> Array:
    """Held-out losses (penalties, folds) at one pair of bandwidths."""
    (zu, yv), (sigma_z, sigma_y), dy = squared, bandwidths, plan.sample.Y.shape[1]
    log_phi_z = zu * (-0.5 / sigma_z**2)
    phi_z, phi_y = np.exp(log_phi_z), gaussian(yv, sigma_y)
    weight = plan.sample.weight
    yys = reference.products(plan.basis.Y, sigma_y, phi_y, weight, plan.folds)
    parts = [
        moments(phi_z[f], phi_y[f], yy, weight[f]) for f, yy in zip(plan.folds, yys, strict=True)
    ]
    total = reduce(add, parts)
    losses = np.empty((len(penalties), len(plan.folds)))
    for j, rows in enumerate(plan.folds):
        kept = np.flatnonzero(plan.usable[j])
        train = _without(parts, total, j).keep(kept)
        G = train.G
        alphas = np.column_stack([solve(G, train.h, penalty=p) for p in penalties])
        held_out = parts[j].keep(kept)
        y_mass = float(np.sqrt(2 * np.pi) * sigma_y) ** dy
        fold = Fold(
            log_phi_z[rows][:, kept],
            phi_y[rows][:, kept],
            held_out.yy,
            y_mass,
            weight[rows],
            held_out,
        )
        losses[:, j] = score(fold, alphas)
    return losses
