"""The commands: what they say, what they refuse, what is left behind."""

import bz2
import gzip
import json
import lzma
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.stats import gaussian_kde

import condensity
from commands import QUICK, assert_refused, columns, read, run, write
from condensity import LSCDE, LSCE, SIR, Reduced
from condensity.metrics import squared_loss, squared_loss_by_row
from condensity.tables.table_fit import KEPT_ROWS, rows_to_keep


def test_fit_evaluates_with_rows_held_out(folder, tmp_path):
    out = tmp_path / "m.cdn"
    fit = ("fit", folder / "train.csv", "--target", "y", "--features", "a,colour", *QUICK)
    result = run(*fit, "--test-share", "0.25", "--out", out, "--json")
    told = json.loads(result.stdout)
    assert told["columns"][1] == {
        "name": "colour",
        "kind": "category",
        "categories": ["blue", "green", "red"],
    }
    assert (told["training_rows"], told["evaluation"]["rows"]) == (45, 15)
    assert (told["n_components"], told["n_inputs"]) == (1, 4)
    assert set(told["directions"][0]) == {"a", "colour=blue", "colour=green", "colour=red"}
    assert told["file"] == str(out)

    # The same by hand, with the rows that the seed draws.
    rows = np.random.default_rng(0).permutation(60)
    test, train = np.sort(rows[:15]), np.sort(rows[15:])
    table = columns()
    colours = [table["colour"] == colour for colour in ("blue", "green", "red")]
    X, y = np.column_stack([table["a"], *colours]), table["y"]
    ours = LSCE(1, n_members=1, random_state=0).fit(X[train], y[train])
    dist, found = ours.predict_dist(X[test]), told["evaluation"]
    assert found["error"] == pytest.approx(squared_loss(dist, y[test]))
    inside = np.mean(
        [low <= v <= high for (low, high), v in zip(dist.interval(0.9), y[test], strict=True)]
    )
    assert found["coverage"]["y"]["share"] == pytest.approx(inside)
    assert found["coverage"]["y"]["standard_error"] == pytest.approx((0.9 * 0.1 / 15) ** 0.5)
    plain = LSCE(4, n_members=1, random_state=0).fit(X[train], y[train])
    assert found["error_without_reduction"] == pytest.approx(-plain.score(X[test], y[test]))
    apart = squared_loss_by_row(plain.predict_dist(X[test]), y[test][:, None])
    apart = apart - squared_loss_by_row(dist, y[test][:, None])
    assert found["reduction_se"] == pytest.approx(apart.std(ddof=1) / 15**0.5)
    # Without inputs: about what a textbook's estimate of the density of y gets.
    kde = gaussian_kde(y[train])
    expected = 0.5 * kde.integrate_kde(kde) - kde(y[test]).mean()
    assert found["error_without_inputs"] == pytest.approx(expected, abs=0.03)
    # One line for each configuration where there is no terminal.
    lines = [line for line in result.stderr.splitlines() if line.startswith("fitting: location")]
    assert len(lines) == len(ours.cv_results_["weight"])

    words = run("inspect", out).stdout
    assert "1 weighted sum of the 4 inputs is " in words
    assert "without inputs" in words
    assert "90% intervals contain" in words
    assert json.loads(run("inspect", out, "--json").stdout) == {
        key: told[key] for key in told if key not in ("file", "missing_values")
    }


def test_the_version_is_that_of_the_library():
    assert run("--version").stdout == f"condensity {condensity.__version__}\n"


