"""Sums over pairs of Gaussians: ``integral p_a p_b dy`` of two blocks, and ``E|Y - Y'|``.

The integral of the product of two Gaussians is a Gaussian in the difference of their means, with
the sum of their covariances: ``N(mu_k - mu_l; 0, s_a^2 S_a + s_b^2 S_b)``.

If the blocks have different shifts in each row, this needs a table of Gaussians for each row.  With
one output, sums over frequencies are usually faster; see ``_waves``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from condensity._typing import Array
from condensity._utils.numerics import row_blocks
from condensity.distributions import _univariate as univariate
from condensity.distributions import _waves as waves
from condensity.distributions._univariate import ROOT_2PI, UnivariateMixtures, tiles
from condensity.distributions.block import Block, divided, without_common_frame


def squared_norm_by_pairs(blocks: Sequence[Block]) -> Array:
    """``int p^2 dy`` of each row as the overlaps of all pairs of blocks: (m,)."""
    total = np.zeros(len(blocks[0]))
    for j, block in enumerate(blocks):
        total += overlap(block, block)
        for other in blocks[:j]:
            total += 2 * overlap(block, other)
    return total


def overlap(a: Block, b: Block) -> Array:
    """``sum_kl w_ik v_il N(mu_ik - nu_il; 0, C_i)`` for each row i of both blocks: (m,)."""
    if a.same_frame(b):
        return _overlap_in_one_frame(a, b)
    if not waves.possible([a, b]):
        return _overlap_by_row(a, b)
    (a, b), _, _ = without_common_frame([a, b])
    out, rest = waves.overlaps(a, b)
    if len(rest):
        out[rest] = _overlap_by_row(a.take(rest), b.take(rest))
    return out


def inner_product(ours: Sequence[Block], theirs: Sequence[Block]) -> Array:
    """``int p q dy`` of each row of two mixtures: (m,)."""
    pairs = [overlap(a, b) for a in ours for b in theirs]
    return np.asarray(sum(pairs, np.zeros(len(ours[0]))))


def mean_difference_of_blocks(blocks: Sequence[Block], c: UnivariateMixtures) -> Array:
    """``E|Y - Y'|`` of one output for each row (m,); ``c`` has the components of the blocks."""
    if not waves.possible(blocks):
        return univariate.mean_difference(c)
    out, rest = waves.mean_differences(blocks, lambda rows: univariate.variance(c.take(rows)))
    if len(rest):
        out[rest] = univariate.mean_difference(c.take(rest))
    return out


def mean_overlaps(mixtures: Sequence[Sequence[Block]], weight: Array) -> Array:
    """Weighted sums over the rows of ``integral p_a p_b dy`` for all pairs of mixtures: (C, C).

    The mixtures have one output, plain or logarithmic weights, and no scales.  Each one needs its
    characteristic function only once, on a grid that serves all pairs.  If Gaussians are so narrow
    that they need very many frequencies, all pairs of them are compared.
    """
    blocks = [block for mixture in mixtures for block in mixture]
    sds = [float(block.factor[0, 0]) for block in blocks]
    origin = waves.moved(
        blocks[0]
    )  # a common shift has no effect, but it would cost the phases digits
    means = [
        (waves.moved(b) - origin)[:, None] + [b.centers.min(), b.centers.max()] for b in blocks
    ]
    reach = float(
        np.max([np.max(m[:, 1]) for m in means]) - np.min([np.min(m[:, 0]) for m in means])
    )
    h = 2 * np.pi / (reach + np.sqrt(2) * waves.END * max(sds))
    needed = waves.END / (np.sqrt(2) * min(sds) * h)
    if needed > waves.WAVES_A_CENTER * sum(len(block.centers) for block in blocks):
        return _mean_overlaps_by_pairs(mixtures, weight)
    count = int(np.ceil(needed)) + 1
    total = np.zeros((len(mixtures), len(mixtures)))
    for part in row_blocks(count, 2 * len(mixtures) * len(weight)):
        omega = h * np.arange(count)[part]
        rule = np.where(omega > 0, 1.0, 0.5) * h / np.pi
        root = np.sqrt(weight[:, None] * rule)
        series = [root * _characteristic(mixture, origin, omega) for mixture in mixtures]
        table = np.stack([np.stack([wave.real, wave.imag]).ravel() for wave in series])
        total += table @ table.T
    return total


