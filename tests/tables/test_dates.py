"""Dates become numbers as Python's own datetime counts them."""

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest

import condensity
from commands import columns
from condensity import LSCDE
from condensity.tables import TableError, TableWarning, fit_table
from condensity.tables.cells import cells
from condensity.tables.columns import Column
from condensity.tables.dates import date_text, day_numbers, recognised_orders

FIXED = LSCDE(bandwidth=0.5, penalty=0.1, random_state=0)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def days_since_1970(*fields):
    return (datetime(*fields, tzinfo=UTC) - EPOCH) / timedelta(days=1)


SPELLINGS = {
    "2024-02-29": ("ymd", (2024, 2, 29)),
    "2024/2/9": ("ymd", (2024, 2, 9)),
    "2024-02": ("ymd", (2024, 2, 1)),
    "20240229": ("ymd", (2024, 2, 29)),
    "2024-02-29T13:05": ("ymd", (2024, 2, 29, 13, 5)),
    "2024-02-29 13:05:30.5": ("ymd", (2024, 2, 29, 13, 5, 30, 500_000)),
    "2024-02-29 23:00:00+02:00": ("ymd", (2024, 2, 29, 23)),  # the clock at the place
    "29.2.2024": ("dmy", (2024, 2, 29)),
    "29.02.24": ("dmy", (2024, 2, 29)),
    "29.02.72": ("dmy", (1972, 2, 29)),
    "2/29/2024 1:05 PM": ("mdy", (2024, 2, 29, 13, 5)),
    "02-29-2024 12:00 am": ("mdy", (2024, 2, 29)),
    "1066-10-14": ("ymd", (1066, 10, 14)),
}


@pytest.mark.parametrize(("text", "expected"), SPELLINGS.items())
def test_dates_are_read(text, expected):
    order, fields = expected
    found = day_numbers(cells([text]), order)[0]
    assert found == pytest.approx(days_since_1970(*fields), rel=1e-15, abs=1e-9)


@pytest.mark.parametrize(
    "text", ["2023-02-29", "2024-13-01", "29/02", "2024-02/29", "2024-02-29 25:00", "2024-1-1 x"]
)
def test_other_text_is_not_a_date(text):
    assert np.isinf(day_numbers(cells([text]), "ymd"))


def test_the_order_is_recognised():
    assert recognised_orders(["31/01/2024", "01/02/2024"]) == ["dmy"]
    assert recognised_orders(["01/31/2024", "01/02/2024"]) == ["mdy"]
    assert recognised_orders(["01/02/2024", "03/04/2024"]) == ["dmy", "mdy"]
    assert recognised_orders(["01.02.2024", "03.04.2024"]) == ["dmy"]  # with points: day first
    assert recognised_orders(["2024-01-02"] * 3 + ["soon"]) == ["ymd"]
    assert recognised_orders(["2024-01-02", "soon"]) == []
    assert recognised_orders([20240101.0, 20240102.0]) == []  # numbers stay numbers


def test_the_inputs_of_a_date_are_those_of_datetime():
    rng = np.random.default_rng(0)
    first = datetime(1999, 12, 31, 22, 30)
    times = [first, *(first + timedelta(minutes=int(m)) for m in rng.integers(0, 5e6, 50))]
    column = Column.learn("t", cells([str(t) for t in times]))
    assert column.names == ["t.year", "t.month", "t.weekday", "t.hour", "t.days"]
    found, unseen = column.encode(cells([str(t) for t in times]))
    expected = [
        [
            t.year,
            t.month,
            t.isoweekday(),
            t.hour + t.minute / 60,
            (t - first) / timedelta(days=1),
        ]
        for t in times
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-8)
    assert not unseen.any()
    assert (column.low, column.high) == (tuple(found.min(axis=0)), tuple(found.max(axis=0)))


