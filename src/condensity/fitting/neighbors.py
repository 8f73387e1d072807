"""The ε-neighbour estimate: a kernel density of the outputs of all samples near x.

``p(y|x) = sum_k w_k(x) N(y; v_k, sigma_y^2 I)`` with ``w_k(x)`` proportional to the weight of
sample k if ``|x - x_k| <= epsilon``, and 0 otherwise.  If no sample is within epsilon, the nearest
one is used.  The density has no coefficients to fit.  Model selection chooses the epsilon and
sigma_y with the smallest squared loss

    mean_i [1/2 int p(y|x_i)^2 dy - p(y_i|x_i)] = mean_i [1/2 w_i^T A w_i - w_i^T a_i]

on held-out folds, with the tables A and a of ``fitting.scores``.  The estimate is a baseline of the
LSCDE paper [1]_.

References
----------
.. [1] M. Sugiyama, I. Takeuchi, T. Suzuki, T. Kanamori, H. Hachiya, D. Okanohara, "Least-squares
   conditional density estimation," IEICE Transactions on Information and Systems E93-D(3), 2010.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.spatial.distance import cdist

from condensity._typing import Array, Indices
from condensity._utils.numerics import row_blocks
from condensity._utils.parallel import Mapper
from condensity.data.sample import Sample, Scaling
from condensity.distributions.block import Block
from condensity.distributions.mixture import Mixture
from condensity.fitting.scores import SCORES, Gaussians
from condensity.fitting.selection import first_minimum

#: Distances within this relative difference count as equal, so rounding does not decide.
TIE = 1e-12
#: Number of quantiles of the pairwise distances that are candidates for epsilon.
N_QUANTILES = 14
#: Spacing of the nodes of the trapezoidal rule, and their range beyond the outermost samples, both
#: in bandwidths: at this distance a squared kernel is below rounding error.
STEP, REACH = 0.5, 7.0


def neighbor_weights(distances: Array, weight: Array, epsilon: float) -> Array:
    """Weights of the samples within ``epsilon`` of each input, or of the nearest sample.

    Parameters
    ----------
    distances : ndarray of shape (m, n)
        Distances from the inputs to the samples.
    weight : ndarray of shape (n,)
        Positive weights of the samples.
    epsilon : float
        Radius, at least 0; infinity is allowed.

    Returns
    -------
    ndarray of shape (m, n)
        Weights; each row sums to one.
    """
    reach = np.maximum(epsilon, distances.min(axis=1)) * (1 + TIE)
    weights = np.where(distances <= reach[:, None], weight, 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def radii(sample: Sample) -> tuple[float, ...]:
    """Candidates for epsilon: quantiles of the distances between samples, and infinity.

    The quantile fixes the average share of the sample in a neighbourhood, for any number of inputs
    and any distribution of distances.  With many inputs, a fixed grid of lengths would give
    neighbourhoods with no sample or with all samples.  The shares form a geometric sequence from
    1/n, which is about one neighbour.  Infinity uses all samples and gives the density p(y).
    """
    n, (block, *_) = len(sample), row_blocks(len(sample), 4 * len(sample))
    # A large sample is subsampled to fit in memory; distances are taken to all samples.
    rows = np.linspace(0, n - 1, block.stop).round().astype(np.intp)
    distances = cdist(sample.X[rows], sample.X)
    pairs = sample.weight[rows, None] * sample.weight
    pairs[np.arange(len(rows)), rows] = 0.0
    order = np.argsort(distances, axis=None, kind="stable")
    mass = np.cumsum(pairs.ravel()[order])
    shares = np.geomspace(1.0 / n, 1.0, N_QUANTILES + 1)[:-1]
    # Slightly less than the share, so that rounding in the cumulative sum does not decide.
    quantiles = distances.ravel()[order][np.searchsorted(mass, (1 - TIE) * shares * mass[-1])]
    distinct = np.r_[True, np.diff(quantiles) > 2 * TIE * quantiles[1:]]
    return (*quantiles[distinct].tolist(), np.inf)


@dataclass(frozen=True, eq=False)
class NeighborChoice:
    """Radius and bandwidth with the smallest held-out loss, and the table of all losses."""

    epsilon: float
    sigma_y: float
    epsilons: tuple[float, ...]
    bandwidths: tuple[float, ...]
    losses: Array  # (epsilons, bandwidths, folds) for standardised y; NaN if not computed


def select_radius(
    sample: Sample,
    mass: Array,
    epsilons: tuple[float, ...],
    bandwidths: tuple[float, ...],
    mapper: Mapper = map,
) -> NeighborChoice:
    """Choose epsilon and sigma_y by held-out squared loss.

    ``mass`` (folds, n) is the weight of each sample in each fold.  ``mapper`` is used as ``map``
    over the bandwidths, for instance in parallel.
    """
    at_bandwidth = partial(held_out_losses, sample, mass, epsilons)
    losses = np.stack(list(mapper(at_bandwidth, bandwidths)), axis=1)
    mean = losses.mean(axis=-1)
    i, j = np.unravel_index(first_minimum(mean), mean.shape)
    return NeighborChoice(epsilons[i], bandwidths[j], epsilons, bandwidths, losses)


def given_radius(epsilon: float, sigma_y: float) -> NeighborChoice:
    """The choice for a given radius and bandwidth; no loss is computed."""
    return NeighborChoice(epsilon, sigma_y, (epsilon,), (sigma_y,), np.full((1, 1, 1), np.nan))


def held_out_losses(
    sample: Sample, mass: Array, epsilons: tuple[float, ...], sigma_y: float
) -> Array:
    """Mean loss on each fold of the densities from all other folds: (epsilons, folds)."""
    losses = np.empty((len(epsilons), len(mass)))
    for j, test_mass in enumerate(mass):
        train_mass = np.delete(mass, j, axis=0).sum(axis=0)
        train, test = np.flatnonzero(train_mass > 0), np.flatnonzero(test_mass > 0)
        others = Sample(sample.X[train], sample.Y[train], train_mass[train])
        losses[:, j] = _mean_losses(others, sample[test], test_mass[test], epsilons, sigma_y)
    return losses


def _mean_losses(
    others: Sample, held: Sample, weight: Array, epsilons: tuple[float, ...], sigma_y: float
) -> Array:
    """Mean loss at the samples ``held`` of the densities from ``others``: (epsilons,)."""
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
    by_nodes = kernels.centers.shape[1] == 1 and nodes < len(kernels.centers)
    return norms_by_nodes(w, kernels) if by_nodes else norms_by_pairs(w, kernels)


def norms_by_pairs(w: Array, kernels: Gaussians) -> Array:
    """``w_i^T A w_i``, with one block of rows of A in memory at a time: (m,)."""
    total = np.zeros(len(w))
    for part in row_blocks(w.shape[1], w.shape[1]):
        some = Gaussians(kernels.centers[part], kernels.widths[part])
        total += np.einsum("ik,ik->i", w[:, part] @ SCORES["squared"].pair(some, kernels), w)
    return total


def norms_by_nodes(w: Array, kernels: Gaussians) -> Array:
    """``int p_i^2`` of one output by the trapezoidal rule, exact to rounding: (m,).

    For kernels of equal width the relative error is about ``exp(-(pi / STEP)^2)``.  For large
    samples there are fewer nodes than samples.
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
    """The ε-neighbour estimate in the units of the data; ``at`` evaluates it for given inputs."""

    x_scaling: Scaling
    y_scaling: Scaling
    sample: Sample  # standardised
    epsilon: float  # in standardised units, like sigma_y
    sigma_y: float

    @property
    def width(self) -> int:
        """Maximum number of Gaussians in each density."""
        return len(self.sample)

    def at(self, X: Array) -> Mixture:
        """Densities p(y|x) for the rows of ``X`` (m, dx)."""
        inputs, sample = self.x_scaling.apply(X), self.sample
        log_weights = np.empty((len(X), len(sample)))
        for rows in row_blocks(len(X), 4 * len(sample)):
            distances = cdist(inputs[rows], sample.X)
            with np.errstate(divide="ignore"):
                log_weights[rows] = np.log(neighbor_weights(distances, sample.weight, self.epsilon))
        near: Indices = np.flatnonzero((log_weights > -np.inf).any(axis=0))  # near at least one row
        centers = self.y_scaling.mean + self.y_scaling.sd * sample.Y[near]
        factor = np.diag(self.sigma_y * self.y_scaling.sd)
        return Mixture([Block(log_weights[:, near], centers, factor)])