def test_evaluate_and_report(folder, model, tmp_path):
    told = json.loads(run("evaluate", folder / "model.cdn", folder / "new.csv", "--json").stdout)
    new = columns(n=30, seed=1)
    dist = model.predict_dist(new)
    assert told["error"] == pytest.approx(squared_loss(dist, new["y"]))
    assert told["log_loss"] == pytest.approx(-dist.log_pdf(new["y"]).mean())
    assert "squared loss" in run("evaluate", folder / "two.cdn", folder / "new.csv").stdout
    strange = write(tmp_path / "x.csv", new | {"colour": ["mauve", *new["colour"][1:]]})
    assert "such as 'mauve'" in run("evaluate", folder / "model.cdn", strange).stderr
    page = tmp_path / "report.html"
    said = run("report", folder / "model.cdn", folder / "new.csv", "--out", page).stdout
    assert said.strip() == str(page)
    text = page.read_text()
    assert "colour=red" in text
    assert '["Training samples", "60"]' in text or '["Training samples","60"]' in text
    assert '"calibration":null' not in text.replace(" ", "")
    run("report", folder / "two.cdn", "--out", page)
    assert '"calibration":null' in page.read_text().replace(" ", "")


def test_the_same_seed_gives_the_same_file_and_samples_may_be_left_out(folder, tmp_path):
    fit = ("fit", folder / "train.csv", "--target", "y", "--exclude", "y2", *QUICK)
    run(*fit, "--test-share", 0, "--out", tmp_path / "again.cdn")
    ours = (folder / "model.cdn").read_bytes()
    assert (tmp_path / "again.cdn").read_bytes() == ours
    run(*fit, "--test-share", 0, "--no-samples", "--out", tmp_path / "less.cdn")
    found = condensity.load(tmp_path / "less.cdn")
    assert found.X is None
    assert found.Y is None
    run("report", tmp_path / "less.cdn", "--out", tmp_path / "page.html")
    assert found.rows == 60


def test_standard_input_and_names_in_quotes(folder, tmp_path):
    fit = ("fit", "-", "--target", "y", "--features", 'a, "b, of two", colour', *QUICK)
    table = (folder / "train.csv").read_text()
    run(*fit, "--test-share", 0, "--out", tmp_path / "m.cdn", stdin=table)
    assert (tmp_path / "m.cdn").read_bytes() == (folder / "model.cdn").read_bytes()


def test_what_was_fitted_is_used_from_python(folder, model):
    new = pd.DataFrame(columns(n=5, seed=3))
    X = np.column_stack(
        [new["a"], new["b, of two"], *(new["colour"] == c for c in ("blue", "green", "red"))]
    ).astype(float)
    np.testing.assert_array_equal(model.encode(new), X)
    assert model.categories == {"colour": {"blue": 2, "green": 3, "red": 4}}
    np.testing.assert_array_equal(model.predict(new), model.model.predict(X))
    np.testing.assert_array_equal(
        model.predict_dist(new).quantile(0.3), model.model.predict_dist(X).quantile(0.3)
    )
    with pytest.raises(TypeError, match="a data frame or a dict of columns, got an array"):
        model.predict_dist(X)
    with pytest.raises(ValueError, match="column 'a' has no value in row 2: leave the row out"):
        model.predict_dist(new.assign(a=[1, None, 1, 1, 1]))


def test_missing_values_are_told_by_column(tmp_path):
    table = columns()
    table["a"] = [*["", "NA"], *table["a"][2:]]
    table["colour"] = [*table["colour"][:-1], ""]
    path = write(tmp_path / "gaps.csv", table)
    fit = ("fit", path, "--target", "y", "--exclude", "y2", *QUICK, "--test-share", 0)
    out = tmp_path / "m.cdn"
    assert_refused(
        *fit, "--out", out, says="missing in 'a' (2), 'colour' (1): choose --missing drop"
    )
    assert not out.exists()
    dropped = run(*fit, "--out", out, "--missing", "drop", "--json")
    counts = "missing values in 'a' (2), 'colour' (1)"
    assert f"note: {counts}: 3 rows left out, 57 rows used\n" in dropped.stderr
    assert json.loads(dropped.stdout)["training_rows"] == 57
    found = read(run("predict", out, path).stdout)  # blank, as they were dropped
    assert [i for i, cell in enumerate(found["y_mean"]) if not cell] == [0, 1, 59]
    assert (
        "3 of 60 rows are left out because of missing values" in run("evaluate", out, path).stderr
    )
    blank = run("predict", out, path).stderr
    assert "3 of 60 rows have missing inputs: their predictions are blank" in blank
    filled = run(*fit, "--out", out, "--missing", "impute", "--json")
    assert json.loads(filled.stdout)["training_rows"] == 60
    assert json.loads(filled.stdout)["missing_values"] == {"a": 2, "colour": 1}
    assert f"note: {counts}: missing numbers are replaced by medians" in filled.stderr
    answers = run("predict", out, path)
    assert all(read(answers.stdout)["y_mean"])
    assert "3 of 60 rows have missing inputs: numbers are replaced by medians" in answers.stderr
    # Nothing at all is written, also to standard output.
    assert_refused(
        "predict", out, path, "--missing", "error", says="column 'a' has no value in row 1"
    )


