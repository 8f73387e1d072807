"""Answers for inputs that Dask holds: part by part, and only when they are computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from condensity._utils.extras import require
from condensity._utils.validation import check_weight
from condensity.data.dask_samples import delayed_chunks, delayed_columns, is_dask


class LazyDistribution:
    """The densities ``p(y | x_i)`` for inputs in parts.

    It answers for each row what a ``ConditionalMixture`` answers, with Dask arrays whose parts are
    those of the inputs; nothing is done before they are computed.  For all else, ``compute()``
    brings the densities themselves into memory.

    Parameters
    ----------
    model : fitted estimator
    X : Dask array or data frame (m, dx)
    """

    def __init__(self, model: Any, X: Any) -> None:
        # One object in the graph, however many parts there are.
        self.model, self.X = model, X
        self._shared = require("dask", "dask").delayed(model, traverse=False)

    def pdf(self, y: Any) -> Any:
        """``p(y_i | x_i)``, (m,); ``y`` is a Dask collection in the parts of X, or one point."""
        return self._with(y, "pdf")

    def log_pdf(self, y: Any) -> Any:
        """``log p(y_i | x_i)``, (m,)."""
        return self._with(y, "log_pdf")

    def cdf(self, y: Any) -> Any:
        """``P(Y <= y_i | x_i)``, (m,)."""
        return self._with(y, "cdf")

    def crps(self, y: Any) -> Any:
        """Continuous ranked probability score at ``y``, (m,)."""
        return self._with(y, "crps")

    def prob(self, lower: float, upper: float) -> Any:
        """``P(lower < Y <= upper | x_i)``, (m,)."""
        return self._answers(lambda dist: dist.prob(lower, upper))

    def quantile(self, levels: Any) -> Any:
        """Quantiles, (m,) or (m, levels)."""
        return self._answers(lambda dist: dist.quantile(levels), np.shape(levels))

    def interval(self, level: float = 0.9) -> Any:
        """Ends of central intervals, (m, 2)."""
        return self._answers(lambda dist: dist.interval(level), (2,))

    def mean(self) -> Any:
        """``E[Y | x_i]``, (m,) or (m, dy)."""
        return self._answers(lambda dist: dist.mean(), self._outputs)

    def var(self) -> Any:
        """``Var[Y | x_i]``, (m,) or (m, dy)."""
        return self._answers(lambda dist: dist.var(), self._outputs)

    def sample(self, n_samples: int, random_state: int = 0) -> Any:
        """Draws, (m, n_samples) or (m, n_samples, dy); every part has a seed of its own."""
        parts = delayed_columns(self.X)
        rngs = np.random.default_rng(random_state).spawn(len(parts))
        tasks = [
            (_draw, self._shared, n_samples, rng, part)
            for part, rng in zip(parts, rngs, strict=True)
        ]
        return assemble(self.X, tasks, (n_samples, *self._outputs))

    def compute(self) -> Any:
        """All the densities, in memory."""
        (X,) = require("dask", "dask").compute(self.X)
        return self.model.predict_dist(X)

    @property
    def _outputs(self) -> tuple[int, ...]:
        n = self.model._n_outputs
        return () if n == 1 else (n,)

    def _with(self, y: Any, question: str) -> Any:
        parts = delayed_columns(self.X)
        if not is_dask(y) and np.ndim(y):
            raise TypeError(
                f"y must be a number or a Dask collection in the parts of X, got {type(y).__name__}"
                ": make it so with dask.array.from_array, or compute() the densities"
            )
        given = delayed_columns(y, like=self.X) if is_dask(y) else [y] * len(parts)
        if len(given) != len(parts):
            raise ValueError(
                f"y comes in {len(given)} parts and X in {len(parts)}: rechunk them alike"
            )
        pairs = zip(parts, given, strict=True)
        tasks = [(_ask_at, self._shared, question, own, part) for part, own in pairs]
        return assemble(self.X, tasks, ())

    def _answers(self, question: Callable[[Any], Any], shape: tuple[int, ...] = ()) -> Any:
        parts = delayed_columns(self.X)
        return assemble(self.X, [(_ask, self._shared, question, part) for part in parts], shape)


def by_parts(model: Any, method: str, X: Any, shape: tuple[int, ...]) -> Any:
    """What a method of a model makes of every part of ``X``, as a Dask array (m, *shape)."""
    shared = require("dask", "dask").delayed(model, traverse=False)
    return assemble(X, [(_call, shared, method, part) for part in delayed_columns(X)], shape)


def mean_score(model: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """The score of a model over all parts: only sums come back."""
    dask = require("dask", "dask")
    shared = dask.delayed(model, traverse=False)
    sums = [dask.delayed(_score)(shared, *block) for block in delayed_chunks(X, y, sample_weight)]
    total, weight = np.sum(dask.compute(sums)[0], axis=0)
    check_weight([weight], 1)
    return float(total / weight)


def _score(model: Any, place: int, X: Any, y: Any, sample_weight: Any) -> tuple[float, float]:
    """The score of one part times its weight, and its weight."""
    weight = check_weight(sample_weight, len(X), empty=True) if len(X) else np.zeros(0)
    total = float(weight.sum())
    return (total * model.score(X, y, weight), total) if total else (0.0, 0.0)


def assemble(X: Any, tasks: list[tuple[Any, ...]], shape: tuple[int, ...]) -> Any:
    """The results of ``tasks``, one for each part of ``X``, as one Dask array (m, *shape)."""
    da, delayed = require("dask.array", "dask"), require("dask", "dask").delayed
    known = X.chunks[0] if hasattr(X, "chunks") else [np.nan] * len(tasks)
    results = [delayed(_or_nothing)(shape, *task) for task in tasks]
    parts = [
        da.from_delayed(result, (rows, *shape), dtype=float)
        for result, rows in zip(results, known, strict=True)
    ]
    return da.concatenate(parts, allow_unknown_chunksizes=True)


def _or_nothing(shape: tuple[int, ...], function: Callable[..., Any], *arguments: Any) -> Any:
    """The answer; an empty one for a part without rows, which a frame may have."""
    return function(*arguments) if len(arguments[-1]) else np.empty((0, *shape))


def _call(model: Any, method: str, X: Any) -> Any:
    return getattr(model, method)(X)


def _ask(model: Any, question: Callable[[Any], Any], X: Any) -> Any:
    return question(model.predict_dist(X))


def _draw(model: Any, n_samples: int, rng: np.random.Generator, X: Any) -> Any:
    return model.predict_dist(X).sample(n_samples, rng)


def _ask_at(model: Any, question: str, y: Any, X: Any) -> Any:
    return getattr(model.predict_dist(X), question)(np.asarray(y, dtype=float))
