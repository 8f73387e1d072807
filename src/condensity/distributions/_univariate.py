"""One-dimensional Gaussian mixtures, a different one in every row of three arrays.

Row i is the density ``p_i(y) = sum_k w_ik N(y; mu_ik, s_ik^2)``.  Distribution function and
mean distances follow from the Gaussian's own, with Phi and phi its distribution function and
density: ``F(y) = sum_k w_k Phi((y - mu_k) / s_k)``.  No sampling, no grid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from condensity._typing import Array, Indices
from condensity._utils.numerics import LOG2_E, row_blocks

ROOT_2PI = float(np.sqrt(2 * np.pi))

#: Row-wise sums cut their block in this many pieces.
PIECES = 128
#: Mills' ratio ``M(x) / sqrt(2 pi)`` on [0, 38] as a ratio of two polynomials, constants first.
#: Minimax fit by Lawson's method in 60 digits: relative error 1e-16, and 4e-7 on [0, 14].
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
#: Beyond this argument the Gaussian kernel underflows in either precision.
FAR = 40.0


@dataclass(frozen=True, eq=False)
class UnivariateMixtures:
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

    def take(self, rows: Any) -> UnivariateMixtures:
        """Mixtures of ``rows`` only; what is shared stays shared."""
        means = self.means if len(self.means) == 1 else self.means[rows]
        sds = self.sds if len(self.sds) == 1 else self.sds[rows]
        return UnivariateMixtures(self.weights[rows], means, sds)

    def single(self, origin: Array, unit: Array) -> UnivariateMixtures:
        """In single precision, ``(y_i - origin_i) / unit_i``: near an origin all digits count."""
        means, sds = self.means - origin[:, None], self.sds / unit[:, None]
        means /= unit[:, None]
        parts: Any = (a.astype(np.float32) for a in (self.weights, means, sds))
        return UnivariateMixtures(*parts)

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


def map_rows(f: Evaluator, c: UnivariateMixtures, rows: Indices | None, *ys: Array) -> Array:
    """``f`` of mixture ``rows[j]`` at ``y[j]``, in bounded pieces: (n,) and (n,) to (..., n).

    None: mixture j, of which nothing is copied.
    """
    # A handful of (piece, K) temporaries live at once, and small ones stay in the cache.
    parts = row_blocks(max(1, len(ys[0])), PIECES * c.width)
    taken = [part if rows is None else rows[part] for part in parts]
    pairs = zip(taken, parts, strict=True)
    answers = [f(c.take(own), *(y[part] for y in ys)) for own, part in pairs]
    return np.concatenate(answers, axis=-1)


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
    """``F_i(upper_i) - F_i(lower_i)``, with all its digits in either tail: (r,)."""
    a, b = c.standardize(lower), c.standardize(upper)
    with np.errstate(invalid="ignore"):
        flip = np.where(a + b > 0, -1.0, 1.0)  # subtract in the tail that is small
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


def _distance(c: UnivariateMixtures, y: Array) -> Array:
    return weighted(c.weights, _mean_abs(y[:, None] - c.means, c.sds))


def _mean_abs(mu: Array, s: Array) -> Array:
    """``E|Z|`` for Z ~ N(mu, s^2): ``mu (2 Phi(mu/s) - 1) + 2 s phi(mu/s)``."""
    below: Array
    bell, below = kernel_and_cdf(mu / s)
    bell *= 2 / ROOT_2PI * s
    below *= 2
    below -= 1
    below *= mu
    below += bell
    return below


def _spread_shared(c: UnivariateMixtures) -> Array:
    """``E|Y - Y'|`` when one K x K table of distances serves every row."""
    total = np.zeros(len(c))
    for part in row_blocks(c.width, 4 * c.width):
        gaps = c.means[0, part, None] - c.means[0]
        table = _mean_abs(gaps, np.hypot(c.sds[0, part, None], c.sds[0]))
        total += weighted(c.weights[:, part], c.weights @ table.T)
    return total


def _spread(c: UnivariateMixtures) -> Array:
    """``E|Y - Y'|`` row by row: component k meets k + lag, each pair once and counted twice."""
    total = np.zeros(len(c))
    for rows in row_blocks(len(c), PIECES * c.width):
        own = c.take(rows)
        twice = [np.tile(a, 2) for a in (own.weights, own.means, own.sds)]
        for lag in range(c.width // 2 + 1):
            w, mu, s = (a[:, lag : lag + c.width] for a in twice)
            far = _mean_abs(own.means - mu, np.hypot(own.sds, s))
            count = 1.0 if 2 * lag % c.width == 0 else 2.0
            total[rows] += count * weighted(own.weights * w, far)
    return total


def kernel_and_cdf(z: Any) -> tuple[Any, Any]:
    """``exp(-z^2 / 2)`` and ``Phi(z)`` for an array of doubles or of single precision.

    scipy's ``ndtr`` branches number by number.  Here both values come from one exponential and a
    few dozen multiplications of whole arrays, in half the time.  In a tail ``Phi(-x) = phi(x)
    M(x)``, where Mills' ratio M is approximated by a ratio of two polynomials with positive
    coefficients, so that nothing cancels however far out x lies.

    Relative errors of doubles are below 2e-14 up to 8 in either direction, and below 2e-13 down to
    -37.5, beyond which Phi is a denormal number.
    """
    top, bottom = SINGLE if z.dtype == np.float32 else DOUBLE
    x = np.abs(z)
    np.minimum(x, FAR, out=x)
    bell = np.square(x)
    bell *= -0.5 * LOG2_E
    np.exp2(bell, out=bell)
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
    below *= bell
    # |1 - t| above the middle, |0 - t| below it: cheaper than a choice.
    np.subtract(z > 0, below, out=below)
    return bell, np.abs(below, out=below)
