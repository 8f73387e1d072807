"""Directions from slices of y: SIR, SAVE and directional regression.

Let x be whitened.  The range of y is cut into slices.  Slice h contains the share p_h of the
sample, and x has mean m_h and covariance C_h in it.  The estimated directions are the leading
eigenvectors of

    SIR   M = sum_h p_h m_h m_h^T       [1]_: directions in which the mean of x depends on y,
    SAVE  M = sum_h p_h (I - C_h)^2     [2]_: directions in which the variance of x depends on y,
    DR    M = sum_hl p_h p_l (2 I - E_hl)^2   [3]_: both, from differences between slices,

where E_hl is the mean of ``(x - x')(x - x')^T`` for x in slice h and an independent x' in slice l.
With several outputs, each output has its own slices, and M is the mean over the outputs.

References
----------
.. [1] K.-C. Li, "Sliced inverse regression for dimension reduction," Journal of the American
   Statistical Association 86(414), 1991.
.. [2] R. D. Cook, S. Weisberg, discussion of "Sliced inverse regression for dimension reduction,"
   Journal of the American Statistical Association 86(414), 1991.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from condensity._typing import Array, Indices
from condensity.data.sample import Sample
from condensity.subspaces.grassmann import orient_signs

#: A covariance is singular if the ratio of its smallest to its largest eigenvalue is below
#: SINGULAR.  A ridge of RIDGE times the mean variance is then added.  It is large enough to
#: suppress directions that fit a small sample by chance.
SINGULAR, RIDGE = 1e-8, 1e-2

#: ``M`` (d, d) from whitened x (n, d), weights (n,) with sum one, and slice numbers (n,).
Kernel = Callable[[Array, Array, Indices], Array]


def slices(values: Array, weight: Array, n_slices: int) -> Indices:
    """Slice number 0, 1, ... of each of ``values`` (n,), in increasing order of the values: (n,).

    The slices have about equal ``weight``.  Equal values are in the same slice, so there are fewer
    than ``n_slices`` slices if there are few different values.
    """
    _, which = np.unique(values, return_inverse=True)
    share = np.bincount(which, weights=weight / weight.sum())
    middle = np.cumsum(share) - 0.5 * share
    labels = np.floor(n_slices * middle).astype(np.intp)
    return np.unique(labels, return_inverse=True)[1][which]


def sir_kernel(Z: Array, weight: Array, labels: Indices) -> Array:
    """SIR matrix ``sum_h p_h m_h m_h^T``."""
    share, means = _slice_means(Z, weight, labels)
    return (means.T * share) @ means


def save_kernel(Z: Array, weight: Array, labels: Indices) -> Array:
    """SAVE matrix ``sum_h p_h (C - C_h)^2``, where C is the covariance of the whole sample.

    C is the identity if Z is white.  Because of C, a direction with zero variance contributes
    nothing.
    """
    share, means = _slice_means(Z, weight, labels)
    total, M = _covariance(Z, weight), np.zeros((Z.shape[1], Z.shape[1]))
    for h, mean in enumerate(means):
        rows = labels == h
        change = total - _covariance(Z[rows] - mean, weight[rows] / share[h])
        M += share[h] * change @ change
    return M


def directional_kernel(Z: Array, weight: Array, labels: Indices) -> Array:
    """Matrix of directional regression, ``sum_hl p_h p_l (2 C - E_hl)^2``.

    C is the covariance of the whole sample.  With the SIR matrix A and the second moments S_h in
    the slices, the double sum is ``2 sum_h p_h (C - S_h)^2 + 2 A^2 + 2 trace(A) A``.
    """
    share, means = _slice_means(Z, weight, labels)
    total, A = _covariance(Z, weight), (means.T * share) @ means
    M = 2.0 * (A @ A + np.trace(A) * A)
    for h, p in enumerate(share):
        rows = labels == h
        change = total - _covariance(Z[rows], weight[rows] / p)
        M += 2.0 * p * change @ change
    return np.asarray(M)


def whitening(X: Array, weight: Array) -> Array:
    """Matrix ``A`` (d, d) such that ``X A`` has covariance I, for X (n, d) with mean zero.

    A ridge is added to a singular covariance.  A single sample has no covariance and stays as it
    is.
    """
    variances, axes = np.linalg.eigh(_covariance(X, weight))
    if variances[-1] <= 0.0:
        return np.asarray(axes)
    ridge = RIDGE * variances.mean() if variances[0] <= SINGULAR * variances[-1] else 0.0
    return np.asarray(axes / np.sqrt(np.maximum(variances, 0.0) + ridge))


def sliced_directions(
    sample: Sample, labels: Sequence[Indices], kernel: Kernel
) -> tuple[Array, Array]:
    """Eigenvalues (d,), the largest first, and directions (d, d), the rows, for standardised x.

    ``labels`` contains the slice numbers for each output.  The projections of x on the directions
    are uncorrelated and have unit variance, or less if a ridge was added.  The sign of a direction
    is such that its projection has a covariance >= 0 with the first output.
    """
    A = whitening(sample.X, sample.weight)
    M = np.mean([kernel(sample.X @ A, sample.weight, slice_of) for slice_of in labels], axis=0)
    values, vectors = np.linalg.eigh(M)
    W = (A @ vectors[:, ::-1]).T
    return values[::-1], orient_signs(W, sample)


def _slice_means(Z: Array, weight: Array, labels: Indices) -> tuple[Array, Array]:
    """Shares (h,) of the slices, and means (h, d) in the slices."""
    member = (labels[:, None] == np.arange(labels.max() + 1)) * weight[:, None]
    share: Array = member.sum(axis=0)
    return share, (member.T @ Z) / share[:, None]


def _covariance(Z: Array, weight: Array) -> Array:
    """Second moments ``sum_i w_i z_i z_i^T``: the covariance if Z has mean zero."""
    return (Z.T * weight) @ Z
