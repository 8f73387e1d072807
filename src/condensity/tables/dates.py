"""Dates in tables: text to days, and the inputs that a date becomes.

A date is the number of days since 1 January 1970, with the time of day as a fraction.  The time is
that of the clock at the place: an offset such as ``+02:00`` is not applied.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

import numpy as np

from condensity._typing import Array
from condensity.tables.cells import Cells, category_name

#: Orders of year, month and day.
ORDERS = ("ymd", "dmy", "mdy")
#: Inputs that a date becomes; the last one is always used.
PARTS = ("year", "month", "weekday", "hour", "days")
DATE = re.compile(
    r"(\d{1,4})([-/.])(\d{1,2})\2(\d{4}|\d{1,2})"
    r"(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d*)?))?\s*([AaPp][Mm])?)?"
    r"\s*(?:Z|[+-]\d{2}:?\d{2})?"
)
MONTH = re.compile(r"(\d{4})[-/](\d{1,2})")
COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})")
EPOCH = date(1970, 1, 1).toordinal()
#: First and last day that a date can have.
FIRST_DAY, LAST_DAY = (date(*day).toordinal() - EPOCH for day in ((1, 1, 1), (9999, 12, 31)))


def day_numbers(column: Cells, order: str) -> Array:
    """Days since 1970; NaN for a missing value, infinity for other text: (m,)."""
    values = [
        np.nan if cell is None else _day_number(category_name(cell), order) for cell in column
    ]
    return np.array(values, dtype=float)


def recognised_orders(present: Sequence[float | str]) -> list[str]:
    """Orders in which most cells are dates; empty if the cells are not dates.

    There are two if day and month cannot be told apart.
    """
    cells = [cell for cell in present if isinstance(cell, str) and _looks_like_date(cell)]
    counts = {order: sum(np.isfinite(_day_number(c, order)) for c in cells) for order in ORDERS}
    most = max(counts.values())
    if 2 * most <= len(present):
        return []
    orders = [order for order in ORDERS if counts[order] == most]
    # With points, the day comes first wherever this notation is in use.
    return ["dmy"] if len(orders) > 1 and all("." in cell.split()[0] for cell in cells) else orders


def _looks_like_date(cell: str) -> bool:
    return bool(DATE.fullmatch(cell) or MONTH.fullmatch(cell))


def date_inputs(days: Array, first: float) -> Array:
    """Inputs of dates, one column for each of ``PARTS``: (m, 5).

    Months count from 1, weekdays from Monday, 1.  ``days`` are since the day ``first``.
    """
    whole = np.floor(days)
    day = whole.astype(np.int64).astype("M8[D]")
    year = day.astype("M8[Y]").astype(np.int64) + 1970
    month = day.astype("M8[M]").astype(np.int64) % 12 + 1
    hour = np.round((days - whole) * 1440) / 60
    return np.column_stack([year, month, (whole + 3) % 7 + 1, hour, days - first])


def date_text(day: float) -> str:
    """A date as ``2020-12-31``, with the time if it is not midnight."""
    minutes = round(day * 1440)
    text = date.fromordinal(EPOCH + minutes // 1440).isoformat()
    hour, minute = divmod(minutes % 1440, 60)
    return f"{text} {hour:02}:{minute:02}" if hour or minute else text


def _day_number(text: str, order: str) -> float:
    """Days since 1970, or infinity for text that is not a date in this order."""
    found = DATE.fullmatch(text)
    if found is None:
        return _month_or_compact(text) if order == "ymd" else np.inf
    first, _, second, third, hour, minute, second_of_minute, half = found.groups()
    fields = dict(zip(order, (first, second, third), strict=True))
    if len(fields["y"]) not in (2, 4) or (order == "ymd" and len(fields["y"]) != 4):
        return np.inf
    time = _time_of_day(hour, minute, second_of_minute, half)
    return _day(fields["y"], fields["m"], fields["d"]) + time


def _month_or_compact(text: str) -> float:
    """Days since 1970 for ``2020-12``, the first of the month, and for ``20201231``."""
    month, compact = MONTH.fullmatch(text), COMPACT.fullmatch(text)
    if month is not None:
        year, number = month.groups()
        return _day(year, number, "1")
    return np.inf if compact is None else _day(*compact.groups())


def _day(year: str, month: str, day: str) -> float:
    number = int(year)
    if len(year) == 2:  # the convention of POSIX
        number += 2000 if number < 69 else 1900
    try:
        return float(date(number, int(month), int(day)).toordinal() - EPOCH)
    except ValueError:
        return np.inf


def _time_of_day(hour: str | None, minute: str, second: str | None, half: str | None) -> float:
    """Share of the day that has passed, or infinity for a time that does not exist."""
    if hour is None:
        return 0.0
    hours, minutes, seconds = int(hour), int(minute), float(second or 0)
    if half is not None:
        if not 1 <= hours <= 12:
            return np.inf
        hours = hours % 12 + (12 if half.lower() == "pm" else 0)
    if hours > 23 or minutes > 59 or seconds >= 61:
        return np.inf
    return (hours * 3600 + minutes * 60 + seconds) / 86400
