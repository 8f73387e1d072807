"""Tables become arrays as a hand would write them."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from condensity.tables import TableError
from condensity.tables.cells import cells, is_missing
from condensity.tables.column_selection import check_names
from condensity.tables.columns import Column
from condensity.tables.frames import check_columns, encode, first_repeated
from condensity.tables.training import complete_rows, learn_table

NAN = float("nan")


def learn(table, features, targets, **options):
    """The complete rows of a table, and what is learned from all of them."""
    complete = complete_rows(table, features, targets, **options)
    return complete, learn_table(complete, np.arange(len(complete)))


def test_cells_are_numbers_text_or_missing():
    mixed = [" x ", "", "NA", None, NAN, 1, 2.5, True, Decimal("0.5"), pd.NA, "?"]
    expected = ["x", None, None, None, None, 1.0, 2.5, "True", 0.5, None, None]
    assert cells(np.array(mixed, dtype=object)).tolist() == expected
    assert cells(pd.Series([1, None], dtype="Int64")).tolist() == [1.0, None]
    assert cells(pd.Series(["a", None], dtype="category")).tolist() == ["a", None]
    assert cells(pl.Series([1.5, None])).tolist() == [1.5, None]
    assert cells(np.array(["2020-01-02", "NaT"], "M8[D]")).tolist() == ["2020-01-02", None]
    assert is_missing(cells(["a", ""])).tolist() == [False, True]


def test_encoding_is_what_a_hand_would_write():
    table = {
        "size": ["1.5", "3", " -2e1 ", "7"],
        "on": ["TRUE", "false", "False", "true"],
        "kind": ["b", "a", "b", "a"],
        "y": ["1", "2", "3", "4"],
    }
    complete, found = learn(table, ["size", "on", "kind"], ["y"])
    expected = [[1.5, 1, 0, 1], [3, 0, 1, 0], [-20, 0, 0, 1], [7, 1, 1, 0]]
    np.testing.assert_array_equal(found.X, expected)
    np.testing.assert_array_equal(found.Y, [[1], [2], [3], [4]])
    assert [c.kind for c in found.columns] == ["number", "flag", "category"]
    assert [name for c in found.columns for name in c.names] == ["size", "on", "kind=a", "kind=b"]
    assert found.columns[0].fill == 2.25
    assert (complete.missing, complete.n_dropped) == ({}, 0)


def test_new_and_missing_categories_have_none():
    columns = [Column("k", "category", ("1", "b")), Column("x", "number", fill=4.0)]
    found = encode(columns, {"k": [1.0, "c", None, "b"], "x": ["1", "2", "", "3"]})
    np.testing.assert_array_equal(found.X, [[1, 0, 1], [0, 0, 2], [0, 0, 4], [0, 1, 3]])
    np.testing.assert_array_equal(found.unseen[:, 0], [False, True, False, False])
    np.testing.assert_array_equal(found.missing, [[0, 0], [0, 0], [1, 1], [0, 0]])


@pytest.mark.parametrize(
    "make", [dict, pd.DataFrame, pl.DataFrame], ids=["dict", "pandas", "polars"]
)
def test_frames_of_all_kinds_are_tables(make):
    columns = [Column("k", "category", ("1", "b")), Column("x", "number")]
    table = make({"k": ["b", "1"], "x": [1, 2]})
    np.testing.assert_array_equal(encode(columns, table).X, [[0, 1, 1], [1, 0, 2]])
    with pytest.raises(ValueError, match="the table lacks the columns 'z', 'w': add"):
        encode([Column(name, "number") for name in ("x", "z", "w")], table)


GAPS = {"x": ["1", "", "3", "8", "2"], "k": ["a", "b", "?", "a", "b"], "y": [1, 2, 3, None, 5]}


def test_missing_values_are_refused_dropped_or_imputed():
    with pytest.raises(
        TableError,
        match=r"missing in 'x' \(1\), 'k' \(1\), 'y' \(1\): choose missing='drop' \(leave their "
        r"rows out\) or missing='impute' \(fill them in\), or name these columns in exclude$",
    ):
        learn(GAPS, ["x", "k"], ["y"])
    complete, dropped = learn(GAPS, ["x", "k"], ["y"], missing="drop")
    np.testing.assert_array_equal(dropped.X, [[1, 1, 0], [2, 0, 1]])
    assert complete.n_dropped == 3
    complete, filled = learn(GAPS, ["x", "k"], ["y"], missing="impute")
    np.testing.assert_array_equal(filled.X, [[1, 1, 0], [2, 0, 1], [3, 0, 0], [2, 0, 1]])
    np.testing.assert_array_equal(filled.Y[:, 0], [1, 2, 3, 5])
    assert complete.missing == {"x": 1, "k": 1, "y": 1}
    with pytest.raises(ValueError, match="none of the 2 rows is complete: name columns"):
        learn({"x": [1, None], "y": [None, 2]}, ["x"], ["y"], missing="drop")


REFUSED = {
    "a word among dates": (
        [*["2020-01-01", "2020-01-02"] * 5, "soon"],
        "must hold dates such as 2020-12-31, got 'soon' in row 11: write dates as",
    ),
    "dates of unknown order": (
        ["01/02/2020", "03/04/2020"] * 5,
        "holds dates such as '01/02/2020', in which the month or the day may come first: "
        "choose dates={'x': 'mdy'} or dates={'x': 'dmy'}",
    ),
    "a day that does not exist": ([*["2020-01-01"] * 9, "2020-02-30"], "got '2020-02-30' in row"),
    "an identifier": ([f"id{i}" for i in range(10)], "has 10 categories in 10 rows"),
    "many categories": ([f"c{i % 120}" for i in range(600)], "has 120 categories in 600 rows"),
    "a word among numbers": ([*range(9), "many"], "must hold numbers, got 'many' in row 10"),
    "infinity": ([*range(9), "inf"], "must hold numbers, got 'inf' in row 10"),
    "an infinite number": ([*range(9), np.inf], "must hold numbers, got 'inf' in row 10"),
    "underscores": ([*range(9), "1_0"], "must hold numbers, got '1_0' in row 10"),
    "nothing": ([""] * 10, "has no values: name it in exclude"),
}


@pytest.mark.parametrize(("values", "says"), REFUSED.values(), ids=REFUSED)
def test_columns_of_no_use_are_refused_with_the_remedy(values, says):
    with pytest.raises(ValueError, match=says):
        Column.learn("x", cells(np.array(values, dtype=object)))


def test_numbers_may_be_called_categories():
    found = Column.learn("zip", cells([1.0, 2.0, 1.0, 2.5, 1.0, 2.0]), as_category=True)
    assert found.categories == ("1", "2", "2.5")
    spelt = Column.learn("zip", cells(["1.0", "2.", "01", "2", "1", "1"]), as_category=True)
    assert spelt.categories == ("01", "1", "2")
    large = Column.learn("id", cells([2**53, 2**53 + 1] * 3), as_category=True)
    assert large.categories == (str(2**53), str(2**53 + 1))


def test_a_flag_that_is_missing_is_what_most_are():
    assert Column.learn("on", cells([True, True, False, None])).fill == 1
    assert Column.learn("on", cells([True, False])).fill == 0


def test_text_at_predict_is_named_with_its_row():
    with pytest.raises(ValueError, match="column 'x' must hold numbers, got 'a' in row 102"):
        encode([Column("x", "number")], {"x": ["1", "a"]}, first_row=101)
    with pytest.raises(ValueError, match="column 'x' must hold numbers, got 'maybe' in row 1"):
        encode([Column("x", "flag")], {"x": ["maybe"]})


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "other"},
        {"name": 3},
        {"categories": ("a",)},
        {"kind": "category"},
        {"kind": "category", "categories": (1,)},
        {"fill": NAN},
    ],
)
def test_a_column_that_is_none_is_refused(fields):
    with pytest.raises(ValueError, match=r"invalid column .*: kind must be one of"):
        Column(**({"name": "x", "kind": "number"} | fields))


def test_names_are_compared_in_linear_time():
    """With one comparison for each pair of names this test takes hours."""
    names = [f"column {k}" for k in range(300_000)]
    check_columns(names[::-1], names)
    check_names("features", names[::-1], names)
    assert first_repeated(names) is None
    assert first_repeated([*names, names[7]]) == names[7]
    with pytest.raises(TableError, match="lacks the column 'x'"):
        check_columns([*names, "x"], names)


def test_masked_values_are_missing():
    masked = np.ma.masked_array([1.0, 99.0, 3.0], mask=[False, True, False])
    assert cells(masked).tolist() == [1.0, None, 3.0]
    words = np.ma.masked_array(["a", "b"], mask=[True, False])
    assert cells(words).tolist() == [None, "b"]
