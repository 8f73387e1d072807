"""Integrals by quadrature: moments for two bounds, parts of the CRPS, entropies.

The errors are about 1e-8; those of entropies are below 1e-5.  A density with bounds is a Gaussian
mixture of free coordinates u, mapped to y(u) between the bounds; without bounds, u is y.  For
smooth integrands that vanish at both ends, the trapezoidal rule converges exponentially.  With step
h its error is of order ``exp(-2 pi d / h)``, where the integrand is analytic up to the distance d
from the real line.  A Gaussian of unit width allows h = 1/2.  A logistic function of width w has
d = pi w.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from condensity._typing import Array, Mask
from condensity._utils.numerics import row_blocks
from condensity.distributions import _waves as waves
from condensity.distributions._univariate import ROOT_2PI, UnivariateMixtures
from condensity.distributions.block import Block

if TYPE_CHECKING:
    from condensity.distributions.bounded import Bounds
    from condensity.distributions.mixture import Mixture

#: The mass of a Gaussian beyond this number of standard deviations is below rounding error.
REACH = 9.0
#: Nodes in a panel of a Gauss-Legendre rule, and its length in units of the narrowest component.
NODES, PANEL = 16, 4.0
#: Means and variances below this part of their range are sums over Gaussians: an integral of F has
#: an absolute error.
MOST_DIGITS = 1e-5
#: Beyond this u, the distance of y to its bound is below rounding error.
STEEP = 40.0
#: Probabilities up to this are rounding errors of the distribution function.
ROUNDING = 1e-13
#: Step of the trapezoidal rule for entropies, in standard deviations of the narrowest Gaussian, and
#: densities, in units of its height, that add nothing to them.
ENTROPY_STEP, FAINT = 0.25, 1e-12


def bounded_mean(free: Mixture, bounds: Bounds) -> Array:
    """Mean ``E[y(U)]`` of one output between two bounds: (r,).

    It is accurate relative to the distance from both bounds.
    """
    (a,), (b,), mean = bounds.lower, bounds.upper, np.full(len(free), np.nan)
    if waves.possible(free.blocks):
        top, moments = _moments_below_top(free, bounds)
        mean = top - moments[0]
    near = np.flatnonzero(~(np.minimum(mean - a, b - mean) > MOST_DIGITS * (b - a)))
    if len(near):
        mean[near] = _mean_by_rule(free[near].components("mean"), bounds)
    return mean


def bounded_variance(free: Mixture, bounds: Bounds, mean: Array) -> Array:
    """Variance of y(U) of one output between two bounds, with the means of y: (r,)."""
    variance = np.full(len(free), np.nan)
    if waves.possible(free.blocks):
        moments = _moments_below_top(free, bounds)[1]
        variance = moments[1] - moments[0] ** 2
    small = ~(variance > MOST_DIGITS * (bounds.upper[0] - bounds.lower[0]) ** 2)
    rows = np.flatnonzero(small)
    if len(rows):
        variance[rows] = bounded_covariance(free[rows].blocks, bounds, mean[rows, None])
    return variance


def _moments_below_top(free: Mixture, bounds: Bounds) -> tuple[Array, Array]:
    """The largest y (r,), and the first two moments of the distance D of Y from it: (2, r).

    ``E[D] = int F dy`` and ``E[D^2] = 2 int (top - y) F dy``.
    """
    low, high = _range(free, bounds)
    top, moments = _bounded(bounds, 0, high), np.zeros((2, len(free)))
    for offsets, F, share in _cdf_panels(free, bounds, high, low, high):
        share *= F
        distance = top[:, None] - _bounded(bounds, 0, high[:, None] + offsets)
        moments += np.sum(share, axis=1), 2 * np.einsum("rt,rt->r", share, distance)
    return top, moments


def _mean_by_rule(c: UnivariateMixtures, bounds: Bounds) -> Array:
    """Mean ``E[y(U)]`` as a sum over Gaussians, which is exact near a bound: (r,)."""
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


def bounded_partial_moment(
    free: Mixture, bounds: Bounds, order: int, side: float, t: Array
) -> Array:
    """``E max(side (Y - t_i), 0)^order`` of one output with two bounds, ``side`` 1 or -1: (r,).

    ``order int |y - t|^(order - 1) P dy`` over the side of t, where P is F below and 1 - F above.
    """
    low, high = _range(free, bounds)
    w = np.clip(bounds.free(t[:, None])[:, 0], low, high)
    at_w = _bounded(bounds, 0, w)
    total = np.maximum(side * (at_w - t), 0.0) ** order  # t at or beyond the bound
    ends = (w, high) if side > 0 else (low, w)
    for offsets, F, share in _cdf_panels(free, bounds, w, *ends):
        distance = np.abs(_bounded(bounds, 0, w[:, None] + offsets) - t[:, None])
        tail = 1 - F if side > 0 else F
        total += order * np.einsum("rt,rt->r", distance ** (order - 1) * tail, share)
    return np.asarray(total)


def bounded_crps(free: Mixture, bounds: Bounds, y: Array) -> Array:
    """CRPS ``int (F - 1{Y >= y_i})^2 dY`` of one output between two bounds at ``y`` (r,): (r,)."""
    return np.asarray(sum(squared_tails(free, bounds, y)))


def squared_tails(free: Mixture, bounds: Bounds | None, y: Array) -> tuple[Array, Array]:
    """``int F^2 dY`` below ``y`` (r,) and ``int (1 - F)^2 dY`` above it: (r,) and (r,).

    The integral over u goes from the point w, the nearest one to u(y) where ``0 < F < 1``, to both
    sides in panels, as far as both the slope dy/du and ``F (1 - F)`` differ from zero.
    """
    low, high = _range(free, bounds)
    w = np.clip(y if bounds is None else bounds.free(y[:, None])[:, 0], low, high)
    beyond = y - (w if bounds is None else _bounded(bounds, 0, w))
    below, above = np.maximum(beyond, 0.0), np.maximum(-beyond, 0.0)
    for offsets, F, share in _cdf_panels(free, bounds, w, low, high):
        left = offsets < 0
        tail = np.where(left, F, 1 - F)
        tail[tail < ROUNDING] = 0.0
        share *= tail**2
        below += share[:, left].sum(axis=1)
        above += share[:, ~left].sum(axis=1)
    return below, above


def threshold_weighted_crps(
    free: Mixture, bounds: Bounds | None, y: Array, t: Array, side: float
) -> Array:
    """``int (F - 1{Y >= y_i})^2 dY`` over the side of ``t`` (r,): (r,).

    Above t it is the sum of ``int F^2`` from t to y and ``int (1 - F)^2`` from y on, if y > t.
    """
    end = np.maximum(y, t) if side > 0 else np.minimum(y, t)
    tails, at_t = squared_tails(free, bounds, end), squared_tails(free, bounds, t)
    both, cut = sum(tails), at_t[0] if side > 0 else at_t[1]
    return np.maximum(both - cut, 0.0)


def mean_log(free: Mixture, bounds: Bounds | None, other: Mixture | None) -> Array:
    """``E log p(Y)`` of one output, or ``E log p(Y) - E log q(Y)`` with another density q: (r,).

    The trapezoidal rule in u, with rows around their means.  Ratios of densities do not depend on
    the coordinate; the logarithm of a density in y adds ``E log du/dy``.
    """
    out = np.empty(len(free))
    middle = free.mean()
    moved = [d.moved(-middle[:, None]) for d in (free, other) if d is not None]
    low, high = _range(moved[0], None)
    step = ENTROPY_STEP * min(_narrowest(b) for d in moved for b in d.blocks)
    u = step * np.arange(np.floor(low.min() / step), np.ceil(high.max() / step) + 1)
    for rows in row_blocks(len(free), 4 * len(u)):
        p = _pdf_on(moved[0][rows], u)
        with np.errstate(divide="ignore", invalid="ignore"):
            log_p = np.log(p)
            if other is not None:
                log_p -= _log_pdf_on(moved[1][rows], u, p > 0)
            elif bounds is not None:
                log_p += bounds.log_volume((middle[rows, None] + u)[..., None])
            out[rows] = step * np.where(p > 0, p * log_p, 0.0).sum(axis=1)
    return out


def _pdf_on(p: Mixture, u: Array) -> Array:
    """Densities at the points ``u`` (G,), or zero where they are faint: (r, G)."""
    if not waves.possible(p.blocks):
        return p.pdf_on(u)
    out, unknown = waves.pdf_on(p.blocks, u, FAINT)
    rows = np.flatnonzero(unknown.all(axis=1))
    if len(rows):
        out[rows] = p[rows].pdf_on(u)
    return out


def _log_pdf_on(q: Mixture, u: Array, needed: Mask) -> Array:
    """``log q`` at the points ``u`` (G,), exact in its tails where the value is ``needed``."""
    possible = waves.possible(q.blocks)
    values = waves.density_on(q.blocks, u, needed) if possible else q.pdf_on(u)
    rows, points = np.nonzero(needed & (values == 0))  # underflow
    log_q: Array = np.log(values)
    for part in row_blocks(len(rows), q.width):
        r, g = rows[part], points[part]
        log_q[r, g] = q[r].log_pdf(u[g])
    return log_q


def _range(free: Mixture, bounds: Bounds | None) -> tuple[Array, Array]:
    """The interval of u where neither ``F (1 - F)`` nor the slope dy/du is zero: (r,) and (r,)."""
    c, kind = free.components("crps"), 0.0 if bounds is None else bounds.exponential(0)
    # A slope that grows like exp(u) moves what counts by half a variance.
    reach = (REACH + (c.sds if kind else 0.0)) * c.sds
    limit = STEEP if kind is None else np.inf
    low, high = (c.means - reach).min(axis=1), (c.means + reach).max(axis=1)
    ends = (np.clip(np.broadcast_to(end, (len(c),)), -limit, limit) for end in (low, high))
    return next(ends), next(ends)


def _cdf_panels(
    free: Mixture, bounds: Bounds | None, w: Array, low: Array, high: Array
) -> Iterator[tuple[Array, Array, Array]]:
    """A Gauss-Legendre rule in panels from w (r,) to ``low`` and ``high``, in pieces.

    Yields offsets from w (t,), F (r, t) and the weights of the rule times dy/du (r, t).
    """
    if not len(free):
        return
    narrowest = min(_narrowest(block) for block in free.blocks)
    step = PANEL * (narrowest if bounds is None else min(1.0, narrowest))
    first, last = -np.ceil((w - low).max() / step), np.ceil((high - w).max() / step)
    x, share = np.polynomial.legendre.leggauss(NODES)
    panels = np.arange(first, last)
    for part in row_blocks(len(panels), NODES * len(free)):
        offsets = step * (panels[part, None] + 0.5 + 0.5 * x).ravel()
        slope = np.tile(0.5 * step * share, (len(free), panels[part].size))
        if bounds is not None:
            slope *= np.exp(-bounds.log_volume((w[:, None] + offsets)[..., None]))
        yield offsets, free.cdf_around(w, offsets), slope


def _narrowest(block: Block) -> float:
    """The smallest standard deviation of the Gaussians of one output."""
    return float(block.factor[0, 0] * block.scales.min())


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
