"""Values of command line options."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path

from condensity.cli.messages import note
from condensity.tables.dates import ORDERS

TABLE_HELP = "table: CSV (also .gz, .bz2, .xz, .zip), .xlsx or Parquet; - reads standard input"


def check_out_file(path: Path, *inputs: str | None) -> None:
    """Check the file to write before the work begins."""
    if path.is_file() and any(path.samefile(name) for name in inputs if name and name != "-"):
        raise ValueError(f"--out {path} is an input file: name another file")
    if path.is_dir():
        raise ValueError(f"--out {path} is a folder: name a file in it")
    if not path.parent.exists():
        note(f"the folder {path.parent} is created")


def parse_names(texts: Sequence[str] | None, known: Sequence[str]) -> list[str]:
    """Column names of an option that may be repeated.

    Each text is a name, or names separated by commas; a name with commas may be in quotes.
    """
    names: list[str] = []
    for text in texts or ():
        parts = [text] if text in known else next(csv.reader([text], skipinitialspace=True), [])
        names += [part if part in known else part.strip() for part in parts]
    return list(dict.fromkeys(names))


def parse_dates(texts: Sequence[str] | None, known: Sequence[str]) -> dict[str, str]:
    """Columns of dates, such as ``sold`` or, with the order of day and month, ``sold:dmy``."""
    orders: dict[str, str] = {}
    for text in parse_names(texts, known):
        name, _, order = text.rpartition(":")
        orders |= {name: order} if text not in known and order in ORDERS else {text: ""}
    return orders


def joined(texts: Sequence[str] | None) -> str | None:
    """The values of an option that may be repeated, as one list with commas."""
    return ",".join(texts) if texts else None


def parse_levels(option: str, text: str | None) -> list[tuple[str, float]]:
    """Probabilities between 0 and 1, as text and as numbers."""
    levels = parse_numbers(option, text)
    for spelling, value in levels:
        if not 0 < value < 1:
            raise ValueError(
                f"{option} must be between 0 and 1, got {spelling}: write 0.9 for 90 %"
            )
    return levels


def parse_numbers(option: str, text: str | None) -> list[tuple[str, float]]:
    """Numbers, separated by commas, as text and as numbers."""
    parts = [part.strip() for part in text.split(",")] if text else []
    return [(part, _number(option, part)) for part in parts]


def parse_atoms(text: str | None) -> str | list[float] | None:
    """Values such as ``0,50``, "auto", or None."""
    if text is None or text == "auto":
        return text
    return [value for _, value in parse_numbers("--atoms", text)]


def parse_bounds(
    values: list[str], n_targets: int
) -> list[tuple[float | None, float | None]] | str | None:
    """A pair for each target: ``0,`` is a lower bound of 0, ``,1`` an upper bound of 1.

    "auto", the default, leaves the decision to the estimator; "none" means no bounds.
    """
    if not values or values == ["auto"]:
        return "auto"
    if values == ["none"]:
        return None
    if len(values) not in (1, n_targets):
        raise ValueError(
            f"--bounds is given {len(values)} times for {n_targets} targets: give it once, or once "
            "for each target"
        )
    pairs = [_pair(value) for value in values]
    return pairs * n_targets if len(pairs) == 1 else pairs


def _pair(text: str) -> tuple[float | None, float | None]:
    ends = [end.strip() for end in text.split(",")]
    if len(ends) != 2:
        raise ValueError(
            f"--bounds must be LOWER,UPPER, got {text!r}: write '0,' for y > 0, or auto, or none"
        )
    lower, upper = (_number("--bounds", end) if end else None for end in ends)
    return lower, upper


def parse_components(text: str) -> int | str:
    """A number of directions, or auto."""
    if text == "auto":
        return text
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise ValueError(f"--components must be a number such as 2, or auto, got {text!r}")


def _number(option: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise ValueError(f"{option} must be numbers separated by commas, got {text!r}")
    return value
