"""A web page with all tables and figures and the facts about the runs; it needs no network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from condensity.experiments.formatted_tables import FormattedTable
from condensity.experiments.methods import OURS
from condensity.experiments.records import Record
from condensity.experiments.runner import VERSIONS

STYLE = """
:root { color-scheme: light dark;
  --ink: #1c1c22; --paper: #ffffff; --faint: #6b6b76; --line: #d9d9e0; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8ee; --paper: #17171c; --faint: #9a9aa8; --line: #3a3a44; }
  /* White paper becomes the dark page, and hues stay: no white slabs. */
  figure svg { filter: invert(1) hue-rotate(180deg); mix-blend-mode: screen; }
}
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 72rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
p, li { max-width: 46rem; } .wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.84rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.3rem 0.6rem; border-bottom: 1px solid var(--line);
  text-align: right; white-space: nowrap; }
th:first-child { text-align: left; position: sticky; left: 0; z-index: 1;
  background: var(--paper); border-right: 1px solid var(--line); }
td small { display: block; color: var(--faint); }
figure { margin: 1rem 0; } figure svg { width: 100%; min-width: 44rem; height: auto; }
.caption { font-size: 0.9rem; color: var(--faint); }
details { margin: 1rem 0; } summary { cursor: pointer; }
.age { border-left: 4px solid #c98a00; padding-left: 0.8rem; }
@media (max-width: 40rem) {
  h1 { font-size: 1.35rem; }
  th:first-child { min-width: 6.4rem; max-width: 7.5rem; white-space: normal; }
  dl { display: block; } dd { margin: 0 0 0.6rem; overflow-wrap: anywhere; }
}
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.2rem 1rem;
  color: var(--faint); font-size: 0.9rem; }
dd { margin: 0; }
"""


def render_results_page(
    tables: Sequence[FormattedTable],
    figures: Mapping[str, str],
    records: Sequence[Record],
    charts: Mapping[str, str] | None = None,
    *,
    quick: bool,
    command: str,
) -> str:
    """HTML of the page; ``figures`` contains SVG by title, ``charts`` SVG by name of a table."""
    sections = "\n".join(
        f"<section><h2>{escape(title)}</h2>"
        f"<div class=wide><figure>{_element(svg)}</figure></div></section>"
        for title, svg in figures.items()
    )
    shown = {name: _element(svg) for name, svg in (charts or {}).items()}
    warning = (
        "<p><b>Quick run: few repetitions of small problems with few starts.</b></p>"
        if quick
        else ""
    )
    return (
        "<!doctype html>\n<html lang=en>\n<head><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width, initial-scale=1'>"
        f"<title>condensity: the paper's experiments</title><style>{STYLE}</style></head>\n<body>\n"
        "<h1>Conditional densities and dimension reduction: the paper's experiments</h1>\n"
        "<p>Tangkaratt, Xie and Sugiyama, <i>Conditional Density Estimation with Dimensionality "
        "Reduction via Squared-Loss Conditional Entropy Minimization</i>. The tables contain LSCE "
        f"twice: as published, and as LSCE(), the default of this library.</p>\n{warning}"
        f"{_age(records)}{sections}\n{''.join(t.html(shown.get(t.name, '')) for t in tables)}"
        f"{_failures(records)}{_provenance(records, command)}</body>\n</html>\n"
    )


def _element(svg: str) -> str:
    """The SVG element without the declarations before it."""
    return svg[svg.index("<svg") :]


def _age(records: Sequence[Record]) -> str:
    """A note if the default of the library has changed since its records were made."""
    made = [r.made_by for r in records if r.cell.method == OURS and r.made_by]
    older = sum(versions != VERSIONS for versions in made)
    if not older:
        return ""
    return (
        f"<p class=age><b>Older records.</b> {older:,} of the {len(made):,} records of {OURS} were "
        "made by another version of this library or of its dependencies than the one that wrote "
        "this page. Its present results can differ. The versions are at the end of the page.</p>\n"
    )


def _failures(records: Sequence[Record]) -> str:
    failed = [r for r in records if r.error]
    if not failed:
        return ""
    items = "".join(f"<li>{escape(f'{r.cell}: {r.error}')}</li>" for r in failed)
    return f"<section><h2>Cells that failed</h2><ul>{items}</ul></section>\n"


def _provenance(records: Sequence[Record], command: str) -> str:
    seeds = sorted({r.cell.seed for r in records})
    hours = sum(r.seconds for r in records) / 3600
    facts = {
        "command": command,
        "cells": str(len(records)),
        "seeds": f"{seeds[0]} to {seeds[-1]}" if seeds else "none",
        "total time of the cells": f"{hours:.2f} hours on one core",
        "versions": "; ".join(sorted({r.made_by for r in records if r.made_by})),
    }
    items = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in facts.items())
    return f"<section><h2>How these results were computed</h2><dl>{items}</dl></section>\n"
