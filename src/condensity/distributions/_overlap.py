"""Sums over pairs of Gaussians: ``integral p_a p_b dy`` of two blocks, and ``E|Y - Y'|``.

The integral of the product of two Gaussians is a Gaussian in the difference of their means, with
the sum of their covariances: ``N(mu_k - mu_l; 0, s_a^2 S_a + s_b^2 S_b)``.

If the blocks have different shifts in each row, this needs a table of Gaussians for each row.  With
one output there is a faster method.  By Parseval's theorem the integral is an integral of
characteristic functions, where a shift is only a phase factor.  The trapezoidal rule for it
converges faster than any power of the step.  For distances there is a similar formula:
``|d| = pi / (3 h) + h d^2 / (2 pi) - 2 / (pi h) sum_j cos(j h d) / j^2`` for ``|d| <= 2 pi / h``.
The expectation of the sum is a sum of squared characteristic functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from condensity._typing import Array
from condensity._utils.numerics import row_blocks
from condensity.distributions import _univariate as univariate
from condensity.distributions._univariate import ROOT_2PI, UnivariateMixtures, tiles
from condensity.distributions.block import Block

#: A Gaussian is negligible beyond this number of standard deviations: ``exp(-40)`` of its height.
GAUSSIAN_END = 9.0
#: Up to this number of frequencies for each centre, the sum takes less time than all pairs.
WAVES_A_CENTER = 20


def overlap(a: Block, b: Block) -> Array:
    """``sum_kl w_ik v_il N(mu_ik - nu_il; 0, C_i)`` for each row i of both blocks: (m,)."""
    if a.same_frame(b):
        return _overlap_in_one_frame(a, b)
    if a.n_outputs == 1 and a.scale is None and b.scale is None:
        spacing, count = _frequencies(a, b)
        if count < len(a.centers) + len(b.centers):
            return _overlap_by_waves(a, b, spacing * np.arange(count))
    return _overlap_by_row(a, b)


def mean_difference_of_blocks(blocks: Sequence[Block], c: UnivariateMixtures) -> Array:
    """``E|Y - Y'|`` of one output for each row (m,); ``c`` has the components of the blocks."""
    if c.shared or any(block.scale is not None for block in blocks):
        return univariate.mean_difference(c)
    sds = [float(block.factor[0, 0]) for block in blocks]
    ends = np.array([[block.centers.min(), block.centers.max()] for block in blocks])
    moved = np.stack([_moved(block) for block in blocks])  # (blocks, m)
    moved -= moved[0]  # a common shift has no effect, but it would cost the phases digits
    reach = (ends[:, 1:] + moved).max(axis=0) - (ends[:, :1] + moved).min(axis=0)
    reach += np.sqrt(2) * GAUSSIAN_END * max(sds)
    waves = GAUSSIAN_END * reach / (2 * np.pi * np.sqrt(2) * min(sds))
    few = waves <= WAVES_A_CENTER * c.width
    out = np.empty(len(c))
    out[~few] = univariate.mean_difference(c.take(~few))
    if few.any():
        h, count = 2 * np.pi / float(reach[few].max()), int(np.ceil(waves[few].max()))
        selected = [
            replace(block.take(few), centers=block.centers - ends.mean(), shift=shift[few, None])
            for block, shift in zip(blocks, moved, strict=True)
        ]
        total = _squared_characteristic(selected, sds, h, count)
        out[few] = np.pi / (3 * h) + h / np.pi * univariate.variance(c.take(few))
        out[few] -= 2 / (np.pi * h) * total
    return out


def mean_overlaps(mixtures: Sequence[Sequence[Block]], weight: Array) -> Array:
    """Weighted sums over the rows of ``integral p_a p_b dy`` for all pairs of mixtures: (C, C).

    The mixtures have one output, plain or logarithmic weights, and no scales.  Each one needs its
    characteristic function only once, on a grid that serves all pairs.
    """
    blocks = [block for mixture in mixtures for block in mixture]
    sds = [float(block.factor[0, 0]) for block in blocks]
    origin = _moved(blocks[0])  # a common shift has no effect, but it would cost the phases digits
    means = [(_moved(b) - origin)[:, None] + [b.centers.min(), b.centers.max()] for b in blocks]
    reach = float(
        np.max([np.max(m[:, 1]) for m in means]) - np.min([np.min(m[:, 0]) for m in means])
    )
    h = 2 * np.pi / (reach + np.sqrt(2) * GAUSSIAN_END * max(sds))
    count = int(np.ceil(GAUSSIAN_END / (np.sqrt(2) * min(sds) * h))) + 1
    total = np.zeros((len(mixtures), len(mixtures)))
    for part in row_blocks(count, 2 * len(mixtures) * len(weight)):
        omega = h * np.arange(count)[part]
        rule = np.where(omega > 0, 1.0, 0.5) * h / np.pi
        root = np.sqrt(weight[:, None] * rule)
        waves = [root * _characteristic(mixture, origin, omega) for mixture in mixtures]
        table = np.stack([np.stack([wave.real, wave.imag]).ravel() for wave in waves])
        total += table @ table.T
    return total


def _characteristic(mixture: Sequence[Block], origin: Array, omega: Array) -> Array:
    """``E exp(i omega (Y - origin))`` of one output for each row: (m, frequencies)."""
    total = np.zeros((len(origin), len(omega)), dtype=complex)
    for block in mixture:
        angles, decay = block.centers * omega, np.exp(-0.5 * (block.factor[0, 0] * omega) ** 2)
        weights = block.weights
        own = weights @ (np.cos(angles) * decay) + 1j * (weights @ (np.sin(angles) * decay))
        total += np.exp(1j * (_moved(block) - origin)[:, None] * omega) * own
    return total


