"""Signals that end a command: its workers are stopped and its partial files are removed."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

#: Ends of a session, of a job and of a terminal; Windows does not have all of them.
NAMES = ("SIGTERM", "SIGHUP")


class StoppedBySignal(SystemExit):
    """The exit of a command that a signal ended; the exit code is 128 + its number."""


def exit_on_signals() -> None:
    """Turn the signals into an exception, so that every cleanup runs.

    A signal that is ignored, as under ``nohup``, stays ignored.
    """
    for name in NAMES:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _stop)


@contextmanager
def signals_before_errors() -> Iterator[None]:
    """Raise the signal instead of an error that was raised during its cleanup.

    A signal may arrive while worker processes are being started.  Then their cleanup fails.
    """
    try:
        yield
    except Exception as error:
        context: BaseException | None = error
        while context is not None and not isinstance(context, StoppedBySignal):
            context = context.__context__
        if context is None:
            raise
        raise context from None


def _stop(number: int, frame: FrameType | None) -> None:
    # A second signal must not interrupt the cleanup.
    signal.signal(number, signal.SIG_IGN)
    raise StoppedBySignal(128 + number)
