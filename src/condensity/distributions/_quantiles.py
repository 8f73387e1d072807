"""Quantiles of one-dimensional Gaussian mixtures, accurate to rounding error.

The distribution function has no inverse in closed form.  Halley's method computes it in a few
steps, most of them in single precision.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.special import ndtri

from condensity._typing import Array
from condensity._utils.numerics import CACHED, row_blocks
from condensity.distributions._univariate import (
    ROOT_2PI,
    UnivariateMixtures,
    kernel_and_cdf,
    map_rows,
    weighted,
)

#: Maximum number of iterations (more than bisection needs for any floats), and number of iterations
#: after which every second step is a bisection.
MOST_STEPS, PATIENCE = 2500, 8
#: Convergence tolerance: maximum length of the last step, in standard deviations of the narrowest
#: component.  The remaining error is of the order of its third power.  Steps in single precision
#: only provide the start for steps in double precision.
NEAR, NEAR_SINGLE = 1e-5, 3e-3
#: Smallest tail probability for steps in single precision, and maximum number of these steps.
LEAST_SINGLE, MOST_SINGLE = 1e-30, 8


def quantile(c: UnivariateMixtures, q: Array, starts: Array | None = None) -> Array:
    """Roots of ``F_i(y) = q_j``, accurate to rounding error.

    If F is constant at the level, in a gap of the density, any point of the gap may be returned.

    Parameters
    ----------
    c : UnivariateMixtures
        ``r`` mixtures.
    q : ndarray of shape (k,)
        Levels in [0, 1]; 0 gives ``-inf`` and 1 gives ``inf``.
    starts : None or ndarray of shape (r, k), default=None
        Approximate quantiles, which save steps; NaN where there is none.

    Returns
    -------
    ndarray of shape (r, k)
        Quantiles.
    """
    invalid = q[~((q >= 0) & (q <= 1))]
    if invalid.size:
        raise ValueError(
            f"a quantile level must be a number in [0, 1], got {invalid[0]}: "
            "pass probabilities (0.9), not percentages (90)"
        )
    inner = np.clip(q, np.finfo(float).tiny, 1 - np.finfo(float).epsneg)
    # Levels above 1/2 are solved with 1 - F, which has more digits than F close to one.
    side = np.where(inner <= 0.5, 1.0, -1.0)
    tail = np.where(side > 0, inner, 1 - inner)
    x = np.empty((len(c), len(q)))
    for part in row_blocks(len(c), c.width, CACHED):
        mixtures = c.take(part)
        for j in range(len(q)):
            start = None if starts is None else starts[part, j]
            x[part, j] = _tail_quantile(mixtures, side[j], tail[j], start)
    return np.where(q == 0, -np.inf, np.where(q == 1, np.inf, x))


def _tail_quantile(c: UnivariateMixtures, side: float, tail: float, start: Array | None) -> Array:
    """``y`` with ``F_i(y) = tail`` (``side`` 1) or ``1 - F_i(y) = tail`` (``side`` -1): (r,).

    Halley's method is applied to the logarithm of the tail probability, which is smooth in the far
    tails.  Without a ``start``, it begins at the quantile of the Gaussian with the same mean and
    variance.  A step out of the bracket is replaced by a bisection.  After ``PATIENCE`` iterations,
    every second step is a bisection.
    """
    lower, upper = _bracket(c, side * float(ndtri(tail)))
    if start is not None and np.isfinite(start).all():
        start = np.clip(start, lower, upper)
        return _iterate(c, side, tail, start, (lower, upper), NEAR, MOST_STEPS)
    y = np.clip(_gaussian_quantile(c, side * float(ndtri(tail))), lower, upper)
    if tail > LEAST_SINGLE:
        unit = np.broadcast_to(c.sds.max(axis=1), (len(c),))
        ends, zeros = ((lower - y) / unit, (upper - y) / unit), np.zeros(len(c))
        # Components too narrow for single precision affect only these steps, not the result.
        with np.errstate(all="ignore"):
            y += unit * _iterate(
                c.single(y, unit), side, tail, zeros, ends, NEAR_SINGLE, MOST_SINGLE
            )
        y = np.clip(y, lower, upper)
    return _iterate(c, side, tail, y, (lower, upper), NEAR, MOST_STEPS)


def _iterate(
    c: UnivariateMixtures,
    side: float,
    tail: float,
    start: Array,
    ends: tuple[Array, Array],
    near: float,
    most_steps: int,
) -> Array:
    """Iterations from ``start`` within the bracket ``ends``, until a step is short: (r,).

    The tolerance ``near`` is in standard deviations of the narrowest component.
    """
    y, (lower, upper) = start.copy(), (end.copy() for end in ends)
    narrowest = np.broadcast_to(c.sds.min(axis=1), (len(c),))
    rows, active = np.arange(len(c)), c  # rows that have not converged
    for n_steps in range(most_steps):
        mass, density, slope = map_rows(partial(_tail_pdf_slope, side), active, None, y[rows])
        low = side * (mass - tail) < 0
        lower[rows[low]], upper[rows[~low]] = y[rows[low]], y[rows[~low]]
        with np.errstate(all="ignore"):  # the density may be zero
            f, f1 = np.log(mass / tail), side * density / mass
            f2 = side * slope / mass - f1**2
            step = -2 * f * f1 / (2 * f1**2 - f * f2)
        new, a, b = y[rows] + step, lower[rows], upper[rows]
        bisect = ~((new >= a) & (new <= b)) | (n_steps > PATIENCE and n_steps % 2 == 0)
        new = np.where(bisect, 0.5 * (a + b), new)
        y[rows] = np.where(mass == tail, y[rows], new)
        converged = ~bisect & (np.abs(step) <= near * narrowest[rows]) & np.isfinite(slope)
        done = (mass == tail) | converged | (b - a <= 4 * np.spacing(np.abs(a)))
        if done.all():
            break
        if done.any():
            rows, active = rows[~done], active.take(~done)
    return y


def _tail_pdf_slope(side: float, c: UnivariateMixtures, y: Array) -> Array:
    """``F_i``, or ``1 - F_i`` if ``side`` is -1, ``p_i`` and ``p_i'`` at y_i: (3, r)."""
    z = c.standardize(y.astype(c.weights.dtype, copy=False))
    phi, below = kernel_and_cdf(z if side > 0 else -z)
    mass = weighted(c.weights, below)
    phi *= c.weights
    with np.errstate(over="ignore", invalid="ignore"):
        phi /= c.sds * ROOT_2PI
        z /= c.sds
    return np.stack([mass, phi.sum(axis=1), -weighted(phi, z)]).astype(np.float64, copy=False)


def _gaussian_quantile(c: UnivariateMixtures, z: float) -> Array:
    """The mean plus ``z`` standard deviations of each mixture: (r,)."""
    if c.shared:
        mean = c.weights @ c.means[0]
        square = c.weights @ (c.means[0] ** 2 + c.sds[0] ** 2)
    else:
        mean = weighted(c.weights, c.means)
        square = weighted(c.weights, c.means**2 + c.sds**2)
    return np.asarray(mean + z * np.sqrt(np.maximum(square - mean**2, 0.0)))


def _bracket(c: UnivariateMixtures, z: float) -> tuple[Array, Array]:
    """Bracket of the quantile: the range of ``mu_k + z s_k``, slightly widened: (r,) and (r,)."""
    empty, quantiles = c.weights == 0, c.means + c.sds * z
    lower = np.where(empty, np.inf, quantiles).min(axis=1)
    upper = np.where(empty, -np.inf, quantiles).max(axis=1)
    pad = 1e-3 * np.broadcast_to(c.sds, c.weights.shape).max(axis=1)
    return lower - pad - 4 * np.spacing(abs(lower)), upper + pad + 4 * np.spacing(abs(upper))
