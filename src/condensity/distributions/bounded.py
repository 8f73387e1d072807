"""Densities of outputs with bounds: Gaussian mixtures in a free coordinate u without bounds.

| bounds of y  | u                      | du/dy                          |
|--------------|------------------------|--------------------------------|
| none         | y                      | 1                              |
| a < y        | log(y - a)             | exp(-u)                        |
| y < b        | -log(b - y)            | exp(u)                         |
| a < y < b    | log((y - a) / (b - y)) | (exp(u) + 2 + exp(-u)) / (b-a) |

``p(y) = p(u) du/dy``.  Probabilities, quantiles and draws are those of u, mapped to y.  Every du/dy
is a sum of exponentials of u, and a Gaussian times an exponential is a Gaussian again.  So ``p(u)
sqrt(exp(p u))`` and ``p(u) du/dy`` are Gaussian mixtures: ``int p^2 dy`` is in closed form, and
modes and level sets are found by the methods for mixtures in u.  Moments are in closed form for a
single bound.  For two bounds, and for the CRPS, they are integrals of smooth functions over the
real line, for which the trapezoidal rule converges faster than any power of its step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from condensity._typing import Array, Indices
from condensity.distributions import _checks as checks
from condensity.distributions import _levelsets as levelsets
from condensity.distributions import _quadrature as quadrature
from condensity.distributions.base import Distribution
from condensity.distributions.block import divided
from condensity.distributions.mixture import Mixture


@dataclass(frozen=True, eq=False)
class Bounds:
    """Lower and upper bounds of outputs, and the map to the free coordinate u.

    Parameters
    ----------
    lower, upper : ndarray of shape (dy,)
        Bounds of each output, infinite where there is none.

    See Also
    --------
    BoundedMixture : Densities of outputs with bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from condensity.distributions import Bounds
    >>> positive = Bounds(np.zeros(1), np.full(1, np.inf))
    >>> positive.free(np.array([[1.0]]))
    array([[0.]])
    """

    lower: Array
    upper: Array

    def equals(self, other: Bounds) -> bool:
        """Whether all bounds are the same.

        Parameters
        ----------
        other : Bounds
            Bounds of as many outputs.

        Returns
        -------
        bool
            True if they are equal.
        """
        pairs = ((self.lower, other.lower), (self.upper, other.upper))
        return all(np.array_equal(ours, theirs) for ours, theirs in pairs)

    def take(self, columns: Indices) -> Bounds:
        """Bounds of some of the outputs.

        Parameters
        ----------
        columns : ndarray of int
            Outputs to keep.

        Returns
        -------
        Bounds
            The bounds of these outputs.
        """
        return Bounds(self.lower[columns], self.upper[columns])

    def free(self, Y: Array) -> Array:
        """Free coordinates u of outputs.

        Parameters
        ----------
        Y : ndarray of shape (..., dy)
            Outputs.

        Returns
        -------
        ndarray of shape (..., dy)
            Free coordinates, infinite for outputs at or beyond a bound.
        """
        U = np.empty(Y.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            for j, (a, b) in enumerate(zip(self.lower, self.upper, strict=True)):
                y = np.clip(Y[..., j], a, b)
                below = np.log(y - a) if np.isfinite(a) else None
                above = np.log(b - y) if np.isfinite(b) else None
                U[..., j] = (
                    y
                    if below is None and above is None
                    else (0.0 if below is None else below) - (0.0 if above is None else above)
                )
        return U

    def bounded(self, U: Array) -> Array:
        """Outputs for free coordinates u.

        Parameters
        ----------
        U : ndarray of shape (..., dy)
            Free coordinates.

        Returns
        -------
        ndarray of shape (..., dy)
            Outputs, strictly between the bounds for finite u.
        """
        Y = np.empty(U.shape)
        with np.errstate(over="ignore"):
            for j, (a, b) in enumerate(zip(self.lower, self.upper, strict=True)):
                u = U[..., j]
                if np.isfinite(a) and np.isfinite(b):
                    y = a + (b - a) * expit(u)
                elif np.isfinite(a):
                    y = a + np.exp(u)
                else:
                    y = b - np.exp(-u) if np.isfinite(b) else u
                # Rounding must not move a value onto its bound.
                inside = np.clip(y, np.nextafter(a, np.inf), np.nextafter(b, -np.inf))
                Y[..., j] = np.where(np.isfinite(u), inside, y)
        return Y

    def exponential(self, j: int) -> float | None:
        """The sign s of ``y = bound + s exp(s u)`` for output j.

        Parameters
        ----------
        j : int
            Which output.

        Returns
        -------
        float or None
            1 or -1 for one bound, 0 for none (y = u), None for two (the logistic map).
        """
        a, b = np.isfinite(self.lower[j]), np.isfinite(self.upper[j])
        return None if a and b else float(a) - float(b)

    def slopes(self, j: int) -> list[tuple[float, float]]:
        """The derivative ``du/dy = sum_t c_t exp(p_t u)`` of output j.

        Parameters
        ----------
        j : int
            Which output.

        Returns
        -------
        list of (float, float)
            Pairs of coefficient c_t and exponent p_t.
        """
        a, b = float(self.lower[j]), float(self.upper[j])
        if np.isfinite(a) and np.isfinite(b):
            return [(1 / (b - a), 1.0), (2 / (b - a), 0.0), (1 / (b - a), -1.0)]
        if np.isfinite(a):
            return [(1.0, -1.0)]
        return [(1.0, 1.0 if np.isfinite(b) else 0.0)]

    def volume_terms(self) -> list[tuple[float, Array]]:
        """The determinant ``prod_j du_j/dy_j = sum_t c_t exp(p_t . u)`` as a sum.

        Returns
        -------
        list of (float, ndarray of shape (dy,))
            Pairs of coefficient c_t and exponents p_t.
        """
        by_output = [self.slopes(j) for j in range(len(self.lower))]
        checks.few_terms(int(np.prod([len(terms) for terms in by_output], dtype=float)))
        return [
            (float(np.prod([c for c, _ in chosen])), np.array([p for _, p in chosen]))
            for chosen in product(*by_output)
        ]

    def log_volume(self, U: Array) -> Array:
        """Log determinant of the derivative, ``log prod_j du_j/dy_j``.

        Parameters
        ----------
        U : ndarray of shape (..., dy)
            Free coordinates.

        Returns
        -------
        ndarray of shape (...)
            Logarithms.
        """
        total = np.zeros(U.shape[:-1])
        for j in range(U.shape[-1]):
            u = U[..., j]
            terms = [np.log(c) + (p * u if p else 0.0 * u) for c, p in self.slopes(j)]
            total += np.logaddexp.reduce(terms, axis=0)
        return total


class BoundedMixture(Distribution):
    """Conditional densities p(y | x_i) of m rows whose outputs have bounds.

    The free coordinate u of y, for instance ``log(y - lower)``, has Gaussian mixtures as densities.
    All answers are in the units of y.

    Parameters
    ----------
    free : Mixture
        Densities of the free coordinate u.
    bounds : Bounds
        Bounds of y.

    See Also
    --------
    Distribution : The methods, documented.
    Mixture : Densities of outputs without bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from condensity.distributions import Block, BoundedMixture, Bounds, Mixture
    >>> free = Mixture([Block(np.zeros((1, 1)), np.zeros((1, 1)), np.eye(1))])
    >>> positive = BoundedMixture(free, Bounds(np.zeros(1), np.full(1, np.inf)))  # log-normal
    >>> positive.quantile(0.5), positive.mean().round(4)
    (array([1.]), array([1.6487]))
    """

    def __init__(self, free: Mixture, bounds: Bounds) -> None:
        self.free, self.bounds = free, bounds

    def __len__(self) -> int:
        return len(self.free)

    def __repr__(self) -> str:
        pairs = zip(self.bounds.lower, self.bounds.upper, strict=True)
        return f"BoundedMixture({self.free!r}, bounds={[(float(a), float(b)) for a, b in pairs]})"

    def __getitem__(self, index: Any) -> BoundedMixture:
        return BoundedMixture(self.free[index], self.bounds)

    @property
    def n_outputs(self) -> int:
        return self.free.n_outputs

    def log_pdf(self, Y: ArrayLike) -> Array:
        Y = checks.rows_of(Y, len(self), self.n_outputs)
        U = self.bounds.free(Y)
        inside = np.isfinite(U).all(axis=1)
        U[~inside] = 0.0
        log_pdf = self.free.log_pdf(U) + self.bounds.log_volume(U)
        return np.where(inside, log_pdf, -np.inf)

    def pdf_on(self, grid: ArrayLike) -> Array:
        U = self.bounds.free(checks.grid_of(grid, self.n_outputs))
        inside = np.isfinite(U).all(axis=1)
        out = np.zeros((len(self), len(U)))
        out[:, inside] = divided(self.free.pdf_on(U[inside]), -self.bounds.log_volume(U[inside]))
        return out

    def squared_norm(self) -> Array:
        total = np.zeros(len(self))
        for factor, power in self.bounds.volume_terms():
            log_mass, tilted = self.free.tilt(power / 2)
            with np.errstate(over="ignore", divide="ignore"):
                total += np.exp(np.log(factor) + 2 * log_mass + np.log(tilted.squared_norm()))
        return total

    def cdf(self, Y: ArrayLike) -> Array:
        checks.one_output(self.n_outputs, "cdf")
        return self.free.cdf(self.bounds.free(checks.rows_of(Y, len(self), 1)))

    def prob(self, lower: ArrayLike, upper: ArrayLike) -> Array:
        checks.one_output(self.n_outputs, "prob")
        ends = checks.ordered_bounds(lower, upper, len(self))
        return self.free.prob(*(self.bounds.free(end[:, None])[:, 0] for end in ends))

    def quantile(self, q: ArrayLike) -> Array:
        return self.bounds.bounded(self.free.quantile(q)[..., None])[..., 0]

    def crps(self, Y: ArrayLike) -> Array:
        checks.one_output(self.n_outputs, "crps")
        Y = checks.rows_of(Y, len(self), 1)
        s = self.bounds.exponential(0)
        if s is None:
            return quadrature.bounded_crps(self.free, self.bounds, Y[:, 0])
        return self.free.crps(Y) if s == 0 else self._exponential_crps(Y, s)

    def _exponential_crps(self, Y: Array, s: float) -> Array:
        """The CRPS of ``Y = bound + s exp(s U)``, in closed form: (m,).

        ``E|Y - y| = s E[(Y - y) sign(U - u)]`` and ``E|Y - Y'| = 2 s E[(Y - bound) sign(U - U')]``.
        The factor ``exp(s U)`` in an expectation tilts the mixture of U.
        """
        bound = self.bounds.lower[0] if s > 0 else self.bounds.upper[0]
        log_mass, tilted = self.free.tilt(np.array([s]))
        u = self.bounds.free(Y)
        sign, steep = (1 - 2 * mixture.cdf(u) for mixture in (self.free, tilted))
        with np.errstate(over="ignore", invalid="ignore"):
            mass = np.exp(log_mass)
            gain = mass * (s * (steep - tilted.sign_mean(self.free)))
        # Where the mean overflows, the difference of two such numbers has no digits.
        return np.where(np.isfinite(mass), gain - (Y[:, 0] - bound) * sign, np.inf)

    def partial_moment(self, threshold: ArrayLike, order: int = 1, tail: str = "upper") -> Array:
        checks.one_output(self.n_outputs, "partial_moment")
        t, order, side = checks.tail_question(threshold, order, tail, len(self))
        s = self.bounds.exponential(0)
        if s == 0:
            return self.free.partial_moment(t, order, tail)
        if s is None and order:
            return quadrature.bounded_partial_moment(self.free, self.bounds, order, side, t)
        return self._exponential_moment(t, order, side, s or 0.0)

    def _exponential_moment(self, t: Array, order: int, side: float, s: float) -> Array:
        """``E max(side (Y - t), 0)^order`` of ``Y = bound + s exp(s U)``, in closed form: (m,).

        A binomial sum; in every term an exponential tilts the mixture of U.
        """
        u, bound = self.bounds.free(t[:, None])[:, 0], 0.0
        ends = (u, np.full(len(u), np.inf)) if side > 0 else (np.full(len(u), -np.inf), u)
        if s:
            bound = float(self.bounds.lower[0] if s > 0 else self.bounds.upper[0])
        total = np.zeros(len(self))
        for power in range(order + 1):
            log_mass, tilted = self.free.tilt(np.array([power * s]))
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                mass = np.exp(log_mass + np.log(tilted.prob(*ends)))
                factor = comb(order, power) * s**power * (bound - t) ** (order - power)
                total += np.where(mass > 0, factor * mass, 0.0)
        moment = np.maximum(side**order * total, 0.0)
        # Where terms overflow, their difference has no digits.
        return np.where(np.isnan(moment), np.inf, moment)

    def hdr(self, level: float) -> list[Array]:
        heights = self._heights("hdr").components("hdr")
        regions = levelsets.hdr(self.free.components("hdr"), level, heights)
        return [self.bounds.bounded(region[..., None])[..., 0] for region in regions]

    def hpd_level(self, Y: ArrayLike, n_draws: int = 1000, random_state: Any = None) -> Array:
        Y = checks.rows_of(Y, len(self), self.n_outputs)
        if self.n_outputs > 1:
            return levelsets.hpd_level_by_sampling(self, Y, n_draws, self.free.width, random_state)
        heights = self._heights("hpd_level").components("hpd_level")
        u = self.bounds.free(Y)[:, 0]
        level = levelsets.hpd_level(
            self.free.components("hpd_level"), np.where(np.isfinite(u), u, 0.0), heights
        )
        return np.where(np.isfinite(u), level, 1.0)

    def modes(self) -> list[Array]:
        found = self._heights("modes").modes()
        if self.n_outputs == 1:
            return [self.bounds.bounded(u[:, None])[:, 0] for u in found]
        return [self.bounds.bounded(u) for u in found]

    def mean(self) -> Array:
        return self._drop_axis(np.column_stack([self._mean(j) for j in range(self.n_outputs)]))

    def var(self) -> Array:
        columns = range(self.n_outputs)
        return self._drop_axis(np.column_stack([self._covariance(j, j) for j in columns]))

    def cov(self) -> Array:
        out = np.empty((len(self), self.n_outputs, self.n_outputs))
        for j in range(self.n_outputs):
            for k in range(j + 1):
                out[:, j, k] = out[:, k, j] = self._covariance(j, k)
        return out

    def marginal(self, columns: int | Sequence[int]) -> BoundedMixture:
        keep = checks.columns_of(columns, self.n_outputs)
        return BoundedMixture(self.free.marginal(columns), self.bounds.take(keep))

    def condition(self, columns: int | Sequence[int], values: ArrayLike) -> BoundedMixture:
        given, rest, V = checks.given_and_rest(columns, values, len(self), self.n_outputs)
        U = self.bounds.take(given).free(V)
        checks.inside(U, V)
        return BoundedMixture(self.free.condition(given.tolist(), U), self.bounds.take(rest))

    def sample(self, n: int = 1, random_state: Any = None) -> Array:
        U = np.asarray(self.free.sample(n, random_state))
        U = U[..., None] if self.n_outputs == 1 else U
        return self._drop_axis(self.bounds.bounded(U))

    def _heights(self, what: str) -> Mixture:
        """The mixture in u proportional to ``p(y(u))``: it has the level sets of p(y)."""
        if what != "modes":
            checks.one_output(self.n_outputs, what)
        tilts = [(np.log(c), *self.free.tilt(power)) for c, power in self.bounds.volume_terms()]
        return Mixture.blend([t for _, _, t in tilts], [c + log for c, log, _ in tilts])

    def _log_exponential(self, *powers: tuple[int, float]) -> tuple[Array, Mixture]:
        """``log E exp(sum_j s_j u_j)`` for pairs (j, s_j), and the tilted densities of u."""
        power = np.zeros(self.n_outputs)
        for j, s in powers:
            power[j] += s
        return self.free.tilt(power)

    def _mean(self, j: int) -> Array:
        """``E[Y_j | x_i]``, in closed form unless output j has two bounds: (m,)."""
        s = self.bounds.exponential(j)
        if s is None:
            return quadrature.bounded_mean(self.free.marginal(j), self.bounds.take(np.array([j])))
        if s == 0:
            return self.free.marginal(j).mean()
        bound = self.bounds.lower[j] if s > 0 else self.bounds.upper[j]
        with np.errstate(over="ignore"):
            return np.asarray(bound + s * np.exp(self._log_exponential((j, s))[0]))

    def _covariance(self, j: int, k: int) -> Array:
        """``Cov[Y_j, Y_k | x_i]``, in closed form unless one of them has two bounds: (m,)."""
        s, t = self.bounds.exponential(j), self.bounds.exponential(k)
        if s is None or t is None:
            means = np.column_stack([self._mean(column) for column in (j, k)])
            if j == k:
                free, bounds = self.free.marginal(j), self.bounds.take(np.array([j]))
                return quadrature.bounded_variance(free, bounds, means[:, 0])
            keep = [j, k]
            bounds = self.bounds.take(np.array(keep))
            return quadrature.bounded_covariance(self.free.marginal(keep).blocks, bounds, means)
        if s == 0 and t == 0:
            return self.free.cov()[:, j, k]
        if s == 0 or t == 0:  # Cov[u, exp(s v)] = E exp(s v) (mean of u where tilted - mean of u)
            flat, (steep, s) = (j, (k, t)) if s == 0 else (k, (j, s))
            log_mass, tilted = self._log_exponential((steep, s))
            moved = s * (tilted.marginal(flat).mean() - self.free.marginal(flat).mean())
            with np.errstate(over="ignore", divide="ignore"):
                return np.asarray(np.sign(moved) * np.exp(log_mass + np.log(np.abs(moved))))
        # Near u = 0 the logarithms have the most digits, and their difference is small.
        middle = self.free.mean().reshape(len(self), self.n_outputs)
        centred = BoundedMixture(self.free.moved(-middle), self.bounds)
        logs = [centred._log_exponential(*powers)[0] for powers in ([(j, s)], [(k, t)])]
        log_ratio = centred._log_exponential((j, s), (k, t))[0] - sum(logs)
        log_product = sum(logs) + s * middle[:, j] + t * middle[:, k]
        # A variance is not negative, but for rounding.
        log_ratio = np.maximum(log_ratio, 0.0) if j == k else log_ratio
        with np.errstate(over="ignore", divide="ignore"):
            log_size = np.maximum(log_ratio, 0.0) + np.log(-np.expm1(-np.abs(log_ratio)))
            return np.asarray(s * t * np.sign(log_ratio) * np.exp(log_product + log_size))

    def _drop_axis(self, values: Array) -> Array:
        return values[..., 0] if self.n_outputs == 1 else values
