"""Parallel map over workers; the result does not depend on their number or kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeVar

from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from condensity._utils.parameters import check_jobs

T = TypeVar("T")
R = TypeVar("R")

#: A function like ``map``: it applies a function to items and keeps their order.
Mapper = Callable[..., Iterable[Any]]


def one_blas_thread() -> threadpool_limits:
    """Context manager that limits BLAS to one thread.

    With more threads, products of matrices with a few hundred rows are slower, above all on a busy
    machine.  More threads also change the order of sums, so the result would depend on the machine.

    Returns
    -------
    threadpool_limits
        The context manager.
    """
    return threadpool_limits(limits=1, user_api="blas")


def parallel_map(n_jobs: int | None) -> Callable[[Callable[[T], R], Iterable[T]], Iterable[R]]:
    """Function like ``map`` that runs on joblib workers, with one BLAS thread for each worker.

    Parameters
    ----------
    n_jobs : int or None
        Number of workers, as in joblib.

    Returns
    -------
    callable
        It takes a function and an iterable, and yields the results in the order of the items.
    """
    return partial(_on_workers, check_jobs(n_jobs))


def _on_workers(n_jobs: int | None, function: Callable[[T], R], items: Iterable[T]) -> Iterable[R]:
    """Results of ``function`` for all items, computed on joblib workers."""
    run = Parallel(n_jobs=n_jobs, return_as="generator")
    results: Iterable[R] = run(delayed(_on_one_thread)(function, item) for item in items)
    return results


def thread_map(n_jobs: int | None) -> Callable[[Callable[[T], R], Iterable[T]], Iterable[R]]:
    """Function like ``map`` that runs on threads, for functions that release the GIL.

    Parameters
    ----------
    n_jobs : int or None
        Number of threads, as in joblib.

    Returns
    -------
    callable
        It takes a function and an iterable, and yields the results in the order of the items.
    """
    return partial(_in_threads, check_jobs(n_jobs))


def _in_threads(n_jobs: int | None, function: Callable[[T], R], items: Iterable[T]) -> Iterable[R]:
    """Results of ``function`` for all items, computed on threads."""
    # The limit applies to the whole process, so it is set once around all threads.
    with one_blas_thread():
        # Threads for any backend of the caller: copying the samples would cost more.
        run = Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")
        yield from run(delayed(function)(item) for item in items)


def _on_one_thread(function: Callable[[T], R], item: T) -> R:
    """Result of ``function`` for one item, with one BLAS thread."""
    with one_blas_thread():
        return function(item)
