"""Modes of multivariate Gaussian mixtures, by mean shift and Newton steps from the centres [1]_.

With responsibilities r_k and precisions Q_k, ``grad log p = sum_k r_k Q_k (mu_k - y)``.  The
mean-shift step ``(sum_k r_k Q_k)^-1 grad`` does not decrease the density.  Near a mode the Hessian
``H = sum_k r_k (Q_k d_k d_k' Q_k - Q_k) - grad grad'`` with ``d_k = mu_k - y`` is negative
definite.  There the Newton step ``-H^-1 grad`` is used, if it is short and does not decrease the
density.

References
----------
.. [1] M. A. Carreira-Perpinan, "Mode-finding for mixtures of Gaussian distributions," IEEE
   Transactions on Pattern Analysis and Machine Intelligence 22(11), 2000.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from condensity._typing import Array, Indices
from condensity._utils.numerics import log_sum_exp, row_blocks
from condensity.distributions.block import Block

#: A climb starts at every centre with at least this share of the largest weight of its row.
RELEVANT = 1e-6

#: Lengths in kernel widths: a climb ends with a step shorter than TOLERANCE, modes closer than
#: MERGE are merged, and climbs that come as close as CLOSE are merged.  A climb has at most
#: MAX_STEPS steps.
TOLERANCE, MERGE, CLOSE, MAX_STEPS = 1e-9, 1e-3, 0.02, 500


@dataclass(frozen=True, eq=False)
class _Slope:
    """Value, gradient and Hessian of log p, and the mean precision, at ``n`` points."""

    height: Array  # (n,)
    gradient: Array  # (n, dy)
    hessian: Array  # (n, dy, dy)
    precision: Array  # (n, dy, dy) sum_k r_k Q_k


def climb_to_modes(blocks: tuple[Block, ...]) -> list[Array]:
    """Local maxima of the density of each row, the highest first: m arrays of shape (k_i, dy).

    These are all maxima that a climb from a relevant centre or from the mean reaches.  In two or
    more dimensions a mixture can have other maxima, but this is rare.
    """
    row, y = _starts(blocks)
    row, y = _climb(blocks, row, y)
    top = _slopes(blocks, row, y)
    peak = np.linalg.eigvalsh(top.hessian)[:, -1] < 0
    order = np.lexsort((-top.height, row))
    order = order[peak[order]]
    row, y, precision = row[order], y[order], top.precision[order]
    cuts = np.searchsorted(row, np.arange(1, len(blocks[0])))
    pieces = zip(np.split(y, cuts), np.split(precision, cuts), strict=True)
    return [_merge(tops, Q) for tops, Q in pieces][: len(blocks[0])]


def _starts(blocks: tuple[Block, ...]) -> tuple[Indices, Array]:
    """Rows and positions of the relevant centres, and of the means.

    A maximum between centres may be reached from none of them, for instance in the middle of a
    simplex of equal Gaussians.
    """
    best = np.max([block.log_weights.max(axis=1) for block in blocks], axis=0)
    mean = sum(np.einsum("rk,rki->ri", b.weights, _all_means(b)) for b in blocks)
    rows, places = [np.arange(len(blocks[0]))], [np.asarray(mean)]
    for block in blocks:
        row, k = np.nonzero(block.log_weights >= best[:, None] + np.log(RELEVANT))
        rows.append(row)
        places.append(_all_means(block)[row, k])
    return np.concatenate(rows), np.concatenate(places)


def _all_means(block: Block) -> Array:
    """The means of the Gaussians in every row, (m, b, dy)."""
    return np.broadcast_to(block.means(), (len(block), *block.centers.shape))


def _merge(y: Array, precision: Array) -> Array:
    """Modes, sorted from high to low, without those close to a higher one: (k, dy)."""
    kept: list[int] = []
    for i in range(len(y)):
        gaps = y[kept] - y[i]
        if not (np.einsum("ki,ij,kj->k", gaps, precision[i], gaps) < MERGE**2).any():
            kept.append(i)
    return y[kept]


def _climb(blocks: tuple[Block, ...], row: Indices, y: Array) -> tuple[Indices, Array]:
    """Rows and end points of the climbs from ``y`` (n, dy); climbs that meet are merged."""
    done = []
    for _ in range(MAX_STEPS):
        first = _distinct(blocks, row, y)
        row, y = row[first], y[first]
        slope = _slopes(blocks, row, y)
        step: Any = np.linalg.solve(slope.precision, slope.gradient[:, :, None])[:, :, 0]
        _speed_up(blocks, row, y, slope, step)
        y = y + step
        moving = np.einsum("ni,nij,nj->n", step, slope.precision, step) > TOLERANCE**2
        done.append((row[~moving], y[~moving]))
        row, y = row[moving], y[moving]
        if not len(y):
            break
    done.append((row, y))
    return np.concatenate([r for r, _ in done]), np.concatenate([p for _, p in done])


def _distinct(blocks: tuple[Block, ...], row: Indices, y: Array) -> Indices:
    """Indices of one point of each row in each cell of a grid of CLOSE kernel widths."""
    widths = [block.scales * np.diagonal(block.factor).min() for block in blocks]
    cell = np.rint(y / (CLOSE * np.min(widths, axis=0)[row, None]))
    _, first = np.unique(np.column_stack([row, cell]), axis=0, return_index=True)
    return first


def _speed_up(
    blocks: tuple[Block, ...], row: Indices, y: Array, slope: _Slope, step: Array
) -> None:
    """Overwrite mean-shift steps by Newton steps that are short and do not decrease p."""
    concave = np.flatnonzero(np.linalg.eigvalsh(slope.hessian)[:, -1] < 0)
    H, g = slope.hessian[concave], slope.gradient[concave]
    newton = -np.linalg.solve(H, g[:, :, None])[:, :, 0]
    short = np.einsum("ni,nij,nj->n", newton, slope.precision[concave], newton) < 1
    concave, newton = concave[short], newton[short]
    height = _heights(blocks, row[concave], y[concave] + newton)
    climbs = height >= slope.height[concave]
    step[concave[climbs]] = newton[climbs]


def _heights(blocks: tuple[Block, ...], row: Indices, y: Array) -> Array:
    """``log p`` of mixtures ``row`` at ``y`` (n, dy): (n,)."""
    out = np.empty(len(y))
    for part in row_blocks(len(y), 4 * sum(len(block.centers) for block in blocks)):
        out[part] = log_sum_exp(_log_terms([b.take(row[part]) for b in blocks], y[part]))
    return out


def _log_terms(blocks: list[Block], y: Array) -> Array:
    """Logarithms of the weighted components at ``y`` (n, dy): (n, K)."""
    return np.concatenate([b.log_weights + b.log_kernels(y) for b in blocks], axis=1)


def _slopes(blocks: tuple[Block, ...], row: Indices, y: Array) -> _Slope:
    """Derivatives of log p of mixtures ``row`` at ``y`` (n, dy), in blocks of points."""
    width = 4 * y.shape[1] * sum(len(block.centers) for block in blocks)
    parts = [
        _slopes_of_piece([b.take(row[part]) for b in blocks], y[part])
        for part in row_blocks(max(1, len(y)), width)
    ]
    names = ("height", "gradient", "hessian", "precision")
    return _Slope(*(np.concatenate([getattr(p, name) for p in parts]) for name in names))


def _slopes_of_piece(blocks: list[Block], y: Array) -> _Slope:
    """Derivatives of log p of mixture i at ``y_i``, at once."""
    terms = _log_terms(blocks, y)
    height = log_sum_exp(terms)
    share = np.split(
        np.exp(terms - height[:, None]), np.cumsum([len(b.centers) for b in blocks])[:-1], axis=1
    )
    gradient = np.zeros_like(y)
    spread, precision = np.zeros((2, *y.shape, y.shape[1]))
    for block, r in zip(blocks, share, strict=True):
        Q = np.linalg.inv(block.covariance) / block.scales[:, None, None] ** 2
        pull = np.matmul(block.means() - y[:, None, :], Q)  # (n, b, dy)
        gradient += np.einsum("nk,nki->ni", r, pull)
        spread += np.matmul(np.swapaxes(pull * r[:, :, None], 1, 2), pull)
        precision += r.sum(axis=1)[:, None, None] * Q
    hessian = spread - precision - gradient[:, :, None] * gradient[:, None, :]
    return _Slope(height, gradient, hessian, precision)