def _squared_characteristic(blocks: list[Block], sds: list[float], h: float, count: int) -> Array:
    """``sum_j |E exp(i j h Y)|^2 / j^2`` over j = 1 to ``count``, for each row: (m,)."""
    total, width = np.zeros(len(blocks[0])), sum(len(block.centers) for block in blocks)
    for part in row_blocks(count, 2 * width):
        j = np.arange(1, count + 1)[part]
        tables = []
        for block, sd in zip(blocks, sds, strict=True):
            angles, decay = block.centers * (h * j), np.exp(-0.5 * (sd * h * j) ** 2)
            tables.append((np.cos(angles) * decay, np.sin(angles) * decay))
        for rows in row_blocks(len(total), 8 * len(j)):
            phi = np.zeros((rows.stop - rows.start, len(j)), dtype=complex)
            for block, (cos, sin) in zip(blocks, tables, strict=True):
                part_block = block.take(rows)
                phase = np.exp(1j * _moved(part_block)[:, None] * (h * j))
                phi += phase * (part_block.weights @ cos + 1j * (part_block.weights @ sin))
            total[rows] += (phi.real**2 + phi.imag**2) @ (1.0 / j**2)
    return total


def _overlap_in_one_frame(a: Block, b: Block) -> Array:
    """Overlap of blocks with equal shifts and scales: one table of kernels for all rows.

    A common scale divides the overlap by ``scale^dy``.
    """
    L: Any = np.linalg.cholesky(a.covariance + b.covariance)
    total = np.zeros(len(a))
    ours, theirs = (np.linalg.solve(L, block.centers.T).T for block in (a, b))
    for part in row_blocks(len(ours), len(theirs)):
        table = np.exp(-0.5 * cdist(ours[part], theirs, "sqeuclidean")) / _volume(L)
        for rows in row_blocks(len(a), max(table.shape)):
            left, right = a.take(rows).weights[:, part], b.take(rows).weights
            total[rows] += np.einsum("rl,rl->r", left @ table, right)
    return total / a.scales**a.n_outputs


def _frequencies(a: Block, b: Block) -> tuple[float, float]:
    """Spacing and number of nodes that integrate ``exp(-s^2 omega^2 / 2 + i omega (mu - nu))``.

    The last node is where the Gaussian is negligible.  The sum over the nodes is periodic in the
    difference of means.  Its period ``2 pi / spacing`` is larger than all differences plus the
    range of the Gaussian.
    """
    sd = float(np.sqrt(a.covariance + b.covariance)[0, 0])
    apart = np.ptp(np.concatenate([a.centers, b.centers])) + np.abs(_apart(a, b)).max(initial=0.0)
    spacing = 2 * np.pi / (apart + GAUSSIAN_END * sd)
    return float(spacing), float(np.ceil(GAUSSIAN_END / (sd * spacing)) + 1)


def _overlap_by_waves(a: Block, b: Block, frequencies: Array) -> Array:
    """Overlap of one output as an integral of characteristic functions: (m,)."""
    covariance = (a.covariance + b.covariance)[0, 0]
    rule = np.exp(-0.5 * covariance * frequencies**2) * frequencies[1] / np.pi
    rule[0] /= 2.0
    total, apart = np.zeros(len(a)), _apart(a, b)
    for part in row_blocks(len(frequencies), 4 * (len(a.centers) + len(b.centers))):
        omega = frequencies[part]
        ours, theirs = (np.exp(1j * block.centers * omega) for block in (a, b))
        for rows in row_blocks(len(a), 8 * len(omega)):
            left = a.take(rows).weights @ ours
            right = b.take(rows).weights @ theirs
            phase = np.exp(1j * apart[rows, None] * omega)
            total[rows] += (left * phase * right.conj()).real @ rule[part]
    return np.asarray(np.maximum(total, 0.0))


def _apart(a: Block, b: Block) -> Array:
    """Difference of the shifts of ``a`` and ``b``, for one output: (m,)."""
    return _moved(a) - _moved(b)


def _moved(block: Block) -> Array:
    """Shift of each row, for one output: (m,)."""
    return np.zeros(len(block)) if block.shift is None else block.shift[:, 0]


def _overlap_by_row(a: Block, b: Block) -> Array:
    """Overlap from one table of kernels for each row: (m,)."""
    out = np.zeros(len(a))
    for rows, part in tiles(len(a), a.centers.shape[0], 4 * len(b.centers)):
        ours, theirs = a.take(rows), b.take(rows)
        squares = [block.scales[:, None, None] ** 2 * block.covariance for block in (ours, theirs)]
        L: Any = np.linalg.cholesky(squares[0] + squares[1])  # (r, dy, dy)
        left, right = (_whitened_means(block, L) for block in (ours, theirs))
        kernels = _kernels(left[:, part], right) / _volume(L)[:, None, None]
        w, v = ours.weights[:, part], theirs.weights
        out[rows] += np.einsum("rk,rk->r", w, np.matmul(kernels, v[:, :, None])[:, :, 0])
    return out


def _volume(L: Any) -> Array:
    """``(2 pi)^(dy/2) det L`` for lower factors (..., dy, dy): (...)."""
    volume: Array = np.prod(ROOT_2PI * np.diagonal(L, axis1=-2, axis2=-1), axis=-1)
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
