"""Workbooks of Excel (.xlsx) as tables."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

from condensity._utils.extras import require


def sheet_rows(archive: Any, warn: Callable[[str], None]) -> Iterator[list[Any]]:
    """Rows of the first sheet of a workbook, without empty rows; the first one is the header.

    ``warn`` is given a note if there are more sheets.
    """
    openpyxl = require("openpyxl", "excel", otherwise=", or save the sheet as CSV")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about parts of the workbook that hold no cells
        book = openpyxl.load_workbook(archive.fp, read_only=True, data_only=True)
    try:
        sheets = book.worksheets
        if not sheets:
            raise ValueError("the workbook has no sheet with cells")
        if len(sheets) > 1:
            first = sheets[0].title
            warn(f"the workbook has {len(sheets)} sheets: the first one, {first!r}, is used")
        width = 0
        for cells in sheets[0].iter_rows(values_only=True):
            row = list(cells)
            while row and row[-1] is None:
                row.pop()
            if not row:
                continue
            width = width or len(row)
            yield row + [None] * (width - len(row))
    finally:
        book.close()