HOSTILE = {
    "empty": (b"", "the file is empty"),
    "no rows": (b"a,y\n", "the table has no rows"),
    "one name twice": (b"a,a,y\n1,2,3\n", "several columns are named 'a'"),
    "no target": (
        b"a,z\n1,2\n",
        "--target names 'y', which is not a column: choose among 'a', 'z'",
    ),
    "nothing but the target": (b"y\n1\n2\n", "no input column is left: name one in --features"),
    "a row that is cut": (b"a,b,y\n1,2,3\n1,2\n", "row 2 has 2 cells and the header has 3"),
    "a row that is long": (b"a,y\n1,2,3\n", "row 1 has 3 cells and the header has 2"),
    "a quote that is open": (b'a,y\n1,"2\n', "is damaged"),
    "other bytes": (b"a,y\n\xff\x81,2\n", "is not text in UTF-8"),
    "a word in a target": (b"a,y\n" + b"1,2\n" * 20 + b"3,big\n", "column 'y' must hold numbers"),
    "a target of text": (
        b"a,y\n" + b"1,big\n2,7\n1,low\n" * 9,
        "target 'y' holds text such as 'big'",
    ),
    "a gzip that is cut": (gzip.compress(b"a,y\n" + b"1,2\n" * 2000)[:-20], "is damaged"),
    "a bzip2 that is cut": (bz2.compress(b"a,y\n" + b"1,2\n" * 2000)[:-8], "is damaged"),
    "a bzip2 that is changed": (bz2.compress(b"a,y\n" + b"1,2\n" * 9)[:-20] + b"x" * 20, "damaged"),
    "an xz that is cut": (lzma.compress(b"a,y\n" + b"1,2\n" * 2000)[:-20], "is damaged"),
    "an xz that is changed": (lzma.compress(b"a,y\n")[:-9] + b"x" * 9, "is damaged"),
    "a damaged zip archive": (b"PK\x03\x04 and more", "is damaged (File is not a zip file)"),
    "an old workbook": (b"\xd0\xcf\x11\xe0 and more", "an old workbook such as .xls: save it as"),
    "zstd": (b"\x28\xb5\x2f\xfd and more", "compressed by zstd: unpack it"),
    "no Parquet": (b"PAR1 and nothing more", "Parquet"),
    "few rows": (b"a,y\n" + b"1,2\n" * 5, "rows are left for training, which is too few"),
    "a constant target": (b"a,y\n" + b"1,2\n2,2\n" * 20, "y does not vary"),
    "dates of unknown order": (
        b"a,y\n" + b"01/02/2020,2\n03/04/2020,3\n" * 20,
        "in which the month or the day may come first: choose --dates a:mdy or --dates a:dmy",
    ),
}


