"""All of it: run the cells that are missing, write tables, figures and the page that shows them."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from condensity._utils.extras import require
from condensity.datasets import load, names
from condensity.experiments import figures
from condensity.experiments import result_tables as tables
from condensity.experiments.formatted_tables import Sheet
from condensity.experiments.records import Cell, Record, RecordFile
from condensity.experiments.results_page import page
from condensity.experiments.runner import Workers, run
from condensity.experiments.studies import STUDIES
from condensity.io.atomic import write_atomically


def records_of(out: Path, *, quick: bool) -> RecordFile:
    """Where the records of a folder are."""
    return RecordFile(shown_in(out, quick=quick) / "records.jsonl")


def shown_in(out: Path, *, quick: bool) -> Path:
    """Where all is written; a quick look never takes the place of the real thing."""
    return out / "quick" if quick else out


def cells_of(
    studies: Sequence[str], *, quick: bool = False, only: Collection[str] = ()
) -> list[Cell]:
    """The cells of the named studies."""
    return [cell for name in studies for cell in STUDIES[name].cells(quick=quick, only=only)]


def tables_not_there(cells: Sequence[Cell]) -> dict[str, str]:
    """Why tables that cells need cannot be had; empty when there is something to begin with."""
    needed = {cell.problem for cell in cells}
    if not needed <= set(names()):
        return {}
    lacking = {}
    for name in needed:
        try:
            load(name)
        except (OSError, ImportError, ValueError) as error:
            lacking[name] = str(error)
    return lacking if len(lacking) == len(needed) else {}


def do(cell: Cell, *, quick: bool) -> dict[str, Any]:
    """The work of a cell."""
    return STUDIES[cell.study].work(cell, quick=quick)


def reproduce(
    studies: Sequence[str],
    out: Path,
    *,
    workers: Workers,
    quick: bool = False,
    only: Collection[str] = (),
    retry: bool = False,
    report: Callable[[Record], None] = lambda record: None,
) -> Path:
    """Run what is missing, write what can be shown, and return the page."""
    file = records_of(out, quick=quick)
    run(
        cells_of(studies, quick=quick, only=only),
        partial(do, quick=quick),
        file,
        workers=workers,
        report=report,
        retry=retry,
    )
    return show(out, quick=quick)


def show(out: Path, *, quick: bool = False) -> Path:
    """Write tables, figures and the page from the records that belong to the studies."""
    found, cells = records_of(out, quick=quick).read(), set(cells_of(list(STUDIES)))
    records = [record for cell, record in found.items() if cell in cells]
    out = shown_in(out, quick=quick)
    by_study = {name: [r for r in records if r.cell.study == name] for name in STUDIES}
    sheets: list[Sheet] = []
    drawn: dict[str, str] = {}
    if by_study["illustration"]:
        figure = figures.illustration(by_study["illustration"])
        if figure is not None:  # not every cell has failed
            drawn[STUDIES["illustration"].title] = _save(figure, out, "illustration")
    if by_study["artificial"]:
        figure = figures.artificial(by_study["artificial"])
        drawn[STUDIES["artificial"].title] = _save(figure, out, "artificial")
        sheets += tables.artificial(by_study["artificial"])
    if by_study["benchmark"]:
        sheets += [
            tables.benchmark(by_study["benchmark"]),
            tables.dimensions(by_study["benchmark"]),
        ]
    if by_study["worlds"]:
        sheets += tables.worlds(by_study["worlds"])
    for sheet in sheets:
        write_atomically(out / f"{sheet.name}.md", sheet.markdown().encode())
        write_atomically(out / f"{sheet.name}.tex", sheet.latex().encode())
    done = [name for name, own in by_study.items() if own]
    told = "all" if len(done) == len(STUDIES) else ", then ".join(done)
    command = f"condensity reproduce {told}{' --quick' if quick else ''}"
    shown = page(sheets, drawn, records, quick=quick, command=command)
    return write_atomically(out / "index.html", shown.encode())


def _save(figure: Any, out: Path, name: str) -> str:
    """Write a figure as SVG and PNG; return the SVG."""
    plt = require("matplotlib.pyplot", "plots")
    pictures = {}
    for kind in ("svg", "png"):
        buffer = io.BytesIO()
        # No date, and names of shapes that do not change: the same records give the same file.
        with plt.rc_context({"svg.hashsalt": name}):
            metadata = {"Date": None} if kind == "svg" else {}
            figure.savefig(buffer, format=kind, dpi=130, metadata=metadata)
        pictures[kind] = buffer.getvalue()
        write_atomically(out / f"{name}.{kind}", pictures[kind])
    plt.close(figure)
    return pictures["svg"].decode()
