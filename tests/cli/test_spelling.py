"""Numbers, encodings and files as Excel writes them."""

import csv
import io
import sys
import zipfile
from datetime import date

import numpy as np
import pytest

import condensity
from awkward import german, houses, write_csv
from commands import QUICK, assert_refused, columns, read, run, write
from condensity.cli.reading import open_table
from condensity.cli.spelling import Spelling

NEW = columns(n=30, seed=1)

#: Cells of a column, the delimiter of the file, and the numbers that they are.
READ = {
    "points": (["1.5", "-2", "3e2"], ",", [1.5, -2, 300]),
    "commas": (["1,5", "-2", "3,25e2"], ";", [1.5, -2, 325]),
    "German money": (["50.000,00", "1.250.000,50 €"], ";", [50_000, 1_250_000.5]),
    "English money": (["€50,000", "$1,234.50".replace("$", "€")], ",", [50_000, 1234.5]),
    "money without decimals": (["50.000 €", "€ 60.000"], ";", [50_000, 60_000]),
    "a sign before the currency": (["-$5", "$-1,000", "−$2"], ",", [-5, -1000, -2]),
    "French": (["1 234,5", "12\u202f345\u00a0€"], ";", [1234.5, 12_345]),
    "Swiss": (["CHF 1'234.50", "2’000"], ",", [1234.5, 2000]),
    "thousands": (["1,234", "12", "1,234,567"], ",", [1234, 12, 1_234_567]),
    "three decimals": (["1.234", "0.500"], ";", [1.234, 0.5]),
    "three decimals only": (["1.234", "2.500"], ";", [1.234, 2.5]),
    "a decimal comma in quotes": (["1,5", "1,234"], ",", [1.5, 1.234]),
    "per cent": (["5 %", "12,5%"], ";", [5, 12.5]),
    "both signs": (["1,5", "1.5", "1.234"], ";", [1.5, 1.5, 1.234]),
}


@pytest.mark.parametrize(("cells", "delimiter", "numbers"), READ.values(), ids=READ)
def test_numbers_are_read(cells, delimiter, numbers):
    spelling = Spelling.of({"x": cells}, delimiter)
    column = np.array(cells, dtype=object)
    assert [float(cell) for cell in spelling.plain({"x": column})["x"]] == numbers


def test_other_columns_decide_what_one_column_leaves_open():
    table = {"price": ["1.234", "2.500"], "size": ["80,5", "70"]}
    spelling = Spelling.of(table, ";")
    plain = spelling.plain({name: np.array(cells, dtype=object) for name, cells in table.items()})
    assert plain["price"].tolist() == ["1234", "2500"]
    assert spelling.decimal == ","
    points = Spelling.of({"price": ["1.234"], "size": ["80.5"]}, ";")
    assert points.plain({"price": np.array(["1.234"], dtype=object)})["price"].tolist() == ["1.234"]
    assert points.decimal == "."


@pytest.mark.parametrize(
    "cells",
    [
        ["31.12.2020", "01.01.2021"],
        ["1,2,3", "4,5,6"],
        ["12:30", "1/2"],
        ["€5", "$5"],  # two currencies are not one quantity
        ["1,5 m", "2 m"],
        ["many", "words", "1,5"],
        [" " * 39 + "x", "9" * 5000],
    ],
)
def test_other_cells_are_left_alone(cells):
    spelling = Spelling.of({"x": cells}, ";")
    assert spelling.plain({"x": np.array(cells, dtype=object)})["x"].tolist() == cells


def test_the_reading_is_told_once():
    spelling = Spelling.of({"a": ["€50,000"], "b": ["1,234"], "c": ["1.5"]}, ",")
    assert spelling.note() == "'€50,000' in 'a' is read as 50000, '1,234' in 'b' is read as 1234"
    assert Spelling.of({"a": ["1,5", "2"]}, ";").note() is None
    unsure = Spelling.of({"a": ["1.234"]}, ";")
    assert unsure.note() == "'1.234' in 'a' is read as 1.234"


def test_houses_with_currencies_are_fitted_with_the_corrected_command(tmp_path):
    path = write_csv(tmp_path / "houses.csv", houses(n=120))
    out = ("--out", tmp_path / "m.cdn")
    refused = run("fit", path, "--target", "price", *out, *QUICK, code=2).stderr
    assert "note: '€" in refused
    (line,) = (line for line in refused.splitlines() if line.startswith("try: "))
    assert line.endswith("--missing drop --exclude address,id")
    run(*line.split()[2:])
    kinds = {c.name: c.kind for c in condensity.load(tmp_path / "m.cdn").columns}
    assert kinds == {"sold": "date", "area": "number", "rooms": "number", "garden": "category"}


