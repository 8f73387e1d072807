"""Modes and highest-density regions of one-dimensional Gaussian mixtures.

Between neighbouring critical points p is monotone, so ``{p >= f}`` begins or ends at most
once in each such cell, at a root of ``log p(y) = log f``.  Its mass is a sum of differences
of F, and the region of a given level is one more root, in f.

Critical points are the zeros of the score ``u = p'/p = sum_k r_k (mu_k - y) / s_k^2``, whose
responsibilities r_k never underflow, however empty the gap between two modes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import elementwise

from condensity._typing import Array, Indices
from condensity._utils.numerics import row_blocks
from condensity.distributions._checks import probability
from condensity.distributions._quantiles import quantile
from condensity.distributions._univariate import (
    ROOT_2PI,
    Evaluator,
    UnivariateMixtures,
    cdf,
    map_rows,
)

#: A component lighter than this changes no probability and no density that matters.
NEGLIGIBLE = 1e-20

#: Differences of probabilities and of log densities below this are rounding errors.
ROUNDING = 2e-15

#: Spots of the scan in standard deviations about each component's mean, STEP apart near it.
#: Sparser ones go on to where even a component of weight NEGLIGIBLE yields to the others.
STEP = 0.5
SPOTS = np.concatenate(
    [[-10, -8, -6, -5, -4, -3], np.arange(-2, 2 + STEP, STEP), [3, 4, 5, 6, 8, 10]]
)


def modes(c: UnivariateMixtures) -> list[Array]:
    """All local maxima of each ``p_i``, the highest first: r arrays of shape (k_i,).

    Components lighter than ``NEGLIGIBLE`` are not looked at.
    """
    out: list[Array] = []
    for part in _parts(c):
        own = _trim(c.take(part))
        row, y, _, rising = _signed_scan(own)
        turn, x, log_x = _turns(own, row, y, rising)
        peak = rising[turn]
        row, x, log_x = row[turn][peak], x[peak], log_x[peak]
        out += _ragged(row, x[np.lexsort((-log_x, row))], len(own))
    return out


def hdr(
    c: UnivariateMixtures, level: float, heights: UnivariateMixtures | None = None
) -> list[Array]:
    """``{y : p_i(y) >= f_i}``, the smallest set of probability ``level``, as intervals.

    Parameters
    ----------
    c : Components
        ``r`` mixtures.
    level : float
        Probability of the region, strictly between 0 and 1.
    heights : Components, optional
        Mixtures by whose height points are ranked, where that is not p: a density seen through a
        map has its probabilities from one mixture and its heights from another.

    Returns
    -------
    list of r ndarrays of shape (k_i, 2)
        Disjoint intervals in increasing order.
    """
    level, heights = probability(level), c if heights is None else heights
    out: list[Array] = []
    for part in _parts(heights):
        mass, own = _trim(c.take(part)), _trim(heights.take(part))
        cells = _cells(own)
        row, x = _crossings(own, cells, _threshold(mass, own, cells, level))
        out += _ragged(row[::2], x.reshape(-1, 2), len(own))
    return out


def hpd_level(c: UnivariateMixtures, y: Array, heights: UnivariateMixtures | None = None) -> Array:
    """``P(p_i(Y) >= p_i(y_i))`` for Y ~ p_i: the level of the smallest region that holds y_i.

    Uniform on [0, 1] when y_i is drawn from p_i; 0 at the highest mode, 1 far away.  ``heights``
    as in :func:`hdr`.
    """
    out, heights = np.empty(len(c)), c if heights is None else heights
    for part in _parts(heights):
        mass, own = _trim(c.take(part)), _trim(heights.take(part))
        log_f = map_rows(_log_pdf, own, np.arange(len(own)), y[part])
        level = _mass(mass, *_crossings(own, _cells(own), log_f))
        out[part] = np.where(np.isfinite(log_f), np.clip(level, 0.0, 1.0), 1.0)
    return out


@dataclass(frozen=True, eq=False)
class _Cells:
    """Intervals on which p is monotone, row after row, from left to right.

    The outermost two of a row reach to infinity.
    """

    row: Indices  # (n,)
    left: Array  # (n,)
    right: Array  # (n,)
    log_left: Array  # (n,) log p at the left end
    log_right: Array  # (n,)
    first: Indices  # (r,) position of each row's first cell


def _parts(c: UnivariateMixtures) -> list[slice]:
    return row_blocks(len(c), 4 * len(SPOTS) * c.width)


def _ragged(row: Indices, values: Array, rows: int) -> list[Array]:
    cuts = np.cumsum(np.bincount(row, minlength=rows))[:-1]
    return np.split(values, cuts) if rows else []


def _trim(c: UnivariateMixtures) -> UnivariateMixtures:
    """Drop columns that are negligible in all rows; heaviest first, negligible ones weightless."""
    count = max(1, int((c.weights > NEGLIGIBLE).sum(axis=1).max(initial=0)))
    order = np.argsort(-c.weights, axis=1, kind="stable")[:, :count]
    full = (np.broadcast_to(a, c.weights.shape) for a in (c.weights, c.means, c.sds))
    weights, means, sds = (np.take_along_axis(a, order, axis=1) for a in full)
    light = weights <= NEGLIGIBLE
    # What has no weight stands where the heaviest stands, so that it bounds nothing.
    means, sds = (np.where(light, a[:, :1], a) for a in (means, sds))
    return UnivariateMixtures(np.where(light, 0.0, weights), means, sds)


def _relative_terms(c: UnivariateMixtures, y: Array) -> tuple[Array, Array, Array]:
    """``w_k / s_k exp(-z_k^2 / 2 - top)``, ``z_k`` (n, K), and ``top = max_k -z_k^2 / 2`` (n,)."""
    z = c.standardize(y)
    with np.errstate(over="ignore"):
        exponent = -0.5 * z * z
    top = np.maximum(exponent.max(axis=1), -np.finfo(float).max)
    exponent -= top[:, None]
    return np.exp(exponent, out=exponent) * (c.weights / c.sds), z, top


def _log_pdf(c: UnivariateMixtures, y: Array) -> Array:
    terms, _, top = _relative_terms(c, y)
    with np.errstate(divide="ignore"):
        out: Array = np.log(terms.sum(axis=1) / ROOT_2PI) + top
    return out


def _slopes(c: UnivariateMixtures, y: Array) -> Array:
    """Return ``log p``, the score ``u = p'/p`` and its slope ``u' = p''/p - u^2``: (3, n)."""
    terms, z, top = _relative_terms(c, y)
    total = terms.sum(axis=1)
    log_p = np.log(total / ROOT_2PI) + top
    terms /= c.sds
    u = -np.einsum("nk,nk->n", terms, z) / total
    terms /= c.sds
    second = (np.einsum("nk,nk,nk->n", terms, z, z) - terms.sum(axis=1)) / total
    return np.stack([log_p, u, second - u * u])


def _score(c: UnivariateMixtures, y: Array) -> Array:
    out: Array = _slopes(c, y)[1]
    return out


def _bend(c: UnivariateMixtures, y: Array) -> Array:
    out: Array = _slopes(c, y)[2]
    return out


def _solve(
    f: Evaluator,
    c: UnivariateMixtures,
    row: Indices,
    bracket: tuple[Array, Array],
    value: Array | float = 0.0,
    slack: float = 0.0,
) -> Array:
    """Roots of ``f(y) = value``, give or take ``slack``, for mixtures ``row``: (n,)."""

    def excess(y: Array, row: Indices, value: Array) -> Array:
        return map_rows(f, c, row, y) - value

    tolerances = {"fatol": slack}
    x: Array = elementwise.find_root(excess, bracket, args=(row, value), tolerances=tolerances).x
    return x


def _scan(c: UnivariateMixtures) -> tuple[Indices, Array]:
    """Increasing points, row after row, fine enough to tell the critical points apart.

    At a mode p'' <= 0, hence |y - mu_k| <= s_k for some k: every mode is within one standard
    deviation of a component's mean, and empty gaps need no points.  Spots about the means,
    rounded to a lattice as fine as the row's narrowest spots, are few when components overlap
    (the lattice limits them) and few when they do not (the components do).
    """
    step = STEP * c.sds.min(axis=1, keepdims=True)
    low = c.means.min(axis=1, keepdims=True) - step
    last = np.ceil((c.means.max(axis=1, keepdims=True) - low) / step + 1)
    spots = (c.means[:, :, None] + c.sds[:, :, None] * SPOTS).reshape(len(c), -1)
    spots = np.clip(np.rint((spots - low) / step), 0, last)
    spots = np.sort(np.concatenate([np.zeros_like(last), spots, last], axis=1), axis=1)
    row, column = np.nonzero(np.diff(spots, axis=1, prepend=-1.0))
    return row, low[row, 0] + step[row, 0] * spots[row, column]


def _signed_scan(c: UnivariateMixtures) -> tuple[Indices, Array, Array, NDArray[np.bool_]]:
    """Rows, places, log p and whether p rises, with a point where the score nears zero and turns.

    A mode and an antimode within one cell leave the signs at its ends equal; between them the
    score has an extremum, which its derivative betrays.
    """
    row, y = _scan(c)
    log_p, u, v = map_rows(_slopes, c, row, y)
    rising = u >= 0
    towards_zero = np.where(rising, -v, v)
    inside = (row[1:] == row[:-1]) & (rising[1:] == rising[:-1])
    dip = np.flatnonzero(inside & (towards_zero[:-1] > 0) & (towards_zero[1:] < 0))
    x = _solve(_bend, c, row[dip], (y[dip], y[dip + 1]))
    extra = map_rows(_slopes, c, row[dip], x)
    new = ((row, row[dip]), (y, x), (log_p, extra[0]), (rising, extra[1] >= 0))
    row, y, log_p, rising = (np.insert(a, dip + 1, b) for a, b in new)
    return row, y, log_p, rising


def _turns(
    c: UnivariateMixtures, row: Indices, y: Array, rising: NDArray[np.bool_]
) -> tuple[Indices, Array, Array]:
    """Zeros of p' between points of the scan: after which point, where, and log p there."""
    turn = np.flatnonzero((row[1:] == row[:-1]) & (rising[1:] != rising[:-1]))
    x = _solve(_score, c, row[turn], (y[turn], y[turn + 1]))
    return turn, x, map_rows(_log_pdf, c, row[turn], x)


