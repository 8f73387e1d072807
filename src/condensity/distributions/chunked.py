"""Densities of more rows than should lie in memory at once.

A mixture holds a number for each row and component.  Here only the inputs are held: every question
makes the mixtures of a part of the rows, small enough for the cache, asks them, and forgets them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condensity._typing import Array
from condensity._utils.numerics import BLOCK, row_blocks
from condensity._utils.parameters import check_rng
from condensity.distributions import _checks as checks
from condensity.distributions.base import Views
from condensity.distributions.bounded import Mixture

#: Numbers that the mixtures of one part hold, at most (2 MiB).
PART = 1 << 18


class ChunkedDistribution(Views):
    """The densities ``p(y | x_i)``, i = 1..m, made part by part when they are asked for.

    It answers every question that a ``ConditionalMixture`` answers about its rows, with the same
    numbers; only draws differ from those of all rows at once.  ``compute()`` brings all the
    densities into memory.

    Parameters
    ----------
    X : array (m, ...)
        What ``at`` makes mixtures of.
    at : callable
        From rows of ``X`` to their mixtures.
    width : int
        Number of components of each.
    n_outputs : int
        Dimension ``dy`` of y.
    """

    def __init__(
        self,
        X: Array,
        at: Callable[[Array], Mixture],
        width: int,
        n_outputs: int,
    ) -> None:
        self.X, self.at, self.width, self.n_outputs = X, at, width, n_outputs

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        return f"Parted(m={len(self)}, dy={self.n_outputs}, components={self.width})"

    def __getitem__(self, index: Any) -> Distribution:
        """Densities of ``index`` only: an integer (one row), slice, index array or mask."""
        rows = checks.rows_at(index, len(self))
        return in_chunks(self.X[rows], self.at, self.width, self.n_outputs)

    def compute(self) -> Mixture:
        """All the densities, in memory."""
        dist = self.at(self.X)
        return dist.compute() if isinstance(dist, ChunkedDistribution) else dist

    def log_pdf(self, Y: ArrayLike) -> Array:
        """``log p(y_i | x_i)``, (m,)."""
        return self.ask(lambda dist, own: dist.log_pdf(own), self._points(Y))

    def pdf(self, Y: ArrayLike) -> Array:
        """``p(y_i | x_i)``, (m,)."""
        return self.ask(lambda dist, own: dist.pdf(own), self._points(Y))

    def pdf_on(self, grid: ArrayLike) -> Array:
        """``p(y_g | x_i)`` for all densities at all points, (m, G)."""
        return self.ask(lambda dist: dist.pdf_on(grid))

    def squared_norm(self) -> Array:
        """``integral p(y | x_i)^2 dy``, (m,)."""
        return self.ask(lambda dist: dist.squared_norm())

    def cdf(self, Y: ArrayLike) -> Array:
        """``P(Y <= y_i | x_i)``, (m,); one output."""
        return self.ask(lambda dist, own: dist.cdf(own), self._points(Y))

    def prob(self, lower: ArrayLike, upper: ArrayLike) -> Array:
        """``P(lower_i < Y <= upper_i | x_i)``, (m,); one output."""
        checks.one_output(self.n_outputs, "prob")
        bounds = checks.ordered_bounds(lower, upper, len(self))
        return self.ask(lambda dist, a, b: dist.prob(a, b), *bounds)

    def quantile(self, q: ArrayLike) -> Array:
        """``y`` with ``P(Y <= y | x_i) = q``, (m,) or (m, k); one output."""
        return self.ask(lambda dist: dist.quantile(q))

    def interval(self, level: float) -> Array:
        """Central intervals, (m, 2); one output."""
        return self.ask(lambda dist: dist.interval(level))

    def crps(self, Y: ArrayLike) -> Array:
        """Continuous ranked probability score, (m,); one output."""
        return self.ask(lambda dist, own: dist.crps(own), self._points(Y))

    def hdr(self, level: float) -> list[Array]:
        """Highest-density regions, m arrays (k_i, 2); one output."""
        return [region for dist in self._parts() for region in dist.hdr(level)]

    def modes(self) -> list[Array]:
        """Local maxima of each density, m arrays, highest first."""
        return [peaks for dist in self._parts() for peaks in dist.modes()]

    def hpd_level(self, Y: ArrayLike, n_draws: int = 1000, random_state: Any = None) -> Array:
        """``P(p(Y | x_i) >= p(y_i | x_i))``, (m,)."""
        rng = check_rng(random_state)
        return self.ask(lambda dist, own: dist.hpd_level(own, n_draws, rng), self._points(Y))

    def mean(self) -> Array:
        """``E[Y | x_i]``, (m,) or (m, dy)."""
        return self.ask(lambda dist: dist.mean())

    def var(self) -> Array:
        """``Var[Y_j | x_i]``, (m,) or (m, dy)."""
        return self.ask(lambda dist: dist.var())

    def std(self) -> Array:
        """Square root of :meth:`var`."""
        return np.sqrt(self.var())

    def cov(self) -> Array:
        """Covariances, (m, dy, dy)."""
        return self.ask(lambda dist: dist.cov())

    def marginal(self, columns: int | Sequence[int]) -> ChunkedDistribution:
        """The densities of the outputs ``columns`` alone, in that order."""
        keep = checks.columns_of(columns, self.n_outputs)
        return ChunkedDistribution(
            self.X, partial(_marginal, self.at, columns), self.width, len(keep)
        )

    def sample(self, n: int = 1, random_state: Any = None) -> Array:
        """``n`` independent draws from each density, (m, n) or (m, n, dy)."""
        rng = check_rng(random_state)
        return self.ask(lambda dist: dist.sample(n, rng))

    def _points(self, Y: ArrayLike) -> Array:
        return checks.rows_of(Y, len(self), self.n_outputs)

    def _slices(self) -> list[slice]:
        return row_blocks(len(self), self.width, PART)

    def _parts(self) -> Iterator[Mixture]:
        return (self.at(self.X[rows]) for rows in self._slices())

    def ask(self, question: Callable[..., Any], *by_row: Array) -> Array:
        """The answers of all parts to a question of (mixtures, their rows of ``by_row``)."""
        pairs = zip(self._parts(), self._slices(), strict=True)
        answers = [question(dist, *(values[rows] for values in by_row)) for dist, rows in pairs]
        return np.concatenate(answers)


def _marginal(at: Callable[[Array], Mixture], columns: int | Sequence[int], X: Array) -> Mixture:
    return at(X).marginal(columns)


#: What a fitted estimator answers with.
Distribution = Mixture | ChunkedDistribution


def in_chunks(
    X: Array,
    at: Callable[[Array], Mixture],
    width: int,
    n_outputs: int,
) -> Distribution:
    """The densities for the rows of ``X``: in memory where they are few, else part by part."""
    if len(X) * width <= BLOCK:
        return at(X)
    return ChunkedDistribution(
        X.copy(), at, width, n_outputs
    )  # an answer stays when the caller's X changes
