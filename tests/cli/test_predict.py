"""Answers of the command are those of ``predict_dist``, however the rows are read."""

import bz2
import csv
import gzip
import lzma

import numpy as np
import pandas as pd
import pytest

import condensity
from commands import assert_refused, columns, read, run, write
from condensity.cli.reading import open_table, regrouped

QUESTIONS = ("--quantiles", "0.1,0.5", "--interval", "0.8", "--prob-above", "0,-1.5")
NEW = columns(n=30, seed=1)


def numbers(text):
    """The columns of answers, without the names of the inputs outside the training rows."""
    columns = read(text)
    del columns["outside"]
    return {name: np.array(column, dtype=float) for name, column in columns.items()}


def test_every_column_is_what_python_says(folder, model):
    asked = (*QUESTIONS, "--pdf", "0.3,y", "--sample", "2")
    found = numbers(run("predict", folder / "model.cdn", folder / "new.csv", *asked).stdout)
    dist = model.predict_dist(NEW)
    expected = {
        "y_mean": dist.mean(),
        "y_q0.1": dist.quantile(0.1),
        "y_q0.5": dist.quantile(0.5),
        "y_lower_0.8": dist.interval(0.8)[:, 0],
        "y_upper_0.8": dist.interval(0.8)[:, 1],
        "y_prob_above_0": dist.prob(0, np.inf),
        "y_prob_above_-1.5": 1 - dist.cdf(np.full(30, -1.5)),
        "y_pdf_0.3": dist.pdf(np.full(30, 0.3)),
        "y_pdf_y": dist.pdf(NEW["y"]),
        "y_sample1": dist.sample(2, 0)[:, 0],
        "y_sample2": dist.sample(2, 0)[:, 1],
    }
    assert set(found) == set(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-8, atol=1e-12, err_msg=name)


def test_several_targets_have_columns_of_their_own(folder):
    asked = ("--quantiles", "0.5", "--sample", "2", "--pdf", "y,1.5")
    found = numbers(run("predict", folder / "two.cdn", folder / "new.csv", *asked).stdout)
    dist = condensity.load(folder / "two.cdn").predict_dist(NEW)
    draws = dist.sample(2, 0)
    names = ["y_mean", "y2_mean", "y_q0.5", "y2_q0.5"]
    names += ["y_sample1", "y_sample2", "y2_sample1", "y2_sample2", "pdf"]
    assert list(found) == names
    for j, target in enumerate(("y", "y2")):
        np.testing.assert_allclose(found[f"{target}_mean"], dist.mean()[:, j], rtol=1e-8)
        np.testing.assert_allclose(
            found[f"{target}_q0.5"], dist.marginal(j).quantile(0.5), rtol=1e-8
        )
        np.testing.assert_allclose(found[f"{target}_sample2"], draws[:, 1, j], rtol=1e-8)
    joint = dist.pdf(np.column_stack([NEW["y"], np.full(30, 1.5)]))
    np.testing.assert_allclose(found["pdf"], joint, rtol=1e-8)
    assert_refused(
        "predict",
        folder / "two.cdn",
        folder / "new.csv",
        "--pdf",
        "1",
        says="--pdf has 1 parts for 2 targets",
    )


def test_any_size_of_blocks_gives_the_same_bytes(folder, tmp_path):
    many = write(tmp_path / "many.csv", columns(n=700, seed=2))
    parquet = tmp_path / "many.parquet"
    pd.DataFrame(columns(n=700, seed=2)).to_parquet(parquet, row_group_size=130)
    found = set()
    for path, size in ((many, 1), (many, 97), (many, 256), (many, 10**6), (parquet, 100)):
        out = tmp_path / "out.csv"
        asked = (*QUESTIONS, "--sample", 1, "--block-rows", size, "--out", out, "--keep", "colour")
        run("predict", folder / "model.cdn", path, *asked)
        found.add(out.read_bytes())
    assert len(found) == 1
    assert found.pop().count(b"\n") == 701


def test_blocks_are_regrouped():
    blocks = [{"a": np.arange(s, s + n)} for s, n in ((0, 3), (3, 1), (4, 9), (13, 0), (13, 2))]
    parts = [part["a"].tolist() for part in regrouped(blocks, 4)]
    assert parts == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14]]
    assert list(regrouped([], 4)) == []


def test_a_failure_in_the_middle_leaves_the_file_as_it_was(folder, tmp_path):
    table = columns(n=600)
    table["a"] = [*table["a"][:-1], "oops"]
    path, out = write(tmp_path / "bad.csv", table), tmp_path / "out.csv"
    predict = ("predict", folder / "model.cdn", path, "--out", out)
    says = "column 'a' must hold numbers, got 'oops' in row 600"
    assert_refused(*predict, says=says)
    assert not out.exists()
    out.write_text("what was there")
    assert_refused(*predict, says=says)
    assert out.read_text() == "what was there"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.csv", "out.csv"]


def same_answers(folder, path, delimiter=",", decimal="."):
    """Whether the answers are the same, in the spelling of the table."""
    expected = run("predict", folder / "model.cdn", folder / "new.csv").stdout
    header, *rows = csv.reader(expected.splitlines())
    spelt = [[*(cell.replace(".", decimal) for cell in row[:-1]), row[-1]] for row in rows]
    answers = run("predict", folder / "model.cdn", path).stdout.splitlines()
    return [*csv.reader(answers, delimiter=delimiter)] == [header, *spelt]


