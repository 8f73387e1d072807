"""Densities of outputs with bounds: Gaussian mixtures in the free coordinate, seen through a map.

``p(y) = p(u) du/dy`` with u of ``bounds``.  Probabilities, quantiles and draws go through the
map as they are.  As du/dy is a sum of exponentials, ``p(u) sqrt(exp(p u))`` and ``p(u) du/dy`` are
Gaussian mixtures again: ``int p^2 dy`` is in closed form, and modes and level sets are found by
the means that mixtures in u have.  Moments are in closed form for a single bound; for two, and for
the CRPS, they are integrals of smooth functions over the line, for which the trapezoidal rule
converges faster than any power of its step.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condensity._typing import Array
from condensity.distributions import _checks as checks
from condensity.distributions import _levelsets as levelsets
from condensity.distributions import _quadrature as quadrature
from condensity.distributions import _sampling as draws
from condensity.distributions.base import Views
from condensity.distributions.bounds import Bounds
from condensity.distributions.mixture import ConditionalMixture


class BoundedMixture(Views):
    """The densities ``p(y | x_i)``, i = 1..m, of outputs with bounds.

    It answers the questions about densities that a ``ConditionalMixture`` answers, in the units of
    y; there is no average of several.

    Parameters
    ----------
    free : ConditionalMixture
        Densities of the free coordinate u.
    bounds : Bounds
        What y is bounded by.

    Examples
    --------
    >>> import numpy as np
    >>> from condensity.distributions.bounds import Bounds
    >>> from condensity.distributions.mixture import Block, ConditionalMixture
    >>> free = ConditionalMixture([Block(np.zeros((1, 1)), np.zeros((1, 1)), np.eye(1))])
    >>> positive = MappedMixture(free, Bounds(np.zeros(1), np.full(1, np.inf)))  # log-normal
    >>> positive.quantile(0.5), positive.mean().round(4)
    (array([1.]), array([1.6487]))
    """

    def __init__(self, free: ConditionalMixture, bounds: Bounds) -> None:
        self.free, self.bounds = free, bounds

    def __len__(self) -> int:
        return len(self.free)

    def __repr__(self) -> str:
        pairs = zip(self.bounds.lower, self.bounds.upper, strict=True)
        return f"MappedMixture({self.free!r}, bounds={[(float(a), float(b)) for a, b in pairs]})"

    def __getitem__(self, index: Any) -> BoundedMixture:
        """Densities of ``index`` only: an integer (one row), slice, index array or mask."""
        return BoundedMixture(self.free[index], self.bounds)

    @property
    def n_outputs(self) -> int:
        """Dimension ``dy`` of y."""
        return self.free.n_outputs

    def log_pdf(self, Y: ArrayLike) -> Array:
        """``log p(y_i | x_i)``, -inf at and beyond the bounds; shapes as in a mixture's."""
        Y = checks.rows_of(Y, len(self), self.n_outputs)
        U = self.bounds.free(Y)
        inside = np.isfinite(U).all(axis=1)
        U[~inside] = 0.0
        log_pdf = self.free.log_pdf(U) + self.bounds.log_volume(U)
        return np.where(inside, log_pdf, -np.inf)

    def pdf(self, Y: ArrayLike) -> Array:
        """``p(y_i | x_i)``; shapes as in :meth:`log_pdf`."""
        return np.exp(self.log_pdf(Y))

    def pdf_on(self, grid: ArrayLike) -> Array:
        """``p(y_g | x_i)`` for all densities at all points: ``grid`` (G,) or (G, dy) to (m, G)."""
        U = self.bounds.free(checks.grid_of(grid, self.n_outputs))
        inside = np.isfinite(U).all(axis=1)
        out = np.zeros((len(self), len(U)))
        out[:, inside] = self.free.pdf_on(U[inside]) * np.exp(self.bounds.log_volume(U[inside]))
        return out

    def squared_norm(self) -> Array:
        """``integral p(y | x_i)^2 dy``, in closed form: (m,).

        ``int p(u)^2 exp(c u) du`` is the squared norm of the mixture ``p(u) exp(c u / 2)``.
        """
        total = np.zeros(len(self))
        for factor, power in self._terms():
            log_mass, tilted = self.free.tilt(power / 2)
            total += factor * np.exp(2 * log_mass) * tilted.squared_norm()
        return total

    def cdf(self, Y: ArrayLike) -> Array:
        """``P(Y <= y_i | x_i)``, one output only: (m,)."""
        checks.one_output(self.n_outputs, "cdf")
        return self.free.cdf(self.bounds.free(checks.rows_of(Y, len(self), 1)))

    def prob(self, lower: ArrayLike, upper: ArrayLike) -> Array:
        """``P(lower_i < Y <= upper_i | x_i)``, precise in both tails, one output only: (m,)."""
        checks.one_output(self.n_outputs, "prob")
        ends = checks.ordered_bounds(lower, upper, len(self))
        return self.free.prob(*(self.bounds.free(end[:, None])[:, 0] for end in ends))

    def quantile(self, q: ArrayLike) -> Array:
        """``y`` with ``P(Y <= y | x_i) = q``, one output only: (m,), or (m, k) for k levels."""
        return self.bounds.bounded(self.free.quantile(q)[..., None])[..., 0]

    def interval(self, level: float) -> Array:
        """Central interval, ``(1 - level) / 2`` beyond either end, one output only: (m, 2)."""
        return self.bounds.bounded(self.free.interval(level)[..., None])[..., 0]

    def crps(self, Y: ArrayLike) -> Array:
        """``E|Y - y_i| - E|Y - Y'| / 2``, by quadrature to 1e-8, one output: (m,)."""
        checks.one_output(self.n_outputs, "crps")
        Y = checks.rows_of(Y, len(self), 1)
        own = self.free.components("crps")
        u = self.bounds.free(Y)[:, 0]
        return quadrature.bounded_crps(own, self.bounds, self._mean(0), Y[:, 0], u)

    def hdr(self, level: float) -> list[Array]:
        """Highest-density region of probability ``level``, the smallest there is; one output."""
        heights = self._heights("hdr").components("hdr")
        regions = levelsets.hdr(self.free.components("hdr"), level, heights)
        return [self.bounds.bounded(region[..., None])[..., 0] for region in regions]

    def hpd_level(self, Y: ArrayLike, n_draws: int = 1000, random_state: Any = None) -> Array:
        """``P(p(Y | x_i) >= p(y_i | x_i))``: level of the smallest region that holds y_i, (m,)."""
        Y = checks.rows_of(Y, len(self), self.n_outputs)
        if self.n_outputs > 1:
            return draws.hpd_level_by_sampling(self, Y, n_draws, self.free.width, random_state)
        heights = self._heights("hpd_level").components("hpd_level")
        u = self.bounds.free(Y)[:, 0]
        level = levelsets.hpd_level(
            self.free.components("hpd_level"), np.where(np.isfinite(u), u, 0.0), heights
        )
        return np.where(np.isfinite(u), level, 1.0)

    def modes(self) -> list[Array]:
        """Local maxima of each density, highest first: m arrays, (k_i,) or (k_i, dy)."""
        found = self._heights("modes").modes()
        if self.n_outputs == 1:
            return [self.bounds.bounded(u[:, None])[:, 0] for u in found]
        return [self.bounds.bounded(u) for u in found]

    def mean(self) -> Array:
        """``E[Y | x_i]``: (m,) for one output, else (m, dy)."""
        return self._drop_axis(np.column_stack([self._mean(j) for j in range(self.n_outputs)]))

    def var(self) -> Array:
        """``Var[Y_j | x_i]``: (m,) for one output, else (m, dy)."""
        columns = range(self.n_outputs)
        return self._drop_axis(np.column_stack([self._covariance(j, j) for j in columns]))

    def std(self) -> Array:
        """Square root of :meth:`var`."""
        return np.sqrt(self.var())

    def cov(self) -> Array:
        """Covariances of the outputs: (m, dy, dy)."""
        out = np.empty((len(self), self.n_outputs, self.n_outputs))
        for j in range(self.n_outputs):
            for k in range(j + 1):
                out[:, j, k] = out[:, k, j] = self._covariance(j, k)
        return out

    def marginal(self, columns: int | Sequence[int]) -> BoundedMixture:
        """The densities of the outputs ``columns`` alone, in that order."""
        keep = checks.columns_of(columns, self.n_outputs)
        return BoundedMixture(self.free.marginal(columns), self.bounds.take(keep))

    def sample(self, n: int = 1, random_state: Any = None) -> Array:
        """``n`` independent draws from each density: (m, n) for one output, else (m, n, dy)."""
        U = np.asarray(self.free.sample(n, random_state))
        U = U[..., None] if self.n_outputs == 1 else U
        return self._drop_axis(self.bounds.bounded(U))

    def _terms(self) -> list[tuple[float, Array]]:
        """``prod_j du_j/dy_j = sum_t factor_t exp(power_t . u)``, as pairs of factor and power."""
        by_output = [self.bounds.slopes(j) for j in range(self.n_outputs)]
        return [
            (float(np.prod([c for c, _ in chosen])), np.array([p for _, p in chosen]))
            for chosen in product(*by_output)
        ]

    def _heights(self, what: str) -> ConditionalMixture:
        """The mixture in u that is proportional to ``p(y)``: its level sets are those of p(y)."""
        if what != "modes":
            checks.one_output(self.n_outputs, what)
        tilts = [(np.log(c), *self.free.tilt(power)) for c, power in self._terms()]
        return ConditionalMixture.blend([t for _, _, t in tilts], [c + log for c, log, _ in tilts])

    def _log_exponential(self, *powers: tuple[int, float]) -> tuple[Array, ConditionalMixture]:
        """``log E exp(sum_j s_j u_j)`` for pairs (j, s_j), and the law of u it tilts to."""
        power = np.zeros(self.n_outputs)
        for j, s in powers:
            power[j] += s
        return self.free.tilt(power)

    def _mean(self, j: int) -> Array:
        """``E[Y_j | x_i]``, in closed form unless output j has two bounds: (m,)."""
        s = self.bounds.exponential(j)
        if s is None:
            own = self.free.marginal(j).components("mean")
            return quadrature.bounded_mean(own, self.bounds.take(np.array([j])))
        if s == 0:
            return self.free.marginal(j).mean()
        bound = self.bounds.lower[j] if s > 0 else self.bounds.upper[j]
        return np.asarray(bound + s * np.exp(self._log_exponential((j, s))[0]))

    def _covariance(self, j: int, k: int) -> Array:
        """``Cov[Y_j, Y_k | x_i]``, in closed form unless one of them has two bounds: (m,)."""
        s, t = self.bounds.exponential(j), self.bounds.exponential(k)
        if s is None or t is None:
            keep = [j] if j == k else [j, k]
            means = np.column_stack([self._mean(column) for column in keep])
            bounds = self.bounds.take(np.array(keep))
            return quadrature.bounded_covariance(self.free.marginal(keep).blocks, bounds, means)
        if s == 0 and t == 0:
            return self.free.cov()[:, j, k]
        if s == 0 or t == 0:  # Cov[u, exp(s v)] = E exp(s v) (mean of u where tilted - mean of u)
            flat, (steep, s) = (j, (k, t)) if s == 0 else (k, (j, s))
            log_mass, tilted = self._log_exponential((steep, s))
            moved = tilted.marginal(flat).mean() - self.free.marginal(flat).mean()
            return np.asarray(s * np.exp(log_mass) * moved)
        log_both = self._log_exponential((j, s), (k, t))[0]
        log_product = self._log_exponential((j, s))[0] + self._log_exponential((k, t))[0]
        return np.asarray(s * t * np.exp(log_product) * np.expm1(log_both - log_product))

    def _drop_axis(self, values: Array) -> Array:
        return values[..., 0] if self.n_outputs == 1 else values


#: Densities that lie in memory.
Mixture = ConditionalMixture | BoundedMixture
