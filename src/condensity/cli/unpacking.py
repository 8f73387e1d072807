"""Compressed files, archives and encodings, as streams of text."""

from __future__ import annotations

import codecs
import gzip
import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any

#: First bytes of files that hold no table by themselves, and what to do with them.
REFUSED = {
    b"7z\xbc\xaf\x27\x1c": "a 7z archive: unpack it",
    b"\x28\xb5\x2f\xfd": "compressed by zstd: unpack it",
    b"\xd0\xcf\x11\xe0": "an old workbook such as .xls: save it as .xlsx, or the sheet as CSV",
}
ZIP = b"PK\x03\x04"
WORKBOOK = "xl/workbook.xml"
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
#: The encoding of files that are not in UTF-8: that of Windows in western Europe and America.
WINDOWS = "cp1252"
READ_BYTES = 65536
#: Largest workbook, unpacked.
LARGEST_WORKBOOK = 2**31


def buffered(stream: Any) -> Any:
    """A stream with ``peek``."""
    return stream if hasattr(stream, "peek") else io.BufferedReader(stream)


def unpacked(stream: Any) -> Any:
    """The stream of the only file in a compressed file; or a ``ZipFile`` if it is a workbook."""
    start: bytes = stream.peek(6)[:6]
    for signature, kind in REFUSED.items():
        if start.startswith(signature):
            raise ValueError(f"the file is {kind}")
    if start.startswith(ZIP):
        return _zip_member(stream)
    if start.startswith(b"\x1f\x8b"):
        return buffered(gzip.GzipFile(fileobj=stream))
    # Some builds of Python do not have these two modules.
    if start.startswith(b"BZh"):
        from bz2 import BZ2File

        return buffered(BZ2File(stream))
    if start.startswith(b"\xfd7zXZ\x00"):
        from lzma import LZMAFile

        return buffered(LZMAFile(stream))
    return stream


def _zip_member(stream: Any) -> Any:
    archive = zipfile.ZipFile(stream if stream.seekable() else io.BytesIO(stream.read()))
    if WORKBOOK in archive.namelist():
        if sum(member.file_size for member in archive.infolist()) > LARGEST_WORKBOOK:
            raise ValueError("the workbook is too large: save its sheet as CSV")
        return archive
    members = [
        member
        for member in archive.infolist()
        if not member.is_dir() and not member.filename.startswith("__MACOSX/")
    ]
    if len(members) != 1:
        raise ValueError(
            f"the zip archive holds {len(members)} files: unpack it, and name the table"
        )
    try:
        return buffered(archive.open(members[0]))
    except RuntimeError as error:  # of a password
        raise ValueError(f"the zip archive cannot be read ({error}): unpack it") from error


@dataclass
class DecodedText:
    """Text of a stream, with the encoding that it turns out to have."""

    encoding: str
    lines: IO[str]

    @classmethod
    def of(cls, stream: Any, warn: Callable[[str], None]) -> DecodedText:
        """The text of a stream; ``warn`` is given a note if the encoding is a guess."""
        start = stream.peek(3)[:3]
        for mark, encoding in BYTE_ORDER_MARKS.items():
            if start.startswith(mark):
                return cls(encoding, io.TextIOWrapper(stream, encoding=encoding, newline=""))
        # The text refers to this object, whose encoding may change while it is read.
        text = cls("utf-8", io.StringIO())
        raw: Any = _AsUtf8(stream, text, warn)
        text.lines = io.TextIOWrapper(io.BufferedReader(raw), encoding="utf-8", newline="")
        return text


class _AsUtf8(io.RawIOBase):
    """Bytes in UTF-8 of a stream that is in UTF-8 or, from its first other byte on, in cp1252.

    A stream that already had letters in UTF-8 is damaged, and raises ``UnicodeDecodeError``.
    """

    def __init__(self, stream: Any, text: DecodedText, warn: Callable[[str], None]) -> None:
        self._stream, self._text, self._warn = stream, text, warn
        self._rest = b""  # bytes that the reader has not taken
        self._incomplete = b""  # the first bytes of a letter
        self._ascii = True

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        while not self._rest:
            chunk = self._stream.read1(READ_BYTES)
            self._rest = self._converted(self._incomplete + chunk, last=not chunk)
            if not chunk:
                break
        taken, self._rest = self._rest[: len(target)], self._rest[len(target) :]
        target[: len(taken)] = taken
        return len(taken)

    def _converted(self, chunk: bytes, *, last: bool) -> bytes:
        if self._text.encoding == WINDOWS:
            return chunk.decode(WINDOWS).encode()
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            decoder.decode(chunk, last)
        except UnicodeDecodeError as error:
            if not (self._ascii and chunk[: error.start].isascii()):
                raise
            return self._as_windows(chunk)
        self._incomplete = decoder.getstate()[0]
        complete = chunk[: len(chunk) - len(self._incomplete)]
        self._ascii = self._ascii and complete.isascii()
        return complete

    def _as_windows(self, chunk: bytes) -> bytes:
        converted = chunk.decode(WINDOWS).encode()
        self._text.encoding, self._incomplete = WINDOWS, b""
        self._warn("the file is not in UTF-8: it is read in the encoding of Windows, cp1252")
        return converted