def _cells(c: UnivariateMixtures) -> _Cells:
    row, y, log_p, rising = _signed_scan(c)
    turn, x, log_x = _turns(c, row, y, rising)
    row = np.insert(row, turn + 1, row[turn])
    y, log_p = np.insert(y, turn + 1, x), np.insert(log_p, turn + 1, log_x)
    count = np.bincount(row, minlength=len(c))
    end = np.cumsum(count)
    start = end - count
    return _Cells(
        row=np.repeat(np.arange(len(c)), count + 1),
        left=np.insert(y, start, -np.inf),
        right=np.insert(y, end, np.inf),
        log_left=np.insert(log_p, start, -np.inf),
        log_right=np.insert(log_p, end, -np.inf),
        first=start + np.arange(len(c)),
    )


def _crossings(c: UnivariateMixtures, cells: _Cells, log_f: Array) -> tuple[Indices, Array]:
    """Rows and places where log p meets ``log_f`` (r,), upwards and downwards in turn.

    A row whose ``log_f`` is NaN or infinite has none.
    """
    goal = np.where(np.isfinite(log_f), log_f, np.nan)[cells.row]
    met = np.flatnonzero((cells.log_left < goal) != (cells.log_right < goal))
    row, goal = cells.row[met], goal[met]
    own = c.sds[row].min(axis=1)
    # p(y) <= exp(-d^2 / 2) / (sqrt(2 pi) min s), d the distance to the nearest mean in its s.
    far = np.sqrt(2 * np.maximum(0.0, -np.log(ROOT_2PI * own) - goal)) + 1.0
    lower = (c.means[row] - far[:, None] * c.sds[row]).min(axis=1)
    upper = (c.means[row] + far[:, None] * c.sds[row]).max(axis=1)
    lower = np.maximum(lower, cells.left[met])
    upper = np.minimum(upper, cells.right[met])
    return row, _solve(_log_pdf, c, row, (lower, upper), goal, slack=ROUNDING)


