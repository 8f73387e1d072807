"""Numbers as people write them: decimal commas, separated thousands, currency signs.

The first rows of a file decide how its numbers are written.  ``1.234,5`` can only have a decimal
comma, ``1,234.5`` only a decimal point; ``1,234`` may be either, and is read like the other numbers
of its column or of its file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from condensity.tables.cells import MISSING

POINT, COMMA = ".", ","
CURRENCIES = (
    r"[$€£¥₹₽₩₺₪฿%]|R\$|kr\.?|zł|Fr\.|"
    "USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|HUF|BRL|CAD|AUD|NZD"
)
SPACES = " \u00a0\u202f'’"
NUMBER = re.compile(
    rf"(?P<before>{CURRENCIES})?\s?(?P<sign>[+\-−]?)\s?(?P<inside>{CURRENCIES})?\s?"
    rf"(?P<body>\d[\d.,{SPACES}]*\d|\d|[.,]\d+|\d+[.,])(?P<power>[eE][+-]?\d+)?"
    rf"\s?(?P<after>{CURRENCIES})?"
)
#: Longer cells are text.
LONGEST = 40
#: Numbers by their decimal sign: the whole part, perhaps with separated thousands, and decimals.
BODIES = {
    sign: re.compile(
        rf"(?P<whole>\d*|[1-9]\d{{0,2}}([{group}{SPACES}])\d{{3}}(\2\d{{3}})*)"
        rf"({re.escape(sign)}(?P<decimals>\d*))?"
    )
    for sign, group in ((COMMA, POINT), (POINT, COMMA))
}
#: Numbers that need no translation, whatever the decimal sign is, and with a decimal point.
PLAIN = re.compile(r"\s*[+-]?\d+\s*")
PLAIN_WITH_POINT = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
#: Columns that a note names at most.
NAMED = 5


@dataclass(frozen=True)
class NumberStyle:
    """How the numbers of a column are written.

    ``decimal`` is None if it is not known.  Each number is then read by itself, and a single
    separator is the decimal sign.
    """

    decimal: str | None

    def plain(self, cell: Any) -> Any:
        """A number in the spelling of Python; other cells are unchanged."""
        unchanged = PLAIN_WITH_POINT if self.decimal == POINT else PLAIN
        if not isinstance(cell, str) or unchanged.fullmatch(cell):
            return cell
        found = _parts(cell)
        if found is None:
            return cell
        number = _plain(found["body"], self.decimal) if self.decimal else _alone(found["body"])
        if number is None:
            return cell
        return f"{found['sign'].replace('−', '-')}{number}{found['power'] or ''}"


@dataclass
class _Evidence:
    """What the cells of a column say about its numbers."""

    comma: int = 0  # numbers that can only have a decimal comma
    point: int = 0  # numbers that can only have a decimal point
    either: str = ""  # a number that may have either
    numbers: int = 0
    others: int = 0
    currencies: frozenset[str] = frozenset()
    example: str = ""  # a number with a currency sign or separated thousands

    def add(self, cell: Any) -> None:
        """Count a cell."""
        if not isinstance(cell, str) or cell.strip() in MISSING:
            return
        if PLAIN.fullmatch(cell):
            self.numbers += 1
            return
        found = _parts(cell)
        readings = {} if found is None else _readings(found["body"])
        if found is None or not readings:
            self.others += 1
            return
        self.numbers += 1
        signs = {found[name] for name in ("before", "inside", "after")} - {None}
        self.currencies |= signs
        possible = [*readings] if len(set(readings.values())) == len(readings) else []
        if len(possible) == 2 and signs - {"%"}:  # money does not have three decimals
            possible = [POINT if COMMA in found["body"] else COMMA]
        self.comma += possible == [COMMA]
        self.point += possible == [POINT]
        text = cell.strip()
        if len(possible) == 2:
            self.either = self.either or text
        if signs or _separators(found["body"]) > 1:
            self.example = self.example or text

    @property
    def useful(self) -> bool:
        """Whether most cells are numbers, of one currency at most."""
        return self.numbers > self.others and len(self.currencies) <= 1

    def decimal(self, default: str | None) -> str | None:
        """The decimal sign; ``default`` if the cells do not show it."""
        if self.comma and self.point:
            return None
        return COMMA if self.comma else POINT if self.point else default


@dataclass(frozen=True)
class Spelling:
    """How the numbers of a file are written."""

    styles: Mapping[str, NumberStyle]  # for the columns of numbers
    decimal: str  # the sign for answers
    examples: Mapping[str, str]  # numbers whose reading the user should know, by column

    @classmethod
    def of(cls, columns: Mapping[str, Iterable[Any]], delimiter: str) -> Spelling:
        """The spelling that some cells of each column show."""
        evidence = {name: _Evidence() for name in columns}
        for name, cells in columns.items():
            for cell in cells:
                evidence[name].add(cell)
        useful = {name: e for name, e in evidence.items() if e.useful}
        comma, point = (any(getattr(e, k) for e in useful.values()) for k in ("comma", "point"))
        default = None if delimiter == ";" else POINT
        if comma != point:
            default = COMMA if comma else POINT
        styles = {name: NumberStyle(e.decimal(default)) for name, e in useful.items()}
        written = COMMA if not point and (comma or delimiter == ";") else POINT
        unsure = {n: e.either for n, e in useful.items() if e.either and not (e.comma or e.point)}
        marked = {name: e.example for name, e in useful.items() if e.example}
        return cls(styles, written, marked | unsure)

    def plain(self, block: Mapping[str, Any]) -> dict[str, Any]:
        """A block of rows with numbers in the spelling of Python."""
        return {name: self._column(name, column) for name, column in block.items()}

    def _column(self, name: str, column: Any) -> Any:
        style = self.styles.get(name)
        if style is None:
            return column
        return np.fromiter(map(style.plain, column), dtype=object, count=len(column))

    def note(self) -> str | None:
        """How numbers with signs or with separated thousands are read, or None without them."""
        listed = [
            f"{text!r} in {name!r} is read as {self.styles[name].plain(text)}"
            for name, text in islice(self.examples.items(), NAMED)
        ]
        more = ["..."] if len(self.examples) > NAMED else []
        return ", ".join([*listed, *more]) if listed else None


def _parts(cell: str) -> re.Match[str] | None:
    """The parts of a number, or None for other text."""
    text = cell.strip()
    return NUMBER.fullmatch(text) if len(text) <= LONGEST else None


def _separators(body: str) -> int:
    """Number of separators; a space counts twice, as it always separates thousands."""
    return sum(2 if character in SPACES else character in ".," for character in body)


def _readings(body: str) -> dict[str, str]:
    """The number, for each decimal sign with which it can be read."""
    readings = {sign: _plain(body, sign) for sign in (COMMA, POINT)}
    return {sign: number for sign, number in readings.items() if number is not None}


def _plain(body: str, decimal: str) -> str | None:
    """A number without separators and with a decimal point, or None if it is written otherwise."""
    found = BODIES[decimal].fullmatch(body)
    if found is None:
        return None
    whole = re.sub(rf"[.,{SPACES}]", "", found["whole"])
    decimals = found["decimals"]
    if not (whole or decimals):
        return None
    return whole if decimals is None else f"{whole}.{decimals}"


def _alone(body: str) -> str | None:
    """A number that is read without knowing the decimal sign."""
    readings = [*_readings(body).values()]
    return next((number for number in readings if POINT in number), None) or next(
        iter(readings), None
    )
