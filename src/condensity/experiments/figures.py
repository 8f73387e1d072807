"""The paper's Figures 2 and 3, drawn from records, and a chart for each table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from condensity._utils.extras import require
from condensity.experiments.formatted_tables import FormattedTable, TableEntry
from condensity.experiments.methods import OURS
from condensity.experiments.records import Record
from condensity.experiments.result_tables import (
    LEARNED,
    MethodColumn,
    collect_results,
    column_label,
)

#: Colours by reducer, line styles by density.
METHOD_COLORS = {
    "None": "#7f7f7f",
    "LSMI": "#1f78b4",
    "LSCE": "#e66101",
    "True": "#222222",
    OURS: "#7b3294",
}
LINES = {"LSCDE": "-", "ε-KDE": ":", "own": "--"}
HEADINGS = {
    "None": "None/LSCDE",
    "LSCE": "LSCE as published",
    OURS: f"{OURS}, this library's default",
}

#: Panels in a line of a chart, colours in charts, and the ratio from which an axis is logarithmic.
N_PANELS, WIDE = 4, 30.0
HIGHLIGHTED = {
    OURS: METHOD_COLORS[OURS],
    "LSCE as published": METHOD_COLORS["LSCE"],
}


def illustration_figure(records: Iterable[Record]) -> Any:
    """Figure 2: samples, and densities at several values of the relevant input."""
    plt = require("matplotlib.pyplot", "plots")
    results = {(r.cell.problem, r.cell.method): r.results for r in records if r.results}
    if not results:
        return None
    problems = list(dict.fromkeys(problem for problem, _ in results))
    methods = [m for m in HEADINGS if any(key[1] == m for key in results)]
    size = (3.6 * len(methods), 3.0 * len(problems))
    figure, axes = plt.subplots(
        len(problems), len(methods), figsize=size, layout="constrained", squeeze=False, sharey="row"
    )
    for i, problem in enumerate(problems):
        for j, method in enumerate(methods):
            _slices(axes[i, j], results.get((problem, method)), METHOD_COLORS[method])
            axes[0, j].set_title(HEADINGS[method], fontsize=10)
        axes[i, 0].set_ylabel(f"{problem}: y")
    for ax in axes[-1]:
        ax.set_xlabel("x1")
    return figure


def _slices(ax: Any, results: dict[str, Any] | None, color: str) -> None:
    """Plot each density sideways, to the right of its value of x."""
    if results is None:
        ax.set_axis_off()
        return
    places, steps = np.array(results["places"]), np.array(results["steps"])
    densities = np.array(results["densities"])
    ax.plot(results["x"], results["y"], ".", ms=3, color="#999999", alpha=0.6)
    room = 0.8 * (places[1] - places[0])
    for place, density in zip(places, densities, strict=True):
        width = room * density / densities.max()
        ax.fill_betweenx(steps, place, place + width, color=color, alpha=0.25, lw=0)
        ax.plot(place + width, steps, color=color, lw=1)


def artificial_figure(records: Iterable[Record]) -> Any:
    """Figure 3: Error_DR and Error_CDE against n, and the histogram of y between them."""
    plt = require("matplotlib.pyplot", "plots")
    records = list(records)
    problems = sorted({r.cell.problem for r in records})
    figure, axes = plt.subplots(
        len(problems), 3, figsize=(12, 3.4 * len(problems)), layout="constrained", squeeze=False
    )
    for row, problem in zip(axes, problems, strict=True):
        selected = [r for r in records if r.cell.problem == problem]
        _errors(row[0], selected, "Error_DR")
        _histogram(row[1], selected)
        _errors(row[2], selected, "Error_CDE")
        row[0].set_ylabel(f"{problem}: Error_DR")
        row[2].set_ylabel("Error_CDE")
    handles, labels = axes[0, 2].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, fontsize=8, loc="outside right center", frameon=False)
    return figure


def _errors(ax: Any, records: list[Record], kind: str) -> None:
    results = collect_results(records, kind)
    lines: dict[MethodColumn, list[tuple[int, float, float]]] = {}
    for (_, n_samples), columns in results.items():
        for column, runs in columns.items():
            values = np.array(list(runs.values()))
            error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
            point = (n_samples, float(values.mean()), float(error))
            lines.setdefault(column, []).append(point)
    for column, points in lines.items():
        if kind == "Error_DR" and column not in LEARNED:
            continue
        n, mean, error = np.array(sorted(points)).T
        style = {
            "color": METHOD_COLORS[column[0]],
            "ls": LINES[column[1]],
            "label": column_label(column),
        }
        ax.errorbar(n, mean, yerr=error, lw=1.2, capsize=2, **style)
    ax.set(xlabel="n", xscale="log")
    sizes = sorted({record.cell.n for record in records})
    ax.set_xticks(sizes, [str(n) for n in sizes])
    ax.minorticks_off()


def _histogram(ax: Any, records: list[Record]) -> None:
    samples = [(r.cell.n, r.results["y"]) for r in records if "y" in r.results]
    if samples:
        n, y = max(samples)
        ax.hist(y, bins=30, color="#bbbbbb")
        ax.set(xlabel=f"y, {n} samples", ylabel="count")


def table_chart(table: FormattedTable) -> Any:
    """Means with two standard errors: one panel for each row of a table, with its own scale."""
    plt = require("matplotlib.pyplot", "plots")
    wide = min(N_PANELS, len(table.rows))
    high = -(-len(table.rows) // wide)
    size = (2.6 * wide + 1.6, (0.19 * len(table.columns) + 0.7) * high)
    figure, axes = plt.subplots(
        high, wide, figsize=size, layout="constrained", squeeze=False, sharey=True
    )
    for ax, (label, entries) in zip(axes.flat, table.rows, strict=False):
        _means(ax, list(table.columns[1:]), entries)
        ax.set_title(label, fontsize=9, loc="left")
    for ax in axes.flat[len(table.rows) :]:
        ax.set_axis_off()
    axes[0, 0].invert_yaxis()  # the first method on top, in all panels
    return figure


def _means(ax: Any, methods: list[str], entries: Sequence[TableEntry]) -> None:
    """One panel: a point for each method, a bar of two standard errors on either side."""
    numbers = [(e.mean, e.error) for e in entries if np.isfinite(e.mean)]
    sizes = np.abs([mean for mean, _ in numbers])
    if len(sizes) and sizes.max() > WIDE * sizes.min():
        ax.set_xscale("symlog", linthresh=max(float(sizes.min()), 1e-3))
        ax.xaxis.set_major_locator(
            require("matplotlib.ticker", "plots").SymmetricalLogLocator(
                base=10, linthresh=max(float(sizes.min()), 1e-3)
            )
        )
    else:
        ax.locator_params(axis="x", nbins=4)
    for place, (method, entry) in enumerate(zip(methods, entries, strict=True)):
        if np.isfinite(entry.mean):
            error = 2 * np.nan_to_num(entry.error)
            color = HIGHLIGHTED.get(method, "#7f7f7f")
            ax.errorbar(entry.mean, place, xerr=error, fmt="o", ms=4, lw=1.2, color=color)
    ax.set_yticks(range(len(methods)), methods)
    ax.tick_params(labelsize=8)
    ax.grid(axis="y", color="#e5e5e5", lw=0.6)
    ax.spines[["top", "right"]].set_visible(False)
