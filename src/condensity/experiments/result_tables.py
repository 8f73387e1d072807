"""The paper's Tables 1 and 2, and the errors of Figure 3, computed from records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from condensity.experiments import published_results as paper
from condensity.experiments.formatted_tables import FormattedTable, TableEntry
from condensity.experiments.methods import FLOORLESS, LINEAR, OURS
from condensity.experiments.problems import WORLDS
from condensity.experiments.records import Record
from condensity.experiments.run_statistics import (
    Runs,
    best_columns,
    differences,
    mean_and_error,
    printed_text,
    summary_text,
)

#: A method and the density estimator after it; "own" is the density of the method itself.
MethodColumn = tuple[str, str]
#: A problem and its number of training samples.
ProblemSize = tuple[str, int]
#: One kind of result, by problem and method.
Results = Mapping[ProblemSize, dict[MethodColumn, Runs]]
#: Part of several captions.
BOLD = (
    "Bold: the best mean, and all means that a paired t-test does not distinguish from it at the "
    "5 % level."
)
BESIDE_PAPER = "The paper's figure is below ours or in brackets"

LABELS = {
    ("LSCE", "own"): "LSCE as published",
    ("LSCE", "LSCDE"): "LSCE, then LSCDE",
} | {(method, "own"): method for method in (OURS, FLOORLESS)}
#: The default of the library comes first, then the columns of the paper, then the others.
COLUMNS: tuple[MethodColumn, ...] = (
    (OURS, "own"),
    *paper.COLUMNS,
    ("LSCE", "LSCDE"),
    ("SIR", "LSCDE"),
    ("SAVE", "LSCDE"),
)
DIMENSION_COLUMNS: tuple[MethodColumn, ...] = (*COLUMNS[:5], ("LSCE", "LSCDE"))
#: Tables and worlds whose target has few values: their losses show the least bandwidth.
REPEATING = ("White Wine", "Red Wine", "Forest Fires")
BINARY = ("Simulated brush", "Simulated brush, whole strokes")
#: The methods that are run in the two worlds.
IN_WORLDS: tuple[MethodColumn, ...] = (*COLUMNS, (LINEAR, "Gaussian"))
OTHER_DATA = f"{BESIDE_PAPER}; it is of the paper's own robot or artist, and so of other data."
#: The methods with which LSCE() is compared in the two worlds, split by split.
RIVALS: tuple[MethodColumn, ...] = (("None", "LSCDE"), (LINEAR, "Gaussian"))
#: The methods whose subspaces are compared.  The density after a method does not change them.
LEARNED: dict[MethodColumn, str] = {
    (OURS, "own"): OURS,
    ("LSCE", "LSCDE"): "LSCE as published",
    ("LSMI", "LSCDE"): "LSMI",
}


def benchmark_table(records: Iterable[Record]) -> FormattedTable:
    """Table 1: Error_CDE by table and method, with the paper's figures."""
    results = _by_table(records, "Error_CDE")
    columns: list[MethodColumn] = [*COLUMNS, (FLOORLESS, "own")]
    rows, notes = [], []
    for table, figures in paper.ERRORS.items():
        runs = {column: results[table].get(column, {}) for column in columns}
        best = [False] * len(runs) if table in REPEATING else best_columns(runs.values())
        rows.append((table, _entries(runs, best, figures)))
        notes += _notable_differences(table, runs, figures)
    return FormattedTable(
        "benchmark",
        "Conditional density estimation error (Table 1)",
        f"Error_CDE, mean (standard error) over runs, for y scaled to [0, 1]. {BESIDE_PAPER}. "
        f"{BOLD} LSCE as published selects the number of directions by cross-validation of the "
        "whole search, LSCE() by cross-fitting. The methods of two steps select it with subspaces "
        "that were learned from all samples. All samples are centres; LSMI searches with at most "
        "200 centres, and LSCE() uses at most 500. There are at most 1000 test samples. Where y "
        "repeats a few values (the wines, Forest Fires), losses decrease without bound as kernels "
        "become narrower, so that they show the least bandwidth of a method: 0.03 of the range "
        "of y (LSCDE, ε-KDE, LSCE as published), 0.01 standard deviations "
        "(LSCE(min_bandwidth=0)), the steps of y (LSCE()). Nothing is bold in these rows.",
        ["", *(column_label(column) for column in columns)],
        rows,
        notes,
    )


