"""Modes and highest-density regions of one-dimensional Gaussian mixtures.

Between neighbouring critical points p is monotone.  In each such cell the region ``{p >= f}`` has
at most one end, a root of ``log p(y) = log f``.  The mass of the region is a sum of differences of
the distribution function F.  The height f of a region with given probability is the root of one
more equation.  Highest-density regions are described in [1]_.

Critical points are the zeros of the score ``u = p'/p = sum_k r_k (mu_k - y) / s_k^2``.  Its
responsibilities r_k do not underflow, even in a wide gap between two modes.

References
----------
.. [1] R. J. Hyndman, "Computing and graphing highest density regions," The American Statistician
   50(2), 1996.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import elementwise

from condensity._typing import Array, Indices
from condensity._utils.numerics import row_blocks
from condensity._utils.parameters import check_rng
from condensity.distributions._checks import probability
from condensity.distributions._quantiles import quantile
from condensity.distributions._univariate import (
    ROOT_2PI,
    Evaluator,
    UnivariateMixtures,
    cdf,
    map_rows,
)

if TYPE_CHECKING:
    from condensity.distributions.base import Distribution

#: Components with a weight up to this are ignored.
NEGLIGIBLE = 1e-20

#: Differences of probabilities and of log densities below this are rounding errors.
ROUNDING = 2e-15

#: Scan points around the mean of each component, in its standard deviations.  They are STEP apart
#: near the mean.  The outermost ones are beyond the range of a component of weight NEGLIGIBLE.
STEP = 0.5
SPOTS = np.concatenate(
    [[-10, -8, -6, -5, -4, -3], np.arange(-2, 2 + STEP, STEP), [3, 4, 5, 6, 8, 10]]
)


def modes(c: UnivariateMixtures) -> list[Array]:
    """All local maxima of each ``p_i``, the highest first: r arrays of shape (k_i,).

    Components with a weight up to ``NEGLIGIBLE`` are ignored.
    """
    out: list[Array] = []
    for part in _parts(c):
        trimmed = _trim(c.take(part))
        row, y, _, rising = _signed_scan(trimmed)
        turn, x, log_x = _turns(trimmed, row, y, rising)
        peak = rising[turn]
        row, x, log_x = row[turn][peak], x[peak], log_x[peak]
        out += _ragged(row, x[np.lexsort((-log_x, row))], len(trimmed))
    return out


def hdr(
    c: UnivariateMixtures, level: float, heights: UnivariateMixtures | None = None
) -> list[Array]:
    """Highest-density regions ``{y : p_i(y) >= f_i}`` of probability ``level``, as intervals.

    Parameters
    ----------
    c : UnivariateMixtures
        ``r`` mixtures that define the probabilities.
    level : float
        Probability of the region, strictly between 0 and 1.
    heights : UnivariateMixtures or None, default=None
        ``r`` mixtures that define the heights p; None: the same as ``c``.  A density with bounds
        has probabilities from one mixture and heights from another.

    Returns
    -------
    list of r ndarrays of shape (k_i, 2)
        Disjoint intervals in increasing order.
    """
    level, heights = probability(level), c if heights is None else heights
    out: list[Array] = []
    for part in _parts(heights):
        mass, height = _trim(c.take(part)), _trim(heights.take(part))
        cells = _cells(height)
        row, x = _crossings(height, cells, _threshold(mass, height, cells, level))
        out += _ragged(row[::2], x.reshape(-1, 2), len(height))
    return out


def hpd_level(c: UnivariateMixtures, y: Array, heights: UnivariateMixtures | None = None) -> Array:
    """``P(p_i(Y) >= p_i(y_i))`` for Y ~ p_i: the level of the smallest region that contains y_i.

    It is 0 at the highest mode and 1 in the far tails.  It is uniform on [0, 1] if y_i is drawn
    from p_i.  ``heights`` is as in :func:`hdr`.
    """
    out, heights = np.empty(len(c)), c if heights is None else heights
    for part in _parts(heights):
        mass, height = _trim(c.take(part)), _trim(heights.take(part))
        log_f = map_rows(_log_pdf, height, np.arange(len(height)), y[part])
        level = _mass(mass, *_crossings(height, _cells(height), log_f))
        out[part] = np.where(np.isfinite(log_f), np.clip(level, 0.0, 1.0), 1.0)
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


@dataclass(frozen=True, eq=False)
class _Cells:
    """Intervals on which p is monotone, in order of rows, from left to right.

    The first and the last interval of a row are unbounded.
    """

    row: Indices  # (n,)
    left: Array  # (n,)
    right: Array  # (n,)
    log_left: Array  # (n,) log p at the left end
    log_right: Array  # (n,)
    first: Indices  # (r,) position of each row's first cell


def _parts(c: UnivariateMixtures) -> list[slice]:
    """Row blocks in which the tables of the scan fit in memory."""
    return row_blocks(len(c), 4 * len(SPOTS) * c.width)


def _ragged(row: Indices, values: Array, rows: int) -> list[Array]:
    """One array for each row from ``values`` (n, ...), which are sorted by row number."""
    cuts = np.cumsum(np.bincount(row, minlength=rows))[:-1]
    return np.split(values, cuts) if rows else []


def _trim(c: UnivariateMixtures) -> UnivariateMixtures:
    """Mixtures with components sorted by weight, the heaviest first, without negligible ones.

    All rows keep the same number of components.  A negligible component among these gets weight 0.
    """
    count = max(1, int((c.weights > NEGLIGIBLE).sum(axis=1).max(initial=0)))
    order = np.argsort(-c.weights, axis=1, kind="stable")[:, :count]
    full = (np.broadcast_to(a, c.weights.shape) for a in (c.weights, c.means, c.sds))
    weights, means, sds = (np.take_along_axis(a, order, axis=1) for a in full)
    light = weights <= NEGLIGIBLE
    # Components without weight get the position of the heaviest one: they must not widen brackets.
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
    """``log p_i(y_i)``: (n,)."""
    terms, _, top = _relative_terms(c, y)
    with np.errstate(divide="ignore"):
        out: Array = np.log(terms.sum(axis=1) / ROOT_2PI) + top
    return out


def _slopes(c: UnivariateMixtures, y: Array) -> Array:
    """``log p``, the score ``u = p'/p`` and its derivative ``u' = p''/p - u^2``: (3, n)."""
    terms, z, top = _relative_terms(c, y)
    total = terms.sum(axis=1)
    log_p = np.log(total / ROOT_2PI) + top
    terms /= c.sds
    u = -np.einsum("nk,nk->n", terms, z) / total
    terms /= c.sds
    second = (np.einsum("nk,nk,nk->n", terms, z, z) - terms.sum(axis=1)) / total
    return np.stack([log_p, u, second - u * u])


def _score(c: UnivariateMixtures, y: Array) -> Array:
    """Score ``u = p'/p``: (n,)."""
    out: Array = _slopes(c, y)[1]
    return out


