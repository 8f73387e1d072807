"""The paper's Tables 1 and 2, and the errors behind Figure 3, from records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from condensity.experiments import published_results as paper
from condensity.experiments.formatted_tables import Entry, Sheet
from condensity.experiments.methods import FLOORLESS, LINEAR, OURS
from condensity.experiments.problems import WORLDS
from condensity.experiments.records import Record
from condensity.experiments.run_statistics import (
    Runs,
    comparable,
    less,
    mean_and_error,
    printed,
    text,
)

#: A method and the density after it, or "own" for what it finds on the way.
Column = tuple[str, str]
#: A problem and the number of samples to learn from.
Row = tuple[str, int]
#: Results of one kind.
Found = Mapping[Row, dict[Column, Runs]]

LABELS = {
    ("LSCE", "own"): "LSCE as published",
    ("LSCE", "LSCDE"): "LSCE, then LSCDE",
} | {(method, "own"): method for method in (OURS, FLOORLESS)}
EXTRA: tuple[Column, ...] = (
    ("LSCE", "LSCDE"),
    ("SIR", "LSCDE"),
    ("SAVE", "LSCDE"),
    (OURS, "own"),
)
#: Targets of few values: what a loss tells of them is how narrow kernels may be.
REPEATING = ("White Wine", "Red Wine", "Forest Fires")
BINARY = ("Simulated brush", "Simulated brush, whole strokes")
#: The methods that are run in the two worlds, and what is to be known of the paper's figures there.
IN_WORLDS: tuple[Column, ...] = (*paper.COLUMNS, *EXTRA, (LINEAR, "Gaussian"))
OTHER_DATA = (
    "The paper's figure, of its own robot or artist and so of other data, below ours or in "
    "brackets."
)
#: Whom LSCE() is compared with, split by split, in the two worlds.
RIVALS: tuple[Column, ...] = (("None", "LSCDE"), (LINEAR, "Gaussian"))
#: Whose subspaces are compared; it is the same one whatever density comes after it.
LEARNED: dict[Column, str] = {
    ("LSMI", "LSCDE"): "LSMI",
    ("LSCE", "LSCDE"): "LSCE as published",
    (OURS, "own"): OURS,
}


def benchmark(records: Iterable[Record]) -> Sheet:
    """Table 1: Error_CDE by table and method, the paper's figure below ours."""
    found = _by_table(records, "Error_CDE")
    extra: list[Column] = [*EXTRA, (FLOORLESS, "own")]
    columns = [*paper.COLUMNS, *extra]
    rows, notes = [], []
    for table, figures in paper.ERRORS.items():
        runs = [found[table].get(column, {}) for column in columns]
        best = [False] * len(runs) if table in REPEATING else comparable(runs)
        rows.append((table, _entries(runs, best, figures)))
        notes += _differences(table, runs, figures)
    return Sheet(
        "benchmark",
        "Conditional density estimation error (Table 1)",
        "Error_CDE, mean (standard error) over runs, y in [0, 1]; the paper's figure below ours. "
        "Bold: the best mean, and all that a paired t-test does not tell from it at 5 %. The "
        "number of directions is chosen at subspaces that have seen all samples, as the paper "
        "seems to do; LSCE() cross-fits it. Kernels sit on all samples, on 200 at most where LSCE "
        "as published and LSMI search, on 500 at most for LSCE(); tests are 1000 samples at most. "
        "Where y repeats a few values (the wines, Forest Fires) losses fall without end as kernels "
        "become narrow, and tell how narrow a method may make them: 0.03 standard deviations of y "
        "(LSCDE, ε-KDE), 0.1 (LSCE as published), 0.01 (LSCE(min_bandwidth=0)), the steps of y "
        "(LSCE()); nothing is bold there.",
        ["", *(label(column) for column in columns)],
        rows,
        notes,
    )


def dimensions(records: Iterable[Record]) -> Sheet:
    """Table 2: the number of directions chosen."""
    found = _by_table(records, "dz")
    columns: list[Column] = [*paper.COLUMNS[:4], ("LSCE", "LSCDE"), (OURS, "own")]
    rows, notes = [], []
    for table, figures in paper.DIMENSIONS.items():
        runs = [found[table].get(column, {}) for column in columns]
        rows.append((table, _entries(runs, [False] * len(runs), figures)))
        notes += _differences(table, runs, figures)
    return Sheet(
        "dimensions",
        "Number of directions chosen (Table 2)",
        "Mean (standard error) over runs; the paper's figure below ours.",
        ["", *(label(column) for column in columns)],
        rows,
        notes,
    )