def test_files_of_many_kinds_hold_the_same_table(folder, tmp_path):
    plain = (folder / "new.csv").read_bytes()
    path = tmp_path / "table"
    commas = {k: [str(v).replace(".", ",") for v in column] for k, column in NEW.items()}
    write(path, commas, delimiter=";")
    assert b"0," in path.read_bytes()
    assert same_answers(folder, path, ";", ",")
    kinds = {
        "BOM": b"\xef\xbb\xbf" + plain,
        "gzip": gzip.compress(plain),
        "Windows": plain.replace(b"\n", b"\r\n") if b"\r\n" not in plain else plain,
        "blank lines": plain + b"\r\n\r\n",
    }
    for kind, data in kinds.items():
        path.write_bytes(data)
        assert same_answers(folder, path), kind
    assert same_answers(folder, write(path, NEW, delimiter="\t"), "\t")
    frame = pd.DataFrame(NEW).astype({"colour": "category"})
    frame.to_parquet(path)
    assert same_answers(folder, path)


def test_a_column_without_a_name_is_kept_apart(tmp_path):
    path = tmp_path / "x.csv"
    pd.DataFrame(NEW).to_csv(path)  # with row numbers
    with open_table(str(path)) as source:
        assert source.names[0] == ""
    fit = ("fit", path, "--target", "y", "--components", 1, "--members", 1, "--jobs", 1)
    done = run(*fit, "--test-share", 0, "--out", tmp_path / "m.cdn")
    assert "column without a name" in done.stderr
    assert "y given 4 columns" in done.stdout


def test_new_categories_are_taken_as_none_and_told(folder, model, tmp_path):
    table = NEW | {"colour": np.array(["mauve", *NEW["colour"][1:]])}
    result = run("predict", folder / "model.cdn", write(tmp_path / "x.csv", table))
    assert (
        "column 'colour' has 1 value that the training rows do not have, such as 'mauve'"
        in result.stderr
    )
    X = model.encode(NEW)
    X[0, 2:] = 0
    expected = model.model.predict(X)
    np.testing.assert_allclose(numbers(result.stdout)["y_mean"], expected, rtol=1e-8, atol=1e-12)


WRONG = {
    "levels": (["--quantiles", "0.5,95"], "--quantiles must be between 0 and 1, got 95"),
    "no number": (["--prob-above", "high"], "--prob-above must be numbers"),
    "a column": (["--keep", "zz"], "--keep names 'zz', which is not a column"),
    "a point": (["--pdf", "zz"], "the table lacks the column 'zz'"),
    "text for a point": (["--pdf", "colour"], "column 'colour' must hold numbers"),
}


@pytest.mark.parametrize(("options", "says"), WRONG.values(), ids=WRONG)
def test_questions_that_make_no_sense_are_refused(options, says, folder, tmp_path):
    predict = ("predict", folder / "model.cdn", folder / "new.csv", "--out", tmp_path / "out.csv")
    assert_refused(*predict, *options, says=says)
    assert list(tmp_path.iterdir()) == []


def test_no_rows_have_no_answers(folder, tmp_path):
    path = write(tmp_path / "x.csv", {name: [] for name in NEW})
    assert (
        run("predict", folder / "model.cdn", path).stdout
        == "y_mean,y_q0.05,y_q0.5,y_q0.95,outside\n"
    )


def test_columns_are_copied_and_points_must_be_there(folder, tmp_path):
    path = write(tmp_path / "x.csv", NEW | {"y": ["", *NEW["y"][1:]]})
    found = read(run("predict", folder / "model.cdn", path, "--keep", "colour,y").stdout)
    assert found["colour"] == tuple(NEW["colour"])
    assert found["y"][:2] == ("", str(NEW["y"][1]))
    out = ("--out", tmp_path / "out.csv")
    says = "column 'y' has no value in row 1: --pdf needs one"
    assert_refused("predict", folder / "model.cdn", path, *out, "--pdf", "y", says=says)


@pytest.mark.parametrize("module", [bz2, gzip, lzma], ids=lambda module: module.__name__)
def test_compressed_tables_are_read(module, folder, tmp_path):
    path = tmp_path / "new.csv.compressed"
    path.write_bytes(module.compress((folder / "new.csv").read_bytes()))
    plain = run("predict", folder / "model.cdn", folder / "new.csv").stdout
    assert run("predict", folder / "model.cdn", path).stdout == plain


def test_copied_formulas_cannot_run_in_a_spreadsheet(folder, tmp_path):
    cells = ["=cmd|' /C calc'!A0", "+1+A1", "-x", "@SUM(A1)", "-1.5", "+49,5", "-", "a=b", "1e-3"]
    table = {name: column[: len(cells)] for name, column in NEW.items()} | {"id": cells}
    path = write(tmp_path / "t.csv", table)
    copied = read(run("predict", folder / "model.cdn", path, "--keep", "id").stdout)["id"]
    assert list(copied) == [f"'{cell}" for cell in cells[:4]] + cells[4:]
