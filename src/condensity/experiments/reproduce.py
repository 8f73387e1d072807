"""Reproduction of the paper: run missing cells; write tables, figures and the results page."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from condensity._utils.extras import require
from condensity.experiments import figures, result_tables
from condensity.experiments.formatted_tables import FormattedTable
from condensity.experiments.problems import check_available
from condensity.experiments.records import Cell, Record, RecordFile
from condensity.experiments.results_page import render_results_page
from condensity.experiments.runner import Workers, run_cells
from condensity.experiments.studies import STUDIES
from condensity.io.atomic import write_atomically

#: Tables whose chart is Figure 3.
DRAWN_TOGETHER = ("artificial-dr", "artificial-cde")


def records_of(out: Path, *, quick: bool) -> RecordFile:
    """The file with the records of an output folder."""
    return RecordFile(results_folder(out, quick=quick) / "records.jsonl")


def results_folder(out: Path, *, quick: bool) -> Path:
    """The folder for all files; quick runs have their own, so they never replace full results."""
    return out / "quick" if quick else out


def cells_of(
    studies: Sequence[str], *, quick: bool = False, only: Collection[str] = ()
) -> list[Cell]:
    """The cells of some studies."""
    return [cell for name in studies for cell in STUDIES[name].cells(quick=quick, only=only)]


def unavailable_problems(cells: Sequence[Cell]) -> dict[str, str]:
    """Errors by problem, for the problems of the cells whose data cannot be had."""
    errors = {}
    for name in dict.fromkeys(cell.problem for cell in cells):
        try:
            check_available(name)
        except (OSError, ImportError, ValueError) as error:
            errors[name] = str(error)
    return errors


def missing_plots() -> str | None:
    """The error of the package that draws figures, or None if it is installed."""
    try:
        require("matplotlib", "plots")
    except ModuleNotFoundError as error:
        return str(error)
    return None


def compute_cell(cell: Cell, *, quick: bool) -> dict[str, Any]:
    """Results of a cell."""
    return STUDIES[cell.study].work(cell, quick=quick)


def reproduce(
    studies: Sequence[str],
    out: Path,
    *,
    workers: Workers,
    quick: bool = False,
    only: Collection[str] = (),
    retry: bool = False,
    without: Collection[str] = (),
    report: Callable[[Record], None] = lambda record: None,
) -> Path:
    """Run the missing cells, write all results, and return the path of the results page.

    Cells of the problems in ``without`` are not run.
    """
    file = records_of(out, quick=quick)
    cells = cells_of(studies, quick=quick, only=only)
    run_cells(
        [cell for cell in cells if cell.problem not in without],
        partial(compute_cell, quick=quick),
        file,
        workers=workers,
        report=report,
        retry=retry,
    )
    return write_results(out, quick=quick)


def write_results(out: Path, *, quick: bool = False) -> Path:
    """Write tables, figures and the page from the records of the studies' cells.

    There are no figures if the package that draws them is not installed.
    """
    stored, cells = records_of(out, quick=quick).read(), set(cells_of(list(STUDIES)))
    records = [record for cell, record in stored.items() if cell in cells]
    out = results_folder(out, quick=quick)
    by_study = {name: [r for r in records if r.cell.study == name] for name in STUDIES}
    tables: list[FormattedTable] = []
    drawn: dict[str, str] = {}
    plots = missing_plots() is None
    if by_study["illustration"] and plots:
        figure = figures.illustration_figure(by_study["illustration"])
        if figure is not None:  # None if all cells failed
            drawn[STUDIES["illustration"].title] = _save(figure, out, "illustration")
    if by_study["artificial"]:
        if plots:
            figure = figures.artificial_figure(by_study["artificial"])
            drawn[STUDIES["artificial"].title] = _save(figure, out, "artificial")
        tables += result_tables.artificial_tables(by_study["artificial"])
    if by_study["benchmark"]:
        tables += [
            result_tables.benchmark_table(by_study["benchmark"]),
            result_tables.dimensions_table(by_study["benchmark"]),
        ]
    if by_study["worlds"]:
        tables += result_tables.world_tables(by_study["worlds"])
    for table in tables:
        write_atomically(out / f"{table.name}.md", table.markdown().encode())
        write_atomically(out / f"{table.name}.tex", table.latex().encode())
    done = [name for name, study_records in by_study.items() if study_records]
    studies = "all" if len(done) == len(STUDIES) else ", then ".join(done)
    command = f"condensity reproduce {studies}{' --quick' if quick else ''}"
    charts = {t.name: _chart(t) for t in tables if t.name not in DRAWN_TOGETHER}
    page = render_results_page(tables, drawn, records, charts, quick=quick, command=command)
    return write_atomically(out / "index.html", page.encode())


def _save(figure: Any, out: Path, name: str) -> str:
    """Write a figure as SVG and PNG; return the SVG."""
    pictures = {kind: _picture(figure, name, kind) for kind in ("svg", "png")}
    for kind, picture in pictures.items():
        write_atomically(out / f"{name}.{kind}", picture)
    require("matplotlib.pyplot", "plots").close(figure)
    return pictures["svg"].decode()


def _chart(table: FormattedTable) -> str:
    """The chart of a table as SVG, for the page alone."""
    figure = figures.table_chart(table)
    picture = _picture(figure, f"{table.name}-chart", "svg")
    require("matplotlib.pyplot", "plots").close(figure)
    return picture.decode()


def _picture(figure: Any, name: str, kind: str) -> bytes:
    """A figure in a file format, without date and with constant identifiers.

    The same records therefore give the same file.
    """
    buffer = io.BytesIO()
    with require("matplotlib.pyplot", "plots").rc_context({"svg.hashsalt": name}):
        metadata = {"Date": None} if kind == "svg" else {}
        figure.savefig(buffer, format=kind, dpi=130, metadata=metadata)
    return buffer.getvalue()
