"""Models with their columns, as files: read as they were written, refused when they lie."""

from pathlib import Path

import numpy as np
import pytest

import condensity
from commands import columns
from condensity.io.container import pack, unpack
from condensity.io.persistence import VALUES
from condensity.tables import Evaluation, TableModel

GOLDEN = Path(__file__).parents[1] / "model_files" / "table-1.cdn"


def test_what_is_read_is_what_was_written(model, tmp_path):
    evaluation = Evaluation(12, -0.5, 0.1, 0.7, float("nan"), (0.75,), error_without_inputs=-0.2)
    ours = TableModel(
        model.model, model.columns, ("y",), "drop", model.X, model.Y, rows=60, evaluation=evaluation
    )
    condensity.save(ours, tmp_path / "m.cdn")
    assert "verdict" in unpack((tmp_path / "m.cdn").read_bytes())[0]["fields"]
    found = condensity.load(tmp_path / "m.cdn")
    assert isinstance(found, TableModel)
    assert (found.columns, found.targets, found.missing) == (model.columns, ("y",), "drop")
    assert (found.rows, repr(found.evaluation)) == (60, repr(evaluation))
    np.testing.assert_array_equal(found.X, model.X)
    np.testing.assert_array_equal(found.Y, model.Y)
    new = columns(n=9, seed=5)
    np.testing.assert_array_equal(
        found.predict_dist(new).quantile(0.1), ours.predict_dist(new).quantile(0.1)
    )


def test_files_with_dates_ranges_and_hashes_are_read():
    """This file was written when these fields were new."""
    model = condensity.load(GOLDEN.with_name("table-2.cdn"))
    new = {
        "a": [0.5, -1.0],
        "colour": ["red", "blue"],
        "day": ["2024-03-05 10:00", "2025-01-01"],
    }
    np.testing.assert_allclose(
        model.predict(new), [0.7966032300669305, 0.26644781746337], rtol=1e-9
    )
    assert model.columns[2].parts == ("month", "weekday", "hour", "days")
    assert model.columns[2].low == (1.0, 1.0, 0.5, 0.0)
    assert model.outside(new)["day"].tolist() == [False, True]
    assert model.evaluation.median_error == (0.5686155691128826,)
    rng = np.random.default_rng(0)
    days = [f"2024-{1 + i % 6:02d}-{1 + i % 28:02d} {i % 24:02d}:30" for i in range(40)]
    table = {"a": rng.normal(size=40).round(3), "colour": ["red", "blue"] * 20, "day": days}
    table["y"] = (table["a"] + 0.3 * rng.normal(size=40)).round(3)
    assert model.used_in_fit(table).sum() == 32
    assert len(model.X_test) == 8


HOSTILE = {
    "another model": lambda f: f["model"].update(model="Popen"),
    "no model": lambda f: f.update(model={"dict": {}}),
    "a number for a model": lambda f: f.update(model=3),
    "a model within a model": lambda f: f.update(model={"value": "TableModel", "fields": dict(f)}),
    "fewer columns": lambda f: f["columns"]["tuple"].pop(),
    "a column of another kind": lambda f: _column(f).update(kind="code"),
    "a column without a name": lambda f: _column(f).update(name=None),
    "columns that are none": lambda f: f.update(columns={"tuple": [1, 2, 3]}),
    "more targets": lambda f: f["targets"]["tuple"].append("z"),
    "a target that is no name": lambda f: f.update(targets={"tuple": [3]}),
    "another policy": lambda f: f.update(missing="guess"),
    "samples of another width": lambda f: f.update(X=f["Y"]),
    "fewer samples of the target": lambda f: f.update(Y={"array": f["X"]["array"]}),
    "the same category twice": lambda f: f["columns"]["tuple"][2]["fields"].update(
        categories={"tuple": ["red", "red", "blue"]}
    ),
    "samples that are none": lambda f: f.update(X="rows"),
    "rows that are no number": lambda f: f.update(rows="many"),
    "a verdict on other outputs": lambda f: f.update(verdict=_verdict(coverage=[0.9, 0.9])),
    "a verdict in words": lambda f: f.update(verdict=_verdict(error="good")),
    "a verdict with two medians of one output": lambda f: f.update(
        verdict=_verdict(median_error={"tuple": [1.0, 2.0]})
    ),
    "a verdict with a median in words": lambda f: f.update(
        verdict=_verdict(crps={"tuple": ["low"]})
    ),
    "test rows of another width": lambda f: f.update(X_test=f["Y"], Y_test=f["Y"]),
    "fewer test rows of the target": lambda f: f.update(X_test=f["X"], Y_test={"array": 0}),
    "hashes that are none": lambda f: f.update(row_hashes={"tuple": [1, 2]}),
    "a salt in words": lambda f: f["row_hashes"]["fields"].update(salt="pepper"),
    "hashes of floats": lambda f: f["row_hashes"]["fields"].update(words=f["X"]),
    "a range without its end": lambda f: _column(f).update(high={"tuple": []}),
    "a date without an order": lambda f: _column(f).update(kind="date"),
    "a verdict that is none": lambda f: f.update(verdict="good"),
    "a field that it has not": lambda f: f.update(run="me"),
}


