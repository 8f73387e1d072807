"""Kernel density of the outputs whose inputs are near: the ε-neighbour estimate.

``p(y|x) = sum_k w_k(x) N(y; v_k, sigma_y^2 I)`` with ``w_k(x)`` proportional to the weight of
sample k where ``|x - x_k| <= epsilon``, and 0 elsewhere.  Where no sample is that near, the nearest
one counts.  Nothing is fitted; epsilon and sigma_y are those with the least squared loss

    mean_i [1/2 int p(y|x_i)^2 dy - p(y_i|x_i)] = mean_i [1/2 w_i^T A w_i - w_i^T a_i]

at samples of a fold that the estimate has not seen, with the tables A and a of ``fitting.scores``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.spatial.distance import cdist

from condensity._typing import Array, Indices
from condensity._utils.numerics import row_blocks
from condensity.data.sample import Sample, Scaling
from condensity.distributions.block import Block
from condensity.distributions.mixture import Mixture
from condensity.fitting.scores import SCORES, Gaussians
from condensity.fitting.selection import first_minimum

#: Distances that differ by less, relatively, are equal: rounding must not choose the neighbours.
TIE = 1e-12
#: Number of quantiles of the distances between samples that are tried as radii.
N_QUANTILES = 14
#: Distance of the nodes of the trapezoidal rule, and how far beyond the samples they go, in widths
#: of a kernel: its square is below rounding there.
STEP, REACH = 0.5, 7.0


def neighbor_weights(distances: Array, weight: Array, epsilon: float) -> Array:
    """Weights of the samples within ``epsilon``, of the nearest where there are none: (m, n).

    Parameters
    ----------
    distances : (m, n)
        From the inputs asked for to the samples.
    weight : (n,)
        Of the samples, positive.
    epsilon : float
        At least 0, infinity included.

    Returns
    -------
    ndarray of shape (m, n)
        Rows sum to one.
    """
    reach = np.maximum(epsilon, distances.min(axis=1)) * (1 + TIE)
    weights = np.where(distances <= reach[:, None], weight, 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def radii(sample: Sample) -> tuple[float, ...]:
    """The values of epsilon to try: quantiles of the distances between samples, and infinity.

    A quantile says what share of the sample a neighbourhood holds on average, whatever the
    number of inputs and however their distances are spread: a grid of lengths would hold nothing
    or everything once inputs are many.  Shares grow from 1/n, about one neighbour each, in equal
    ratios; infinity takes all samples, which is the density of y alone.
    """
    n, (every, *_) = len(sample), row_blocks(len(sample), 4 * len(sample))
    # Of many samples, as many as memory is meant for: each meets all others.
    rows = np.linspace(0, n - 1, every.stop).round().astype(np.intp)
    distances = cdist(sample.X[rows], sample.X)
    pairs = sample.weight[rows, None] * sample.weight
    pairs[np.arange(len(rows)), rows] = 0.0
    order = np.argsort(distances, axis=None, kind="stable")
    mass = np.cumsum(pairs.ravel()[order])
    shares = np.geomspace(1.0 / n, 1.0, N_QUANTILES + 1)[:-1]
    # A hair less than the share, so that rounding in the sums does not decide.
    found = distances.ravel()[order][np.searchsorted(mass, (1 - TIE) * shares * mass[-1])]
    new = np.r_[True, np.diff(found) > 2 * TIE * found[1:]]
    return (*found[new].tolist(), np.inf)


@dataclass(frozen=True, eq=False)
class NeighborChoice:
    """The neighbourhood and the kernel with the least held-out loss, and the table that decided."""

    epsilon: float
    sigma_y: float
    epsilons: tuple[float, ...]
    bandwidths: tuple[float, ...]
    losses: Array  # (epsilons, bandwidths, folds), of standardised y; NaN when nothing was scored


def select_radius(
    sample: Sample,
    mass: Array,
    epsilons: tuple[float, ...],
    bandwidths: tuple[float, ...],
    spread: Callable[..., Iterable[Array]] = map,
) -> NeighborChoice:
    """Choose epsilon and sigma_y by held-out squared loss.

    ``mass`` (folds, n) is the weight of each sample within each fold.  ``spread`` maps a function
    over the bandwidths; any map gives the same answer.
    """
    at_bandwidth = partial(held_out_losses, sample, mass, epsilons)
    losses = np.stack(list(spread(at_bandwidth, bandwidths)), axis=1)
    mean = losses.mean(axis=-1)
    i, j = np.unravel_index(first_minimum(mean), mean.shape)
    return NeighborChoice(epsilons[i], bandwidths[j], epsilons, bandwidths, losses)


def given_radius(epsilon: float, sigma_y: float) -> NeighborChoice:
    """What is given, for when there is nothing to choose."""
    return NeighborChoice(epsilon, sigma_y, (epsilon,), (sigma_y,), np.full((1, 1, 1), np.nan))


def held_out_losses(
    sample: Sample, mass: Array, epsilons: tuple[float, ...], sigma_y: float
) -> Array:
    """Mean loss of every fold's samples under the densities of the others: (epsilons, folds)."""
    losses = np.empty((len(epsilons), len(mass)))
    for j, own in enumerate(mass):
        left = np.delete(mass, j, axis=0).sum(axis=0)
        known, held = np.flatnonzero(left > 0), np.flatnonzero(own > 0)
        others = Sample(sample.X[known], sample.Y[known], left[known])
        losses[:, j] = _mean_losses(others, sample[held], own[held], epsilons, sigma_y)
    return losses


