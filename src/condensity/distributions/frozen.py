"""One density with the methods of a frozen distribution of ``scipy.stats``."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import quad

from condensity._typing import Array
from condensity._utils.numerics import row_blocks
from condensity._utils.parameters import check_rng
from condensity.distributions import _checks as checks
from condensity.distributions._quantiles import quantile
from condensity.distributions._univariate import UnivariateMixtures

if TYPE_CHECKING:
    from condensity.distributions.base import Distribution
    from condensity.distributions.bounded import Bounds

#: Integrals are split at these quantiles: between two of them the density is smooth enough.
LEVELS = (1e-12, 1e-4, 0.01, 0.05, 0.15, 0.3, 0.5, 0.7, 0.85, 0.95, 0.99, 1 - 1e-4, 1 - 1e-12)


class Frozen:
    """The density of one row, with the methods of a frozen distribution of ``scipy.stats``.

    Methods take numbers or arrays of any shape and answer in that shape.  NaN gives NaN, and so
    does a probability outside [0, 1].

    Parameters
    ----------
    dist : Mixture or BoundedMixture
        Densities with one row and one output.

    See Also
    --------
    Distribution.frozen : How to get one.

    Examples
    --------
    >>> import numpy as np
    >>> from condensity.distributions import Block, Mixture
    >>> mixture = Mixture([Block(np.log([[3.0, 1.0]]), np.array([[0.0], [4.0]]), np.eye(1))])
    >>> law = mixture.frozen(0)
    >>> law.mean(), law.cdf([[0.0, 4.0]]).round(3)
    (1.0, array([[0.375, 0.875]]))
    >>> law.rvs(size=(2, 3), random_state=0).shape
    (2, 3)
    """

    def __init__(self, dist: Distribution) -> None:
        checks.one_output(dist.n_outputs, "a frozen distribution")
        if len(dist) != 1:
            raise ValueError(
                f"a frozen distribution is one density, got {len(dist)}: "
                "choose a row with dist.frozen(i)"
            )
        self._dist = dist
        free: Any = getattr(dist, "free", dist)
        self._free, (self._shift,), (self._scale,) = free.in_frame("a frozen distribution")
        self._bounds: Bounds | None = getattr(dist, "bounds", None)

    def __repr__(self) -> str:
        low, high = self.support()
        return f"Frozen({self._free.width} components on ({low:g}, {high:g}))"

    def logpdf(self, x: ArrayLike) -> Any:
        """Logarithm of the density, ``log p(x)``; -inf outside the support.

        Parameters
        ----------
        x : float or array-like
            Points, of any shape.

        Returns
        -------
        float or ndarray
            Values in the shape of ``x``.
        """
        return self._at(x, lambda dist, y: dist.log_pdf(y), below=-np.inf, above=-np.inf)

    def pdf(self, x: ArrayLike) -> Any:
        """Density, ``p(x)``.

        Parameters
        ----------
        x : float or array-like
            Points, of any shape.

        Returns
        -------
        float or ndarray
            Values in the shape of ``x``.
        """
        return np.exp(self.logpdf(x))

    def cdf(self, x: ArrayLike) -> Any:
        """Distribution function, ``P(Y <= x)``.

        Parameters
        ----------
        x : float or array-like
            Points, of any shape.

        Returns
        -------
        float or ndarray
            Probabilities in the shape of ``x``.
        """
        return self._at(x, lambda dist, y: dist.cdf(y), below=0.0, above=1.0)

    def sf(self, x: ArrayLike) -> Any:
        """Survival function, ``P(Y > x)``, correct to all digits in the upper tail.

        Parameters
        ----------
        x : float or array-like
            Points, of any shape.

        Returns
        -------
        float or ndarray
            Probabilities in the shape of ``x``.
        """
        return self._at(x, lambda dist, y: dist.prob(y, np.inf), below=1.0, above=0.0)

    def logcdf(self, x: ArrayLike) -> Any:
        """Logarithm of the distribution function, ``log P(Y <= x)``.

        Parameters
        ----------
        x : float or array-like
            Points, of any shape.

        Returns
        -------
        float or ndarray
            Values in the shape of ``x``.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.cdf(x))

    def logsf(self, x: ArrayLike) -> Any:
        """Logarithm of the survival function, ``log P(Y > x)``.

        Parameters
        ----------
        x : float or array-like
            Points, of any shape.

        Returns
        -------
        float or ndarray
            Values in the shape of ``x``.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.sf(x))

    def ppf(self, q: ArrayLike) -> Any:
        """Quantile: the x with ``P(Y <= x) = q``.

        Parameters
        ----------
        q : float or array-like
            Probabilities in [0, 1].

        Returns
        -------
        float or ndarray
            Quantiles in the shape of ``q``.
        """
        return self._inverse(q, 1.0)

    def isf(self, q: ArrayLike) -> Any:
        """Upper quantile: the x with ``P(Y > x) = q``, exact for the smallest q.

        Parameters
        ----------
        q : float or array-like
            Probabilities in [0, 1].

        Returns
        -------
        float or ndarray
            Quantiles in the shape of ``q``.
        """
        return self._inverse(q, -1.0)

    def median(self) -> float:
        """Median, ``ppf(0.5)``.

        Returns
        -------
        float
            The median.
        """
        return float(self.ppf(0.5))

    def mean(self) -> float:
        """Mean, ``E[Y]``.

        Returns
        -------
        float
            The mean.
        """
        return float(self._dist.mean()[0])

    def var(self) -> float:
        """Variance, ``Var[Y]``.

        Returns
        -------
        float
            The variance.
        """
        return float(self._dist.var()[0])

    def std(self) -> float:
        """Standard deviation, the square root of ``var``.

        Returns
        -------
        float
            The standard deviation.
        """
        return float(self._dist.std()[0])

    def support(self) -> tuple[float, float]:
        """Ends of the interval that holds all values.

        Returns
        -------
        (float, float)
            Lower and upper bound, infinite where there is none.
        """
        if self._bounds is None:
            return -np.inf, np.inf
        return float(self._bounds.lower[0]), float(self._bounds.upper[0])

    def interval(self, confidence: ArrayLike) -> tuple[Any, Any]:
        """Central interval that holds Y with probability ``confidence``.

        Parameters
        ----------
        confidence : float or array-like
            Probabilities in [0, 1].

        Returns
        -------
        lower, upper : float or ndarray
            Ends of the intervals, in the shape of ``confidence``.
        """
        tail = (1 - np.asarray(confidence, dtype=float)) / 2
        return self.ppf(tail), self.isf(tail)

    def rvs(self, size: int | tuple[int, ...] | None = None, random_state: Any = None) -> Any:
        """Independent draws.

        Parameters
        ----------
        size : None, int or tuple of int, default=None
            Shape of the result; a single number when None.
        random_state : None, int, RandomState or Generator, default=None
            Source of randomness.

        Returns
        -------
        float or ndarray of shape ``size``
            Draws.
        """
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
        """Expectation ``E[func(Y)]`` over ``lb < Y < ub`` by adaptive quadrature.

        Parameters
        ----------
        func : callable, default=None
            Function of one number; the identity when None.
        lb, ub : float, default=None
            Ends of the interval; those of the support when None.
        conditional : bool, default=False
            Whether to divide by the probability of the interval.

        Returns
        -------
        float
            The expectation.
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
        """``f`` at every finite x, ``below`` and ``above`` at the infinities, NaN at NaN."""
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
