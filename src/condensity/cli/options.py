"""What stands behind options, as values."""

from __future__ import annotations

import csv
import math
from pathlib import Path

from condensity.cli.messages import note


def out_file(path: Path, *inputs: str | None) -> None:
    """Say what is to be known of a file before minutes of work go into it."""
    if path.is_file() and any(path.samefile(given) for given in inputs if given and given != "-"):
        raise ValueError(f"--out {path} is a file that is read: name another")
    if path.is_dir():
        raise ValueError(f"{path} is a folder: name a file in it with --out")
    if not path.parent.exists():
        note(f"the folder {path.parent} is made")


def names(option: str, given: str | None, known: list[str]) -> list[str]:
    """Names of columns, separated by commas; one that holds commas stands alone or in quotes."""
    if not given:
        return []
    parts = next(csv.reader([given], skipinitialspace=True))
    found = [given] if given in known else [part.strip() for part in parts]
    for name in found:
        if name not in known:
            raise ValueError(
                f"{option} names {name!r}, which is no column: choose among "
                f"{', '.join(repr(other) for other in known)}"
            )
    return found


def levels(option: str, given: str | None) -> list[tuple[str, float]]:
    """Probabilities within 0 and 1, as they were spelt and as numbers."""
    found = numbers(option, given)
    for spelt, value in found:
        if not 0 < value < 1:
            raise ValueError(f"{option} must lie between 0 and 1, got {spelt}: give 0.9 for 90 %")
    return found


def numbers(option: str, given: str | None) -> list[tuple[str, float]]:
    """Numbers, separated by commas, as they were spelt and as numbers."""
    parts = [part.strip() for part in given.split(",")] if given else []
    return [(part, _number(option, part)) for part in parts]


def bounds(given: list[str], n_targets: int) -> list[tuple[float | None, float | None]] | None:
    """A pair for each target: ``0,`` is a lower bound of 0, ``,1`` an upper bound of 1."""
    if not given:
        return None
    if len(given) not in (1, n_targets):
        raise ValueError(
            f"--bounds is given {len(given)} times for {n_targets} targets: give it once, or once "
            "for each target"
        )
    pairs = [_pair(one) for one in given]
    return pairs * n_targets if len(pairs) == 1 else pairs


def _pair(given: str) -> tuple[float | None, float | None]:
    ends = [end.strip() for end in given.split(",")]
    if len(ends) != 2:
        raise ValueError(f"--bounds must be LOWER,UPPER, got {given!r}: '0,' stands for y > 0")
    lower, upper = (_number("--bounds", end) if end else None for end in ends)
    return lower, upper


def components(given: str) -> int | str:
    """A number of directions, or auto."""
    if given == "auto" or (given.isdecimal() and int(given) > 0):
        return given if given == "auto" else int(given)
    raise ValueError(f"--components must be a number such as 2, or auto, got {given!r}")


def _number(option: str, spelt: str) -> float:
    try:
        value = float(spelt)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise ValueError(f"{option} must be numbers separated by commas, got {spelt!r}")
    return value
