"""Errors and warnings about tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ParameterValue:
    """A parameter that a message names, with a value that it has or can have."""

    name: str
    value: Any = None  # None: the message names the parameter alone

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name}={self.value!r}"


Part = str | ParameterValue


def spelled(parts: Sequence[Part], spell: Callable[[ParameterValue], str]) -> str:
    """A message with its settings in the spelling of an interface."""
    return "".join(part if isinstance(part, str) else spell(part) for part in parts)


class TableError(ValueError):
    """Error: a table or an option cannot be used.

    The message consists of text and of settings.  ``str(error)`` writes a setting as Python code,
    such as ``missing='drop'``.  The command line writes the same setting as ``--missing drop``.

    Parameters
    ----------
    *parts : str or ParameterValue
        Parts of the message, in order.
    corrections : sequence of ParameterValue, default=()
        Settings with which the table can be used, if they are known.

    See Also
    --------
    TableWarning : Facts about a table that do not prevent a fit.

    Examples
    --------
    >>> from condensity.tables import TableError, fit_table
    >>> try:
    ...     fit_table({"a": [1.0, 2.0], "y": [0.5, 0.7]}, target="z")
    ... except TableError as error:
    ...     print(error)
    target names 'z', which is not a column: choose among 'a', 'y'
    """

    def __init__(self, *parts: Part, corrections: Sequence[ParameterValue] = ()) -> None:
        super().__init__(*parts)
        self.parts = parts
        self.corrections = tuple(corrections)

    def __str__(self) -> str:
        message = self.message(str)
        if not self.corrections or "\n" not in message:
            return message
        return f"{message}\npass {', '.join(map(str, self.corrections))}"

    def message(self, spell: Callable[[ParameterValue], str]) -> str:
        """Message with settings in the spelling of an interface.

        Parameters
        ----------
        spell : callable
            Text for a ``ParameterValue``.

        Returns
        -------
        str
            The message.
        """
        return spelled(self.parts, spell)


class TableWarning(UserWarning):
    """A fact about a table that does not prevent a fit.

    Examples are rows that were left out, constant columns, and categories that occur in held-out
    rows only.

    Parameters
    ----------
    *parts : str or ParameterValue
        Parts of the message, as in ``TableError``.

    See Also
    --------
    TableError : A table that cannot be used.

    Examples
    --------
    >>> import warnings
    >>> from condensity.tables import TableWarning
    >>> warnings.simplefilter("ignore", TableWarning)
    """

    def __init__(self, *parts: Part) -> None:
        super().__init__(*parts)
        self.parts = parts

    def __str__(self) -> str:
        return self.message(str)

    def message(self, spell: Callable[[ParameterValue], str]) -> str:
        """Message with settings in the spelling of an interface.

        Parameters
        ----------
        spell : callable
            Text for a ``ParameterValue``.

        Returns
        -------
        str
            The message.
        """
        return spelled(self.parts, spell)


def count_noun(n: int, noun: str) -> str:
    """A number with its noun, in the singular or the plural."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