def _score_slope(c: UnivariateMixtures, y: Array) -> Array:
    """Derivative ``u'`` of the score: (n,)."""
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
    """Roots of ``f(y) = value`` with tolerance ``slack`` in f, for mixtures ``row``: (n,)."""

    def excess(y: Array, row: Indices, value: Array) -> Array:
        return map_rows(f, c, row, y) - value

    tolerances = {"fatol": slack}
    x: Array = elementwise.find_root(excess, bracket, args=(row, value), tolerances=tolerances).x
    return x


def _scan(c: UnivariateMixtures) -> tuple[Indices, Array]:
    """Increasing points, in order of rows, dense enough to separate the critical points.

    At a mode p'' <= 0, hence |y - mu_k| <= s_k for some k.  Every mode is therefore within one
    standard deviation of the mean of a component, and gaps between components need no points.  The
    points are rounded to a grid with a spacing of STEP standard deviations of the narrowest
    component of the row.  Their number is small in both cases: the grid limits it if components
    overlap, and the number of components limits it if they do not.
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
    """Row, position and log p of all scan points, and whether p rises there.

    Between two scan points there may be both a mode and an antimode.  The score then has the same
    sign at both points, and an extremum between them where its derivative is zero.  Such extrema
    are added to the scan points.
    """
    row, y = _scan(c)
    log_p, u, v = map_rows(_slopes, c, row, y)
    rising = u >= 0
    towards_zero = np.where(rising, -v, v)
    inside = (row[1:] == row[:-1]) & (rising[1:] == rising[:-1])
    dip = np.flatnonzero(inside & (towards_zero[:-1] > 0) & (towards_zero[1:] < 0))
    x = _solve(_score_slope, c, row[dip], (y[dip], y[dip + 1]))
    extra = map_rows(_slopes, c, row[dip], x)
    new = ((row, row[dip]), (y, x), (log_p, extra[0]), (rising, extra[1] >= 0))
    row, y, log_p, rising = (np.insert(a, dip + 1, b) for a, b in new)
    return row, y, log_p, rising


def _turns(
    c: UnivariateMixtures, row: Indices, y: Array, rising: NDArray[np.bool_]
) -> tuple[Indices, Array, Array]:
    """Zeros of p' between scan points: index of the point before, position and log p."""
    turn = np.flatnonzero((row[1:] == row[:-1]) & (rising[1:] != rising[:-1]))
    x = _solve(_score, c, row[turn], (y[turn], y[turn + 1]))
    return turn, x, map_rows(_log_pdf, c, row[turn], x)


def _cells(c: UnivariateMixtures) -> _Cells:
    """Cells between scan points and critical points."""
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
    """Rows and positions where log p crosses ``log_f`` (r,), upwards and downwards in turn.

    A row with NaN or infinity in ``log_f`` has no crossing.
    """
    goal = np.where(np.isfinite(log_f), log_f, np.nan)[cells.row]
    crossed = np.flatnonzero((cells.log_left < goal) != (cells.log_right < goal))
    row, goal = cells.row[crossed], goal[crossed]
    narrowest = c.sds[row].min(axis=1)
    # p(y) <= exp(-d^2 / 2) / (sqrt(2 pi) min s), where d is the smallest |y - mu_k| / s_k.
    far = np.sqrt(2 * np.maximum(0.0, -np.log(ROOT_2PI * narrowest) - goal)) + 1.0
    lower = (c.means[row] - far[:, None] * c.sds[row]).min(axis=1)
    upper = (c.means[row] + far[:, None] * c.sds[row]).max(axis=1)
    lower = np.maximum(lower, cells.left[crossed])
    upper = np.minimum(upper, cells.right[crossed])
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
    # {p >= bottom} contains the interval `ends`, more than `level`; {p > top} is empty.
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
