"""From the command to the page: everything small, but everything."""

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from condensity.cli import app
from condensity.experiments import published_results as paper
from condensity.experiments.methods import OURS
from condensity.experiments.records import Record
from condensity.experiments.reproduce import records_of, write_results
from condensity.experiments.studies import STUDIES
from datafolder import FOLDER, needs_data


def run(*arguments):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)])


@needs_data
def test_a_quick_look_at_all_of_it(tmp_path, monkeypatch):
    pytest.importorskip("mujoco", reason="needs condensity[robot]")
    monkeypatch.setenv("CONDENSITY_DATA", str(FOLDER))
    done = run("all", "--quick", "--jobs", 2, "--out", tmp_path)
    assert done.exit_code == 0, done.output
    shown = tmp_path / "quick"
    assert done.stdout.strip() == str(shown / "index.html")
    records = records_of(tmp_path, quick=True).read()
    assert [r for r in records.values() if r.error] == []
    cells = [cell for study in STUDIES.values() for cell in study.cells(quick=True)]
    assert set(records) == set(cells)
    names = ["illustration.svg", "illustration.png", "artificial.svg", "artificial.png"]
    names += [
        f"{s}.{kind}" for s in ("benchmark", "dimensions", "worlds") for kind in ("md", "tex")
    ]
    for name in names:
        assert (shown / name).stat().st_size > 500
    page = (shown / "index.html").read_text()
    charts = sum(f"<section id={s}>" in page for s in ("worlds-variants", "worlds"))
    assert page.count("<svg") == 2 + 3 + charts  # two figures, and a chart for each other table
    assert "Quick run" in page
    losses = [
        record.results["own"]["Error_CDE"]
        for cell, record in records.items()
        if (cell.study, cell.method) == ("benchmark", "LSCE()")
    ]
    mean = sum(losses) / 2  # the digits follow the standard error
    assert any(f"{mean:.{digits}f} (" in page for digits in (1, 2, 3))
    assert not re.search(r"(src|href)=.?https?:", page)  # it needs no network
    before = page
    again = run("all", "--quick", "--jobs", 2, "--out", tmp_path)
    assert "0 to do" in again.output
    assert (shown / "index.html").read_text() == before  # the same records, the same page


def test_the_records_do_not_depend_on_the_number_of_jobs(tmp_path):
    found = []
    for jobs in (1, 2):
        out = tmp_path / str(jobs)
        done = run("illustration", "--quick", "--jobs", jobs, "--out", out)
        assert done.exit_code == 0, done.output
        records = records_of(out, quick=True).read()
        found.append({cell: record.results for cell, record in records.items()})
    assert found[0] == found[1]
    assert len(found[0]) == 3  # None, LSCE as published, LSCE()


def test_only_what_belongs_to_the_studies_is_shown(tmp_path):
    cell = next(c for c in STUDIES["benchmark"].cells() if (c.problem, c.method) == ("Servo", OURS))
    file = records_of(tmp_path, quick=False)
    file.append(Record(cell, {"own": {"Error_CDE": -4.0, "dz": 1}}))
    file.append(Record(replace(cell, n=999), {"own": {"Error_CDE": -77.0, "dz": 1}}))
    text = write_results(tmp_path).read_text()
    assert "-4.00" in text
    assert "-77" not in text
    assert "<dd>condensity reproduce benchmark</dd>" in text


def test_tables_that_are_not_there_are_missed_before_anything_is_run(tmp_path, monkeypatch):
    monkeypatch.setenv("CONDENSITY_DATA", str(tmp_path / "nothing"))
    monkeypatch.delenv("CONDENSITY_DATA_URL", raising=False)
    done = run("benchmark", "--quick", "--jobs", 1, "--out", tmp_path)
    assert done.exit_code == 2
    assert re.search(
        r"condensity: none of the \d+ tables is available: .*CONDENSITY_DATA", done.output
    )
    assert not (tmp_path / "quick").exists()


