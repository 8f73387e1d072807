"""Densities of more rows than should be in memory at once.

A mixture holds one number for each row and component.  Here only the inputs are kept: every
question computes the mixtures of one chunk of rows at a time.
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
from condensity.distributions.base import Distribution

#: Numbers that the mixtures of one chunk hold, at most (8 MiB).  The rows of a chunk share tables.
CHUNK = 1 << 20

#: Attributes of the classes in memory that are not part of ``Distribution``.
IN_MEMORY = (
    "atoms",
    "blocks",
    "bounds",
    "components",
    "continuous",
    "free",
    "log_weights",
    "masses",
    "pmf",
)


class ChunkedDistribution(Distribution):
    """Conditional densities p(y | x_i) of very many rows, computed chunk by chunk.

    It answers with the same numbers as densities in memory.  Only draws differ from those of all
    rows at once.

    Parameters
    ----------
    X : ndarray of shape (m, ...)
        Inputs of ``at``.
    at : callable
        Function from rows of ``X`` to their densities.
    width : int
        Number of Gaussians in each density.
    n_outputs : int
        Number of outputs dy.

    See Also
    --------
    Distribution : The methods, documented.
    LazyDistribution : Densities for Dask collections.

    Examples
    --------
    >>> from condensity.datasets import toy_b
    >>> from condensity.distributions import ChunkedDistribution
    >>> X, _ = toy_b().sample(1000, random_state=0)
    >>> ChunkedDistribution(X, toy_b().conditional, width=1, n_outputs=1).mean().shape
    (1000,)
    """

    def __init__(
        self,
        X: Array,
        at: Callable[[Array], Distribution],
        width: int,
        n_outputs: int,
    ) -> None:
        self.X, self.at, self.width, self._n_outputs = X, at, width, n_outputs

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        return f"ChunkedDistribution(m={len(self)}, dy={self.n_outputs}, components={self.width})"

    def __getitem__(self, index: Any) -> Distribution:
        rows = checks.rows_at(index, len(self))
        return in_chunks(self.X[rows], self.at, self.width, self.n_outputs)

    def __getattr__(self, name: str) -> Any:
        if name in IN_MEMORY:
            raise AttributeError(
                f"{name} belongs to densities in memory, but these are computed chunk by chunk: "
                f"use dist.compute().{name}, or dist[:1000].{name} for some rows"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def n_outputs(self) -> int:
        return self._n_outputs

    def compute(self) -> Distribution:
        return self.at(self.X).compute()

    def log_pdf(self, Y: ArrayLike) -> Array:
        return self.ask(lambda dist, own: dist.log_pdf(own), self._points(Y))

    def pdf(self, Y: ArrayLike) -> Array:
        return self.ask(lambda dist, own: dist.pdf(own), self._points(Y))

    def pdf_on(self, grid: ArrayLike) -> Array:
        return self.ask(lambda dist: dist.pdf_on(grid))

    def squared_norm(self) -> Array:
        return self.ask(lambda dist: dist.squared_norm())

    def cdf(self, Y: ArrayLike) -> Array:
        checks.one_output(self.n_outputs, "cdf")
        return self.ask(lambda dist, own: dist.cdf(own), self._points(Y))

    def prob(self, lower: ArrayLike, upper: ArrayLike) -> Array:
        checks.one_output(self.n_outputs, "prob")
        bounds = checks.ordered_bounds(lower, upper, len(self))
        return self.ask(lambda dist, a, b: dist.prob(a, b), *bounds)

    def quantile(self, q: ArrayLike) -> Array:
        return self.ask(lambda dist: dist.quantile(q))

    def crps(self, Y: ArrayLike) -> Array:
        checks.one_output(self.n_outputs, "crps")
        return self.ask(lambda dist, own: dist.crps(own), self._points(Y))

    def partial_moment(self, threshold: ArrayLike, order: int = 1, tail: str = "upper") -> Array:
        checks.one_output(self.n_outputs, "partial_moment")
        t = checks.row_bound(threshold, len(self), "threshold")
        return self.ask(lambda dist, own: dist.partial_moment(own, order, tail), t)

    def expected_shortfall(self, q: ArrayLike, tail: str = "lower") -> Array:
        return self.ask(lambda dist: dist.expected_shortfall(q, tail))

    def expectile(self, q: ArrayLike) -> Array:
        return self.ask(lambda dist: dist.expectile(q))

    def twcrps(self, Y: ArrayLike, threshold: ArrayLike, tail: str = "upper") -> Array:
        checks.one_output(self.n_outputs, "twcrps")
        t = checks.row_bound(threshold, len(self), "threshold")
        return self.ask(lambda dist, own, t: dist.twcrps(own, t, tail), self._points(Y), t)

    def entropy(self, n_draws: int = 1000, random_state: Any = None) -> Array:
        rng = check_rng(random_state)
        return self.ask(lambda dist: dist.entropy(n_draws, rng))

    def kl(self, other: Distribution, n_draws: int = 1000, random_state: Any = None) -> Array:
        checks.same_kind("kl", self, other)
        rng = check_rng(random_state)
        return self.ask(lambda dist, q: dist.kl(q.compute(), n_draws, rng), other)

    def l2_distance(self, other: Distribution) -> Array:
        checks.same_kind("l2_distance", self, other)
        return self.ask(lambda dist, q: dist.l2_distance(q.compute()), other)

    def hdr(self, level: float) -> list[Array]:
        return self._lists(lambda dist: dist.hdr(level))

    def modes(self) -> list[Array]:
        return self._lists(lambda dist: dist.modes())

    def hpd_level(self, Y: ArrayLike, n_draws: int = 1000, random_state: Any = None) -> Array:
        rng = check_rng(random_state)
        return self.ask(lambda dist, own: dist.hpd_level(own, n_draws, rng), self._points(Y))

    def mean(self) -> Array:
        return self.ask(lambda dist: dist.mean())

    def var(self) -> Array:
        return self.ask(lambda dist: dist.var())

    def cov(self) -> Array:
        return self.ask(lambda dist: dist.cov())

    def marginal(self, columns: int | Sequence[int]) -> ChunkedDistribution:
        keep = checks.columns_of(columns, self.n_outputs)
        at = partial(_marginal, self.at, columns)
        return ChunkedDistribution(self.X, at, self.width, len(keep))

    def condition(self, columns: int | Sequence[int], values: ArrayLike) -> ChunkedDistribution:
        given, rest, V = checks.given_and_rest(columns, values, len(self), self.n_outputs)
        at = partial(_conditioned, self, given.tolist(), V)
        return ChunkedDistribution(np.arange(float(len(self))), at, self.width, len(rest))

    def sample(self, n: int = 1, random_state: Any = None) -> Array:
        rng = check_rng(random_state)
        return self.ask(lambda dist: dist.sample(n, rng))

    def ask(self, question: Callable[..., Any], *by_row: Any) -> Array:
        """The answers of all chunks to one question.

        Parameters
        ----------
        question : callable
            Function of the densities of a chunk and its rows of each of ``by_row``.
        *by_row : ndarray of shape (m, ...) or Distribution
            Values or densities that belong to the rows.

        Returns
        -------
        ndarray of shape (m, ...)
            The answers of all chunks, one after the other.
        """
        out = None
        for dist, rows in zip(self._chunks(), self._slices(), strict=True):
            answer = np.asarray(question(dist, *(values[rows] for values in by_row)))
            if out is None:
                out = np.empty((len(self), *answer.shape[1:]), answer.dtype)
            out[rows] = answer
        return np.asarray(out)

    def _points(self, Y: ArrayLike) -> Array:
        return checks.rows_of(Y, len(self), self.n_outputs)

    def _lists(self, question: Callable[[Distribution], list[Array]]) -> list[Array]:
        """The answers of all chunks to a question with a list as answer, in the order of rows."""
        out, order = [np.empty(0)] * len(self), np.arange(len(self))
        for dist, rows in zip(self._chunks(), self._slices(), strict=True):
            for row, answer in zip(order[rows], question(dist), strict=True):
                out[row] = answer
        return out

    def _slices(self) -> list[Any]:
        return row_blocks(max(1, len(self)), self.width, CHUNK)

    def _chunks(self) -> Iterator[Distribution]:
        return (self.at(self.X[rows]) for rows in self._slices())


def _marginal(
    at: Callable[[Array], Distribution], columns: int | Sequence[int], X: Array
) -> Distribution:
    return at(X).marginal(columns)


def _conditioned(
    dist: Distribution, columns: Sequence[int], values: Array, rows: Array
) -> Distribution:
    index = rows.astype(int)
    return dist[index].compute().condition(columns, values[index])


def _mixed(dists: Sequence[Distribution], weights: Array, rows: Array) -> Distribution:
    index = rows.astype(int)
    return _mixed_in_memory([dist[index].compute() for dist in dists], weights[index])


def _mixed_in_memory(dists: Sequence[Any], weights: Array) -> Distribution:
    frees, bounds = zip(*(dist._free_coordinate() for dist in dists), strict=True)
    with np.errstate(divide="ignore"):
        mixture = frees[0].blend(frees, list(np.log(weights.T)))
    mixed: Distribution = mixture if bounds[0] is None else type(dists[0])(mixture, bounds[0])
    return mixed


def mixture_of(dists: Sequence[Distribution], weights: ArrayLike | None = None) -> Distribution:
    """Mixture of several conditional densities, ``sum_j w_ij p_j(y | x_i)``.

    Parameters
    ----------
    dists : sequence of Distribution
        Densities with the same rows, outputs and bounds, for instance of several models.
    weights : array-like of shape (n_dists,) or (m, n_dists), default=None
        Weights >= 0 of the densities, for all rows or for each row; equal weights when None.  They
        are divided by their sum.

    Returns
    -------
    Distribution
        The mixture: in memory if all densities are, else computed chunk by chunk.

    See Also
    --------
    Mixture.average : The same for Gaussian mixtures only.

    Examples
    --------
    >>> import numpy as np
    >>> from condensity.distributions import Block, Mixture, mixture_of
    >>> near = Mixture([Block(np.zeros((1, 1)), np.array([[0.0]]), np.eye(1))])
    >>> far = Mixture([Block(np.zeros((1, 1)), np.array([[4.0]]), np.eye(1))])
    >>> mixture_of([near, far], [0.75, 0.25]).mean()
    array([1.])
    """
    parts: list[Any] = list(dists)
    if not parts:
        raise ValueError("dists is empty: pass at least one Distribution")
    for dist in parts:
        checks.same_kind("mixture_of", parts[0], dist)
    shares = checks.shares_of(weights, len(parts[0]), len(parts))
    if not any(isinstance(dist, ChunkedDistribution) for dist in parts):
        return _mixed_in_memory(parts, shares)
    width = sum(getattr(dist, "free", dist).width for dist in parts)
    at = partial(_mixed, parts, shares)
    return ChunkedDistribution(np.arange(float(len(parts[0]))), at, width, parts[0].n_outputs)


def in_chunks(
    X: Array, at: Callable[[Array], Distribution], width: int, n_outputs: int
) -> Distribution:
    """The densities for the rows of ``X``: in memory if they are few, else chunk by chunk."""
    if len(X) * width <= BLOCK:
        return at(X)
    # A copy: the answer must not change when the caller changes X.
    return ChunkedDistribution(X.copy(), at, width, n_outputs)