def test_a_german_export_is_fitted_and_answered_in_its_own_spelling(tmp_path):
    path = write_csv(tmp_path / "miete.csv", german(n=120), delimiter=";", encoding="cp1252")
    model, out = tmp_path / "m.cdn", tmp_path / "answers.csv"
    done = run("fit", path, "--target", "Miete", "--out", model, *QUICK)
    assert "note: the file is not in UTF-8: it is read in the encoding of Windows" in done.stderr
    assert " €' in 'Miete' is read as " in done.stderr
    run("predict", model, path, "--keep", "Fläche,Miete", "--interval", 0.9, "--out", out)
    with out.open(encoding="cp1252", newline="") as stream:
        header, *rows = csv.reader(stream, delimiter=";")
    assert header[:3] == ["Fläche", "Miete", "Miete_mean"]
    assert [row[0] for row in rows] == german(n=120)["Fläche"]
    assert rows[0][1].endswith(" €")
    means = [float(row[2].replace(",", ".")) for row in rows]
    with open_table(str(path)) as source:
        expected = condensity.load(model).predict(source.whole())
    np.testing.assert_allclose(means, expected, rtol=1e-8)


def test_encodings(folder, tmp_path):
    """The bytes of one table in several encodings, also if the blocks cut a letter in two."""
    colours = ["größe" if c == "red" else "süß" for c in NEW["colour"]] * 900
    table = {"colour": colours, "a": [*NEW["a"]] * 900}
    path, found = tmp_path / "t.csv", {}
    for encoding in ("utf-8", "utf-8-sig", "cp1252", "utf-16"):
        write_csv(path, table, encoding=encoding)
        with open_table(str(path)) as source:
            read_table = source.whole()
            found[encoding] = source.encoding()
        assert read_table["colour"].tolist() == colours
    assert found == {name: name for name in found}
    damaged = ("x,y\ngröße,1\n" * 9).encode() + b"\xe4\n"
    path.write_bytes(damaged)
    says = "is not text in UTF-8 or cp1252"
    assert_refused("fit", path, "--target", "y", "--out", tmp_path / "m", *QUICK, says=says)


def test_the_encoding_of_the_answers_is_that_of_the_table(folder, tmp_path):
    out = tmp_path / "answers.csv"
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        path = write_csv(tmp_path / "t.csv", NEW, encoding=encoding)
        run("predict", folder / "model.cdn", path, "--out", out)
        assert out.read_text(encoding=encoding).startswith("y_mean,")
        marked = out.read_bytes()[:2] in (b"\xef\xbb", b"\xff\xfe")
        assert marked == (encoding != "utf-8")


def zipped(*files):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            archive.writestr(name, data)
    return stream.getvalue()


def test_zip_archives_of_one_table_are_read(folder, tmp_path):
    data = (folder / "new.csv").read_bytes()
    expected = run("predict", folder / "model.cdn", folder / "new.csv").stdout
    path = tmp_path / "t.zip"
    path.write_bytes(zipped(("data/new.csv", data), ("__MACOSX/._new.csv", b"?")))
    assert run("predict", folder / "model.cdn", path).stdout == expected
    path.write_bytes(zipped(("a.csv", data), ("b.csv", data)))
    says = "the zip archive holds 2 files: unpack it, and name the table"
    assert_refused("predict", folder / "model.cdn", path, says=says)
    path.write_bytes(zipped(("a.csv", data))[:-30])
    assert_refused("predict", folder / "model.cdn", path, says="is damaged")


def workbook(path, rows, *, sheets=1):
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl comes with condensity[excel]")
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for k in range(1, sheets):
        book.create_sheet(f"more {k}")
    book.save(path)
    return path


def test_workbooks_are_read(folder, tmp_path):
    values = zip(*(column.tolist() for column in NEW.values()), strict=True)
    rows = [[], [*NEW], *map(list, values)]
    path = workbook(tmp_path / "t.xlsx", rows, sheets=2)
    answers = run("predict", folder / "model.cdn", path)
    assert answers.stdout == run("predict", folder / "model.cdn", folder / "new.csv").stdout
    assert "note: the workbook has 2 sheets: the first one, 'Sheet', is used" in answers.stderr
    days = [["day", "y"], *([date(2024, 1, 1 + i % 31), i % 7] for i in range(60))]
    path = workbook(tmp_path / "days.xlsx", days)
    run("fit", path, "--target", "y", "--out", tmp_path / "m.cdn", *QUICK)
    assert condensity.load(tmp_path / "m.cdn").columns[0].order == "ymd"
    with open_table(str(workbook(tmp_path / "gap.xlsx", [["a", "b"], [1], [None, 2]]))) as source:
        assert source.whole()["b"].tolist() == [None, 2]
    long = workbook(tmp_path / "long.xlsx", [["a", "y"], [1, 2, 3]])
    predict = ("predict", folder / "model.cdn", long)
    assert_refused(*predict, says="row 1 has 3 cells and the header has 2")


def test_workbooks_without_their_reader_name_the_remedy(folder, tmp_path, monkeypatch):
    path = tmp_path / "t.xlsx"
    path.write_bytes(zipped(("xl/workbook.xml", b"")))
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    says = "run pip install 'openpyxl>=3.1', or save the sheet as CSV"
    assert_refused("predict", folder / "model.cdn", path, says=says)


def test_answers_keep_the_delimiter(folder, tmp_path):
    path = write(tmp_path / "t.csv", NEW, delimiter="|")
    answers = run("predict", folder / "model.cdn", path, "--keep", "colour").stdout
    plain = run("predict", folder / "model.cdn", folder / "new.csv", "--keep", "colour").stdout
    rows = [*csv.reader(answers.splitlines(), delimiter="|")]
    assert rows == [*csv.reader(plain.splitlines())]
    assert read(plain)["colour"] == tuple(NEW["colour"])