def test_what_is_missing_is_one_line_and_the_rest_is_run(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    only = ("--only", "Illustrative data", "--only", "2 Joints")
    done = run("all", "--quick", *only, "--jobs", 1, "--out", tmp_path)
    assert done.exit_code == 0, done.output
    notes = [line for line in done.stderr.splitlines() if line.startswith("note: ")]
    assert notes == [
        "note: 14 cells of 2 Joints cannot be run: the optional package mujoco is not installed: "
        "run pip install 'mujoco<5,>=4'",
        "note: no figures are drawn: the optional package matplotlib is not installed: run pip "
        "install 'matplotlib>=3.8'",
    ]
    records = records_of(tmp_path, quick=True).read()
    assert len(records) == 3
    assert not any(record.error for record in records.values())
    assert (tmp_path / "quick" / "index.html").exists()
    again = run("worlds", "--quick", "--only", "2 Joints", "--jobs", 1, "--out", tmp_path)
    assert again.exit_code == 2
    assert "none of the 1 problems is available: the optional package mujoco" in again.stderr


def test_the_grids_are_those_of_the_paper():
    cells = {name: study.cells() for name, study in STUDIES.items()}
    assert len(cells["benchmark"]) == 11 * 7 * 10
    assert len(cells["artificial"]) == 2 * 4 * 5 * 20
    assert len(cells["illustration"]) == 3 * 3
    assert {c.problem for c in cells["benchmark"]} == set(paper.ERRORS)
    sizes = [100, 100, 50, 80, 500, 400, 300, 100, 300, 200, 100]  # in the order of its Table 1
    assert {(c.problem, c.n) for c in cells["benchmark"]} == set(
        zip(paper.ERRORS, sizes, strict=True)
    )
    only = STUDIES["benchmark"].cells(only=["Yacht"])
    assert only == [c for c in cells["benchmark"] if c.problem == "Yacht"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["tables"],
            "'tables' is not a study: choose illustration, artificial, benchmark, worlds or all",
        ),
        (
            ["artificial", "--only", "Yacht"],
            "'Yacht' is not a problem of this study: choose toy (a), toy (b)",
        ),
    ],
)
def test_what_is_not_there_is_refused_in_one_sentence(arguments, message, tmp_path):
    refused = run(*arguments, "--out", tmp_path)
    assert refused.exit_code == 2
    assert message in refused.output
    assert list(tmp_path.iterdir()) == []


def test_a_problem_of_which_nothing_came_is_told(tmp_path):
    cells = [c for c in STUDIES["illustration"].cells() if c.problem == "Old Faithful"]
    for cell in cells:
        records_of(tmp_path, quick=False).append(Record(cell, error="OSError: it is gone"))
    done = run("illustration", "--only", "Old Faithful", "--jobs", 1, "--out", tmp_path)
    assert done.exit_code == 1
    assert "3 of these cells failed; --retry runs them again" in done.output
    assert "Cells that failed" in (tmp_path / "index.html").read_text()


def test_failed_cells_are_on_the_page(tmp_path):
    cell = STUDIES["artificial"].cells()[0]
    records_of(tmp_path, quick=False).append(Record(cell, error="ValueError: <b>no</b>"))
    page = write_results(tmp_path).read_text()
    assert "Cells that failed" in page
    assert "ValueError: &lt;b&gt;no&lt;/b&gt;" in page


PAGES = Path(__file__).parents[2] / "docs" / "results"


@pytest.mark.skipif(not PAGES.is_dir(), reason="the documentation is not here")
def test_the_published_tables_are_those_of_the_published_records(tmp_path):
    """A changed caption needs new pages: write_results makes them without running a cell."""
    (tmp_path / "records.jsonl").write_bytes((PAGES / "records.jsonl").read_bytes())
    write_results(tmp_path)
    written = sorted(path.name for path in tmp_path.iterdir() if path.suffix in (".md", ".tex"))
    assert len(written) == 14
    for name in written:
        assert (tmp_path / name).read_text() == (PAGES / name).read_text(), name
