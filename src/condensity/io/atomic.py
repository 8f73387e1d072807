"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO


def write_at_once(path: Path, data: bytes) -> Path:
    """Write a file so that no one ever sees half of it, not even after a crash."""
    with open_at_once(path) as stream:
        stream.write(data)
    return path


@contextmanager
def open_at_once(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to piece by piece, which is there when all is written, or not at all.

    What is no file but a device or a pipe is written to as it is; a link, where it leads to.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        with path.open("wb") as stream:
            yield stream
        return
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
    """What the user takes off the permissions of new files."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
