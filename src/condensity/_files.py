"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import NamedTemporaryFile


def write_at_once(path: Path, data: bytes) -> Path:
    """Write a file so that no one ever sees half of it, not even after a crash."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as stream:
        try:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
            os.chmod(stream.name, 0o666 & ~_umask())
            os.replace(stream.name, path)
        except BaseException:
            os.unlink(stream.name)
            raise
    return path


def _umask() -> int:
    """What the user takes off the permissions of new files."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
