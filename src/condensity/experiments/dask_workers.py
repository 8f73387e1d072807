"""Cells on the workers of a Dask cluster.

All cells are submitted together and the scheduler distributes them, so workers may join and leave.
If a worker dies, the scheduler tries its cell on other workers, several times, before it raises an
error.
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

#: Seconds to wait for the answer of a scheduler.
CONNECT_TIMEOUT = 5.0
T = TypeVar("T")


@contextmanager
def dask_client(address: str) -> Iterator[Any]:
    """Client of the cluster whose scheduler is at ``address``; it is closed at the end."""
    distributed = require("distributed", "dask")
    try:
        asyncio.run(asyncio.wait_for(_check_server(distributed, address), CONNECT_TIMEOUT + 1.0))
        client = distributed.Client(address, timeout=CONNECT_TIMEOUT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConnectionError(
            f"no Dask scheduler answers at {address!r} ({str(error) or 'no answer'}): start one "
            "with 'dask scheduler' and pass the address that it prints, for example "
            "tcp://localhost:8786"
        ) from error
    with client:
        yield client


async def _check_server(distributed: Any, address: str) -> None:
    """Check that a Dask server answers; a client would wait forever for any other server."""
    secrets = distributed.Security().get_connection_args("client")
    comm = await distributed.comm.connect(address, timeout=CONNECT_TIMEOUT, **secrets)
    await comm.close()


def dask_workers(client: Any) -> Workers:
    """The workers of the cluster of a client."""
    died_error = require("distributed", "dask").KilledWorker
    return Workers(lambda: _Cluster(client), max_pending=sys.maxsize, died_error=died_error)


class _Cluster(Executor):
    """Executor whose shutdown does not wait for running cells."""

    def __init__(self, client: Any) -> None:
        self._inner = client.get_executor(pure=False)  # a second try of a cell must run again

    def submit(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        future: Future[T] = self._inner.submit(function, *args, **kwargs)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._inner.shutdown(wait=wait)
