"""Densities for inputs in Dask collections: computed chunk by chunk, when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from condensity._utils.dask_collections import concatenate, delayed_columns, is_dask, share
from condensity._utils.extras import require
from condensity._utils.parameters import check_rng
from condensity.distributions import _checks as checks
from condensity.distributions.base import Distribution


class LazyDistribution(Distribution):
    """Conditional densities p(y | x_i) for inputs in a Dask array or data frame.

    It answers with Dask arrays whose chunks are those of the inputs; nothing is computed before
    ``compute()`` is called on them.  The answers of ``hdr`` and ``modes`` are lists and are
    computed at once.  ``compute()`` of the densities themselves brings all of them into memory.

    Parameters
    ----------
    model : fitted estimator
        Estimator with ``predict_dist`` for inputs in memory.
    X : Dask array or data frame of shape (m, dx)
        Inputs.
    n_outputs : int
        Number of outputs dy.
    columns : None or sequence of int, default=None
        Outputs to keep; all of them when None.

    See Also
    --------
    Distribution : The methods, documented.
    ChunkedDistribution : The same for very many rows in memory.

    Examples
    --------
    >>> import dask.array as da  # doctest: +SKIP
    >>> dist = model.predict_dist(da.from_array(X, chunks=(1000, -1)))  # doctest: +SKIP
    >>> dist.quantile(0.9).compute()  # doctest: +SKIP
    """

    def __init__(
        self, model: Any, X: Any, n_outputs: int, columns: int | Sequence[int] | None = None
    ) -> None:
        self.model, self.X, self.columns = model, X, columns
        self._all_outputs = n_outputs
        self._n_outputs = n_outputs if columns is None else len(np.atleast_1d(columns))
        self._shared = share(model)

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        return f"LazyDistribution({type(self.model).__name__}, dy={self.n_outputs})"

    def __getitem__(self, index: Any) -> Distribution:
        rows = checks.rows_at(index, len(self))
        if hasattr(self.X, "columns"):  # Dask does not select rows of a data frame by number
            (X,) = require("dask", "dask").compute(self.X)
            return self._choose(self.model.predict_dist(X.iloc[rows]))
        return LazyDistribution(self.model, self.X[rows], self._all_outputs, self.columns)

    @property
    def n_outputs(self) -> int:
        return self._n_outputs

    def compute(self) -> Distribution:
        (X,) = require("dask", "dask").compute(self.X)
        return self._choose(self.model.predict_dist(X)).compute()

    def log_pdf(self, Y: Any) -> Any:
        return self._at(Y, "log_pdf")

    def pdf(self, Y: Any) -> Any:
        return self._at(Y, "pdf")

    def pdf_on(self, grid: Any) -> Any:
        points = checks.grid_of(grid, self.n_outputs)
        return self._ask(lambda dist: dist.pdf_on(points), (len(points),))

    def squared_norm(self) -> Any:
        return self._ask(lambda dist: dist.squared_norm())

    def cdf(self, Y: Any) -> Any:
        checks.one_output(self.n_outputs, "cdf")
        return self._at(Y, "cdf")

    def prob(self, lower: Any, upper: Any) -> Any:
        checks.one_output(self.n_outputs, "prob")
        checks.one_for_all("lower and upper", lower, upper)
        return self._ask(lambda dist: dist.prob(lower, upper))

    def quantile(self, q: Any) -> Any:
        checks.one_output(self.n_outputs, "quantile")
        return self._ask(lambda dist: dist.quantile(q), np.shape(q))

    def crps(self, Y: Any) -> Any:
        checks.one_output(self.n_outputs, "crps")
        return self._at(Y, "crps")

    def partial_moment(self, threshold: Any, order: int = 1, tail: str = "upper") -> Any:
        checks.one_output(self.n_outputs, "partial_moment")
        checks.one_for_all("threshold", threshold)
        return self._ask(lambda dist: dist.partial_moment(threshold, order, tail))

    def expected_shortfall(self, q: Any, tail: str = "lower") -> Any:
        checks.one_output(self.n_outputs, "expected_shortfall")
        return self._ask(lambda dist: dist.expected_shortfall(q, tail), np.shape(q))

    def expectile(self, q: Any) -> Any:
        checks.one_output(self.n_outputs, "expectile")
        return self._ask(lambda dist: dist.expectile(q), np.shape(q))

    def twcrps(self, Y: Any, threshold: Any, tail: str = "upper") -> Any:
        checks.one_output(self.n_outputs, "twcrps")
        checks.one_for_all("threshold", threshold)
        return self._at(Y, "twcrps", None, threshold, tail)

    def entropy(self, n_draws: int = 1000, random_state: Any = None) -> Any:
        return self._drawn("entropy", n_draws, random_state)

    def condition(self, columns: int | Sequence[int], values: Any) -> LazyDistribution:
        if np.ndim(values) > 1 or is_dask(values):
            raise TypeError(
                "values must be the same for all rows of a Dask collection, one number for each of "
                "columns: compute() the densities for values that differ by row"
            )
        values = np.atleast_1d(np.asarray(values, dtype=float))
        _, rest, row = checks.given_and_rest(columns, values[None], 1, self.n_outputs)
        return LazyDistribution(
            _Conditioned(self.model, self._choose, columns, row), self.X, len(rest)
        )

    def hdr(self, level: float) -> Any:
        checks.one_output(self.n_outputs, "hdr")
        return self._lists(lambda dist: dist.hdr(level))

    def modes(self) -> Any:
        return self._lists(lambda dist: dist.modes())

    def hpd_level(self, Y: Any, n_draws: int = 1000, random_state: Any = None) -> Any:
        return self._at(Y, "hpd_level", self._rngs(random_state), n_draws)

    def mean(self) -> Any:
        return self._ask(lambda dist: dist.mean(), self._outputs)

    def var(self) -> Any:
        return self._ask(lambda dist: dist.var(), self._outputs)

    def cov(self) -> Any:
        return self._ask(lambda dist: dist.cov(), (self.n_outputs, self.n_outputs))

    def marginal(self, columns: int | Sequence[int]) -> LazyDistribution:
        keep = checks.columns_of(columns, self.n_outputs)
        own = np.arange(self._all_outputs) if self.columns is None else np.array(self.columns)
        chosen = np.atleast_1d(own)[keep].tolist()
        return LazyDistribution(self.model, self.X, self._all_outputs, chosen)

    def sample(self, n: int = 1, random_state: Any = None) -> Any:
        return self._drawn("sample", n, random_state, (n, *self._outputs))

    def to_skpro(self, index: Any = None, columns: Any = None) -> Any:
        return self.compute().to_skpro(index, columns)

    def to_frame(self, *args: Any, **options: Any) -> Any:
        return self.compute().to_frame(*args, **options)

    def _drawn(self, method: str, n: int, seed: Any, shape: tuple[int, ...] = ()) -> Any:
        """The answers of a method that takes a number of draws and a source of randomness."""
        tasks = [
            (_draw, self._shared, self._choose, method, n, rng, chunk)
            for chunk, rng in zip(self._chunks(), self._rngs(seed), strict=True)
        ]
        return concatenate(self.X, tasks, shape)

    def _free_coordinate(self) -> tuple[Any, Any]:
        raise TypeError(
            "densities of Dask collections are compared and mixed in memory: compute() them first"
        )

    @property
    def _outputs(self) -> tuple[int, ...]:
        return () if self.n_outputs == 1 else (self.n_outputs,)

    @property
    def _choose(self) -> Callable[[Distribution], Distribution]:
        """Function from the densities of all outputs to those of the outputs that are kept."""
        return partial(_marginal, self.columns)

    def _chunks(self) -> list[Any]:
        return delayed_columns(self.X)

    def _rngs(self, random_state: Any) -> list[np.random.Generator]:
        """One stream of random numbers for each chunk."""
        return list(check_rng(random_state).spawn(len(self._chunks())))

    def _at(self, Y: Any, method: str, rngs: Sequence[Any] | None = None, *arguments: Any) -> Any:
        """The answers of a method that takes one point for each row."""
        chunks = self._chunks()
        if not is_dask(Y) and np.ndim(Y):
            raise TypeError(
                "Y must be a number or a Dask collection in the chunks of X, got "
                f"{type(Y).__name__}: convert it with dask.array.from_array, or compute() the "
                "densities"
            )
        points = delayed_columns(Y, like=self.X) if is_dask(Y) else [Y] * len(chunks)
        if len(points) != len(chunks):
            raise ValueError(
                f"Y has {len(points)} chunks and X {len(chunks)}: give them the same chunks"
            )
        own = [arguments] * len(chunks) if rngs is None else [(*arguments, rng) for rng in rngs]
        tasks = [
            (_ask_at, self._shared, self._choose, method, rest, y, chunk)
            for chunk, y, rest in zip(chunks, points, own, strict=True)
        ]
        return concatenate(self.X, tasks, ())

    def _ask(self, question: Callable[[Any], Any], shape: tuple[int, ...] = ()) -> Any:
        tasks = [(_ask, self._shared, self._choose, question, chunk) for chunk in self._chunks()]
        return concatenate(self.X, tasks, shape)

    def _lists(self, question: Callable[[Any], list[Any]]) -> list[Any]:
        """Answers that are lists, of all chunks one after the other."""
        dask = require("dask", "dask")
        tasks = [
            dask.delayed(_ask_list)(self._shared, self._choose, question, chunk)
            for chunk in self._chunks()
        ]
        return [answer for answers in dask.compute(*tasks) for answer in answers]


class _Conditioned:
    """A model whose densities are conditioned on values of some outputs, the same in all rows."""

    def __init__(self, model: Any, choose: Any, columns: int | Sequence[int], row: Any) -> None:
        self.model, self.choose, self.columns, self.row = model, choose, columns, row

    def predict_dist(self, X: Any) -> Distribution:
        dist: Distribution = self.choose(self.model.predict_dist(X))
        return dist.condition(self.columns, self.row)


def _marginal(columns: int | Sequence[int] | None, dist: Distribution) -> Distribution:
    return dist if columns is None else dist.marginal(columns)


def _ask(model: Any, choose: Callable[..., Any], question: Callable[[Any], Any], X: Any) -> Any:
    return question(choose(model.predict_dist(X)))


def _ask_list(model: Any, choose: Callable[..., Any], question: Callable[..., Any], X: Any) -> Any:
    """The answers for a chunk; none for a chunk without rows, which a data frame may have."""
    return _ask(model, choose, question, X) if len(X) else []


def _draw(
    model: Any, choose: Callable[..., Any], method: str, n: int, rng: np.random.Generator, X: Any
) -> Any:
    return getattr(choose(model.predict_dist(X)), method)(n, rng)


def _ask_at(
    model: Any, choose: Callable[..., Any], method: str, arguments: Any, y: Any, X: Any
) -> Any:
    return getattr(choose(model.predict_dist(X)), method)(np.asarray(y, dtype=float), *arguments)
