"""Reading of models, and of tables block by block: CSV, also compressed, and Parquet."""

from __future__ import annotations

import csv
import gzip
import io
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from condensity._utils.extras import require
from condensity.io.persistence import load
from condensity.tables import TableError, TableModel
from condensity.tables.frames import first_repeated

RowBlock = dict[str, NDArray[Any]]

STANDARD_INPUT = "-"
DELIMITERS = (",", ";", "\t", "|")
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*")
BLOCK_ROWS = 10_000
#: First bytes of files that hold no table by themselves, and what to do with them.
ARCHIVES = {
    b"PK\x03\x04": "a zip archive or a workbook such as .xlsx: unpack it, or save the sheet as CSV",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive: unpack it",
    b"\x28\xb5\x2f\xfd": "compressed by zstd: unpack it",
    b"\xd0\xcf\x11\xe0": "an old workbook such as .xls: save the sheet as CSV",
}


def read_model(path: str) -> TableModel:
    """The model in a file, as a table model."""
    model = load(path)
    try:
        return TableModel.of(model)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


@dataclass(frozen=True)
class TableSource:
    """A table that is being read."""

    names: list[str]
    blocks: Callable[[int], Iterator[RowBlock]]  # given the maximum rows of a block; reads once

    def whole(self) -> RowBlock:
        """All rows."""
        parts = list(self.blocks(BLOCK_ROWS))
        if not parts:
            raise ValueError("the table has no rows: give rows below the names of the columns")
        return {name: np.concatenate([part[name] for part in parts]) for name in self.names}


@contextmanager
def open_table(path: str) -> Iterator[TableSource]:
    """Open a file; its content decides the format, ``-`` is standard input."""
    with open_bytes(path) as stream:
        try:
            yield _source(stream)
        except OSError as error:
            if error.errno is not None:  # of the system, not of the compressed data
                raise
            raise ValueError(f"{path} is damaged ({error}): write it again") from error
        except _damage() as error:
            raise ValueError(f"{path} is damaged ({error}): write it again") from error
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is not text in UTF-8: write it again in UTF-8") from error
        except TableError as error:
            raise TableError(f"{path}: ", *error.parts) from error
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error


def _damage() -> tuple[type[Exception], ...]:
    """Errors that damaged files cause, with that of lzma where this module is in use."""
    lzma = sys.modules.get("lzma")
    return (csv.Error, EOFError, zlib.error, *([lzma.LZMAError] if lzma else []))


@contextmanager
def open_bytes(path: str) -> Iterator[IO[bytes]]:
    """The bytes of a file or of standard input."""
    if path == STANDARD_INPUT:
        if sys.stdin is None:
            raise ValueError("standard input is closed: name a file")
        yield sys.stdin.buffer
    else:
        with Path(path).open("rb") as stream:
            yield stream


def _source(stream: IO[bytes]) -> TableSource:
    buffered: Any = stream if hasattr(stream, "peek") else io.BufferedReader(stream)
    start: bytes = buffered.peek(6)[:6]
    if start.startswith(b"PAR1"):
        return _parquet(buffered)
    for signature, kind in ARCHIVES.items():
        if start.startswith(signature):
            raise ValueError(f"the file is {kind}")
    return _csv(io.TextIOWrapper(_unpacked(buffered, start), encoding="utf-8-sig", newline=""))


def _unpacked(stream: Any, start: bytes) -> Any:
    """The stream, decompressed if its first bytes are those of a compressed file."""
    if start.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=stream)
    # Some builds of Python do not have these two modules.
    if start.startswith(b"BZh"):
        from bz2 import BZ2File

        return BZ2File(stream)
    if start.startswith(b"\xfd7zXZ\x00"):
        from lzma import LZMAFile

        return LZMAFile(stream)
    return stream


def _csv(stream: IO[str]) -> TableSource:
    first = stream.readline()
    delimiter = max(DELIMITERS, key=_outside_quotes(first).count)
    rows = csv.reader(chain([first], stream), delimiter=delimiter, strict=True)
    names = _checked_header(next(rows, []))

    def blocks(size: int) -> Iterator[RowBlock]:
        checked = _checked_rows(rows, len(names))
        read = _decimal_point if delimiter == ";" else str
        while part := list(islice(checked, size)):
            columns = (map(read, column) for column in zip(*part, strict=True))
            values = [np.fromiter(column, dtype=object, count=len(part)) for column in columns]
            yield dict(zip(names, values, strict=True))

    return TableSource(names, blocks)


def _outside_quotes(line: str) -> str:
    return "".join(line.split('"')[::2])


def _checked_rows(rows: Iterable[list[str]], width: int) -> Iterator[list[str]]:
    for number, row in enumerate((row for row in rows if row), start=1):
        if len(row) != width:
            raise ValueError(
                f"row {number} has {len(row)} cells and the header has {width}: check whether the "
                "file is truncated, and put cells with separators in quotes"
            )
        yield row


def _decimal_point(cell: str) -> str:
    return cell.replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell


def _parquet(stream: IO[bytes]) -> TableSource:
    parquet = require("pyarrow.parquet", "parquet", otherwise=", or write the table as CSV")
    file = parquet.ParquetFile(stream if stream.seekable() else io.BytesIO(stream.read()))
    names = _checked_header(file.schema_arrow.names)

    def blocks(size: int) -> Iterator[RowBlock]:
        for batch in file.iter_batches(batch_size=size):
            columns = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
            yield dict(zip(names, columns, strict=True))

    return TableSource(names, blocks)


def _checked_header(names: list[str]) -> list[str]:
    names = [name.strip() for name in names]
    if not any(names):
        raise ValueError("the file is empty: its first row must hold the names of the columns")
    repeated = first_repeated(names)
    if repeated is not None:
        raise ValueError(f"several columns are named {repeated!r}: rename all but one")
    return names


def regrouped(blocks: Iterable[RowBlock], size: int) -> Iterator[RowBlock]:
    """The same rows in blocks of exactly ``size`` rows; the last block may be smaller."""
    pending: RowBlock = {}
    for block in blocks:
        pending = {name: np.concatenate([pending[name], block[name]]) for name in pending} or block
        n = len(next(iter(pending.values())))
        for start in range(0, n - size + 1, size):
            yield {name: column[start : start + size] for name, column in pending.items()}
        pending = {name: column[n - n % size :] for name, column in pending.items()}
    if pending and len(next(iter(pending.values()))):
        yield pending