def test_parts_that_do_not_vary_are_left_out_and_gaps_get_the_median():
    column = Column.learn("t", cells(["2024-03-04", None, "2024-03-11", "2024-03-25"]))  # Mondays
    assert column.names == ["t.days"]
    found, _ = column.encode(cells(["", "2024-03-05", "2024-04-01"]))
    np.testing.assert_array_equal(found, [[7.0], [1.0], [28.0]])
    np.testing.assert_array_equal(column.outside(found), [False, False, True])
    with pytest.raises(TableError, match="must hold dates such as 2020-12-31, got 'x' in row 11"):
        column.encode(cells(["x"]), first_row=11)


def test_columns_can_be_declared():
    compact = cells([20240101, 20240301, 20240302])
    assert Column.learn("t", compact).kind == "number"
    assert Column.learn("t", compact, as_date="ymd").names == ["t.month", "t.weekday", "t.days"]
    ambiguous = cells(["01/02/2024", "03/04/2024"])
    january, february = (Column.learn("t", ambiguous, as_date=o).first for o in ("mdy", "dmy"))
    assert january == days_since_1970(2024, 1, 2)
    assert february == days_since_1970(2024, 2, 1)
    words = cells(["a", "b"] * 5)
    with pytest.raises(TableError, match="must hold dates such as 2020-12-31, got 'a' in row 1"):
        Column.learn("t", words, as_date="")
    assert Column.learn("t", ambiguous, as_category=True).kind == "category"


def test_dates_are_written_as_text():
    assert date_text(days_since_1970(2024, 2, 29)) == "2024-02-29"
    assert date_text(days_since_1970(1969, 12, 31, 23, 59)) == "1969-12-31 23:59"


def dated(n=60):
    days = np.random.default_rng(1).integers(0, 900, n)
    return columns(n) | {"day": [date(2020, 1, 1) + timedelta(int(d)) for d in days]}


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame])
def test_frames_with_dates_are_fitted_and_stored(make, tmp_path):
    frame = make(dated())
    with pytest.warns(TableWarning, match="column 'day' holds dates, which become the inputs day."):
        model = fit_table(frame, "y", estimator=FIXED)
    condensity.save(model, tmp_path / "m.cdn")
    again = condensity.load(tmp_path / "m.cdn")
    assert again.columns == model.columns
    new = make(dated(5))
    np.testing.assert_array_equal(again.predict(new), model.predict(new))
    assert model.feature_names[-4:] == ["day.year", "day.month", "day.weekday", "day.days"]
    declared = fit_table(frame, "y", dates="day", exclude="a", estimator=FIXED, test_size=0)
    assert declared.columns[-1].order == "ymd"  # and there is no warning


WRONG = {
    "dates names 'q', which is not a column": {"dates": "q"},
    "dates has the order 'dym' for the column 'day': choose ymd, dmy, mdy": {
        "dates": {"day": "dym"}
    },
    "column 'day' cannot be both: remove it from dates or from categorical": {
        "dates": "day",
        "categorical": "day",
    },
    "column 'y' is a target: remove it from dates": {"dates": "y"},
}


@pytest.mark.parametrize(("says", "options"), WRONG.items(), ids=WRONG)
def test_wrong_options_are_refused(says, options):
    with pytest.raises(TableError, match=says):
        fit_table(dated(), "y", estimator=FIXED, **options)


STORED = {"name": "t", "kind": "date", "order": "ymd", "first": 5.0, "parts": ("days",)}


@pytest.mark.parametrize(
    "fields",
    [
        {"order": ""},
        {"order": "dym"},
        {"parts": ()},
        {"parts": ("days", "year")},
        {"parts": ["days"]},
        {"parts": ("century", "days")},
        {"first": 1e9},
        {"fill": -1e9},
        {"low": (0.0,)},
        {"low": (1.0,), "high": (0.0,)},
        {"low": (float("nan"),), "high": (1.0,)},
        {"low": (0.0, 1.0), "high": (1.0, 2.0)},
        {"kind": "number"},
    ],
)
def test_damaged_columns_are_refused(fields):
    assert Column(**STORED).names == ["t.days"]
    with pytest.raises(ValueError, match="invalid column 't'"):
        Column(**(STORED | fields))
