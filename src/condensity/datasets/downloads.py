"""Files of tables: found in a folder, in the cache or at an address, and never used unverified.

A file is what its sha256 says, so it does not matter which of the three gave it.  Downloads go to
a temporary file beside their place in the cache, which they take only when complete and right.
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
    """The bytes of the entry's file: from the folder, else the cache, else downloaded into it."""
    folder = folder or os.environ.get(FOLDER) or None
    base_url = base_url or os.environ.get(ADDRESS) or None
    if folder is not None and (own := _within(Path(folder), entry)).is_file():
        return _verified(
            own, entry, remedy="replace it, or remove it to have it looked for elsewhere"
        )
    remedy = f", or set {FOLDER} to a folder that holds {entry.file}"
    pooch = require("pooch", "data", otherwise=remedy)
    cached = Path(pooch.os_cache("condensity")) / entry.file
    if base_url is not None:
        _fetch(entry, base_url, cached, progress)  # only if the cache does not hold it as it is
    elif not cached.is_file():
        raise FileNotFoundError(
            f"{entry.file} is neither in {FOLDER} ({folder or 'not set'}) nor in {cached.parent}, "
            f"and there is no address to download it from: set {FOLDER} to a folder that holds it "
            f"or {ADDRESS} to where it is served (the original: {entry.source})"
        )
    return _verified(cached, entry, remedy=f"delete it, or set {ADDRESS} to download it anew")


def _within(folder: Path, entry: Entry) -> Path:
    folder = folder.expanduser()
    if not folder.is_dir():
        # A misspelt folder should not end in a download.
        raise FileNotFoundError(
            f"the data folder {folder} does not exist: set {FOLDER} (or folder=) to one that holds "
            f"{entry.file}, or to nothing"
        )
    return folder / entry.file


def _verified(path: Path, entry: Entry, *, remedy: str) -> bytes:
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != entry.sha256:
        raise ValueError(
            f"{path} is not the file that is meant: {path.stat().st_size} bytes with sha256 "
            f"{found}, expected {entry.size} bytes with sha256 {entry.sha256}: {remedy}"
        )
    return path.read_bytes()


def _fetch(entry: Entry, base_url: str, cached: Path, progress: bool) -> None:
    """Have the file in the cache; pooch moves a download there once it is complete and right."""
    if not base_url.startswith(("http://", "https://")):
        raise ValueError(
            f"base_url (or {ADDRESS}) must start with http:// or https://, got {base_url!r}: "
            f"for files on disk set {FOLDER}"
        )
    pooch = require("pooch", "data")
    url = f"{base_url.rstrip('/')}/{entry.file}"
    draw = _bar if progress and sys.stderr.isatty() else _nothing
    http = pooch.HTTPDownloader(chunk_size=2**15)

    def download(url: str, path: str, _: Any) -> None:
        with open(path, "wb") as stream:
            arrival = _Arrival(stream, entry, url, draw)
            http(url, arrival, None)
        arrival.check()

    try:
        pooch.retrieve(url, f"sha256:{entry.sha256}", cached.name, cached.parent, None, download)
    except OSError as error:  # what requests raises is one, too
        raise OSError(
            f"{entry.file} could not be downloaded from {url}: {_root(error)}: check the address "
            f"and the connection, or set {FOLDER} to a folder that holds it"
        ) from error


class _Arrival:
    """A file being written: its bytes are counted and hashed, and too many are refused at once."""

    def __init__(
        self, stream: Any, entry: Entry, url: str, draw: Callable[[Entry, int], None]
    ) -> None:
        self.stream, self.entry, self.url, self.draw = stream, entry, url, draw
        self.count, self.digest = 0, hashlib.sha256()

    def write(self, chunk: bytes) -> None:
        self.count += len(chunk)
        self.digest.update(chunk)
        if self.count > self.entry.size:
            self._refuse(f"more than {self.entry.size} bytes arrived")
        self.stream.write(chunk)
        self.draw(self.entry, self.count)

    def flush(self) -> None:
        """Nothing: closing the file will do."""

    def check(self) -> None:
        """Refuse what is complete but not the file that is meant."""
        if self.count < self.entry.size:
            self._refuse(f"{self.count} of {self.entry.size} bytes arrived")
        if (found := self.digest.hexdigest()) != self.entry.sha256:
            self._refuse(f"its sha256 is {found}, expected {self.entry.sha256}")

    def _refuse(self, why: str) -> None:
        raise ValueError(
            f"{self.url} does not serve the file that is meant: {why}: try again, or check "
            f"base_url (or {ADDRESS}); nothing was kept"
        )


def _root(error: BaseException) -> BaseException:
    """The cause inside the layers that wrap it: refused, timed out, no such host."""
    inner = error.__cause__ or next(iter(error.args), None)
    return _root(inner) if isinstance(inner, BaseException) else error


def _bar(entry: Entry, count: int) -> None:
    done = 30 * count // entry.size
    end = "\n" if count == entry.size else ""
    line = f"\r{entry.file} [{'#' * done:.<30}] {count / 1e3:.0f} of {entry.size / 1e3:.0f} kB"
    print(line, end=end, file=sys.stderr, flush=True)


def _nothing(entry: Entry, count: int) -> None:
    """No bar where there is no terminal."""
