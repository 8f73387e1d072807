"""Columns of tables: their kind, and the rule that turns their values into numbers.

Kinds, categories, medians and ranges are learned once, from the training rows.  A chunk of rows is
therefore encoded as it would be within the whole table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from condensity._typing import Array, Indices, Mask
from condensity.tables.cells import (
    Cells,
    category_name,
    is_missing,
    number_column,
    row_number,
    to_number,
)
from condensity.tables.dates import (
    FIRST_DAY,
    LAST_DAY,
    ORDERS,
    PARTS,
    date_inputs,
    day_numbers,
    recognised_orders,
)
from condensity.tables.errors import ParameterValue, Part, TableError

#: Maximum number of categories in a column.  Each category becomes an input.
MOST_CATEGORIES = 100
NUMBER, FLAG, CATEGORY, DATE = KINDS = ("number", "flag", "category", "date")
POLICIES = ("error", "drop", "impute")


@dataclass(frozen=True)
class Column:
    """An input column of a table, with the rule that turns its values into numbers.

    A number stays a number.  A flag becomes 0 or 1.  A category becomes one input of zeros and
    ones for each of its values.  A date becomes the year, the month, the weekday (1 is Monday), the
    hour and the days since the first date; those that do not vary are left out.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : {"number", "flag", "category", "date"}
        Kind of its values.
    categories : tuple of str, default=()
        Values of a category.  Empty for other kinds.
    fill : float, default=0.0
        Number that replaces a missing value: the median of the training rows.  For a date, days
        since 1970.
    order : {"", "ymd", "dmy", "mdy"}, default=""
        Order of year, month and day in a date.  Empty for other kinds.
    first : float, default=0.0
        First date of the training rows, in days since 1970.
    parts : tuple of {"year", "month", "weekday", "hour", "days"}, default=()
        Inputs that a date becomes.  Empty for other kinds.
    low : tuple of float, default=()
        Smallest value of each input in the training rows.  Empty for categories, and if it is
        unknown.
    high : tuple of float, default=()
        Largest value of each input in the training rows.

    See Also
    --------
    TableModel : Fitted estimator with the columns of its table.

    Examples
    --------
    >>> import numpy as np
    >>> from condensity.tables import Column
    >>> colour = Column.learn("colour", np.array(["red", "blue", "red", "blue"], dtype=object))
    >>> colour.names
    ['colour=blue', 'colour=red']
    >>> sold = Column.learn("sold", np.array(["2024-01-31", "2024-02-01"], dtype=object))
    >>> sold.names
    ['sold.month', 'sold.weekday', 'sold.days']
    """

    name: str
    kind: str
    categories: tuple[str, ...] = ()
    fill: float = 0.0
    order: str = ""
    first: float = 0.0
    parts: tuple[str, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        valid = isinstance(self.name, str) and self.kind in KINDS and np.isfinite(self.fill)
        names = isinstance(self.categories, tuple) and all(
            isinstance(category, str) for category in self.categories
        )
        distinct = names and len(set(self.categories)) == len(self.categories)
        if not (valid and distinct and bool(self.categories) == (self.kind == CATEGORY)):
            raise ValueError(
                f"invalid column {self.name!r}: kind must be one of {', '.join(map(repr, KINDS))}, "
                "categories different strings (empty unless kind is 'category'), fill a finite "
                f"number, got {self.kind!r}, {self.categories!r}, {self.fill!r}"
            )
        self._check_date()
        self._check_range()

    def _check_date(self) -> None:
        if self.kind == DATE:
            days = FIRST_DAY <= min(self.first, self.fill) <= max(self.first, self.fill) <= LAST_DAY
            parts = isinstance(self.parts, tuple) and self.parts[-1:] == PARTS[-1:]
            # A subset of the parts, in their order.
            valid = days and parts and tuple(p for p in PARTS if p in self.parts) == self.parts
            valid = valid and self.order in ORDERS
        else:
            valid = (self.order, self.first, self.parts) == ("", 0.0, ())
        if not valid:
            raise ValueError(
                f"invalid column {self.name!r}: order must be one of {', '.join(ORDERS)}, parts "
                f"some of {', '.join(PARTS)}, first and fill days (only for the kind 'date'), got "
                f"{self.order!r}, {self.parts!r}, {self.first!r}, {self.fill!r}"
            )

    def _check_range(self) -> None:
        tuples = isinstance(self.low, tuple) and isinstance(self.high, tuple)
        numbers = tuples and all(
            isinstance(end, float) and np.isfinite(end) for end in (*self.low, *self.high)
        )
        size = 0 if self.kind == CATEGORY else len(self.names)
        if not (
            numbers
            and len(self.low) == len(self.high)
            and len(self.low) in (0, size)
            and all(low <= high for low, high in zip(self.low, self.high, strict=True))
        ):
            raise ValueError(
                f"invalid column {self.name!r}: low and high must be {size} finite numbers or "
                f"none, low <= high, got {self.low!r}, {self.high!r}"
            )

    @classmethod
    def learn(
        cls,
        name: str,
        column: Cells,
        *,
        as_category: bool = False,
        as_date: str | None = None,
        rows: Indices | None = None,
    ) -> Column:
        """Column with the kind, categories, median and range of some values.

        Parameters
        ----------
        name : str
            Name of the column.
        column : ndarray of shape (n,)
            Cells: floats, text, or None for a missing value.
        as_category : bool, default=False
            Whether numbers are categories.
        as_date : {None, "", "ymd", "dmy", "mdy"}, default=None
            Order of year, month and day in a column of dates; "" recognises the order.  None: the
            column may be of any kind.
        rows : None or ndarray of shape (n,), default=None
            Row numbers for error messages.  None: 1, 2, ...

        Returns
        -------
        Column
            The column.

        Raises
        ------
        TableError
            If the values cannot be an input: no values, too many categories, a word among numbers
            or dates, or dates whose day and month cannot be told apart.
        """
        present = [cell for cell in column if cell is not None]
        if not present:
            raise _unusable(name, "has no values", ": ", *LEAVE_OUT)
        if as_category:
            return cls(name, CATEGORY, _categories(name, present))
        if as_date is not None:
            return _date_column(name, column, as_date or _order(name, present), rows)
        if {category_name(cell).lower() for cell in present} <= {"true", "false"}:
            flags = _flags(present)
            return cls(name, FLAG, fill=float(np.mean(flags) > 0.5), **_range(np.c_[flags]))
        values = np.array([to_number(cell) for cell in present])
        finite = values[np.isfinite(values)]
        if 2 * len(finite) > len(present):
            exclude = ParameterValue("exclude", [name])
            remedy = (
                "correct the value, or name the column in ",
                ParameterValue("exclude"),
                " or ",
                ParameterValue("categorical"),
            )
            number_column(name, column, *remedy, rows=rows, corrections=[exclude])
            return cls(name, NUMBER, fill=float(np.median(finite)), **_range(finite[:, None]))
        if recognised_orders(present):
            return _date_column(name, column, _order(name, present), rows)
        return cls(name, CATEGORY, _categories(name, present))

    @property
    def names(self) -> list[str]:
        """Names of the inputs that the column becomes."""
        if self.kind == DATE:
            return [f"{self.name}.{part}" for part in self.parts]
        return [f"{self.name}={c}" for c in self.categories] or [self.name]

    def encode(self, column: Cells, *, first_row: int = 1) -> tuple[Array, Mask]:
        """Encode values of the column as numbers.

        Parameters
        ----------
        column : ndarray of shape (m,)
            Cells: floats, text, or None for a missing value.
        first_row : int, default=1
            Number of the first row, for error messages.

        Returns
        -------
        values : ndarray of shape (m, k)
            Inputs.  A missing number or date is replaced by ``fill``.  A missing or unknown
            category is zero in all inputs.
        unseen : ndarray of shape (m,)
            Mask of the categories that are unknown.
        """
        if self.kind == CATEGORY:
            index = {category: k for k, category in enumerate(self.categories)}
            at = np.array(
                [-1 if c is None else index.get(category_name(c), -1) for c in column], dtype=int
            )
            one_hot = (at[:, None] == np.arange(len(index))).astype(float)
            return one_hot, (at < 0) & ~is_missing(column)
        remedy = "correct the value, or fit a new model to the new kind of values"
        if self.kind == DATE:
            days = _checked_days(self.name, column, self.order, remedy, first_row=first_row)
        else:
            flags = _flags(column) if self.kind == FLAG else column
            days = number_column(self.name, flags, remedy, first_row=first_row)
        filled = np.where(np.isnan(days), self.fill, days)
        values = self._parts(filled) if self.kind == DATE else filled[:, None]
        return values, np.zeros(len(column), dtype=bool)

    def _parts(self, days: Array) -> Array:
        inputs = date_inputs(days, self.first)
        return inputs[:, [PARTS.index(part) for part in self.parts]]

    def outside(self, values: Array) -> Mask:
        """Values outside the range of the training rows.

        Parameters
        ----------
        values : ndarray of shape (m, k)
            Inputs, from ``encode``.

        Returns
        -------
        ndarray of shape (m,)
            Mask of these values.  A date is compared by its day.  None is outside if the range is
            unknown.
        """
        if not self.low:
            return np.zeros(len(values), dtype=bool)
        return np.asarray((values[:, -1] < self.low[-1]) | (values[:, -1] > self.high[-1]))


LEAVE_OUT = ("name it in ", ParameterValue("exclude"))


def _unusable(name: str, cause: str, *remedy: Part) -> TableError:
    """Error for a column that can be left out."""
    correction = ParameterValue("exclude", [name])
    return TableError(f"column {name!r} {cause}", *remedy, corrections=[correction])


def _range(values: Array) -> dict[str, Any]:
    """Fields for the range of inputs (n, k)."""
    ends = np.asarray(values, dtype=float)
    return {"low": tuple(ends.min(axis=0).tolist()), "high": tuple(ends.max(axis=0).tolist())}


def _flags(column: Iterable[Any]) -> Cells:
    """Cells with 1 for true and 0 for false."""
    spelt = {"true": 1.0, "false": 0.0}
    values = [spelt.get(c.lower(), c) if isinstance(c, str) else c for c in column]
    return np.fromiter(values, dtype=object, count=len(values))


def _order(name: str, present: Sequence[float | str]) -> str:
    """Order of year, month and day in most values, if there is only one."""
    orders = recognised_orders(present)
    if len(orders) > 1:
        settings = [ParameterValue("dates", {name: order}) for order in reversed(orders)]
        raise TableError(
            f"column {name!r} holds dates such as {present[0]!r}, in which the month or the day "
            "may come first: choose ",
            settings[0],
            " or ",
            settings[1],
            corrections=settings[:1],
        )
    # Without an order, the first value that is not a date is named.
    return orders[0] if orders else ORDERS[0]


def _date_column(name: str, column: Cells, order: str, rows: Indices | None) -> Column:
    """Column of dates; inputs that do not vary are left out, except the days since the first."""
    remedy = (
        "write dates as 2020-12-31, or name the column in ",
        ParameterValue("exclude"),
        " or ",
        ParameterValue("categorical"),
    )
    days = _checked_days(name, column, order, *remedy, rows=rows)
    days = days[~np.isnan(days)]
    first = float(days.min())
    inputs = date_inputs(days, first)
    kept = [j for j, part in enumerate(PARTS) if part == PARTS[-1] or np.ptp(inputs[:, j]) > 0]
    parts = tuple(PARTS[j] for j in kept)
    ends = _range(inputs[:, kept])
    return Column(name, DATE, (), float(np.median(days)), order, first, parts, **ends)


def _checked_days(
    name: str,
    column: Cells,
    order: str,
    *remedy: Part,
    first_row: int = 1,
    rows: Indices | None = None,
) -> Array:
    """Dates in days since 1970, NaN for a missing value; an error for other text: (m,)."""
    days = day_numbers(column, order)
    invalid = np.isinf(days)
    if invalid.any():
        place = int(np.argmax(invalid))
        row, value = row_number(place, first_row, rows), category_name(column[place])
        kind = {"ymd": "2020-12-31", "dmy": "31.12.2020", "mdy": "12/31/2020"}[order]
        cause = f"must hold dates such as {kind}, got {value!r} in row {row}: "
        raise _unusable(name, cause, *remedy)
    return days


def _categories(name: str, present: Sequence[float | str]) -> tuple[str, ...]:
    categories = sorted({category_name(cell) for cell in present})
    if len(categories) > min(MOST_CATEGORIES, max(2, len(present) / 2)):
        cause = (
            f"has {len(categories)} categories in {len(present)} rows, such as {categories[0]!r}, "
            "which is too many: "
        )
        raise _unusable(name, cause, *LEAVE_OUT, ", or merge categories")
    return tuple(categories)
