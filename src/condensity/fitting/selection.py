"""Model selection: bandwidths and penalty by cross-validation at a fixed W.

``CV(M) = 1/K sum_j CV_j(M)``, where CV_j is the loss on fold j of a fit to all other folds ([1]_,
Sec. 2.4).  Centres are held out too: a basis function whose centre occurs only in fold j is removed
before the fit for fold j.  Otherwise the kernel of a held-out sample would describe that sample.

Moments are additive over folds.  One pass over the sample for each pair of bandwidths therefore
serves all K fits.

References
----------
.. [1] V. Tangkaratt, N. Xie, M. Sugiyama, "Conditional density estimation with dimensionality
   reduction via squared-loss conditional entropy minimization," Neural Computation 27(1), 2015.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial, reduce
from operator import add

import numpy as np
from scipy.special import softmax

from condensity._typing import Array, Indices
from condensity._utils.parallel import Mapper
from condensity.data.folds import FoldedSample
from condensity.fitting.kernels import gaussian, squared_distances
from condensity.fitting.moments import Moments, Reference, moments, submatrix
from condensity.fitting.ridge import solve

#: Bandwidths of scaled x and y, and penalties on ``alpha^T alpha``.
BANDWIDTHS = tuple(np.logspace(-1.5, 0.5, 9).tolist())
#: Bandwidths of the published LSMI code, which uses the raw score of the density ratio.
LSMI_BANDWIDTHS = tuple(np.logspace(-2.0, 2.0, 9).tolist())
PENALTIES = tuple(np.logspace(-3.0, 1.0, 9).tolist())
#: Losses within this relative distance of the smallest loss count as equal to it.
ROUNDING = 1e-10


@dataclass(frozen=True, eq=False)
class Candidates:
    """Grid of candidates for cross-validation."""

    bandwidths: tuple[tuple[float, float], ...]  # (sigma_z, sigma_y)
    penalties: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.bandwidths) * len(self.penalties)


@dataclass(frozen=True, eq=False)
class Choice:
    """Candidate with the smallest held-out loss, and the table of all losses."""

    sigma_z: float
    sigma_y: float
    penalty: float
    loss: float  # mean over folds; NaN if no loss was computed
    candidates: Candidates
    losses: Array  # (bandwidths, penalties, folds)


@dataclass(frozen=True, eq=False)
class Fold:
    """Kernels of a held-out fold, and the system of the fit to all other folds."""

    squared_z: Array  # (n_j, b) squared distances to the centres
    sigma_z: float
    phi_y: Array  # (n_j, b)
    y_mass: float  # int phi_y dy
    weight: Array  # (n_j,)
    moments: Moments  # of the samples of this fold
    usable: Indices  # (b_j,) basis functions with a centre in some other fold
    G: Array  # (b_j, b_j) of the usable basis functions, over all other folds
    h: Array  # (b_j,)

    @cached_property
    def held_out(self) -> Moments:
        """Moments of the held-out samples, for the usable basis functions."""
        return self.moments.keep(self.usable)

    def losses(self, score: FoldLoss, penalties: Iterable[float]) -> Array:
        """Loss of the fit for each penalty."""
        return score(self, np.column_stack([solve(self.G, self.h, penalty=p) for p in penalties]))


#: Loss on a fold for each column of coefficients (b_j, ...) of its usable basis functions.
FoldLoss = Callable[[Fold, Array], Array]
#: The folds for a pair of bandwidths (sigma_z, sigma_y).
FoldsAt = Callable[[tuple[float, float]], list[Fold]]
#: A position on a grid: one integer for each axis.
GridIndex = tuple[int, ...]


def raw_losses(fold: Fold, alphas: Array) -> Array:
    """Loss ``CV_j`` of the paper for each column of ``alphas``: of ``alpha @ phi`` unchanged."""
    return fold.held_out.loss(alphas)


def normalised_losses(fold: Fold, alphas: Array) -> Array:
    """Loss of the clipped and normalised density for each column of ``alphas``."""
    losses = np.empty(alphas.shape[1])
    for j, alpha in enumerate(alphas.T):
        positive = alpha > 0
        centers = fold.usable[positive]
        log_phi_z = fold.squared_z[:, centers] * (-0.5 / fold.sigma_z**2)
        a = softmax(log_phi_z + np.log(alpha[positive]), axis=1) / fold.y_mass
        half_norm = 0.5 * (a @ submatrix(fold.moments.yy, centers))
        losses[j] = fold.weight @ np.sum(a * (half_norm - fold.phi_y[:, centers]), axis=1)
    losses /= fold.weight.sum()
    return losses


def select(
    plan: FoldedSample,
    W: Array,
    candidates: Candidates,
    score: FoldLoss,
    mapper: Mapper = map,
    reference: Reference = Reference.LEBESGUE,
) -> Choice:
    """Choose bandwidths and penalty in the coordinates ``z = W x`` by held-out loss.

    ``mapper`` is used as ``map`` over the bandwidths, for instance in parallel.
    """
    losses_at = partial(_losses, _fold_builder(plan, W, reference), candidates.penalties, score)
    return _best(candidates, np.stack(list(mapper(losses_at, candidates.bandwidths))))


def select_near(
    plan: FoldedSample,
    W: Array,
    score: FoldLoss,
    last: Choice,
    reference: Reference = Reference.LEBESGUE,
) -> Choice:
    """Choose like :func:`select`, by grid descent from the ``last`` choice.

    This is for a W that is close to the W of the last choice.  The descent over bandwidths
    continues as long as the loss with the best penalty falls.  That penalty is found by a descent
    from the last penalty.  Losses that were not computed are NaN.
    """
    candidates, folds_at = last.candidates, cache(_fold_builder(plan, W, reference))
    losses = np.full(last.losses.shape, np.nan)

    def loss(i: int, penalty: GridIndex) -> float:
        row = losses[i, penalty[0]]
        if np.isnan(row).any():
            single = (candidates.penalties[penalty[0]],)
            row[:] = [f.losses(score, single)[0] for f in folds_at(candidates.bandwidths[i])]
        return float(row.mean())

    @cache
    def least(bandwidth: GridIndex) -> float:
        at_bandwidth, start = partial(loss, bandwidth[0]), candidates.penalties.index(last.penalty)
        best = descend_grid(at_bandwidth, [(start,)], (len(candidates.penalties),), (1,))
        return at_bandwidth(best)

    start = candidates.bandwidths.index((last.sigma_z, last.sigma_y))
    descend_grid(least, [(start,)], (len(candidates.bandwidths),), (1,))
    return _best(candidates, losses)


def held_out_loss(
    plan: FoldedSample,
    fold: int,
    W: Array,
    choice: Choice,
    score: FoldLoss,
    reference: Reference = Reference.LEBESGUE,
) -> float:
    """Loss on one fold of the fit to all other folds, with the chosen bandwidths and penalty."""
    folds = _fold_builder(plan, W, reference)((choice.sigma_z, choice.sigma_y))
    return float(folds[fold].losses(score, (choice.penalty,))[0])


def descend_grid(
    loss: Callable[[GridIndex], float],
    starts: Iterable[GridIndex],
    shape: Sequence[int],
    strides: Sequence[int],
) -> GridIndex:
    """The grid position that a coordinate descent from the best of ``starts`` ends at.

    The descent moves along one axis at a time, by each of ``strides`` in turn, as long as the loss
    falls.  A step beyond the grid ends at its edge.  ``loss`` is called more than once for some
    positions, so an expensive loss should be cached.

    Parameters
    ----------
    loss : callable
        The loss at a position.
    starts : iterable of tuple of int
        Positions to start from; only the best one is used.
    shape : sequence of int
        Number of positions along each axis.
    strides : sequence of int
        Step lengths, usually from coarse to fine.

    Returns
    -------
    tuple of int
        The position with the smallest loss on the way.
    """
    best = min(starts, key=loss)
    for stride in strides:
        moved = True
        while moved:
            moved = False
            for axis in range(len(shape)):
                for step in (stride, -stride):
                    neighbor = _step(best, axis, step, shape)
                    while loss(neighbor) < loss(best):
                        best, moved = neighbor, True
                        neighbor = _step(best, axis, step, shape)
    return best


def _step(index: GridIndex, axis: int, step: int, shape: Sequence[int]) -> GridIndex:
    """The position ``step`` further along ``axis``, or the edge of the grid."""
    moved = min(max(index[axis] + step, 0), shape[axis] - 1)
    return (*index[:axis], moved, *index[axis + 1 :])


def _fold_builder(plan: FoldedSample, W: Array, reference: Reference) -> FoldsAt:
    """Function from bandwidths to folds, in the coordinates ``z = W x``."""
    Z, U = plan.sample.X @ W.T, plan.basis.X @ W.T
    squared = squared_distances(Z, U), squared_distances(plan.sample.Y, plan.basis.Y)
    return partial(_folds, plan, reference, squared)


def only_candidate(candidates: Candidates) -> Choice:
    """Choice of the first candidate without a loss, for a grid of one candidate."""
    return _best(candidates, np.full((1, 1, 1), np.nan))


def first_minimum(losses: Array) -> int:
    """Flat index of the first loss that equals the smallest loss up to rounding.

    Candidates that give the same fit have losses that differ by rounding errors only.  These errors
    must not decide the choice.
    """
    return int(np.argmax(losses <= losses.min() + ROUNDING * abs(losses.min())))


def _best(candidates: Candidates, losses: Array) -> Choice:
    """Choice with the smallest mean loss; NaN counts as infinite."""
    mean = losses.mean(axis=-1)
    comparable = np.where(np.isnan(mean), np.inf, mean)
    i, j = np.unravel_index(int(np.argmin(comparable)), mean.shape)
    sigma_z, sigma_y = candidates.bandwidths[i]
    return Choice(sigma_z, sigma_y, candidates.penalties[j], float(mean[i, j]), candidates, losses)


def _without(parts: list[Moments], total: Moments, j: int) -> Moments:
    """Moments of all parts except part j."""
    # Subtraction is fast, but loses digits if part j has most of the weight.
    if parts[j].n < 0.9 * total.n:
        return total - parts[j]
    return reduce(add, parts[:j] + parts[j + 1 :])


def _losses(
    folds_at: FoldsAt,
    penalties: tuple[float, ...],
    score: FoldLoss,
    bandwidths: tuple[float, float],
) -> Array:
    """Held-out losses (penalties, folds) at one pair of bandwidths."""
    return np.column_stack([fold.losses(score, penalties) for fold in folds_at(bandwidths)])


def _folds(
    plan: FoldedSample,
    reference: Reference,
    squared: tuple[Array, Array],
    bandwidths: tuple[float, float],
) -> list[Fold]:
    """Folds for one pair of bandwidths, each with the system of the fit to all other folds."""
    (zu, yv), (sigma_z, sigma_y), dy = squared, bandwidths, plan.sample.Y.shape[1]
    phi_z, phi_y = gaussian(zu, sigma_z), gaussian(yv, sigma_y)
    y_mass = float(np.sqrt(2 * np.pi) * sigma_y) ** dy
    weight = plan.sample.weight
    yys = reference.products(plan.basis.Y, sigma_y, phi_y, weight, plan.folds)
    parts = [
        moments(phi_z[f], phi_y[f], yy, weight[f]) for f, yy in zip(plan.folds, yys, strict=True)
    ]
    total = reduce(add, parts)
    folds = []
    for j, rows in enumerate(plan.folds):
        usable = np.flatnonzero(plan.usable[j])
        train = _without(parts, total, j)
        system = submatrix(train.G, usable), train.h[usable]
        kernels = zu[rows], sigma_z, phi_y[rows], y_mass, weight[rows]
        folds.append(Fold(*kernels, parts[j], usable, *system))
    return folds
