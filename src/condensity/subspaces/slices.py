"""Directions from slices of y: sliced inverse regression and sliced average variance estimation.

Let x be whitened, and the slices h of y hold shares p_h of the sample in which x has mean m_h and
covariance C_h.  Directions on which y depends are the leading eigenvectors of

    SIR   M = sum_h p_h m_h m_h^T           (Li, 1991): where the mean of x moves with y,
    SAVE  M = sum_h p_h (I - C_h)^2         (Cook and Weisberg, 1991): where its spread does.

Several outputs are sliced one by one, and M is the mean of theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from condensity._typing import Array, Indices
from condensity.data.sample import Sample

#: A covariance with a smaller ratio of eigenvalues is singular, and gets a ridge of this share of
#: the mean variance: enough to tell apart what so few samples explain by chance.
SINGULAR, RIDGE = 1e-8, 1e-2

#: ``M`` (d, d) from whitened x (n, d), weights (n,) that sum to one and the slice of each (n,).
Kernel = Callable[[Array, Array, Indices], Array]


def slices(values: Array, weight: Array, n_slices: int) -> Indices:
    """The slice 0, 1, ... that each of ``values`` (n,) belongs to, by size: (n,).

    Slices hold about the same ``weight``.  Equal values stay together, so that there are fewer
    slices than asked for where values are few.
    """
    _, which = np.unique(values, return_inverse=True)
    share = np.bincount(which, weights=weight / weight.sum())
    middle = np.cumsum(share) - 0.5 * share
    labels = np.floor(n_slices * middle).astype(np.intp)
    return np.unique(labels, return_inverse=True)[1][which]


def sir_kernel(Z: Array, weight: Array, labels: Indices) -> Array:
    """``sum_h p_h m_h m_h^T``."""
    share, means = _slice_means(Z, weight, labels)
    return (means.T * share) @ means


def save_kernel(Z: Array, weight: Array, labels: Indices) -> Array:
    """``sum_h p_h (C - C_h)^2`` with C the covariance of all, the identity if Z is white.

    With C in its place, directions without any spread in the sample tell nothing.
    """
    share, means = _slice_means(Z, weight, labels)
    total, M = _covariance(Z, weight), np.zeros((Z.shape[1], Z.shape[1]))
    for h, mean in enumerate(means):
        own = labels == h
        change = total - _covariance(Z[own] - mean, weight[own] / share[h])
        M += share[h] * change @ change
    return M


def whitening(X: Array, weight: Array) -> Array:
    """``A`` (d, d) so that ``X A`` has the covariance I, for X (n, d) with mean zero.

    Where the covariance of X is singular, it gets a ridge.
    """
    variances, axes = np.linalg.eigh(_covariance(X, weight))
    ridge = RIDGE * variances.mean() if variances[0] <= SINGULAR * variances[-1] else 0.0
    return np.asarray(axes / np.sqrt(np.maximum(variances, 0.0) + ridge))


def sliced_directions(
    sample: Sample, labels: Sequence[Indices], kernel: Kernel
) -> tuple[Array, Array]:
    """Eigenvalues (d,), the largest first, and directions (d, d) of standardised x as rows.

    ``labels`` holds the slices of each output.  Along the directions x has unit variance and no
    correlation; signs are such that x grows with the first output.
    """
    A = whitening(sample.X, sample.weight)
    M = np.mean([kernel(sample.X @ A, sample.weight, own) for own in labels], axis=0)
    values, vectors = np.linalg.eigh(M)
    W = (A @ vectors[:, ::-1]).T
    growth = (sample.weight * sample.Y[:, 0]) @ (sample.X @ W.T)
    return values[::-1], np.where(growth < 0, -1.0, 1.0)[:, None] * W


def _slice_means(Z: Array, weight: Array, labels: Indices) -> tuple[Array, Array]:
    """Shares (h,) of the slices and means (h, d) within them."""
    member = (labels[:, None] == np.arange(labels.max() + 1)) * weight[:, None]
    share: Array = member.sum(axis=0)
    return share, (member.T @ Z) / share[:, None]


def _covariance(Z: Array, weight: Array) -> Array:
    """``sum_i w_i z_i z_i^T``."""
    return (Z.T * weight) @ Z