def _mean_losses(
    others: Sample, held: Sample, weight: Array, epsilons: tuple[float, ...], sigma_y: float
) -> Array:
    """Mean loss of ``held`` under the densities of ``others``: (epsilons,)."""
    n, total = len(others), np.zeros(len(epsilons))
    kernels = Gaussians(others.Y, np.full(n, sigma_y))
    for rows in row_blocks(len(held), 2 * n * len(epsilons)):
        distances = cdist(held.X[rows], others.X)
        w = np.stack([neighbor_weights(distances, others.weight, e) for e in epsilons])
        match = SCORES["squared"].match(held.Y[rows], kernels)
        losses = 0.5 * _norms(w.reshape(-1, n), kernels).reshape(w.shape[:2])
        losses -= np.einsum("erk,rk->er", w, match)
        total += losses @ weight[rows]
    return np.asarray(total / weight.sum())


def _norms(w: Array, kernels: Gaussians) -> Array:
    """``int p_i^2 = w_i^T A w_i`` for the rows of ``w`` (m, n): (m,)."""
    low, high, sigma = kernels.centers.min(), kernels.centers.max(), float(kernels.widths[0])
    nodes = (high - low) / (STEP * sigma) + 2 * REACH / STEP
    short = kernels.centers.shape[1] == 1 and nodes < len(kernels.centers)
    return norms_by_nodes(w, kernels) if short else norms_by_pairs(w, kernels)


def norms_by_pairs(w: Array, kernels: Gaussians) -> Array:
    """``w_i^T A w_i``, with never more than a part of A in memory: (m,)."""
    total = np.zeros(len(w))
    for part in row_blocks(w.shape[1], w.shape[1]):
        some = Gaussians(kernels.centers[part], kernels.widths[part])
        total += np.einsum("ik,ik->i", w[:, part] @ SCORES["squared"].pair(some, kernels), w)
    return total


def norms_by_nodes(w: Array, kernels: Gaussians) -> Array:
    """``int p_i^2`` of one output by the trapezoidal rule, exact to rounding: (m,).

    For kernels of one width its error is ``exp(-(pi / STEP)^2)``, and there are fewer nodes than
    samples once these are many.
    """
    V, sigma = kernels.centers, float(kernels.widths[0])
    nodes = np.arange(V.min() - REACH * sigma, V.max() + REACH * sigma, STEP * sigma)
    total = np.zeros(len(w))
    for part in row_blocks(len(nodes), len(V)):
        p = w @ SCORES["squared"].match(nodes[part, None], kernels).T
        total += STEP * sigma * np.einsum("ig,ig->i", p, p)
    return total


@dataclass(frozen=True, eq=False)
class NeighborDensity:
    """The ε-neighbour estimate in the units of the data; call ``at`` on inputs."""

    x_scaling: Scaling
    y_scaling: Scaling
    sample: Sample  # standardised
    epsilon: float  # in standardised units, as sigma_y
    sigma_y: float

    @property
    def width(self) -> int:
        """Number of Gaussians in each answer, at most."""
        return len(self.sample)

    def at(self, X: Array) -> Mixture:
        """The densities p(y|x) for the rows of ``X`` (m, dx)."""
        inputs, known = self.x_scaling.apply(X), self.sample
        log_weights = np.empty((len(X), len(known)))
        for rows in row_blocks(len(X), 4 * len(known)):
            distances = cdist(inputs[rows], known.X)
            with np.errstate(divide="ignore"):
                log_weights[rows] = np.log(neighbor_weights(distances, known.weight, self.epsilon))
        near: Indices = np.flatnonzero((log_weights > -np.inf).any(axis=0))  # of any row at all
        centers = self.y_scaling.mean + self.y_scaling.sd * known.Y[near]
        factor = np.diag(self.sigma_y * self.y_scaling.sd)
        return Mixture([Block(log_weights[:, near], centers, factor)])
