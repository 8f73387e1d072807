"""Tables in files, block by block: CSV, also compressed, and Parquet; and models."""

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
from condensity.tables.model import TableModel

Block = dict[str, NDArray[Any]]

STANDARD_INPUT = "-"
DELIMITERS = (",", ";", "\t", "|")
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*")
BLOCK_ROWS = 10_000


def read_model(path: str) -> TableModel:
    """The model in a file, to be asked with tables."""
    found = load(path)
    try:
        return TableModel.of(found)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


@dataclass(frozen=True)
class Source:
    """A table that is being read."""

    names: list[str]
    blocks: Callable[[int], Iterator[Block]]  # of at most so many rows each, read once

    def whole(self) -> Block:
        """All its rows."""
        parts = list(self.blocks(BLOCK_ROWS))
        if not parts:
            raise ValueError("it has no rows: give a table with rows below the names of columns")
        return {name: np.concatenate([part[name] for part in parts]) for name in self.names}


@contextmanager
def open_table(path: str) -> Iterator[Source]:
    """Open a file by what it holds, whatever its name; ``-`` is standard input."""
    with open_bytes(path) as stream:
        try:
            yield _source(stream)
        except (csv.Error, EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"{path} is damaged ({error}): write it again") from error
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is no text in UTF-8: write it again in UTF-8") from error
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error


@contextmanager
def open_bytes(path: str) -> Iterator[IO[bytes]]:
    """The bytes of a file, or those of standard input."""
    if path == STANDARD_INPUT:
        yield sys.stdin.buffer
    else:
        with Path(path).open("rb") as stream:
            yield stream


def _source(stream: IO[bytes]) -> Source:
    buffered: Any = stream if hasattr(stream, "peek") else io.BufferedReader(stream)
    start: bytes = buffered.peek(4)[:4]
    if start == b"PAR1":
        return _parquet(buffered)
    plain: Any = gzip.GzipFile(fileobj=buffered) if start[:2] == b"\x1f\x8b" else buffered
    return _csv(io.TextIOWrapper(plain, encoding="utf-8-sig", newline=""))


def _csv(stream: IO[str]) -> Source:
    first = stream.readline()
    delimiter = max(DELIMITERS, key=_outside_quotes(first).count)
    rows = csv.reader(chain([first], stream), delimiter=delimiter, strict=True)
    names = _checked(next(rows, []))

    def blocks(size: int) -> Iterator[Block]:
        complete = _complete(rows, len(names))
        while part := list(islice(complete, size)):
            read = _decimal_point if delimiter == ";" else str
            columns = (map(read, column) for column in zip(*part, strict=True))
            cells = [np.fromiter(column, dtype=object, count=len(part)) for column in columns]
            yield dict(zip(names, cells, strict=True))

    return Source(names, blocks)


def _outside_quotes(line: str) -> str:
    return "".join(line.split('"')[::2])


def _complete(rows: Iterable[list[str]], width: int) -> Iterator[list[str]]:
    for number, row in enumerate((row for row in rows if row), start=1):
        if len(row) != width:
            raise ValueError(
                f"row {number} has {len(row)} cells and the header {width}: is the file "
                "truncated, or a separator within a cell that has no quotes?"
            )
        yield row


def _decimal_point(cell: str) -> str:
    return cell.replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell


def _parquet(stream: IO[bytes]) -> Source:
    parquet = require("pyarrow.parquet", "parquet", otherwise=", or write the table as CSV")
    file = parquet.ParquetFile(stream if stream.seekable() else io.BytesIO(stream.read()))
    names = _checked(file.schema_arrow.names)

    def blocks(size: int) -> Iterator[Block]:
        for batch in file.iter_batches(batch_size=size):
            columns = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
            yield dict(zip(names, columns, strict=True))

    return Source(names, blocks)


def _checked(names: list[str]) -> list[str]:
    names = [name.strip() for name in names]
    if not any(names):
        raise ValueError("it is empty: its first row must hold the names of columns")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"it has several columns named {name!r}: give each a name of its own")
    return names


def regrouped(blocks: Iterable[Block], size: int) -> Iterator[Block]:
    """The same rows in blocks of exactly ``size``, but for the last."""
    held: Block = {}
    for block in blocks:
        held = {name: np.concatenate([held[name], block[name]]) for name in held} or block
        n = len(next(iter(held.values())))
        for start in range(0, n - size + 1, size):
            yield {name: column[start : start + size] for name, column in held.items()}
        held = {name: column[n - n % size :] for name, column in held.items()}
    if held and len(next(iter(held.values()))):
        yield held
