"""One-dimensional Gaussian mixtures, a different one in every row of three arrays.

Row i is the density ``p_i(y) = sum_k w_ik N(y; mu_ik, s_ik^2)``.  Distribution function,
quantiles and CRPS follow from the Gaussian's own, with Phi and phi its distribution
function and density: ``F(y) = sum_k w_k Phi((y - mu_k) / s_k)``.  No sampling, no grid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtri

from condensity.core.kernels import CACHED, Array, Indices, row_blocks
from condensity.core.normal import bell_and_below

ROOT_2PI = float(np.sqrt(2 * np.pi))

#: Row-wise sums cut their block in this many pieces.
PIECES = 128
#: Steps to a quantile, at most (more than halving to the least number takes), and before halving
#: takes turns.
MOST_STEPS, PATIENCE = 2500, 8
#: The last step to a quantile, at most, in units of the narrowest component: what remains is of
#: the order of its third power.  Steps in single precision only lead to where those begin.
NEAR, NEAR_SINGLE = 1e-5, 3e-3
#: The least level for which there are steps in single precision, and how many.
LEAST_SINGLE, MOST_SINGLE = 1e-30, 8


@dataclass(frozen=True, eq=False)
class Components:
    """Weights, means and standard deviations of ``r`` mixtures of ``K`` Gaussians."""

    weights: Array  # (r, K) rows sum to one, zeros allowed
    means: Array  # (r, K), or (1, K) when all rows share them
    sds: Array  # (r, K), or (1, K)

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def width(self) -> int:
        """Number of components ``K``."""
        return int(self.weights.shape[1])

    @property
    def shared(self) -> bool:
        """Whether the rows differ in their weights only."""
        return len(self.means) == 1 and len(self.sds) == 1

    def take(self, rows: Any) -> Components:
        """Mixtures of ``rows`` only; what is shared stays shared."""
        means = self.means if len(self.means) == 1 else self.means[rows]
        sds = self.sds if len(self.sds) == 1 else self.sds[rows]
        return Components(self.weights[rows], means, sds)

    def single(self, origin: Array, unit: Array) -> Components:
        """In single precision, ``(y_i - origin_i) / unit_i``: near an origin all digits count."""
        means, sds = self.means - origin[:, None], self.sds / unit[:, None]
        means /= unit[:, None]
        parts: Any = (a.astype(np.float32) for a in (self.weights, means, sds))
        return Components(*parts)

    def standardize(self, y: Array) -> Array:
        """``(y_i - mu_ik) / s_ik`` for ``y`` (r,): (r, K)."""
        z: Array = y[:, None] - self.means
        z /= self.sds
        return z


def tiles(rows: int, columns: int, width: int) -> Iterator[tuple[slice, slice]]:
    """Cut a ``rows`` x ``columns`` table, ``width`` floats a cell, into bounded pieces."""
    for part in row_blocks(rows, columns * width):
        for piece in row_blocks(columns, (part.stop - part.start) * width):
            yield part, piece


Evaluator = Callable[..., Array]  # of mixtures (r) and one number a row, or more: (..., r)


def each(f: Evaluator, c: Components, rows: Indices | None, *ys: Array) -> Array:
    """``f`` of mixture ``rows[j]`` at ``y[j]``, in bounded pieces: (n,) and (n,) to (..., n).

    None: mixture j, of which nothing is copied.
    """
    # A handful of (piece, K) temporaries live at once, and small ones stay in the cache.
    parts = row_blocks(max(1, len(ys[0])), PIECES * c.width)
    taken = [part if rows is None else rows[part] for part in parts]
    pairs = zip(taken, parts, strict=True)
    answers = [f(c.take(own), *(y[part] for y in ys)) for own, part in pairs]
    return np.concatenate(answers, axis=-1)


def _weighted(weights: Array, values: Array) -> Array:
    """``sum_k w_rk v_rk``: (r,)."""
    total: Array = np.einsum("rk,rk->r", weights, values)
    return total


def pdf(c: Components, y: Array) -> Array:
    """``p_i(y_i)`` for ``y`` (r,): (r,)."""
    with np.errstate(over="ignore"):
        phi = np.exp(-0.5 * c.standardize(y) ** 2) / ROOT_2PI
    return _weighted(c.weights / c.sds, phi)


def cdf(c: Components, y: Array) -> Array:
    """``F_i(y_i) = sum_k w_ik Phi((y_i - mu_ik) / s_ik)`` for ``y`` (r,): (r,)."""
    return _weighted(c.weights, bell_and_below(c.standardize(y))[1])


def prob(c: Components, lower: Array, upper: Array) -> Array:
    """``F_i(upper_i) - F_i(lower_i)``, with all its digits in either tail: (r,)."""
    a, b = c.standardize(lower), c.standardize(upper)
    with np.errstate(invalid="ignore"):
        flip = np.where(a + b > 0, -1.0, 1.0)  # subtract in the tail that is small
    below = [bell_and_below(flip * z)[1] for z in (a, b)]
    return _weighted(c.weights, np.abs(below[1] - below[0]))


def quantile(c: Components, q: Array) -> Array:
    """The root of ``F_i(y) = q_j``, to rounding error; in a gap of the density any point of it.

    Parameters
    ----------
    c : Components
        ``r`` mixtures.
    q : ndarray of shape (k,)
        Levels in [0, 1]; 0 gives ``-inf`` and 1 gives ``inf``.

    Returns
    -------
    ndarray of shape (r, k)
    """
    wrong = q[~((q >= 0) & (q <= 1))]
    if wrong.size:
        raise ValueError(
            f"a quantile level must be a number in [0, 1], got {wrong[0]}: "
            "pass probabilities (0.9), not percentages (90)"
        )
    inner = np.clip(q, np.finfo(float).tiny, 1 - np.finfo(float).epsneg)
    # The upper tail is solved through 1 - F: beside one, F has no digits left.
    side = np.where(inner <= 0.5, 1.0, -1.0)
    tail = np.where(side > 0, inner, 1 - inner)
    x = np.empty((len(c), len(q)))
    for part in row_blocks(len(c), c.width, CACHED):
        own = c.take(part)
        for j in range(len(q)):
            x[part, j] = _where_tail_is(own, side[j], tail[j])
    return np.where(q == 0, -np.inf, np.where(q == 1, np.inf, x))


def _where_tail_is(c: Components, side: float, tail: float) -> Array:
    """``y`` with ``F_i(y) = tail`` (``side`` 1) or ``1 - F_i(y) = tail`` (-1): (r,).

    Halley's method on the logarithm of the tail, nearly straight far out, from the quantile of
    the Gaussian with the same moments.  A step out of the bracket is replaced by its middle, and
    so is every other one where they take long.
    """
    lower, upper = _bracket(c, side * float(ndtri(tail)))
    y = np.clip(_gaussian_quantile(c, side * float(ndtri(tail))), lower, upper)
    if tail > LEAST_SINGLE:
        unit = np.broadcast_to(c.sds.max(axis=1), (len(c),))
        ends, zeros = ((lower - y) / unit, (upper - y) / unit), np.zeros(len(c))
        # Components too narrow for single precision may mislead these steps, not those that follow.
        with np.errstate(all="ignore"):
            y += unit * _climb(c.single(y, unit), side, tail, zeros, ends, NEAR_SINGLE, MOST_SINGLE)
        y = np.clip(y, lower, upper)
    return _climb(c, side, tail, y, (lower, upper), NEAR, MOST_STEPS)


def _climb(
    c: Components,
    side: float,
    tail: float,
    start: Array,
    ends: tuple[Array, Array],
    near: float,
    most_steps: int,
) -> Array:
    """Steps from ``start``, between ``ends``, until one is ``near`` widths of the narrowest."""
    y, (lower, upper) = start.copy(), (end.copy() for end in ends)
    narrowest = np.broadcast_to(c.sds.min(axis=1), (len(c),))
    rows, own = np.arange(len(c)), c  # that are not there yet
    for n_steps in range(most_steps):
        mass, density, slope = each(partial(_tail_pdf_slope, side), own, None, y[rows])
        low = side * (mass - tail) < 0
        lower[rows[low]], upper[rows[~low]] = y[rows[low]], y[rows[~low]]
        with np.errstate(all="ignore"):  # where the density is all but nothing
            f, f1 = np.log(mass / tail), side * density / mass
            f2 = side * slope / mass - f1**2
            step = -2 * f * f1 / (2 * f1**2 - f * f2)
        new, a, b = y[rows] + step, lower[rows], upper[rows]
        astray = ~((new >= a) & (new <= b)) | (n_steps > PATIENCE and n_steps % 2 == 0)
        new = np.where(astray, 0.5 * (a + b), new)
        y[rows] = np.where(mass == tail, y[rows], new)
        arrived = ~astray & (np.abs(step) <= near * narrowest[rows]) & np.isfinite(slope)
        done = (mass == tail) | arrived | (b - a <= 4 * np.spacing(np.abs(a)))
        if done.all():
            break
        if done.any():
            rows, own = rows[~done], own.take(~done)
    return y


def _tail_pdf_slope(side: float, c: Components, y: Array) -> Array:
    """``F_i(y_i)``, or ``1 - F_i(y_i)`` where ``side`` is -1, ``p_i(y_i)`` and ``p_i'``: (3, r)."""
    z = c.standardize(y.astype(c.weights.dtype, copy=False))
    phi, below = bell_and_below(z if side > 0 else -z)
    mass = _weighted(c.weights, below)
    phi *= c.weights
    with np.errstate(over="ignore", invalid="ignore"):
        phi /= c.sds * ROOT_2PI
        z /= c.sds
    return np.stack([mass, phi.sum(axis=1), -_weighted(phi, z)]).astype(np.float64, copy=False)


