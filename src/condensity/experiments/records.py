"""Records of experiments: a file with one line of JSON for each cell.

A line is appended by a single write and flushed to the disk.  A killed run leaves complete lines
and at most one incomplete line at the end, which is removed before the next run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # not available on every system
    fcntl = None  # type: ignore[assignment]


@dataclass(frozen=True, order=True)
class Cell:
    """One unit of work: a method on one sample of a problem."""

    study: str
    problem: str
    method: str
    n: int
    seed: int

    def __str__(self) -> str:
        return f"{self.study}: {self.method} on {self.problem}, n = {self.n}, seed {self.seed}"


@dataclass(frozen=True)
class Record:
    """The results of a cell, or the error that ended it."""

    cell: Cell
    results: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    error: str | None = None
    made_by: str = ""  # versions of the code

    def to_line(self) -> str:
        """One line of JSON, with floats to the last bit."""
        parts = asdict(self.cell) | {"results": self.results, "seconds": self.seconds}
        parts["made_by"] = self.made_by
        if self.error is not None:
            parts["error"] = self.error
        return json.dumps(parts) + "\n"

    @classmethod
    def from_line(cls, line: str) -> Record:
        """The record in one line of JSON."""
        parts = json.loads(line)
        cell = Cell(*(parts[name] for name in Cell.__dataclass_fields__))
        error, made_by = parts.get("error"), parts.get("made_by", "")
        return cls(cell, parts["results"], parts["seconds"], error, made_by)


class RecordFile:
    """File of records; records are only appended."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder against other runs; the lock ends with the process."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.with_suffix(".lock").open("w") as handle:
            if fcntl is not None:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError as error:
                    raise BlockingIOError(
                        f"another run uses the folder {self.path.parent}: "
                        "wait until it ends, or choose another folder"
                    ) from error
            yield

    def read(self) -> dict[Cell, Record]:
        """Records by cell, sorted by cell; of several records of a cell, the last counts."""
        if not self.path.exists():
            return {}
        text = self.path.read_text(encoding="utf-8")
        complete = text[: text.rfind("\n") + 1]
        records = {}
        for number, line in enumerate(complete.splitlines(), start=1):
            try:
                record = Record.from_line(line)
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(
                    f"line {number} of {self.path} is not a valid record ({error}): "
                    "remove that line, or choose another folder"
                ) from error
            records[record.cell] = record
        return dict(sorted(records.items()))

    def repair(self) -> None:
        """Remove an incomplete last line, which a killed run may have left."""
        if self.path.exists():
            content = self.path.read_bytes()
            complete = content.rfind(b"\n") + 1
            if complete < len(content):
                os.truncate(self.path, complete)

    def append(self, record: Record) -> None:
        """Append one record and flush it to the disk."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = record.to_line().encode()
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        before = os.fstat(handle).st_size
        try:
            if os.write(handle, line) < len(line):
                raise OSError(f"{self.path} took only a part of a record: make room on the disk")
            os.fsync(handle)
        except OSError:
            os.ftruncate(handle, before)  # so that the next record begins on a new line
            raise
        finally:
            os.close(handle)