def worlds(records: Iterable[Record]) -> list[Sheet]:
    """The rows of the robot and the brush in Tables 1 and 2, and those that we add to them."""
    records = list(records)
    found, chosen = collect(records, "Error_CDE"), collect(records, "dz")
    added = {row: runs for row, runs in found.items() if row not in paper.WORLD_ERRORS}
    sheets = [
        _world_errors({row: runs for row, runs in found.items() if row not in added}),
        _world_dimensions({row: runs for row, runs in chosen.items() if row not in added}),
    ]
    return [*sheets, _variants(added)] if added else sheets


def _world_errors(found: Found) -> Sheet:
    return Sheet(
        "worlds",
        "Conditional density estimation error, simulated robot and brush (Table 1)",
        f"Error_CDE, mean (standard error) over runs, outputs in [0, 1]. {OTHER_DATA} Bold: the "
        "best mean, and all that a paired t-test does not tell from it at 5 %. Outputs lie near a "
        "sheet: LSCE() and Linear/Gaussian use the full covariance of residuals and see it, the "
        "round kernels of the others do not, hence the powers of ten between them. Reverse "
        "driving is binary: with it, losses have no bound but the least bandwidth of y, which is "
        "0.03 standard deviations for LSCDE and ε-KDE, 0.1 for LSCE as published, for LSCE() half "
        "of the step from 0 to 1, for Linear/Gaussian what it finds. Nothing is bold there.",
        ["", *(label(column) for column in IN_WORLDS)],
        _world_rows(found, IN_WORLDS, paper.WORLD_ERRORS, compete=True),
        _rivals(found),
    )


def _world_dimensions(found: Found) -> Sheet:
    columns: list[Column] = [*paper.COLUMNS[:4], ("LSCE", "LSCDE"), (OURS, "own")]
    return Sheet(
        "worlds-dimensions",
        "Number of directions chosen, simulated robot and brush (Table 2)",
        f"Mean (standard error) over runs. {OTHER_DATA}",
        ["", *(label(column) for column in columns)],
        _world_rows(found, columns, paper.WORLD_DIMENSIONS, compete=False),
    )


def _variants(found: Found) -> Sheet:
    columns = [column for column in IN_WORLDS if any(column in runs for runs in found.values())]
    return Sheet(
        "worlds-variants",
        "The same with whole episodes or strokes left out, or without reverse driving",
        "Error_CDE as above, of problems that the paper does not have; methods that were run on "
        "them.",
        ["", *(label(column) for column in columns)],
        _world_rows(found, columns, {}, compete=True),
        _rivals(found),
    )


def _world_rows(
    found: Found,
    columns: Sequence[Column],
    figures: Mapping[Row, tuple[paper.Figure, ...]],
    *,
    compete: bool,
) -> list[tuple[str, list[Entry]]]:
    """One row for each problem and size that the paper has, or that there are records of."""
    rows = []
    for row in ((name, n) for name, world in WORLDS.items() for n in world.sizes):
        if row in figures or row in found:
            runs = [found.get(row, {}).get(column, {}) for column in columns]
            best = [False] * len(runs)
            if compete and row[0] not in BINARY:
                best = comparable(runs)
            rows.append((f"{row[0]}, n = {row[1]}", _entries(runs, best, figures.get(row, ()))))
    return rows


def _rivals(found: Found) -> list[str]:
    """How LSCE() compares with others on the same splits of each row."""
    notes = []
    for (problem, n), runs in found.items():
        gaps = {rival: less(runs.get((OURS, "own"), {}), runs.get(rival, {})) for rival in RIVALS}
        told = [
            f"{label(rival)} {text(gap)}, below it on {sum(g < 0 for g in gap.values())} of "
            f"{len(gap)} splits"
            for rival, gap in gaps.items()
            if gap
        ]
        if told:
            notes.append(f"{problem}, n = {n}: LSCE() less {'; less '.join(told)}.")
    return notes