def dimensions_table(records: Iterable[Record]) -> FormattedTable:
    """Table 2: the number of selected directions."""
    results = _by_table(records, "dz")
    rows, notes = [], []
    for table, figures in paper.DIMENSIONS.items():
        runs = {column: results[table].get(column, {}) for column in DIMENSION_COLUMNS}
        rows.append((table, _entries(runs, [False] * len(runs), figures)))
        notes += _notable_differences(table, runs, figures)
    return FormattedTable(
        "dimensions",
        "Number of selected directions (Table 2)",
        f"Mean (standard error) over runs. {BESIDE_PAPER}.",
        ["", *(column_label(column) for column in DIMENSION_COLUMNS)],
        rows,
        notes,
    )


def world_tables(records: Iterable[Record]) -> list[FormattedTable]:
    """The rows of the robot and the brush in Tables 1 and 2, and rows that the paper lacks."""
    records = list(records)
    results, dimensions = collect_results(records, "Error_CDE"), collect_results(records, "dz")
    added = {row: runs for row, runs in results.items() if row not in paper.WORLD_ERRORS}
    tables = [
        _world_errors({row: runs for row, runs in results.items() if row not in added}),
        _world_dimensions({row: runs for row, runs in dimensions.items() if row not in added}),
    ]
    return [*tables, _variants(added)] if added else tables


def _world_errors(results: Results) -> FormattedTable:
    return FormattedTable(
        "worlds",
        "Conditional density estimation error, simulated robot and brush (Table 1)",
        f"Error_CDE, mean (standard error) over runs, for outputs scaled to [0, 1]. {OTHER_DATA} "
        f"{BOLD} The outputs lie close to a surface of lower dimension. LSCE() and Linear/Gaussian "
        "use the full covariance of the residuals and can represent it. The round kernels of the "
        "other methods cannot, which explains the powers of ten between them. Reverse driving is "
        "binary: with it, only the least bandwidth of y bounds the losses. It is 0.03 of the range "
        "for LSCDE, ε-KDE and LSCE as published, half of the step from 0 to 1 "
        "for LSCE(), and the fitted residual covariance for Linear/Gaussian. Nothing is bold in "
        "these rows.",
        ["", *(column_label(column) for column in IN_WORLDS)],
        _world_rows(results, IN_WORLDS, paper.WORLD_ERRORS, compete=True),
        _rivals(results),
    )


def _world_dimensions(results: Results) -> FormattedTable:
    return FormattedTable(
        "worlds-dimensions",
        "Number of selected directions, simulated robot and brush (Table 2)",
        f"Mean (standard error) over runs. {OTHER_DATA}",
        ["", *(column_label(column) for column in DIMENSION_COLUMNS)],
        _world_rows(results, DIMENSION_COLUMNS, paper.WORLD_DIMENSIONS, compete=False),
    )


def _variants(results: Results) -> FormattedTable:
    columns = [column for column in IN_WORLDS if any(column in runs for runs in results.values())]
    return FormattedTable(
        "worlds-variants",
        "Variants: whole episodes or strokes held out, or no reverse driving",
        "Error_CDE as above, for problems that the paper does not have, and for the methods that "
        "were run on them.",
        ["", *(column_label(column) for column in columns)],
        _world_rows(results, columns, {}, compete=True),
        _rivals(results),
    )


def _world_rows(
    results: Results,
    columns: Sequence[MethodColumn],
    figures: Mapping[ProblemSize, tuple[paper.Figure, ...]],
    *,
    compete: bool,
) -> list[tuple[str, list[TableEntry]]]:
    """One row for each problem and size with a figure of the paper or with records."""
    rows = []
    for row in ((name, n) for name, world in WORLDS.items() for n in world.sizes):
        if row in figures or row in results:
            runs = {column: results.get(row, {}).get(column, {}) for column in columns}
            best = [False] * len(runs)
            if compete and row[0] not in BINARY:
                best = best_columns(runs.values())
            rows.append((f"{row[0]}, n = {row[1]}", _entries(runs, best, figures.get(row, ()))))
    return rows


def _rivals(results: Results) -> list[str]:
    """Differences between LSCE() and its rivals on the same splits, for each row."""
    notes = []
    for (problem, n), runs in results.items():
        ours = runs.get((OURS, "own"), {})
        gaps = {rival: differences(ours, runs.get(rival, {})) for rival in RIVALS}
        parts = [
            f"minus {column_label(rival)} {summary_text(gap)}, lower on "
            f"{sum(g < 0 for g in gap.values())} of {len(gap)} splits"
            for rival, gap in gaps.items()
            if gap
        ]
        if parts:
            notes.append(f"{problem}, n = {n}: LSCE() {'; '.join(parts)}.")
    return notes


