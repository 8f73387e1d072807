"""One-dimensional Gaussian mixtures, one for each row of three arrays.

Row i is the density ``p_i(y) = sum_k w_ik N(y; mu_ik, s_ik^2)``.  The distribution function and
mean distances are exact sums over the components, without sampling or a grid.  For example, ``F(y)
= sum_k w_k Phi((y - mu_k) / s_k)``, where Phi and phi are the distribution function and the density
of the standard normal distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from condensity._typing import Array, Indices
from condensity._utils.numerics import LOG2_E, row_blocks

ROOT_2PI = float(np.sqrt(2 * np.pi))

#: Row-wise sums divide a block of memory into this number of pieces.
PIECES = 128
#: Coefficients of two polynomials, lowest degree first.  Their ratio approximates
#: ``M(x) / sqrt(2 pi)``, where M is the Mills ratio.  Minimax fits by Lawson's method in 60 digits:
#: relative error 1e-16 on [0, 38] (DOUBLE) and 4e-7 on [0, 14] (SINGLE).
DOUBLE = (
    (
        145149.51916611465,
        224755.8476131007,
        172176.8912842513,
        83797.22760259086,
        28274.197527299162,
        6830.744622617666,
        1181.4290930266288,
        141.54453584743788,
        10.740123259108467,
        0.3989422804001199,
    ),
    (
        290299.0383322293,
        681136.8159274036,
        742672.8126253755,
        496801.5917292619,
        226471.11185506097,
        73780.45999783053,
        17474.937273191223,
        2988.3250622440464,
        355.7995357366951,
        26.921496633631175,
    ),
)
SINGLE = (
    (11.6999416, 8.4699744, 2.7969572, 0.39889558),
    (23.399892, 35.609921, 22.310064, 7.0061898),
)
#: For larger arguments the Gaussian kernel underflows in both precisions.
FAR = 40.0
#: Terms of the continued fraction for partial moments, and the argument from which it is used: with
#: that many terms its relative error is below 1e-13 there.
TERMS, STEEP_TAIL = 60, 2.0


@dataclass(frozen=True, eq=False)
class UnivariateMixtures:
    """Weights, means and standard deviations of ``r`` mixtures of ``K`` Gaussians."""

    weights: Array  # (r, K) rows sum to one, zeros allowed
    means: Array  # (r, K), or (1, K) if they are the same for all rows
    sds: Array  # (r, K), or (1, K)

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def width(self) -> int:
        """Number of components ``K``."""
        return int(self.weights.shape[1])

    @property
    def shared(self) -> bool:
        """Whether all rows have the same means and standard deviations."""
        return len(self.means) == 1 and len(self.sds) == 1

    def take(self, rows: Any) -> UnivariateMixtures:
        """Mixtures of ``rows``; arrays with one row for all mixtures are not copied."""
        means = self.means if len(self.means) == 1 else self.means[rows]
        sds = self.sds if len(self.sds) == 1 else self.sds[rows]
        return UnivariateMixtures(self.weights[rows], means, sds)

    def single(self, origin: Array, unit: Array) -> UnivariateMixtures:
        """Mixtures of ``(y_i - origin_i) / unit_i`` in single precision, accurate near zero."""
        means, sds = self.means - origin[:, None], self.sds / unit[:, None]
        means /= unit[:, None]
        parts: Any = (a.astype(np.float32) for a in (self.weights, means, sds))
        return UnivariateMixtures(*parts)

    def standardize(self, y: Array) -> Array:
        """``(y_i - mu_ik) / s_ik`` for ``y`` (r,): (r, K)."""
        z: Array = y[:, None] - self.means
        with np.errstate(over="ignore"):  # far out in a tiny unit: infinite, as it should be
            z /= self.sds
        return z


def tiles(rows: int, columns: int, width: int) -> Iterator[tuple[slice, slice]]:
    """Row and column slices that divide a table into pieces of bounded size.

    The table has ``rows`` x ``columns`` cells, and each cell needs ``width`` floats.
    """
    for part in row_blocks(rows, columns * width):
        for piece in row_blocks(columns, (part.stop - part.start) * width):
            yield part, piece


#: Function of r mixtures and of arrays (r,), with result (..., r).
Evaluator = Callable[..., Array]


def map_rows(f: Evaluator, c: UnivariateMixtures, rows: Indices | None, *ys: Array) -> Array:
    """``f`` of mixture ``rows[j]`` at ``y[j]`` for all j, in pieces of bounded size: (..., n).

    With ``rows`` None, ``f`` of mixture j at ``y[j]``; the mixtures are not copied.
    """
    # A few temporary arrays (piece, K) exist at the same time; small ones stay in the cache.
    parts = row_blocks(max(1, len(ys[0])), PIECES * c.width)
    selected = [part if rows is None else rows[part] for part in parts]
    pairs = zip(selected, parts, strict=True)
    results = [f(c.take(index), *(y[part] for y in ys)) for index, part in pairs]
    return np.concatenate(results, axis=-1)


def weighted(weights: Array, values: Array) -> Array:
    """``sum_k w_rk v_rk``: (r,)."""
    total: Array = np.einsum("rk,rk->r", weights, values)
    return total


def pdf(c: UnivariateMixtures, y: Array) -> Array:
    """``p_i(y_i)`` for ``y`` (r,): (r,)."""
    with np.errstate(over="ignore"):
        phi = np.exp(-0.5 * c.standardize(y) ** 2) / ROOT_2PI
    return weighted(c.weights / c.sds, phi)


def cdf(c: UnivariateMixtures, y: Array) -> Array:
    """``F_i(y_i) = sum_k w_ik Phi((y_i - mu_ik) / s_ik)`` for ``y`` (r,): (r,)."""
    return weighted(c.weights, kernel_and_cdf(c.standardize(y))[1])


def prob(c: UnivariateMixtures, lower: Array, upper: Array) -> Array:
    """``F_i(upper_i) - F_i(lower_i)``, accurate in both tails: (r,)."""
    a, b = c.standardize(lower), c.standardize(upper)
    with np.errstate(invalid="ignore"):
        flip = np.where(a + b > 0, -1.0, 1.0)  # subtract in the tail with small values
    below = [kernel_and_cdf(flip * z)[1] for z in (a, b)]
    return weighted(c.weights, np.abs(below[1] - below[0]))


def distance(c: UnivariateMixtures, y: Array) -> Array:
    """``E|Y - y_i|`` under mixture i, for ``y`` (r,): (r,)."""
    return map_rows(_distance, c, None, y)


def variance(c: UnivariateMixtures) -> Array:
    """``Var[Y]`` under each mixture: (r,)."""
    mean = weighted(c.weights, np.broadcast_to(c.means, c.weights.shape))
    return weighted(c.weights, (c.means - mean[:, None]) ** 2 + c.sds**2)


def mean_difference(c: UnivariateMixtures) -> Array:
    """``E|Y - Y'|`` under each mixture: (r,)."""
    return _spread_shared(c) if c.shared else _spread(c)


