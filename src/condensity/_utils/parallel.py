"""Mapping over workers: the same answer for any number of them, wherever they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeVar

from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

T = TypeVar("T")
R = TypeVar("R")


def one_blas_thread() -> threadpool_limits:
    """A context in which BLAS runs on one thread.

    Matrices of a few hundred rows lose with more of them, badly so on busy machines, and sums in
    another order would make the answer depend on the machine.
    """
    return threadpool_limits(limits=1, user_api="blas")


def parallel_map(n_jobs: int | None) -> Callable[[Callable[[T], R], Iterable[T]], Iterable[R]]:
    """A ``map`` that runs on ``n_jobs`` workers (joblib's meaning) and keeps the order."""
    return partial(_spread, n_jobs)


def _spread(n_jobs: int | None, function: Callable[[T], R], items: Iterable[T]) -> Iterable[R]:
    run = Parallel(n_jobs=n_jobs, return_as="generator")
    results: Iterable[R] = run(delayed(_on_one_thread)(function, item) for item in items)
    return results


def thread_map(n_jobs: int | None) -> Callable[[Callable[[T], R], Iterable[T]], Iterable[R]]:
    """A ``map`` on ``n_jobs`` threads that keeps the order: for functions that let others run."""
    return partial(_in_threads, n_jobs)


def _in_threads(n_jobs: int | None, function: Callable[[T], R], items: Iterable[T]) -> Iterable[R]:
    # The limit holds for the whole process: it is set once, around all threads.
    with one_blas_thread():
        # Threads, whatever the backend of the caller: samples are not worth sending around.
        run = Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")
        yield from run(delayed(function)(item) for item in items)


def _on_one_thread(function: Callable[[T], R], item: T) -> R:
    with one_blas_thread():
        return function(item)
