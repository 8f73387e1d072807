"""Integrals of densities with bounds, by quadrature: accurate to 1e-8.

Such a density is a Gaussian mixture of free coordinates u, mapped to y(u) between the bounds.  For
smooth integrands that vanish at both ends, the trapezoidal rule converges exponentially.  With step
h its error is of order ``exp(-2 pi d / h)``, where the integrand is analytic up to the distance d
from the real line.  A Gaussian of unit width allows h = 1/2.  A logistic function of width w has
d = pi w.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from condensity._typing import Array
from condensity.distributions._univariate import ROOT_2PI, UnivariateMixtures, tiles
from condensity.distributions.block import Block

if TYPE_CHECKING:
    from condensity.distributions.bounded import Bounds

#: The mass of a Gaussian beyond this number of standard deviations is below rounding error.
REACH = 9.0
#: Nodes in a panel and minimum number of panels of a Gauss-Legendre rule for part of a Gaussian.
NODES, PANELS = 16, 8
#: Step for products of distribution functions, in units of the narrowest component.  The error is
#: of order exp(-27).
STEP = 0.6


def bounded_mean(c: UnivariateMixtures, bounds: Bounds) -> Array:
    """Mean ``E[y(U)]`` for mixtures of u, for one output between two bounds: (r,)."""
    total = np.zeros(len(c))
    for e, share in _normal_rule(float(c.sds.max(initial=0.0))):
        y = _bounded(bounds, 0, c.means + c.sds * e)
        total += share * np.einsum("rk,rk->r", c.weights, np.broadcast_to(y, c.weights.shape))
    return total


def bounded_covariance(blocks: Sequence[Block], bounds: Bounds, means: Array) -> Array:
    """``E (y_1(U) - mean_1)(y_2(U) - mean_2)``, or the square for one output: (m,).

    ``means`` (m, 1) or (m, 2) are the means of y.  At least one output has two bounds.
    """
    total = np.zeros(len(means))
    dy = means.shape[1]
    for block in blocks:
        weights, centers, scales = block.weights, block.means(), block.scales
        width = float(np.sqrt(np.diagonal(block.covariance)).max() * scales.max(initial=0.0))
        rule = list(_normal_rule(width))
        for nodes in np.ndindex(*([len(rule)] * dy)):
            e = np.array([rule[t][0] for t in nodes])
            share = float(np.prod([rule[t][1] for t in nodes]))
            move = scales[:, None] * (block.factor @ e)
            off = [
                _bounded(bounds, j, centers[:, :, j] + move[:, j, None]) - means[:, j, None]
                for j in range(dy)
            ]
            square = off[0] ** 2 if dy == 1 else off[0] * off[1]
            total += share * np.einsum("rk,rk->r", weights, square)
    return total


def bounded_crps(c: UnivariateMixtures, bounds: Bounds, means: Array, y: Array, u: Array) -> Array:
    """CRPS ``E|Y - y_i| - E|Y - Y'| / 2`` at ``y`` (r,): (r,).

    ``u`` (r,) are the free coordinates of ``y``, and ``means`` (r,) the means of Y.
    """
    if not len(c):
        return np.zeros(0)
    to_y = means - y + 2 * _below(c, bounds, y, u)
    return to_y - _half_spread(c, bounds)


def _below(c: UnivariateMixtures, bounds: Bounds, y: Array, u: Array) -> Array:
    """``E (y_i - Y)_+``, integrated in panels from the lower end to y_i: (r,)."""
    widest = float(c.sds.max())
    reach = REACH + 2 * widest
    end = np.clip((u[:, None] - c.means) / c.sds, -reach, reach)
    panels = int(np.ceil(PANELS * max(1.0, widest / 3)))
    x, share = np.polynomial.legendre.leggauss(NODES)
    length = (end + reach) / panels
    total = np.zeros(len(c))
    for panel in range(panels):
        for node, weight in zip(x, share, strict=True):
            e = -reach + length * (panel + 0.5 + 0.5 * node)
            density = 0.5 * weight * length * np.exp(-0.5 * e**2) / ROOT_2PI
            gap = y[:, None] - _bounded(bounds, 0, c.means + c.sds * e)
            total += np.einsum("rk,rk->r", c.weights, density * gap)
    return total


def _half_spread(c: UnivariateMixtures, bounds: Bounds) -> Array:
    """``E|Y - Y'| / 2 = int F (1 - F) dy``: (r,)."""
    step = min(STEP, STEP * float(c.sds.min()))
    reach = REACH * c.sds + c.sds**2
    low, high = (c.means - reach).min(axis=1), (c.means + reach).max(axis=1)
    low = np.broadcast_to(low, (len(c),))
    total = np.zeros(len(c))
    count = int(np.ceil((high - low).max() / step)) + 1
    for rows, part in tiles(len(c), count, 4 * c.width):
        mixtures = c.take(rows)
        u = low[rows, None] + step * np.arange(part.start, part.stop)
        z = (u[:, :, None] - mixtures.means[:, None, :]) / mixtures.sds[:, None, :]
        F, S = (np.einsum("rk,rtk->rt", mixtures.weights, ndtr(sign * z)) for sign in (1, -1))
        dy_du = np.exp(-bounds.log_volume(u[..., None]))
        total[rows] += step * np.einsum("rt,rt->r", F * S, dy_du)
    return total


def _normal_rule(width: float) -> Iterator[tuple[float, float]]:
    """Nodes and weights for ``E f(mu + width e)``, e ~ N(0, 1), if f grows at most like exp."""
    step = max(0.02, min(0.5, 0.8 / max(width, 1e-300)))
    count = int(np.ceil((REACH + width) / step))
    for t in range(-count, count + 1):
        e = step * t
        yield e, step * float(np.exp(-0.5 * e**2)) / ROOT_2PI


def _bounded(bounds: Bounds, j: int, u: Array) -> Array:
    """``y_j`` for free coordinates ``u`` of output j."""
    return bounds.take(np.array([j])).bounded(u[..., None])[..., 0]