@pytest.mark.parametrize(("data", "says"), HOSTILE.values(), ids=HOSTILE)
def test_tables_that_are_none_are_refused_in_a_sentence(data, says, tmp_path):
    path, out = tmp_path / "data.csv", tmp_path / "m.cdn"
    path.write_bytes(data)
    assert_refused("fit", path, "--target", "y", "--out", out, *QUICK, says=says)
    assert [p.name for p in tmp_path.iterdir()] == ["data.csv"]


USAGE = {
    "a feature": (["--features", "a,zz"], "--features names 'zz', which is not a column"),
    "a target as feature": (
        ["--features", "a,y"],
        "column 'y' is a target: remove it from --features",
    ),
    "a target twice": (["--target", "y"], "--target names 'y' twice"),
    "bounds": (["--bounds", "0"], "--bounds must be LOWER,UPPER, got '0'"),
    "no bounds": (["--bounds", "a,b"], "--bounds must be numbers separated by commas, got 'a'"),
    "many bounds": (["--bounds", "0,", "--bounds", "0,"], "given 2 times for 1 targets"),
    "components": (["--components", "some"], "--components must be a number such as 2, or auto"),
    "no components": (["--components", "0"], "--components must be a number such as 2, or auto"),
    "too many": (
        ["--components", "40"],
        "--components 40 is more than the 6 inputs that the columns give: choose at most 6",
    ),
}


@pytest.mark.parametrize(("options", "says"), USAGE.values(), ids=USAGE)
def test_options_that_make_no_sense_are_refused(options, says, folder, tmp_path):
    fit = ("fit", folder / "train.csv", "--target", "y", "--out", tmp_path / "m.cdn", *QUICK)
    assert_refused(*fit, *options, says=says)


@pytest.mark.parametrize("given", ["auto", "0"])
def test_values_with_a_probability_of_their_own(given, tmp_path):
    table = columns(120)
    table["y"] = np.maximum(table["y"], np.median(table["y"])) - np.median(table["y"])
    write(tmp_path / "t.csv", table)
    fit = ("fit", tmp_path / "t.csv", "--target", "y", "--features", "a", *QUICK)
    out = tmp_path / "m.cdn"
    result = run(*fit, "--atoms", given, "--out", out)
    assert "values of y with a probability of their own: 0" in result.stdout
    assert "1 weighted sum of the 1 input is used" in result.stdout
    assert "without inputs" in result.stdout
    told = json.loads(run("inspect", out, "--json").stdout)
    assert (told["estimator"], told["atoms"]) == ("WithAtoms", [0.0])
    model = condensity.load(out)
    dist = model.predict_dist(table)
    answers = read(run("predict", out, tmp_path / "t.csv", "--quantiles", "0.2").stdout)
    low = np.array(answers["y_q0.2"], dtype=float)
    np.testing.assert_allclose(low, dist.quantile(0.2), rtol=1e-6, atol=1e-9)
    page = tmp_path / "p.html"
    assert_refused("report", out, "--out", page, says="WithAtoms has no density")


def test_the_line_of_bounds_that_are_chosen(tmp_path):
    rng = np.random.default_rng(0)
    a = rng.normal(size=100)
    table = {"a": a, "b": rng.normal(size=100), "price": np.exp(a + 0.5 * rng.normal(size=100))}
    path, out = write(tmp_path / "x.csv", table), tmp_path / "m.cdn"
    fit = ("fit", path, "--target", "price", "--out", out, *QUICK, "--test-share", 0)
    says = "price > 0: the density is fitted to log price"
    for options, bounds in (((), [[0.0, None]]), (("--bounds", "auto"), [[0.0, None]])):
        assert says in run(*fit, *options).stdout
        assert json.loads(run("inspect", out, "--json").stdout)["bounds"] == bounds
    for options, bounds in ((("--bounds", "none"), None), (("--bounds", "0,"), [[0.0, None]])):
        assert says not in run(*fit, *options).stdout
        assert json.loads(run("inspect", out, "--json").stdout)["bounds"] == bounds