def sign_mean(c: UnivariateMixtures, other: UnivariateMixtures) -> Array:
    """``E sign(A - B)`` for independent A ~ c_i and B ~ other_i, by all pairs: (r,)."""
    total = np.zeros(len(c))
    for rows, part in tiles(len(c), c.width, PIECES * other.width):
        ours, theirs = c.take(rows), other.take(rows)
        z = ours.means[:, part, None] - theirs.means[:, None, :]
        z /= np.hypot(ours.sds[:, part, None], theirs.sds[:, None, :])
        sign = 2 * kernel_and_cdf(z)[1] - 1
        total[rows] += np.einsum("rk,rl,rkl->r", ours.weights[:, part], theirs.weights, sign)
    return total


def _distance(c: UnivariateMixtures, y: Array) -> Array:
    """``E|Y - y_i|`` under mixture i, at once: (r,)."""
    return weighted(c.weights, _mean_abs(y[:, None] - c.means, c.sds))


def _mean_abs(mu: Array, s: Array) -> Array:
    """``E|Z|`` for Z ~ N(mu, s^2): ``mu (2 Phi(mu/s) - 1) + 2 s phi(mu/s)``."""
    below: Array
    kernel, below = kernel_and_cdf(mu / s)
    kernel *= 2 / ROOT_2PI * s
    below *= 2
    below -= 1
    below *= mu
    below += kernel
    return below


def _spread_shared(c: UnivariateMixtures) -> Array:
    """``E|Y - Y'|`` from one K x K table of mean distances for all rows: (r,)."""
    total = np.zeros(len(c))
    for part in row_blocks(c.width, 4 * c.width):
        gaps = c.means[0, part, None] - c.means[0]
        table = _mean_abs(gaps, np.hypot(c.sds[0, part, None], c.sds[0]))
        total += weighted(c.weights[:, part], c.weights @ table.T)
    return total


