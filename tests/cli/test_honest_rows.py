"""Rows of the fit are not called held-out, and rows outside the data are named."""

import json
import re

import numpy as np
import pytest

import condensity
from commands import QUICK, columns, read, run, write
from condensity.cli.describe import evaluation_lines, model_lines, other_inputs
from condensity.cli.messages import readable
from condensity.tables import Evaluation, TableModel

TABLE = columns(n=80, seed=4)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A table, a model of it that holds a quarter of the rows out, and what the fit printed."""
    folder = tmp_path_factory.mktemp("honest")
    table, out = write(folder / "t.csv", TABLE), folder / "m.cdn"
    fit = ("fit", table, "--target", "y", "--exclude", "y2", "--out", out, *QUICK)
    return table, out, run(*fit, "--test-share", 0.25, "--json")


def rows_of(page, name):
    data = json.loads(re.search(r'type="application/json"[^>]*>(.*?)</script>', page, re.S)[1])
    return data[name]


def test_evaluate_leaves_the_rows_of_the_fit_out(fitted):
    table, out, fit = fitted
    done = run("evaluate", out, table, "--json")
    assert "note: 60 of 80 rows were used in the fit and are left out" in done.stderr
    found, expected = json.loads(done.stdout), json.loads(fit.stdout)["evaluation"]
    assert (found["rows"], found["rows_used_in_fit"], found["rows_of"]) == (20, 60, "new")
    for name in ("error", "log_loss", "median_error", "interval_width", "crps"):
        assert found[name] == pytest.approx(expected[name], rel=1e-9)
    assert "on 20 new rows" in run("evaluate", out, table).stdout


def test_training_rows_are_called_training_rows(fitted, tmp_path):
    _, out, _ = fitted
    model = condensity.load(out)
    train = np.flatnonzero(model.used_in_fit(TABLE))
    path = write(tmp_path / "train.csv", {k: column[train] for k, column in TABLE.items()})
    done = run("evaluate", out, path)
    assert "note: 60 of 60 rows were used in the fit: the losses are smaller" in done.stderr
    assert "on 60 training rows" in done.stdout
    assert "held-out" not in done.stdout
    page = tmp_path / "p.html"
    shown = run("report", out, path, "--out", page).stderr
    assert "all 60 rows were used in the fit: the page shows the held-out rows of the fit" in shown
    assert rows_of(page.read_text(), "calibration")["n"] == 20


def test_report_shows_the_held_out_rows_of_the_fit(fitted, tmp_path):
    table, out, _ = fitted
    page = tmp_path / "p.html"
    run("report", out, "--out", page)
    assert rows_of(page.read_text(), "calibration")["n"] == 20
    said = run("report", out, table, "--out", page).stderr
    assert "60 of 80 rows were used in the fit and are left out" in said
    assert rows_of(page.read_text(), "calibration")["n"] == 20
    run("report", out, write(tmp_path / "new.csv", columns(n=30, seed=9)), "--out", page)
    assert rows_of(page.read_text(), "calibration")["n"] == 30


def test_a_model_without_samples_says_that_it_does_not_know(fitted, tmp_path):
    table, out, _ = fitted
    model = condensity.load(out)
    bare = TableModel(model.model, model.columns, model.targets, rows=60)
    condensity.save(bare, tmp_path / "bare.cdn")
    done = run("evaluate", tmp_path / "bare.cdn", table, "--json")
    assert "note: the model does not know its training rows" in done.stderr
    assert json.loads(done.stdout)["rows_used_in_fit"] is None
    said = run("report", tmp_path / "bare.cdn", "--out", tmp_path / "p.html").stderr
    assert "note: the model has no held-out rows: the page shows no calibration" in said


def test_rows_outside_the_data_are_named(fitted, tmp_path):
    _, out, _ = fitted
    low, high = condensity.load(out).columns[0].low[0], condensity.load(out).columns[0].high[0]
    new = {"a": [low, high, low - 0.01, 7.0], "b, of two": [0.0, 99.0, 0.0, 99.0]}
    path = write(tmp_path / "n.csv", new | {"colour": ["red", "red", "mauve", "red"]})
    done = run("predict", out, path)
    assert read(done.stdout)["outside"] == ("", "b, of two", "a, colour", "a, b, of two")
    ends = f"{readable(low)} to {readable(high)}"
    assert (
        f"note: column 'a' has 2 values outside {ends}, the range of the training rows: "
        "predictions there are extrapolations"
    ) in done.stderr
    masks = condensity.load(out).outside(
        {k: np.array(v) for k, v in new.items()} | {"colour": ["red", "red", "mauve", "red"]}
    )
    assert {name: mask.tolist() for name, mask in masks.items()} == {
        "a": [False, False, True, True],
        "b, of two": [False, True, False, True],
        "colour": [False, False, True, False],
    }


def test_ranges_are_those_of_all_training_rows(fitted, tmp_path):
    _, out, fit = fitted
    model = condensity.load(out)
    train = model.used_in_fit(TABLE)
    a = TABLE["a"][train]
    assert json.loads(fit.stdout)["columns"][0]["range"] == [a.min(), a.max()]
    assert model.input_ranges[:, 0].tolist() == [a.min(), a.max()]
    assert model.input_ranges[:, 2:].tolist() == [[0, 0, 0], [1, 1, 1]]
    few = TableModel(
        model.model, model.columns, model.targets, X=model.X[:5], Y=model.Y[:5], rows=60
    )
    condensity.save(few, tmp_path / "few.cdn")
    run("report", tmp_path / "few.cdn", "--out", tmp_path / "p.html")
    first = rows_of((tmp_path / "p.html").read_text(), "inputs")[0]
    assert (first["low"], first["high"], first["known"]) == (a.min(), a.max(), True)


def test_dates_outside_the_data_are_named_as_dates(tmp_path):
    days = [f"2024-{1 + i % 6:02d}-{1 + i % 28:02d}" for i in range(60)]
    path = write(tmp_path / "t.csv", {"day": days, "y": columns()["y"]})
    run("fit", path, "--target", "y", "--out", tmp_path / "m.cdn", *QUICK, "--test-share", 0)
    new = write(tmp_path / "n.csv", {"day": ["2024-03-01", "2025-01-01"]})
    done = run("predict", tmp_path / "m.cdn", new)
    first, last = min(days), max(days)
    assert f"column 'day' has 1 value outside {first} to {last}, the range of" in done.stderr
    assert read(done.stdout)["outside"] == ("", "day")
    description = json.loads(run("inspect", tmp_path / "m.cdn", "--json").stdout)
    assert description["columns"][0]["range"] == [first, last]


EVALUATION = Evaluation(
    1500,
    -0.002,
    0.0001,
    5.0,
    0.1,
    (0.9,),
    -0.0019,
    -0.001,
    0.0002,
    0.0001,
    (14_021.0,),
    (81_300.0,),
    (9_990.0,),
    (38_400.0,),
    (170_200.0,),
    (27_000.0,),
    (510.0,),
)


def test_the_first_lines_are_in_the_units_of_the_target():
    assert evaluation_lines(EVALUATION, ("price",)) == [
        "on 1 500 held-out rows (errors: lower is better):",
        "  typical error of the median 14 000 (ignoring the inputs 38 400); 90% intervals are "
        "81 300 wide on average (170 000)",
        "  90% intervals contain 90.0% of the held-out values of price (expected: 90.0% ± 0.8%)",
        "  CRPS 9 990 (ignoring the inputs 27 000: 17 000 higher, standard error 510)",
        "  squared loss -0.002 (standard error 0.0001)",
        "    without reduction -0.0019 (0.0001 higher, standard error 0.0002)",
        "    without inputs -0.001 (0.001 higher, standard error 0.0001)",
    ]
    old = Evaluation(50, -0.1, 0.01, 1.0, 0.1, (0.9, 0.8))
    assert evaluation_lines(old, ("y", "z"))[1:3] == [
        "  y: 90% intervals contain 90.0% of the held-out values of y (expected: 90.0% ± 4.2%)",
        "  z: 90% intervals contain 80.0% of the held-out values of z (expected: 90.0% ± 4.2%)",
    ]


@pytest.mark.parametrize(
    ("number", "text"),
    [(14_021, "14 021"), (0.5, "0.5"), (-1234567, "-1 234 570"), (1e15, "1e+15"), (0.0, "0")],
)
def test_numbers_are_readable(number, text):
    assert readable(number) == text


def with_results(model, **table):
    model.model.cv_results_ = {key: np.array(values) for key, values in table.items()}
    return model


def test_directions_are_called_enough_only_if_they_are(fitted):
    model = condensity.load(fitted[1])
    one = {"param_location": ["none"], "param_n_components": [1], "weight": [1.0]}
    line = "weighted sum of the 5 inputs"

    def said(loss, se, **table):
        evaluation = Evaluation(9, 0.5, 0.1, 1.0, 0.1, (0.9,), loss, 0.7, se, 0.1)
        fields = {name: getattr(model, name) for name in ("model", "columns", "targets", "rows")}
        changed = with_results(TableModel(**fields, evaluation=evaluation), **(one | table))
        return model_lines(changed)[1].removesuffix(" (weights of the standardised inputs):")

    assert said(0.6, 0.1) == f"1 {line} is enough"
    assert said(0.4, 0.06) == f"1 {line} is enough"  # no clear difference
    assert said(0.4, 0.04) == f"1 {line} is used; without reduction the squared loss is lower"
    both = {"param_location": ["none", "flexible"], "param_n_components": [1, 1]}
    more = f"1 {line} matters most; a prediction from all inputs takes part too"
    assert said(0.6, 0.1, **both, weight=[0.5, 0.5]) == more
    assert said(0.6, 0.1, **both, weight=[1.0, 0.0]) == f"1 {line} is enough"
    two = {"param_location": ["none", "none"], "param_n_components": [1, 2], "weight": [0.5, 0.5]}
    assert said(0.6, 0.1, **two).endswith("matters most; densities with more of them take part too")
    assert other_inputs(object(), 1) == ""


def test_bars_are_shown_on_a_terminal_only(fitted, tmp_path, monkeypatch):
    table, out, _ = fitted
    page = tmp_path / "p.html"
    assert "\x1b" not in run("evaluate", out, table).stderr
    monkeypatch.setenv("FORCE_COLOR", "1")
    bar = run("evaluate", out, table)
    assert "evaluating" in bar.stderr
    assert "100%" in bar.stderr
    assert "evaluating" not in bar.stdout
    shown = run("report", out, "--out", page).stderr
    assert "writing the page" in shown
    assert "100%" in shown
