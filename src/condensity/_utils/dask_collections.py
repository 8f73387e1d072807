"""Chunks of Dask arrays and data frames."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from numbers import Real
from typing import Any

import numpy as np

from condensity._utils.extras import require


def is_dask(*values: Any) -> bool:
    """Whether any of the values is a Dask collection."""
    return any(type(v).__module__.partition(".")[0] in ("dask", "dask_expr") for v in values)


def delayed_chunks(X: Any, y: Any, sample_weight: Any) -> list[tuple[Any, ...]]:
    """Delayed chunks of the samples: a tuple (chunk number, X, y, weight) for each chunk."""
    constant = sample_weight is None or isinstance(sample_weight, Real)
    rest = [y] if constant else [y, sample_weight]
    if not is_dask(X) or not all(is_dask(values) for values in rest):
        raise TypeError(
            "X, y and sample_weight must all be Dask collections or none of them, got "
            f"{', '.join(type(v).__name__ for v in (X, *rest))}: convert them with "
            "dask.array.from_array, or compute() them"
        )
    columns = [delayed_columns(values, like=X) for values in (X, *rest)]
    if len({len(column) for column in columns}) > 1:
        raise ValueError(
            f"X, y and sample_weight have {[len(column) for column in columns]} chunks: "
            "rechunk or repartition them to the same chunks"
        )
    if constant:
        columns.append([sample_weight] * len(columns[0]))
    return [(number, *chunk) for number, chunk in enumerate(zip(*columns, strict=True))]


def delayed_columns(values: Any, like: Any = None) -> list[Any]:
    """Delayed chunks of a collection, each with all columns.

    An array is rechunked like ``like``, if ``like`` is an array of the same length.
    """
    if hasattr(values, "rechunk"):
        chunks = dict.fromkeys(range(1, values.ndim), -1)
        known = hasattr(like, "rechunk") and not np.isnan(sum(like.chunks[0]))
        if known and values.shape[0] == like.shape[0]:
            values = values.rechunk({0: like.chunks[0], **chunks})
        elif chunks:
            values = values.rechunk(chunks)
    return list(np.ravel(np.asarray(values.to_delayed(), dtype=object)))


def empty_header(X: Any) -> Any:
    """Empty collection with the names and the number of the inputs."""
    return X._meta if hasattr(X, "columns") else np.empty((0, X.shape[1]))


def share(model: Any) -> Any:
    """Delayed copy of a model, stored once in the task graph for all chunks.

    It is a copy, so that a later fit of the model does not change the results.
    """
    return require("dask", "dask").delayed(copy(model), traverse=False)


def map_chunks(model: Any, method: str, X: Any, shape: tuple[int, ...]) -> Any:
    """Results of a method of a model for all chunks of ``X``: a Dask array (m, *shape)."""
    shared = share(model)
    return concatenate(X, [(_call, shared, method, chunk) for chunk in delayed_columns(X)], shape)


def concatenate(X: Any, tasks: list[tuple[Any, ...]], shape: tuple[int, ...]) -> Any:
    """Results of ``tasks``, one for each chunk of ``X``: a Dask array (m, *shape).

    A task is a tuple of a function and its arguments; the last argument is the chunk.
    """
    da, delayed = require("dask.array", "dask"), require("dask", "dask").delayed
    known = X.chunks[0] if hasattr(X, "chunks") else [np.nan] * len(tasks)
    results = [delayed(_or_empty)(shape, *task) for task in tasks]
    parts = [
        da.from_delayed(result, (rows, *shape), dtype=float)
        for result, rows in zip(results, known, strict=True)
    ]
    return da.concatenate(parts, allow_unknown_chunksizes=True)


def _or_empty(shape: tuple[int, ...], function: Callable[..., Any], *arguments: Any) -> Any:
    """Result of a task, or an empty array for an empty chunk of a data frame."""
    return function(*arguments) if len(arguments[-1]) else np.empty((0, *shape))


def _call(model: Any, method: str, X: Any) -> Any:
    return getattr(model, method)(X)