def _entries(
    runs: Mapping[MethodColumn, Runs], bold: list[bool], figures: Sequence[paper.Figure]
) -> list[TableEntry]:
    """One row: our figures, and those of the paper below them."""
    theirs = dict(zip(paper.COLUMNS, figures, strict=False))
    expected = max(map(len, runs.values()), default=0)
    entries = []
    for (column, values), best in zip(runs.items(), bold, strict=True):
        below = printed_text(*theirs[column]) if column in theirs else ""
        numbers = mean_and_error(values) if values else (np.nan, np.nan)
        entries.append(TableEntry(summary_text(values, expected), best, below, *numbers))
    return entries


def artificial_tables(records: Iterable[Record]) -> list[FormattedTable]:
    """The errors of Figure 3 in numbers: one table for each kind of error."""
    records = list(records)
    return [
        _subspaces(collect_results(records, "Error_DR")),
        _densities(collect_results(records, "Error_CDE")),
    ]


def _subspaces(results: Results) -> FormattedTable:
    *others, reference = LEARNED
    rows = []
    for (problem, n), runs in results.items():
        learned = {column: runs.get(column, {}) for column in LEARNED}
        entries = _entries(learned, best_columns(learned.values()), ())
        gaps = [differences(learned[column], learned[reference]) for column in others]
        entries += [TableEntry(summary_text(gap)) for gap in gaps]
        rows.append((f"{problem}, n = {n}", entries))
    return FormattedTable(
        "artificial-dr",
        "Error of the subspace on artificial data (Figure 3)",
        f"Error_DR, mean (standard error) over runs, and differences of the same runs. {BOLD}",
        ["", *LEARNED.values(), *(f"{LEARNED[c]} minus {LEARNED[reference]}" for c in others)],
        rows,
    )


def _densities(results: Results) -> FormattedTable:
    columns = sorted({c for runs in results.values() for c in runs}, key=_order)
    rows = []
    for (problem, n), runs in results.items():
        # "True" uses the true subspace, which is not available to the other methods.
        best = best_columns([{} if c[0] == "True" else runs.get(c, {}) for c in columns])
        entries = _entries({c: runs.get(c, {}) for c in columns}, best, ())
        rows.append((f"{problem}, n = {n}", entries))
    return FormattedTable(
        "artificial-cde",
        "Error of the density on artificial data (Figure 3)",
        "Error_CDE, mean (standard error) over runs. Bold as above, among the methods that do not "
        "use the true subspace. The column LSCE, then LSCDE fits a new density in the subspace of "
        "LSCE as published, with bandwidths from 0.03 instead of 0.1 standard deviations on.",
        ["", *(column_label(column) for column in columns)],
        rows,
    )


def collect_results(
    records: Iterable[Record], what: str
) -> dict[ProblemSize, dict[MethodColumn, Runs]]:
    """One kind of result by problem, size, column and seed, without failed cells."""
    collected: defaultdict[ProblemSize, dict[MethodColumn, Runs]] = defaultdict(dict)
    for record in records:
        cell = record.cell
        for density, results in record.results.items():
            if isinstance(results, dict) and what in results:
                columns = collected[cell.problem, cell.n]
                columns.setdefault((cell.method, density), {})[cell.seed] = results[what]
    return dict(sorted(collected.items()))


def _by_table(records: Iterable[Record], what: str) -> Mapping[str, dict[MethodColumn, Runs]]:
    """One kind of result by table, column and seed; each table has one size."""
    by_table = {table: columns for (table, _), columns in collect_results(records, what).items()}
    return defaultdict(dict, by_table)


def _notable_differences(
    table: str, runs: Mapping[MethodColumn, Runs], figures: tuple[paper.Figure, ...]
) -> list[str]:
    """Notes on figures that differ from the paper's by more than two standard errors."""
    notes = []
    for column, (mean, error) in zip(paper.COLUMNS, figures, strict=False):
        if len(values := runs[column]) > 1:
            ours, ours_error = mean_and_error(values)
            apart, spread = ours - mean, float(np.hypot(error, ours_error))
            if abs(apart) > 2 * spread:
                by = f"{abs(apart) / spread:.1f} standard errors " if spread else ""
                word = "above" if apart > 0 else "below"
                notes.append(
                    f"{table}, {column_label(column)}: {summary_text(values)}, {by}{word} the "
                    f"paper's {printed_text(mean, error)}."
                )
    return notes


def column_label(column: MethodColumn) -> str:
    """The heading of a column."""
    return LABELS.get(column, "/".join(column))


def _order(column: MethodColumn) -> tuple[int, str]:
    order = [OURS, "None", "LSMI", "LSCE", "True"]
    return order.index(column[0]), column[1]
