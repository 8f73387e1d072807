"""Output of the commands: results on standard output, everything else on standard error."""

from __future__ import annotations

import errno
import json
import math
import os
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

from condensity.cli.flags import as_flag, corrected_command
from condensity.cli.signals import signals_before_errors
from condensity.tables import TableError, TableWarning

REMEDIES = {
    errno.EACCES: "choose another file, or change its permissions",
    errno.EROFS: "choose another folder",
    errno.ENOSPC: "free space on the disk",
    errno.EISDIR: "name a file in it",
}


@contextmanager
def plain_errors(context: typer.Context | None = None) -> Iterator[None]:
    """Print errors as one sentence, with exit code 2, and warnings of the library as notes.

    With the ``context`` of a command, an error of a table is followed by the corrected command, if
    there is one.
    """
    try:
        with signals_before_errors(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            # The arrays are in the order of the columns, so they need no names.
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            warnings.showwarning = _show_warning
            yield
    except BrokenPipeError:  # the reader of standard output has closed it, like ``head``
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(1) from None
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("condensity"):
            raise
        refuse(str(error))
    except FileNotFoundError as error:
        refuse(f"the file {error.filename} does not exist: check its name and its folder")
    except OSError as error:
        cause = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        refuse(cause + (f": {REMEDIES[error.errno]}" if error.errno in REMEDIES else ""))
    except BrokenProcessPool:
        refuse(
            "a worker process was ended by the system, perhaps because memory ran out: close other "
            "programs, or use fewer workers with --jobs 1"
        )
    except MemoryError as error:
        refuse(
            f"memory ran out ({str(error) or 'no details'}): use fewer rows or columns, or ask for "
            "less at a time"
        )
    except TableError as error:
        message = error.message(as_flag)
        if context is not None and error.corrections:
            message += f"\ntry: {corrected_command(context, error.corrections)}"
        refuse(message)
    except ValueError as error:
        refuse(str(error))


def _show_warning(message: Any, *rest: Any, **more: Any) -> None:
    note(message.message(as_flag) if isinstance(message, TableWarning) else str(message))


def refuse(message: str) -> None:
    """Print an error and exit with code 2."""
    lines = "\n".join(map(printable, message.splitlines()))
    typer.echo(f"condensity: {lines}", err=True)
    raise typer.Exit(2)


def note(message: str) -> None:
    """Print a note."""
    typer.echo(f"note: {printable(message)}", err=True)


def readable(number: float, digits: int = 6) -> str:
    """A number with a space between thousands, as in ``14 000``."""
    if not math.isfinite(number) or not 1e-4 <= abs(number) < 1e12:
        return f"{number:.{digits}g}"
    decimals = digits - 1 - math.floor(math.log10(abs(number)))
    text = f"{round(number, decimals):,.{max(decimals, 0)}f}".replace(",", " ")
    return text.rstrip("0").rstrip(".") if "." in text else text


def print_result(values: dict[str, Any], lines: list[str], json: bool) -> None:
    """Print a result as JSON or as lines of text."""
    typer.echo(as_json(values) if json else "\n".join(map(printable, lines)))


def printable(text: str) -> str:
    """Text without control characters: names come from files and could steer a terminal."""
    return "".join(c if c.isprintable() else " " for c in text)


def as_json(values: Any) -> str:
    """One JSON object on one line; NaN and infinity are null."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [plain(item) for item in value]
        return None if isinstance(value, float) and not math.isfinite(value) else value

    return json.dumps(plain(values), ensure_ascii=False, allow_nan=False)


class FitProgress:
    """Progress of a fit: one line that changes on a terminal, otherwise a line for each step."""

    def __init__(self, steps: int) -> None:
        self._console = Console(stderr=True)
        self._status = self._console.status("fitting") if self._console.is_terminal else None
        self._expected, self._done, self._start = steps, 0, time.monotonic()

    def __enter__(self) -> FitProgress:
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(self, *reason: object) -> None:
        if self._status is not None:
            self._status.stop()

    def show(self, line: str) -> None:
        """Show a finished step, and how many there will be about."""
        self._done += 1
        self._expected = max(self._expected, self._done)
        seconds = readable(round(time.monotonic() - self._start))
        words = f"step {self._done} of about {self._expected}, {seconds} s so far"
        if self._status is None:
            typer.echo(f"{line} ({words})", err=True)
        else:
            self._status.update(escape(f"{words}: {line}"))


class RowProgress:
    """A bar on a terminal for work whose parts are counted; nothing elsewhere."""

    def __init__(self, description: str, total: int) -> None:
        console = Console(stderr=True)
        self._bar = Progress(console=console, transient=True, disable=not console.is_terminal)
        self._task = self._bar.add_task(description, total=total)

    def __enter__(self) -> RowProgress:
        self._bar.start()
        return self

    def __exit__(self, *reason: object) -> None:
        self._bar.stop()

    def show(self, done: int, total: int | None = None) -> None:
        """Show the number of parts that are done, and perhaps a new number of all parts."""
        self._bar.update(self._task, completed=done, total=total)