def _column(fields):
    return fields["columns"]["tuple"][0]["fields"]


def _verdict(**edits):
    told = {"rows": 5, "error": 0.0, "error_se": 0.0, "log_loss": 0.0, "log_loss_se": 0.0}
    told |= {"coverage": {"tuple": edits.pop("coverage", [0.9])}} | edits
    return {"value": "Verdict", "fields": told}


@pytest.mark.parametrize("edit", HOSTILE.values(), ids=HOSTILE)
def test_files_that_lie_are_refused(edit, folder, tmp_path):
    content, arrays = unpack((folder / "model.cdn").read_bytes())
    edit(content["fields"])
    (tmp_path / "bad.cdn").write_bytes(pack(content, arrays))
    with pytest.raises(ValueError, match=r"bad\.cdn is not a readable model file"):
        condensity.load(tmp_path / "bad.cdn")


def test_an_honest_verdict_is_read(folder, tmp_path):
    content, arrays = unpack((folder / "model.cdn").read_bytes())
    content["fields"].update(verdict=_verdict())
    (tmp_path / "good.cdn").write_bytes(pack(content, arrays))
    assert condensity.load(tmp_path / "good.cdn").evaluation.coverage == (0.9,)


def test_only_plain_values_are_built():
    assert sorted(VALUES) == [
        "Averaged",
        "Bounds",
        "ClassProbabilities",
        "Coefficients",
        "Column",
        "Components",
        "Constant",
        "Density",
        "Ensemble",
        "LocationRange",
        "LogisticModel",
        "NeighborDensity",
        "Plane",
        "PredictedInput",
        "ReducedFunction",
        "RowHashes",
        "Sample",
        "Scaling",
        "SmoothFunction",
        "Start",
        "TableModel",
        "TreeModel",
        "TreeSum",
        "Verdict",
        "WeightedFunctions",
    ]


def test_files_of_older_versions_are_read():
    """This file was written when the format was new; it must be read for ever."""
    model = condensity.load(GOLDEN)
    table = {"a": [0.5, -1], "b, of two": [0, 1], "colour": ["red", "mauve"]}
    with pytest.warns(UserWarning, match=r"unknown categories, encoded as zeros: 'colour' \(1\)"):
        found = model.predict(table)
    np.testing.assert_allclose(found, [1.572562659115176, -0.7377078081927743], rtol=1e-9)
    assert model.targets == ("y",)
    known = table | {"colour": ["red", "blue"], "y": [1.5, "-1"]}
    expected = model.model.score(model.encode(known), [1.5, -1])
    assert model.score(known) == pytest.approx(expected, rel=1e-12)
    assert model.evaluation.rows == 12
    content, _ = unpack(GOLDEN.read_bytes())
    assert content["fields"]["verdict"]["fields"]["rows"] == 12  # the key in files of all versions
