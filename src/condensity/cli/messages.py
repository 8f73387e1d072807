"""How the commands speak: answers on standard output, all else on standard error."""

from __future__ import annotations

import errno
import json
import math
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape

from condensity.lsce.configurations import Configuration

REMEDIES = {
    errno.EACCES: "choose another file, or change its permissions",
    errno.EROFS: "choose another folder",
    errno.ENOSPC: "make room on the disk",
    errno.EISDIR: "name a file in it",
}


@contextmanager
def plain_errors() -> Iterator[None]:
    """What goes wrong in one sentence and exit code 2, the library's warnings as notes."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            # Arrays are asked in the order of the columns, by those who know it.
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            warnings.showwarning = lambda message, *rest, **more: note(str(message))
            yield
    except BrokenPipeError:  # whoever read our answers has enough of them
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(1) from None
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("condensity"):
            raise
        refuse(str(error))
    except FileNotFoundError as error:
        refuse(f"there is no file {error.filename}: check its name and its folder")
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        refuse(what + (f": {REMEDIES[error.errno]}" if error.errno in REMEDIES else ""))
    except ValueError as error:
        refuse(str(error))


def refuse(message: str) -> None:
    """Say why nothing is done, and end."""
    typer.echo(f"condensity: {printable(message)}", err=True)
    raise typer.Exit(2)


def note(message: str) -> None:
    """Something to know."""
    typer.echo(f"note: {printable(message)}", err=True)


def count(n: int, what: str) -> str:
    """So many of something, in the singular or the plural."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def answer(told: dict[str, Any], words: list[str], json: bool) -> None:
    """Answer a machine or a reader."""
    typer.echo(as_json(told) if json else "\n".join(map(printable, words)))


def printable(text: str) -> str:
    """One line without what would steer a terminal: names come from files."""
    return "".join(c if c.isprintable() else " " for c in text)


def as_json(told: Any) -> str:
    """One object on one line; what is no number is null."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [plain(item) for item in value]
        return None if isinstance(value, float) and not math.isfinite(value) else value

    return json.dumps(plain(told), ensure_ascii=False, allow_nan=False)


class Progress:
    """What is being done: a spinner on a terminal, elsewhere a line for each thing done."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._status = self._console.status("fitting") if self._console.is_terminal else None

    def __enter__(self) -> Progress:
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(self, *reason: object) -> None:
        if self._status is not None:
            self._status.stop()

    def say(self, text: str) -> None:
        """Tell what is done now."""
        if self._status is None:
            typer.echo(text, err=True)
        else:
            self._status.update(escape(text))

    def hear(self, tried: Configuration) -> None:
        """Tell of a configuration that the fit has tried."""
        self.say(
            f"fitting: tried location {tried.location}, directions {tried.n_components}, "
            f"loss at new samples {tried.loss:.4f} (y standardised)"
        )