def _gaussian_quantile(c: Components, z: float) -> Array:
    """The mean plus ``z`` standard deviations of each mixture: (r,)."""
    if c.shared:
        mean = c.weights @ c.means[0]
        square = c.weights @ (c.means[0] ** 2 + c.sds[0] ** 2)
    else:
        mean = _weighted(c.weights, c.means)
        square = _weighted(c.weights, c.means**2 + c.sds**2)
    return np.asarray(mean + z * np.sqrt(np.maximum(square - mean**2, 0.0)))


def _bracket(c: Components, z: float) -> tuple[Array, Array]:
    """Where the first and the last component reach ``z``, slightly widened: (r,) twice."""
    void, own = c.weights == 0, c.means + c.sds * z
    lower = np.where(void, np.inf, own).min(axis=1)
    upper = np.where(void, -np.inf, own).max(axis=1)
    pad = 1e-3 * np.broadcast_to(c.sds, c.weights.shape).max(axis=1)
    return lower - pad - 4 * np.spacing(abs(lower)), upper + pad + 4 * np.spacing(abs(upper))


def crps(c: Components, y: Array) -> Array:
    """``E|Y - y_i| - E|Y - Y'| / 2`` under mixture i, for ``y`` (r,): (r,).

    Equals ``integral (F_i(t) - 1{y_i <= t})^2 dt``, in the unit of y; lower is better.
    """
    return each(_distance, c, None, y) - 0.5 * (_spread_shared(c) if c.shared else _spread(c))