def test_several_targets_in_one_option_are_told_apart(folder, tmp_path):
    fit = ("fit", folder / "train.csv", "--target", "y,y2", "--out", tmp_path / "m.cdn")
    assert_refused(
        *fit, says="--target names 'y,y2', which is not a column: pass --target y --target y2"
    )


def test_values_beyond_bounds_are_named_by_their_row_in_the_file(tmp_path):
    table = columns()
    table["y"] = np.abs(table["y"]) + 1
    table["y"][7] = -0.5
    table["a"] = ["", *table["a"][1:]]
    path = write(tmp_path / "x.csv", table)
    fit = ("fit", path, "--target", "y", "--out", tmp_path / "m.cdn", *QUICK, "--missing", "drop")
    says = "1 of 59 values of 'y' are not strictly between 0 and inf (--bounds), the first is -0.5"
    assert_refused(*fit, "--bounds", "0,", says=f"{says} in row 8: widen the bounds")


def test_files_that_are_not_there_are_named(folder, tmp_path):
    assert_refused(
        "inspect",
        tmp_path / "none.cdn",
        says="none.cdn does not exist: check its name and its folder",
    )
    assert_refused(
        "predict",
        folder / "model.cdn",
        tmp_path / "none.csv",
        says="none.csv does not exist: check its",
    )
    fit = ("fit", tmp_path, "--target", "y", "--out", tmp_path / "m.cdn")
    assert_refused(*fit, says="Is a directory")
    fit = ("fit", folder / "train.csv", "--target", "y", "--out", tmp_path)
    assert_refused(*fit, says="is a folder: name a file in it")
    answers = run(
        "predict", folder / "model.cdn", folder / "new.csv", "--out", tmp_path / "a/b.csv"
    )
    assert f"the folder {tmp_path / 'a'} is created" in answers.stderr
    assert (tmp_path / "a/b.csv").exists()


def test_damaged_models_and_other_models(folder, tmp_path):
    bad = tmp_path / "bad.cdn"
    bad.write_bytes((folder / "model.cdn").read_bytes()[:-9])
    for command in ("inspect", "report"):
        assert_refused(command, bad, says="is not a readable model file")
    X = pd.DataFrame({"a": columns()["a"], "b": columns()["b, of two"]})
    fixed = LSCDE(bandwidth=0.5, penalty=0.1, random_state=0)
    condensity.save(fixed.fit(X, columns()["y"]), bad)
    answered = run("predict", bad, write(tmp_path / "x.csv", X.to_dict("list")))
    assert read(answered.stdout)["y_mean"]
    assert answered.stderr == ""
    assert "y given 2 columns: a, b" in run("inspect", bad).stdout
    condensity.save(fixed.fit(X.to_numpy(), columns()["y"]), bad)
    assert_refused("inspect", bad, says="the model has no column names")
    condensity.save(Reduced(SIR(), fixed, n_components=1).fit(X, columns()["y"]), bad)
    assert "y given 2 columns" in run("inspect", bad).stdout
    condensity.save(SIR(1).fit(X, columns()["y"]), bad)
    assert_refused("inspect", bad, says="SIR, which does not estimate a density")


def test_names_from_files_cannot_steer_a_terminal(tmp_path):
    table = columns()
    table["\x1b[31m[red]a"] = table.pop("a")
    path = write(tmp_path / "x.csv", table)
    fit = ("fit", path, "--target", "y", *QUICK, "--test-share", 0, "--out", tmp_path / "m.cdn")
    assert "\x1b" not in run(*fit).output
    assert "[31m[red]a" in run("inspect", tmp_path / "m.cdn").stdout


