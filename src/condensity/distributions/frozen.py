"""One density in the words of ``scipy.stats``, for code that was written for its distributions."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import quad

from condensity._typing import Array
from condensity._utils.numerics import row_blocks
from condensity._utils.parameters import check_rng
from condensity.distributions import _checks as checks
from condensity.distributions._quantiles import quantile
from condensity.distributions._univariate import UnivariateMixtures
from condensity.distributions.bounds import Bounds

#: Where integrals are cut: between two of these levels a density is smooth enough for a quadrature.
LEVELS = (1e-12, 1e-4, 0.01, 0.05, 0.15, 0.3, 0.5, 0.7, 0.85, 0.95, 0.99, 1 - 1e-4, 1 - 1e-12)


class Frozen:
    """The density of one row, asked as a frozen distribution of ``scipy.stats`` is.

    Methods take numbers or arrays of any shape and answer in that shape.  NaN is answered with
    NaN, and so is a probability outside [0, 1].

    Parameters
    ----------
    dist : ConditionalMixture or MappedMixture
        One row, one output.

    Examples
    --------
    >>> import numpy as np
    >>> from condensity.distributions.mixture import Block, ConditionalMixture
    >>> mix = ConditionalMixture([Block(np.log([[3.0, 1.0]]), np.array([[0.0], [4.0]]), np.eye(1))])
    >>> law = mix.frozen(0)
    >>> law.mean(), law.cdf([[0.0, 4.0]]).round(3)
    (1.0, array([[0.375, 0.875]]))
    >>> law.rvs(size=(2, 3), random_state=0).shape
    (2, 3)
    """

    def __init__(self, dist: Any) -> None:
        checks.one_output(dist.n_outputs, "a frozen distribution")
        if len(dist) != 1:
            raise ValueError(
                f"a frozen distribution is one density, got {len(dist)}: "
                "choose a row, mixture.frozen(i)"
            )
        self._dist = dist
        free = getattr(dist, "free", dist)
        self._free, (self._shift,), (self._scale,) = free.in_frame("a frozen distribution")
        self._bounds: Bounds | None = getattr(dist, "bounds", None)

    def __repr__(self) -> str:
        low, high = self.support()
        return f"Frozen({self._free.width} components on ({low:g}, {high:g}))"

    def logpdf(self, x: ArrayLike) -> Any:
        """``log p(x)``, -inf beyond the support."""
        return self._at(x, lambda dist, y: dist.log_pdf(y), below=-np.inf, above=-np.inf)

    def pdf(self, x: ArrayLike) -> Any:
        """``p(x)``."""
        return np.exp(self.logpdf(x))

    def cdf(self, x: ArrayLike) -> Any:
        """``P(Y <= x)``."""
        return self._at(x, lambda dist, y: dist.cdf(y), below=0.0, above=1.0)

    def sf(self, x: ArrayLike) -> Any:
        """``P(Y > x)``, with all its digits in the upper tail."""
        return self._at(x, lambda dist, y: dist.prob(y, np.inf), below=1.0, above=0.0)

    def logcdf(self, x: ArrayLike) -> Any:
        """``log P(Y <= x)``."""
        with np.errstate(divide="ignore"):
            return np.log(self.cdf(x))

    def logsf(self, x: ArrayLike) -> Any:
        """``log P(Y > x)``."""
        with np.errstate(divide="ignore"):
            return np.log(self.sf(x))

    def ppf(self, q: ArrayLike) -> Any:
        """``x`` with ``P(Y <= x) = q``."""
        return self._inverse(q, 1.0)

    def isf(self, q: ArrayLike) -> Any:
        """``x`` with ``P(Y > x) = q``, exact for the smallest q."""
        return self._inverse(q, -1.0)

    def median(self) -> float:
        """``ppf(0.5)``."""
        return float(self.ppf(0.5))

    def mean(self) -> float:
        """``E[Y]``."""
        return float(self._dist.mean()[0])

    def var(self) -> float:
        """``Var[Y]``."""
        return float(self._dist.var()[0])

    def std(self) -> float:
        """Square root of :meth:`var`."""
        return float(self._dist.std()[0])

    def support(self) -> tuple[float, float]:
        """Ends of the interval that holds all values."""
        if self._bounds is None:
            return -np.inf, np.inf
        return float(self._bounds.lower[0]), float(self._bounds.upper[0])

    def interval(self, confidence: ArrayLike) -> tuple[Any, Any]:
        """Ends of the central interval that holds Y with probability ``confidence``."""
        tail = (1 - np.asarray(confidence, dtype=float)) / 2
        return self.ppf(tail), self.isf(tail)

    def rvs(self, size: int | tuple[int, ...] | None = None, random_state: Any = None) -> Any:
        """Independent draws in an array of shape ``size``; a single number when it is None."""
        shape = () if size is None else tuple(np.atleast_1d(size).tolist())
        draws = self._dist.sample(int(np.prod(shape, dtype=int)), check_rng(random_state))
        return draws.reshape(shape)[()]

    def expect(
        self,
        func: Callable[[float], float] | None = None,
        lb: float | None = None,
        ub: float | None = None,
        conditional: bool = False,
    ) -> float:
        """``E[func(Y)]`` over ``lb < Y < ub`` by adaptive quadrature; the mean if None.

        ``conditional`` divides by the probability of that interval.
        """
        low, high = self.support()
        low = low if lb is None else max(low, lb)
        high = high if ub is None else min(high, ub)
        if low >= high:
            return 0.0 if not conditional else np.nan

        def weighted(y: float) -> float:
            return float((y if func is None else func(y)) * self.pdf(y))

        edges = np.unique([low, *np.clip(self.ppf(LEVELS), low, high), high])
        total = sum(quad(weighted, a, b, limit=200)[0] for a, b in pairwise(edges))
        if conditional:
            total /= self._dist.prob(low, high)[0]
        return float(total)

    def _at(
        self, x: ArrayLike, f: Callable[[Any, Array], Array], *, below: float, above: float
    ) -> Any:
        """``f`` at every finite x; ``below`` and ``above`` at the infinities, NaN at NaN."""
        x = np.asarray(x, dtype=float)
        flat, low_and_high = x.ravel(), np.array([below, above])
        out = np.where(np.isnan(flat), np.nan, low_and_high[(flat > 0).astype(int)])
        finite = np.flatnonzero(np.isfinite(flat))
        for part in row_blocks(len(finite), 8 * self._free.width):
            own = finite[part]
            out[own] = f(self._dist[np.zeros(len(own), dtype=int)], flat[own])
        return out.reshape(x.shape)[()]

    def _inverse(self, q: ArrayLike, sign: float) -> Any:
        """Quantiles from below (sign 1), or from above (-1) as those of -Y from below."""
        q = np.asarray(q, dtype=float)
        flat = q.ravel()
        out = np.full(flat.shape, np.nan)
        known = (flat >= 0) & (flat <= 1)
        mirrored = UnivariateMixtures(self._free.weights, sign * self._free.means, self._free.sds)
        there = sign * quantile(mirrored, flat[known])[0]
        out[known] = self._shift + self._scale * there
        if self._bounds is not None:
            out[known] = self._bounds.bounded(out[known, None])[:, 0]
        return out.reshape(q.shape)[()]
