"""One error lists all problems of a table, and its settings solve them."""

import numpy as np
import pytest

from commands import columns
from condensity import LSCDE
from condensity.tables import TableError, TableWarning, fit_table

FIXED = LSCDE(bandwidth=0.5, penalty=0.1, random_state=0)


def awkward(n=60):
    table = {name: column.astype(object) for name, column in columns(n).items()}
    table["a"][:2] = None
    return table | {
        "number": np.arange(100, 100 + n),
        "address": [f"{i} Main Street" for i in range(n)],
        "day": ["01/02/2020", "03/04/2021"] * (n // 2),
    }


def problems_of(table, **options):
    with pytest.raises(TableError) as refused:
        fit_table(table, "y", estimator=FIXED, **options)
    return refused.value


def test_all_problems_are_listed_with_settings_that_solve_them():
    error = problems_of(awkward(), exclude="y2")
    assert str(error).splitlines() == [
        "the table has 4 problems:",
        "  - values are missing in 'a' (2): choose missing='drop' (leave their rows out) or "
        "missing='impute' (fill them in), or name these columns in exclude",
        "  - column 'address' has 60 categories in 60 rows, such as '0 Main Street', which is too "
        "many: name it in exclude, or merge categories",
        "  - column 'day' holds dates such as '01/02/2020', in which the month or the day may come "
        "first: choose dates={'day': 'mdy'} or dates={'day': 'dmy'}",
        "  - column 'number' has a different whole number in each row, such as 100, 101, 102: if "
        "it is an identifier, name it in exclude",
        "pass missing='drop', exclude=['y2', 'address', 'number'], dates={'day': 'mdy'}",
    ]
    settings = {setting.name: setting.value for setting in error.corrections}
    with pytest.warns(TableWarning, match="missing values in 'a'"):
        model = fit_table(awkward(), "y", estimator=FIXED, **settings)
    assert [column.name for column in model.columns] == ["a", "b, of two", "colour", "day"]


def test_many_gaps_are_filled_in():
    table = awkward()
    table["b, of two"][::2] = None
    settings = {s.name: s.value for s in problems_of(table).corrections}
    assert settings["missing"] == "impute"
    with pytest.warns(TableWarning):
        fit_table(table, "y", estimator=FIXED, **settings)


def test_gaps_of_columns_that_are_left_out_do_not_count():
    table = columns() | {"note": [f"note {i}" if i else "" for i in range(60)]}
    error = problems_of(table)
    assert [(s.name, s.value) for s in error.corrections] == [("exclude", ["note"])]
    assert "\n" not in str(error)


def test_a_problem_without_a_setting_leaves_no_correction():
    table = awkward() | {"y": ["low", "high"] * 30}
    error = problems_of(table)
    assert "target 'y' holds text such as 'low'" in str(error)
    assert "column 'address' has 60 categories" in str(error)
    assert error.corrections == ()


def test_identifiers_are_warned_of_unless_they_are_named():
    table = columns() | {"number": np.arange(60)[::-1]}
    says = "column 'number' has a different whole number in each row, such as 59, 58, 57: if it is"
    with pytest.warns(TableWarning, match=says):
        fit_table(table, "y", estimator=FIXED)
    fit_table(table, "y", features=["a", "number"], estimator=FIXED)  # warnings are errors
    fit_table(table | {"number": np.arange(60) // 2}, "y", estimator=FIXED)
    fit_table(table | {"number": np.arange(60) + 0.5}, "y", estimator=FIXED)