def test_progress_on_a_terminal_is_a_spinner(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # what tells rich that there is one
    fit = ("fit", folder / "train.csv", "--target", "y", *QUICK, "--test-share", 0)
    done = run(*fit, "--out", tmp_path / "m.cdn")
    assert "\x1b[2K" in done.stderr  # a line that is taken back
    assert "1 weighted sum of the 6 inputs is used" in done.stdout


def test_warnings_of_the_library_are_notes(tmp_path):
    table = columns()
    path = write(tmp_path / "x.csv", table | {"same": [7] * 60, "y": table["y"].clip(0)})
    fit = ("fit", path, "--target", "y", *QUICK, "--test-share", 0, "--out", tmp_path / "m.cdn")
    notes = [line for line in run(*fit).stderr.splitlines() if line.startswith("note: ")]
    assert len(notes) == 2
    assert notes[0].startswith("note: input 'same' is constant in the training rows")
    assert notes[1].startswith("note: y equals 0 in ")


def test_outliers_are_left_out_unless_they_are_kept(tmp_path):
    table = columns()
    table["a"][5] = 9999
    path = write(tmp_path / "x.csv", table)
    fit = ("fit", path, "--target", "y", *QUICK, "--test-share", 0, "--out", tmp_path / "m.cdn")
    assert "note: left out of the fit: 1 of 60 samples" in run(*fit).stderr
    assert "left out" not in run(*fit, "--keep-outliers").stderr


def test_parquet_without_its_reader_names_the_remedy(folder, tmp_path, monkeypatch):
    path = tmp_path / "x.parquet"
    pd.DataFrame(columns()).to_parquet(path)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    predict = ("predict", folder / "model.cdn", path)
    assert_refused(*predict, says="run pip install 'pyarrow>=15', or write the table as CSV")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    run("predict", folder / "model.cdn", folder / "new.csv")  # for which it is not needed


def test_rows_without_targets_are_nothing_to_evaluate_with(folder, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text('a,"b, of two",colour,y\n')
    assert_refused(
        "evaluate", folder / "model.cdn", path, says="the table has no rows: give rows with known"
    )
    path.write_text('a,"b, of two",colour,y\n1,2,red,\n')
    assert_refused("evaluate", folder / "model.cdn", path, says="none of the 1 rows is complete")
    path.write_text('a,"b, of two",colour\n1,2,red\n')
    assert_refused("evaluate", folder / "model.cdn", path, says="the table lacks the column 'y'")
    path.write_text('a,"b, of two",colour,y\n,2,red,1\n')
    assert_refused("evaluate", folder / "model.cdn", path, says="column 'a' has no value in row 1")


def test_many_training_rows_are_thinned():
    kept = rows_to_keep(2000, KEPT_ROWS, 0)
    assert len(set(kept.tolist())) == KEPT_ROWS
    assert set(kept.tolist()) <= set(range(2000))
    assert (np.diff(kept) > 0).all()
    np.testing.assert_array_equal(rows_to_keep(5, KEPT_ROWS, 0), range(5))


def condensity_process(*arguments, **how):
    command = [sys.executable, "-m", "condensity", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, **how)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["fit"], "condensity fit --help"),
        (["fit", "x.csv", "--target", "y", "--out", "m", "--members", "x"], "fit --help"),
        (["nonsense"], "No such command 'nonsense': see "),
    ],
)
def test_what_is_no_command_is_told_in_a_sentence(arguments, says):
    done = condensity_process(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("condensity: ")
    assert says in done.stderr


def test_without_standard_output_a_file_must_be_named(folder):
    command = f"{sys.executable} -m condensity predict {folder}/model.cdn {folder}/new.csv >&-"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.returncode == 2
    assert "standard output is closed: name a file with --out" in done.stderr


def test_rows_held_out_have_no_say(tmp_path):
    """Neither medians nor categories come from them, and copies of rows are told."""
    table = columns()
    rows = np.random.default_rng(0).permutation(60)
    held_out = rows[:12]
    table["a"] = table["a"].astype(object)
    table["a"][rows[12]] = ""
    table["a"][held_out] = 1000.0
    table["colour"] = table["colour"].astype(object)
    table["colour"][held_out[0]] = "mauve"
    path, out = write(tmp_path / "x.csv", table), tmp_path / "m.cdn"
    fit = ("fit", path, "--target", "y", "--exclude", "y2", "--out", out, *QUICK)
    result = run(*fit, "--missing", "impute", "--json")
    a, _, colour = json.loads(result.stdout)["columns"]
    assert a["fill"] == np.median([float(v) for v in table["a"][rows[13:]]])
    assert colour["categories"] == ["blue", "green", "red"]
    assert "column 'colour' has categories in 1 held-out row that do not occur" in result.stderr
    twice = {name: np.repeat(column, 3) for name, column in columns().items()}
    copied = write(tmp_path / "twice.csv", twice)
    result = run("fit", copied, "--target", "y", "--out", out, *QUICK)
    assert "of 36 held-out rows equal training rows; if the table has duplicates" in result.stderr


def test_repeated_values_of_the_target_do_not_make_the_inputs_look_useless(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=240)
    y = np.round(2 * x + 0.5 * rng.normal(size=240))
    path = write(tmp_path / "x.csv", {"x": x, "noise": rng.normal(size=240), "y": y})
    fit = ("fit", path, "--target", "y", "--out", tmp_path / "m.cdn", *QUICK, "--json")
    found = json.loads(run(*fit).stdout)["evaluation"]
    assert found["error"] < found["error_without_inputs"] - 2 * found["inputs_se"]


def test_a_word_among_numbers_is_named_by_its_row_in_the_file(tmp_path):
    table = columns()
    table["a"] = table["a"].astype(object)
    table["a"][np.random.default_rng(0).permutation(60)[30]] = "many"
    row = list(table["a"]).index("many") + 1
    fit = ("fit", write(tmp_path / "x.csv", table), "--target", "y", "--out", tmp_path / "m.cdn")
    assert_refused(*fit, says=f"column 'a' must hold numbers, got 'many' in row {row}:")


def test_no_file_that_is_read_is_written(folder, tmp_path):
    table, model = folder / "train.csv", folder / "model.cdn"
    before = table.read_bytes(), model.read_bytes()
    says = "is an input file: name another file"
    assert_refused("fit", table, "--target", "y", "--out", table, says=says)
    assert_refused("predict", model, folder / "new.csv", "--out", model, says=says)
    assert_refused("report", model, "--out", model, says=says)
    assert (table.read_bytes(), model.read_bytes()) == before


def test_equal_names_of_inputs_are_refused(tmp_path):
    table = columns() | {"colour=red": np.arange(60.0)}
    fit = ("fit", write(tmp_path / "x.csv", table), "--target", "y", "--out", tmp_path / "m.cdn")
    assert_refused(*fit, says="'colour' has a category that becomes the input 'colour=red'")


def test_in_a_pipe_and_without_a_terminal(folder):
    rows = (folder / "new.csv").read_text()
    done = condensity_process("predict", folder / "model.cdn", "-", input=rows)
    assert done.returncode == 0
    assert done.stdout == run("predict", folder / "model.cdn", folder / "new.csv").stdout
    notes = [line for line in done.stderr.splitlines() if "the range of the training rows" in line]
    assert done.stderr.splitlines() == notes
    failed = condensity_process("predict", folder / "model.cdn", "-", input="a\n1\n")
    assert (failed.returncode, failed.stdout) == (2, "")
    assert failed.stderr == (
        "condensity: -: the table lacks the columns 'b, of two', 'colour': add them\n"
    )


def test_a_reader_who_has_enough_is_no_error(folder, tmp_path):
    many = write(tmp_path / "many.csv", columns(n=3000))
    code = "set -o pipefail; {0} -m condensity predict {1} {2} | head -n 1"
    command = code.format(sys.executable, folder / "model.cdn", many)
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.stdout == "y_mean,y_q0.05,y_q0.5,y_q0.95,outside\n"
    assert done.stderr == ""
    assert done.returncode == 1
