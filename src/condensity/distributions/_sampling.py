"""Sampling from Gaussian mixtures, and estimates from samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from condensity._typing import Array
from condensity._utils.numerics import row_blocks
from condensity._utils.parameters import check_rng
from condensity.distributions.block import Block

if TYPE_CHECKING:
    from condensity.distributions.base import Distribution


def draw_from_blocks(blocks: Sequence[Block], n: int, rng: np.random.Generator) -> Array:
    """Independent draws from each row of a mixture, ``n`` for each row: (m, n, dy)."""
    rows, dy = len(blocks[0]), blocks[0].n_outputs
    weights = np.concatenate([block.weights for block in blocks], axis=1)
    cumulative = np.cumsum(weights, axis=1, out=weights)
    cumulative /= cumulative[:, -1:]
    uniform = rng.random((rows, n))
    pairs = zip(cumulative, uniform, strict=True)
    pick = [np.searchsorted(c, u, side="right") for c, u in pairs]
    component = np.array(pick, dtype=np.intp).reshape(rows, n)
    out = rng.standard_normal((rows, n, dy))
    for block in blocks:
        at = np.nonzero((component >= 0) & (component < len(block.centers)))
        out[at] = block.place(at[0], component[at], out[at])
        component -= len(block.centers)
    return out


def hpd_level_by_sampling(
    dist: Distribution, Y: Array, n_draws: int, width: int, random_state: Any
) -> Array:
    """Share of ``n_draws`` draws from each density with at least the density of y_i: (m,).

    ``width`` is the number of components; it limits the rows in one block of memory.
    """
    rng, height = check_rng(random_state), dist.log_pdf(Y)
    out, dy = np.empty(len(dist)), Y.shape[1]
    for rows in row_blocks(len(dist), n_draws * width):
        block = dist[rows]
        draws = block.sample(n_draws, rng).reshape(-1, dy)
        density = block[np.repeat(np.arange(len(block)), n_draws)].log_pdf(draws)
        out[rows] = (density.reshape(len(block), -1) >= height[rows, None]).mean(axis=1)
    return out
