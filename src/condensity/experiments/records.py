"""Records of experiments: one cell, one line of JSON, in a file that survives being killed.

A line is appended by a single write and flushed to the disk.  What a killed run leaves behind is
whole lines and at most one torn one at the end, which is cut off when the file is opened again.
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
except ImportError:  # not on every system
    fcntl = None  # type: ignore[assignment]


@dataclass(frozen=True, order=True)
class Cell:
    """One thing to do: a method on one sample of a problem."""

    study: str
    problem: str
    method: str
    n: int
    seed: int

    def __str__(self) -> str:
        return f"{self.study}: {self.method} on {self.problem}, n = {self.n}, seed {self.seed}"


@dataclass(frozen=True)
class Record:
    """What came of a cell: its results, or the error that ended it."""

    cell: Cell
    results: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    error: str | None = None
    made_by: str = ""  # versions

    def to_line(self) -> str:
        """One line of JSON; floats as they are, to the last bit."""
        parts = asdict(self.cell) | {"results": self.results, "seconds": self.seconds}
        parts["made_by"] = self.made_by
        if self.error is not None:
            parts["error"] = self.error
        return json.dumps(parts) + "\n"

    @classmethod
    def from_line(cls, line: str) -> Record:
        """Read it again."""
        parts = json.loads(line)
        cell = Cell(*(parts[name] for name in Cell.__dataclass_fields__))
        told = parts.get("error"), parts.get("made_by", "")
        return cls(cell, parts["results"], parts["seconds"], *told)


class RecordFile:
    """A file of records that only grows."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other runs out of the folder; a killed one leaves it open."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.with_suffix(".lock").open("w") as handle:
            if fcntl is not None:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError as error:
                    raise BlockingIOError(
                        f"another run is at work in {self.path.parent}: "
                        "wait until it is done, or choose another folder"
                    ) from error
            yield

    def read(self) -> dict[Cell, Record]:
        """All records by cell, in the order of the cells; the last one of a cell counts."""
        if not self.path.exists():
            return {}
        text = self.path.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        found = {}
        for number, line in enumerate(whole.splitlines(), start=1):
            try:
                record = Record.from_line(line)
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(
                    f"line {number} of {self.path} is no record ({error}): "
                    "remove that line, or choose another folder"
                ) from error
            found[record.cell] = record
        return dict(sorted(found.items()))

    def repair(self) -> None:
        """Cut off what a killed run may have left of a line."""
        if self.path.exists():
            content = self.path.read_bytes()
            whole = content.rfind(b"\n") + 1
            if whole < len(content):
                os.truncate(self.path, whole)

    def append(self, record: Record) -> None:
        """Add one record, and see it to the disk."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = record.to_line().encode()
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        before = os.fstat(handle).st_size
        try:
            if os.write(handle, line) < len(line):
                raise OSError(f"{self.path} took but a part of a record: make room on the disk")
            os.fsync(handle)
        except OSError:
            os.ftruncate(handle, before)  # or the next record would be glued to the stump
            raise
        finally:
            os.close(handle)
