"""Atomic writes: a file is complete, or it does not exist."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO


def write_atomically(path: Path, data: bytes) -> Path:
    """Write a file so that a reader never sees an incomplete one, not even after a crash."""
    with open_atomically(path) as stream:
        stream.write(data)
    return path


@contextmanager
def open_atomically(path: Path) -> Iterator[IO[bytes]]:
    """Stream to a temporary file that replaces ``path`` at the end, or is deleted on an error.

    Devices and pipes are written directly.  Symbolic links are resolved.
    """
    # A link such as /dev/stdout may lead to a pipe, which has no path of its own.
    if path.exists() and not path.is_file():
        with path.open("wb") as stream:
            yield stream
        return
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as stream:
        try:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            os.chmod(stream.name, 0o666 & ~_umask())
            os.replace(stream.name, path)
        except BaseException:
            os.unlink(stream.name)
            raise


def _umask() -> int:
    """The permission bits that new files do not get."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
