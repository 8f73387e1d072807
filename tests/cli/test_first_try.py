"""The first try with an own table: it succeeds, or one message lists everything."""

import json
import re
import shlex

import pytest

import condensity
from awkward import demand, houses, patients, write_csv
from commands import QUICK, assert_refused, columns, run, write
from condensity.cli.fit_command import QUICK as QUICK_PARAMETERS


def fit(path, *options):
    return ("fit", path, *options, "--out", path.with_suffix(".cdn"), *QUICK)


def corrected(stderr):
    """The arguments of the command that an error proposes."""
    (line,) = (line for line in stderr.splitlines() if line.startswith("try: condensity "))
    return shlex.split(line)[2:]


def test_patients_all_problems_at_once_and_a_command_that_works(tmp_path):
    path = write_csv(tmp_path / "patients.csv", patients(n=150))
    refused = run(*fit(path, "--target", "days"), code=2).stderr.splitlines()
    assert refused[0] == "condensity: the table has 3 problems:"
    assert [line[:4] for line in refused[1:4]] == ["  - "] * 3
    assert "values are missing in 'bmi'" in refused[1]
    assert "column 'patient' has 150 categories in 150 rows" in refused[2]
    assert "column 'note' has 150 categories in 150 rows" in refused[3]
    command = corrected("\n".join(refused))
    assert command[-4:] == ["--missing", "impute", "--exclude", "patient,note"]
    done = run(*command)
    assert "column 'admitted' holds dates" in done.stderr
    names = [column.name for column in condensity.load(tmp_path / "patients.cdn").columns]
    assert names == ["admitted", "age", "bmi", "smoker", "ward"]


def test_demand_succeeds_at_once(tmp_path):
    path = write_csv(tmp_path / "demand.csv", demand(n=200))
    done = run(*fit(path, "--target", "load"))
    inputs = "time.weekday, time.hour, time.days"
    assert f"note: column 'time' holds dates, which become the inputs {inputs}: " in done.stderr
    assert "name the column in --exclude" in done.stderr


def test_the_corrected_command_keeps_all_options(tmp_path):
    table = columns() | {"the, id": [f"id {i}" for i in range(60)], "note": [""] * 60}
    path = write(tmp_path / "my table.csv", table)
    given = ("--target", "y", "--exclude", "y2", "--bounds", ",100", "--no-samples", "--json")
    command = corrected(run(*fit(path, *given), code=2).stderr)
    exclude = ["--exclude", "y2", "--exclude", "the, id", "--exclude", "note"]
    assert command[:2] == ["fit", str(path)]
    assert command[-6:] == exclude
    for option in ("--bounds", ",100", "--no-samples", "--json", "--members"):
        assert option in command
    assert "--categorical" not in command
    assert json.loads(run(*command).stdout)["bounds"] == [[None, 100.0]]


def test_dates_may_be_declared_with_their_order(tmp_path):
    table = columns() | {"day": ["01/02/2020", "03/04/2021"] * 30}
    path = write(tmp_path / "t.csv", table)
    command = corrected(run(*fit(path, "--target", "y"), code=2).stderr)
    assert command[-2:] == ["--dates", "day:mdy"]
    run(*command)
    model = condensity.load(tmp_path / "t.cdn")
    assert model.columns[-1].order == "mdy"
    run(*fit(path, "--target", "y", "--dates", "day:dmy"))
    assert condensity.load(tmp_path / "t.cdn").columns[-1].order == "dmy"
    assert_refused(
        *fit(path, "--target", "y", "--dates", "day:dym"),
        says="--dates names 'day:dym', which is not a column",
    )
    named = write(tmp_path / "n.csv", {"day:dmy" if k == "day" else k: v for k, v in table.items()})
    assert "--dates day:dmy:mdy" in run(*fit(named, "--target", "y"), code=2).stderr
    run(*fit(named, "--target", "y", "--dates", "day:dmy:mdy"))


@pytest.mark.parametrize(
    "options",
    [
        ["--exclude", "y2", "--exclude", "b, of two"],
        ["--exclude", 'y2, "b, of two"'],
        ["--features", "a", "--features", "colour"],
        ["--features", "a,colour", "--categorical", "colour"],
    ],
    ids=["repeated", "list", "features", "both"],
)
def test_lists_of_columns_may_be_repeated(options, tmp_path):
    path = write(tmp_path / "t.csv", columns())
    run(*fit(path, "--target", "y", *options))
    model = condensity.load(tmp_path / "t.cdn")
    assert [column.name for column in model.columns] == ["a", "colour"]


def test_questions_may_be_repeated(folder):
    predict = ("predict", folder / "model.cdn", folder / "new.csv")
    repeated = run(*predict, "--interval", 0.5, "--interval", 0.9, "--keep", "a", "--keep", "y")
    assert repeated.stdout == run(*predict, "--interval", "0.5,0.9", "--keep", "a,y").stdout


def test_a_column_of_different_whole_numbers_is_noted(tmp_path):
    table = {k: v for k, v in houses(n=100).items() if k not in ("address", "price", "area")}
    table |= {"rooms": ["3", "4"] * 50, "y": columns(n=100)["y"]}
    path = write_csv(tmp_path / "t.csv", table)
    says = "note: column 'id' has a different whole number in each row, such as "
    assert says in run(*fit(path, "--target", "y")).stderr
    assert says not in run(*fit(path, "--target", "y", "--exclude", "id")).stderr


def test_a_quick_fit_has_the_parameters_of_a_first_look(tmp_path):
    path = write(tmp_path / "t.csv", columns())
    fit = ("fit", path, "--target", "y", "--components", 1, "--jobs", 1, "--test-share", 0)
    run(*fit, "--quick", "--out", tmp_path / "m.cdn")
    model = condensity.load(tmp_path / "m.cdn").model
    assert {name: getattr(model, name) for name in QUICK_PARAMETERS} == QUICK_PARAMETERS
    run(*fit, "--quick", "--members", 1, "--out", tmp_path / "m.cdn")
    assert condensity.load(tmp_path / "m.cdn").model.n_members == 1


def test_each_step_says_where_the_fit_is(tmp_path):
    path = write(tmp_path / "t.csv", columns())
    lines = run(*fit(path, "--target", "y")).stderr.splitlines()
    steps = [re.search(r"\(step (\d+) of about (\d+), \d+ s so far\)$", line) for line in lines]
    numbers = [(int(step[1]), int(step[2])) for step in steps if step]
    assert [number for number, _ in numbers] == list(range(1, len(numbers) + 1))
    assert all(number <= expected for number, expected in numbers)
    assert abs(numbers[0][1] - len(numbers)) <= 2
