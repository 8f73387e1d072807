"""Reading of models, and of tables block by block: CSV, also compressed, Excel and Parquet."""

from __future__ import annotations

import csv
import io
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from condensity._utils.extras import require
from condensity.cli.messages import note
from condensity.cli.spelling import Spelling
from condensity.cli.unpacking import DecodedText, buffered, unpacked
from condensity.cli.workbooks import sheet_rows
from condensity.io.persistence import load
from condensity.tables import TableError, TableModel
from condensity.tables.frames import first_repeated

RowBlock = dict[str, NDArray[Any]]

STANDARD_INPUT = "-"
DELIMITERS = (",", ";", "\t", "|")
BLOCK_ROWS = 10_000
#: First rows that decide how numbers are written, whatever the size of blocks.
SAMPLE_ROWS = 256


def read_model(path: str) -> TableModel:
    """The model in a file, as a table model."""
    model = load(path)
    try:
        return TableModel.of(model)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


@dataclass(frozen=True)
class TableSource:
    """A table that is being read; it can be read once."""

    names: list[str]
    read: Callable[[int], Iterator[RowBlock]]  # cells as in the file, given the rows of a block
    spelling: Spelling = field(default_factory=lambda: Spelling({}, ".", {}))
    delimiter: str = ","
    encoding: Callable[[], str] = lambda: "utf-8"

    def blocks(self, size: int) -> Iterator[RowBlock]:
        """Blocks of rows, with numbers in the spelling of Python."""
        self.print_note()
        yield from map(self.spelling.plain, self.read(size))

    def whole(self) -> RowBlock:
        """All rows; those of the first block decide how numbers are written."""
        parts = list(self.read(BLOCK_ROWS))
        if not parts:
            raise ValueError("the table has no rows: give rows below the names of the columns")
        table = {name: np.concatenate([part[name] for part in parts]) for name in self.names}
        if not self.spelling.styles:
            return table
        source = replace(self, spelling=Spelling.of(parts[0], self.delimiter))
        source.print_note()
        return source.spelling.plain(table)

    def print_note(self) -> None:
        """Say how numbers with signs or separated thousands are read."""
        text = self.spelling.note()
        if text:
            note(text)


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
            raise ValueError(
                f"{path} is not text in UTF-8 or cp1252: write it again in UTF-8"
            ) from error
        except TableError as error:
            raise TableError(f"{path}: ", *error.parts, corrections=error.corrections) from error
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error


def _damage() -> tuple[type[Exception], ...]:
    """Errors that damaged files cause, with that of lzma where this module is in use."""
    lzma = sys.modules.get("lzma")
    return (
        csv.Error,
        EOFError,
        zlib.error,
        zipfile.BadZipFile,
        *([lzma.LZMAError] if lzma else []),
    )


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
    content = unpacked(buffered(stream))
    if isinstance(content, zipfile.ZipFile):
        return _rows_source(sheet_rows(content, note), ",", lambda: "utf-8")
    if content.peek(4).startswith(b"PAR1"):
        return _parquet(content)
    return _csv(DecodedText.of(content, note))


def _csv(text: DecodedText) -> TableSource:
    first = text.lines.readline()
    delimiter = max(DELIMITERS, key=_outside_quotes(first).count)
    rows = csv.reader(chain([first], text.lines), delimiter=delimiter, strict=True)
    return _rows_source(rows, delimiter, lambda: text.encoding)


def _rows_source(
    rows: Iterator[list[Any]], delimiter: str, encoding: Callable[[], str]
) -> TableSource:
    """A table of which the first row holds the names."""
    names = _checked_header(next(rows, []))
    checked = _checked_rows(rows, len(names))
    first = list(islice(checked, SAMPLE_ROWS))
    spelling = Spelling.of(_columns(names, first), delimiter)
    every = chain(first, checked)

    def blocks(size: int) -> Iterator[RowBlock]:
        while part := list(islice(every, size)):
            yield _columns(names, part)

    return TableSource(names, blocks, spelling, delimiter, encoding)


def _columns(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> RowBlock:
    columns = zip(*rows, strict=True) if rows else ([] for _ in names)
    return {
        name: np.fromiter(column, dtype=object, count=len(rows))
        for name, column in zip(names, columns, strict=True)
    }


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


def _parquet(stream: IO[bytes]) -> TableSource:
    parquet = require("pyarrow.parquet", "parquet", otherwise=", or write the table as CSV")
    file = parquet.ParquetFile(stream if stream.seekable() else io.BytesIO(stream.read()))
    names = _checked_header(file.schema_arrow.names)

    def blocks(size: int) -> Iterator[RowBlock]:
        for batch in file.iter_batches(batch_size=size):
            columns = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
            yield dict(zip(names, columns, strict=True))

    return TableSource(names, blocks)


def _checked_header(cells: list[Any]) -> list[str]:
    names = ["" if cell is None else str(cell).strip() for cell in cells]
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