def _spread(c: UnivariateMixtures) -> Array:
    """``E|Y - Y'|`` for each row: (r,).

    Component k is paired with component k + lag.  Each pair is computed once and counted twice.
    """
    total = np.zeros(len(c))
    for rows in row_blocks(len(c), PIECES * c.width):
        part = c.take(rows)
        twice = [np.tile(a, 2) for a in (part.weights, part.means, part.sds)]
        for lag in range(c.width // 2 + 1):
            w, mu, s = (a[:, lag : lag + c.width] for a in twice)
            mean_abs = _mean_abs(part.means - mu, np.hypot(part.sds, s))
            count = 1.0 if 2 * lag % c.width == 0 else 2.0
            total[rows] += count * weighted(part.weights * w, mean_abs)
    return total


def mixture_partial_moment(order: int, side: float, c: UnivariateMixtures, t: Array) -> Array:
    """``E max(side (Y - t_i), 0)^order`` under mixture i, ``side`` is 1 or -1: (r,)."""
    a = c.standardize(t)
    a *= side
    return weighted(c.weights * c.sds**order, normal_partial_moment(a, order))


def normal_partial_moment(a: Array, order: int) -> Array:
    """``I_n = E max(Z - a, 0)^n`` for n = ``order`` and Z ~ N(0, 1), with the shape of ``a``.

    ``I_{n+1} = n I_{n-1} - a I_n``.  In the upper tail these differences lose digits.  There the
    ratios ``r_n = I_n / I_{n-1} = n / (a + r_{n+1})`` are computed downwards, from an ``r_n`` whose
    error has no effect.
    """
    kernel, now = kernel_and_cdf(-a)
    if order == 0:
        return np.asarray(now)
    tail, far = now.copy(), a > STEEP_TAIL
    with np.errstate(invalid="ignore"):
        before, now = now, kernel / ROOT_2PI - a * now
        for n in range(1, order):
            before, now = now, n * before - a * now
    steep = np.minimum(a[far], FAR)
    ratio = 0.5 * (np.sqrt(steep**2 + 4 * (order + TERMS)) - steep)
    product = tail[far]
    for n in range(order + TERMS - 1, 0, -1):
        ratio = n / (steep + ratio)
        if n <= order:
            product *= ratio
    now[far] = product
    return np.where(np.isneginf(a), np.inf, now)


def kernel_and_cdf(z: Any) -> tuple[Any, Any]:
    """Vectorised normal density and distribution function: ``exp(-z^2 / 2)`` and ``Phi(z)``.

    ``ndtr`` of scipy branches for each number.  Here both values come from one exponential and a
    few dozen multiplications of whole arrays, in half the time.  In the tails ``Phi(-x) = phi(x)
    M(x)``.  The Mills ratio M is approximated by a ratio of two polynomials with positive
    coefficients, so there is no cancellation for any x.

    The relative error in double precision is below 2e-14 for ``|z| <= 8``, and below 2e-13 down to
    z = -37.5.  Below that, Phi is a subnormal number.

    Parameters
    ----------
    z : ndarray of float64 or float32
        Arguments.

    Returns
    -------
    kernel : ndarray
        ``exp(-z^2 / 2)``, with the shape and type of ``z``.
    below : ndarray
        ``Phi(z)``, with the shape and type of ``z``.
    """
    top, bottom = SINGLE if z.dtype == np.float32 else DOUBLE
    x = np.abs(z)
    np.minimum(x, FAR, out=x)
    kernel = np.square(x)
    kernel *= -0.5 * LOG2_E
    np.exp2(kernel, out=kernel)
    below = x * top[-1]
    below += top[-2]
    for coefficient in top[-3::-1]:
        below *= x
        below += coefficient
    divisor = x + bottom[-1]  # the highest coefficient is one
    for coefficient in bottom[-2::-1]:
        divisor *= x
        divisor += coefficient
    below /= divisor
    below *= kernel
    # With t = Phi(-|z|): |1 - t| for z > 0 and |0 - t| otherwise.  This is faster than np.where.
    np.subtract(z > 0, below, out=below)
    return kernel, np.abs(below, out=below)