def _entries(runs: list[Runs], bold: list[bool], figures: Sequence[paper.Figure]) -> list[Entry]:
    """One row: our figures, and below the first ones those of the paper."""
    theirs = [printed(*figure) for figure in figures]
    theirs += [""] * (len(runs) - len(theirs))
    most = max(map(len, runs), default=0)
    return [Entry(text(r, most), b, p) for r, b, p in zip(runs, bold, theirs, strict=True)]


def artificial(records: Iterable[Record]) -> list[Sheet]:
    """The errors of Figure 3 in numbers: one sheet for each kind of error."""
    records = list(records)
    return [_subspaces(collect(records, "Error_DR")), _densities(collect(records, "Error_CDE"))]


def _subspaces(found: Found) -> Sheet:
    first, *others = LEARNED
    rows = []
    for (problem, n), runs in found.items():
        own = [runs.get(column, {}) for column in LEARNED]
        entries = _entries(own, comparable(own), ())
        entries += [Entry(text(less(runs.get(c, {}), runs.get(first, {})))) for c in others]
        rows.append((f"{problem}, n = {n}", entries))
    return Sheet(
        "artificial-dr",
        "Error of the subspace on artificial data (Figure 3)",
        "Error_DR, mean (standard error) over runs, and differences of the same runs. Bold: the "
        "best mean, and all that a paired t-test does not tell from it at 5 %.",
        ["", *LEARNED.values(), *(f"{LEARNED[c]} less {LEARNED[first]}" for c in others)],
        rows,
    )


def _densities(found: Found) -> Sheet:
    columns = sorted({c for runs in found.values() for c in runs}, key=_order)
    rows = []
    for (problem, n), runs in found.items():
        # No one else is told the subspace: the truth does not compete.
        best = comparable([{} if c[0] == "True" else runs.get(c, {}) for c in columns])
        entries = _entries([runs.get(c, {}) for c in columns], best, ())
        rows.append((f"{problem}, n = {n}", entries))
    return Sheet(
        "artificial-cde",
        "Error of the density on artificial data (Figure 3)",
        "Error_CDE, mean (standard error) over runs. Bold as above, among those that are not told "
        "the subspace. LSCE, then LSCDE, fits the density anew, with all samples as centres, in "
        "the subspace of LSCE as published; that one has at most 200.",
        ["", *(label(column) for column in columns)],
        rows,
    )


def collect(records: Iterable[Record], what: str) -> dict[Row, dict[Column, Runs]]:
    """One kind of result by problem and size, column and seed; failed cells are left out."""
    found: defaultdict[Row, dict[Column, Runs]] = defaultdict(dict)
    for record in records:
        cell = record.cell
        for density, results in record.results.items():
            if isinstance(results, dict) and what in results:
                columns = found[cell.problem, cell.n]
                columns.setdefault((cell.method, density), {})[cell.seed] = results[what]
    return dict(sorted(found.items()))


def _by_table(records: Iterable[Record], what: str) -> Mapping[str, dict[Column, Runs]]:
    """The same by table alone: each has one size."""
    by_table = {table: columns for (table, _), columns in collect(records, what).items()}
    return defaultdict(dict, by_table)


def _differences(table: str, runs: list[Runs], figures: tuple[paper.Figure, ...]) -> list[str]:
    """Where our figure and the paper's are more than two standard errors apart."""
    notes = []
    for column, own, (mean, error) in zip(paper.COLUMNS, runs, figures, strict=False):
        if len(own) > 1:
            ours, ours_error = mean_and_error(own)
            apart, spread = ours - mean, float(np.hypot(error, ours_error))
            if abs(apart) > 2 * spread:
                by = f"{abs(apart) / spread:.1f} standard errors " if spread else ""
                word = "above" if apart > 0 else "below"
                notes.append(
                    f"{table}, {label(column)}: {text(own)}, {by}{word} the paper's "
                    f"{printed(mean, error)}."
                )
    return notes


def label(column: Column) -> str:
    """The head of a column."""
    return LABELS.get(column, "/".join(column))


def _order(column: Column) -> tuple[int, str]:
    order = ["None", "LSMI", "LSCE", "True", OURS]
    return order.index(column[0]), column[1]