def _mass(c: UnivariateMixtures, row: Indices, x: Array) -> Array:
    """Probability between upward and downward crossings: (r,)."""
    signed = np.resize([-1.0, 1.0], len(x)) * map_rows(cdf, c, row, x)
    mass: Array = np.bincount(row, weights=signed, minlength=len(c)).astype(float)
    return mass


def _threshold(
    mass: UnivariateMixtures, c: UnivariateMixtures, cells: _Cells, level: float
) -> Array:
    """``log f_i`` for which ``P(p_i(Y) >= f_i) = level`` with Y ~ ``mass``: (r,)."""
    rows = np.arange(len(c))
    tail = (1 - level) / 4
    ends = quantile(mass, np.array([tail, 1 - tail]))
    log_ends = np.minimum(*(map_rows(_log_pdf, c, rows, end) for end in ends.T))
    # {p >= bottom} holds all between `ends`, more than `level`; {p > top} holds nothing.
    lower, upper = ends[cells.row].T
    within = np.where((cells.left > lower) & (cells.left < upper), cells.log_left, np.inf)
    bottom = np.minimum(log_ends, np.minimum.reduceat(within, cells.first))
    top = np.maximum.reduceat(cells.log_left, cells.first)

    def excess(log_f: Array, row: Indices) -> Array:
        goal = np.full(len(c), np.nan)
        goal[row] = log_f
        return _mass(mass, *_crossings(c, cells, goal))[row] - level

    x: Array = elementwise.find_root(
        excess, (bottom, top), args=(rows,), tolerances={"fatol": ROUNDING}
    ).x
    return x