def _distance(c: Components, y: Array) -> Array:
    """``E|Y - y_i|`` under mixture i: (r,)."""
    return _weighted(c.weights, _mean_abs(y[:, None] - c.means, c.sds))


def _mean_abs(mu: Array, s: Array) -> Array:
    """``E|Z|`` for Z ~ N(mu, s^2): ``mu (2 Phi(mu/s) - 1) + 2 s phi(mu/s)``."""
    below: Array
    bell, below = bell_and_below(mu / s)
    bell *= 2 / ROOT_2PI * s
    below *= 2
    below -= 1
    below *= mu
    below += bell
    return below


def _spread_shared(c: Components) -> Array:
    """``E|Y - Y'|`` when one K x K table of distances serves every row."""
    total = np.zeros(len(c))
    for part in row_blocks(c.width, 4 * c.width):
        gaps = c.means[0, part, None] - c.means[0]
        table = _mean_abs(gaps, np.hypot(c.sds[0, part, None], c.sds[0]))
        total += _weighted(c.weights[:, part], c.weights @ table.T)
    return total


def _spread(c: Components) -> Array:
    """``E|Y - Y'|`` row by row: component k meets k + lag, each pair once and counted twice."""
    total = np.zeros(len(c))
    for rows in row_blocks(len(c), PIECES * c.width):
        own = c.take(rows)
        twice = [np.tile(a, 2) for a in (own.weights, own.means, own.sds)]
        for lag in range(c.width // 2 + 1):
            w, mu, s = (a[:, lag : lag + c.width] for a in twice)
            far = _mean_abs(own.means - mu, np.hypot(own.sds, s))
            count = 1.0 if 2 * lag % c.width == 0 else 2.0
            total[rows] += count * _weighted(own.weights * w, far)
    return total
