"""Cells on the workers of a Dask cluster.

All cells are handed in at once and the scheduler deals them, so workers may come and go.  It gives
a cell whose worker died to another worker, several times, before it says so.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any, TypeVar

from condensity._utils.extras import require
from condensity.experiments.runner import Workers

#: Seconds within which a scheduler is to answer.
PATIENCE = 5.0
T = TypeVar("T")


@contextmanager
def dask_client(address: str) -> Iterator[Any]:
    """A client of the cluster whose scheduler is at ``address``, closed in the end."""
    distributed = require("distributed", "dask")
    try:
        asyncio.run(asyncio.wait_for(_knock(distributed, address), PATIENCE + 1.0))
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConnectionError(
            f"no Dask scheduler answers at {address!r} ({str(error) or 'it keeps silent'}): start "
            "one with 'dask scheduler' and pass the address that it prints, as in "
            "tcp://localhost:8786"
        ) from error
    with client:
        yield client


async def _knock(distributed: Any, address: str) -> None:
    """See that a server of Dask's is there: a client would wait for any other for ever."""
    secrets = distributed.Security().get_connection_args("client")
    comm = await distributed.comm.connect(address, timeout=PATIENCE, **secrets)
    await comm.close()


def dask_workers(client: Any) -> Workers:
    """The workers of a client's cluster."""
    lost = require("distributed", "dask").KilledWorker
    return Workers(lambda: _Cluster(client), at_once=sys.maxsize, lost=lost)


class _Cluster(Executor):
    """An executor that can be left without waiting for it."""

    def __init__(self, client: Any) -> None:
        self._inner = client.get_executor(pure=False)  # a cell that is tried again is not the same

    def submit(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        future: Future[T] = self._inner.submit(function, *args, **kwargs)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._inner.shutdown(wait=wait)
