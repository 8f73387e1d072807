"""Files of tables: from a folder, from the cache or downloaded, always with a checked sha256.

The sha256 identifies a file, so its source does not matter.  A download goes to a temporary file in
the cache folder.  It gets its final name after it is complete and its sha256 is correct.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from condensity._utils.extras import require
from condensity.datasets.catalogue import Entry

FOLDER = "CONDENSITY_DATA"
ADDRESS = "CONDENSITY_DATA_URL"


def contents(
    entry: Entry,
    *,
    folder: str | os.PathLike[str] | None = None,
    base_url: str | None = None,
    progress: bool = True,
) -> bytes:
    """Bytes of the file of an entry: from the folder, else from the cache, else downloaded."""
    folder = folder or os.environ.get(FOLDER) or None
    base_url = base_url or os.environ.get(ADDRESS) or None
    if folder is not None and (path := _path_in(Path(folder), entry)).is_file():
        return _verified(
            path, entry, remedy="replace it, or remove it so that the cache or a download is used"
        )
    remedy = f", or set {FOLDER} to a folder that contains {entry.file}"
    pooch = require("pooch", "data", otherwise=remedy)
    cached = Path(pooch.os_cache("condensity")) / entry.file
    if base_url is not None:
        _fetch(entry, base_url, cached, progress)  # does nothing if the cache has the right file
    elif not cached.is_file():
        raise FileNotFoundError(
            f"{entry.file} is neither in {FOLDER} ({folder or 'not set'}) nor in {cached.parent}, "
            f"and no download address is set: set {FOLDER} to a folder that contains it or "
            f"{ADDRESS} to an address that serves it (original source: {entry.source})"
        )
    return _verified(cached, entry, remedy=f"delete it, or set {ADDRESS} to download it again")


def _path_in(folder: Path, entry: Entry) -> Path:
    folder = folder.expanduser()
    if not folder.is_dir():
        # A misspelt folder must not lead to a download.
        raise FileNotFoundError(
            f"the data folder {folder} does not exist: set {FOLDER} (or folder=) to a folder that "
            f"contains {entry.file}, or leave it empty"
        )
    return folder / entry.file


def _verified(path: Path, entry: Entry, *, remedy: str) -> bytes:
    """Bytes of a file with the right sha256."""
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest != entry.sha256:
        raise ValueError(
            f"{path} is not the expected file: it has {path.stat().st_size} bytes and sha256 "
            f"{digest}, expected {entry.size} bytes and sha256 {entry.sha256}: {remedy}"
        )
    return path.read_bytes()


def _fetch(entry: Entry, base_url: str, cached: Path, progress: bool) -> None:
    """Download the file into the cache; pooch renames it after its sha256 was checked."""
    if not base_url.startswith(("http://", "https://")):
        raise ValueError(
            f"base_url (or {ADDRESS}) must start with http:// or https://, got {base_url!r}: "
            f"for files on disk set {FOLDER}"
        )
    pooch = require("pooch", "data")
    url = f"{base_url.rstrip('/')}/{entry.file}"
    draw = _progress_bar if progress and sys.stderr.isatty() else _no_progress_bar
    http = pooch.HTTPDownloader(chunk_size=2**15)

    def download(url: str, path: str, _: Any) -> None:
        with open(path, "wb") as stream:
            checked = _CheckedDownload(stream, entry, url, draw)
            http(url, checked, None)
        checked.finish()

    try:
        pooch.retrieve(url, f"sha256:{entry.sha256}", cached.name, cached.parent, None, download)
    except OSError as error:  # the errors of requests are OSErrors too
        raise OSError(
            f"{entry.file} could not be downloaded from {url}: {_cause(error)}: check the address "
            f"and the connection, or set {FOLDER} to a folder that contains it"
        ) from error


class _CheckedDownload:
    """Stream that counts and hashes what is written to it, and raises an error for extra bytes."""

    def __init__(
        self, stream: Any, entry: Entry, url: str, draw: Callable[[Entry, int], None]
    ) -> None:
        self.stream, self.entry, self.url, self.draw = stream, entry, url, draw
        self.count, self.digest = 0, hashlib.sha256()

    def write(self, chunk: bytes) -> None:
        self.count += len(chunk)
        self.digest.update(chunk)
        if self.count > self.entry.size:
            self._fail(f"it sent more than {self.entry.size} bytes")
        self.stream.write(chunk)
        self.draw(self.entry, self.count)

    def flush(self) -> None:
        """Do nothing: the file is flushed when it is closed."""

    def finish(self) -> None:
        """Check the size and the sha256 of the complete file."""
        if self.count < self.entry.size:
            self._fail(f"it sent {self.count} of {self.entry.size} bytes")
        if (digest := self.digest.hexdigest()) != self.entry.sha256:
            self._fail(f"its sha256 is {digest}, expected {self.entry.sha256}")

    def _fail(self, reason: str) -> None:
        raise ValueError(
            f"{self.url} is not the expected file: {reason}: try again, or check base_url (or "
            f"{ADDRESS}); no file was written"
        )


def _cause(error: BaseException) -> BaseException:
    """The innermost cause of an error, such as a refused connection or an unknown host."""
    inner = error.__cause__ or next(iter(error.args), None)
    return _cause(inner) if isinstance(inner, BaseException) else error


def _progress_bar(entry: Entry, count: int) -> None:
    done = 30 * count // entry.size
    end = "\n" if count == entry.size else ""
    line = f"\r{entry.file} [{'#' * done:.<30}] {count / 1e3:.0f} of {entry.size / 1e3:.0f} kB"
    print(line, end=end, file=sys.stderr, flush=True)


def _no_progress_bar(entry: Entry, count: int) -> None:
    """Do nothing: the standard error is not a terminal."""