def _mean_overlaps_by_pairs(mixtures: Sequence[Sequence[Block]], weight: Array) -> Array:
    total = np.zeros((len(mixtures), len(mixtures)))
    for i, ours in enumerate(mixtures):
        for j, theirs in enumerate(mixtures[: i + 1]):
            total[i, j] = total[j, i] = sum(weight @ overlap(a, b) for a in ours for b in theirs)
    return total


def _characteristic(mixture: Sequence[Block], origin: Array, omega: Array) -> Array:
    """``E exp(i omega (Y - origin))`` of one output for each row: (m, frequencies)."""
    total = np.zeros((len(origin), len(omega)), dtype=complex)
    for block in mixture:
        angles, decay = block.centers * omega, np.exp(-0.5 * (block.factor[0, 0] * omega) ** 2)
        weights = block.weights
        own = weights @ (np.cos(angles) * decay) + 1j * (weights @ (np.sin(angles) * decay))
        total += np.exp(1j * (waves.moved(block) - origin)[:, None] * omega) * own
    return total


def _overlap_in_one_frame(a: Block, b: Block) -> Array:
    """Overlap of blocks with equal shifts and scales: one table of kernels for all rows.

    A common scale divides the overlap by ``scale^dy``.
    """
    L: Any = np.linalg.cholesky(a.covariance + b.covariance)
    total = np.zeros(len(a))
    ours, theirs = (np.linalg.solve(L, block.centers.T).T for block in (a, b))
    for part in row_blocks(len(ours), len(theirs)):
        table = np.exp(-0.5 * cdist(ours[part], theirs, "sqeuclidean"))
        for rows in row_blocks(len(a), max(table.shape)):
            left, right = a.take(rows).weights[:, part], b.take(rows).weights
            total[rows] += np.einsum("rl,rl->r", left @ table, right)
    return divided(total, _log_volume(L) + a.n_outputs * np.log(a.scales))


def _overlap_by_row(a: Block, b: Block) -> Array:
    """Overlap from one table of kernels for each row: (m,)."""
    out = np.zeros(len(a))
    for rows, part in tiles(len(a), a.centers.shape[0], 4 * len(b.centers)):
        ours, theirs = a.take(rows), b.take(rows)
        squares = [block.scales[:, None, None] ** 2 * block.covariance for block in (ours, theirs)]
        L: Any = np.linalg.cholesky(squares[0] + squares[1])  # (r, dy, dy)
        left, right = (_whitened_means(block, L) for block in (ours, theirs))
        kernels, w, v = _kernels(left[:, part], right), ours.weights[:, part], theirs.weights
        sums = np.einsum("rk,rk->r", w, np.matmul(kernels, v[:, :, None])[:, :, 0])
        out[rows] += divided(sums, _log_volume(L))
    return out


def _log_volume(L: Any) -> Array:
    """Logarithm of ``(2 pi)^(dy/2) det L`` for lower factors (..., dy, dy): (...)."""
    volume: Array = np.log(ROOT_2PI * np.diagonal(L, axis1=-2, axis2=-1)).sum(axis=-1)
    return volume


def _whitened_means(block: Block, L: Any) -> Array:
    """``L_i^-1 mu_ik``: (r, b, dy)."""
    return np.swapaxes(np.linalg.solve(L, np.swapaxes(block.means(), 1, 2)), 1, 2)


def _kernels(left: Array, right: Array) -> Array:
    """``exp(-|a_k - b_l|^2 / 2)`` for rows of (r, k, dy) and (r, l, dy): (r, k, l)."""
    squared = np.zeros((len(left), left.shape[1], right.shape[1]))
    with np.errstate(over="ignore"):  # an infinite distance gives a kernel of zero
        for j in range(left.shape[2]):
            squared += (left[:, :, None, j] - right[:, None, :, j]) ** 2
    squared *= -0.5
    return np.exp(squared, out=squared)
