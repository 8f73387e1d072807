"""Tables of results as Markdown, LaTeX and HTML."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

#: What stands below a chart.
BELOW = "<p class=caption>Means and two standard errors. Each panel has its own scale.</p>\n"
#: Notes beyond this number are folded on pages.
UNFOLDED = 3


@dataclass(frozen=True)
class TableEntry:
    """Content of one cell of a table."""

    text: str = ""
    bold: bool = False
    below: str = ""  # second line, in smaller type
    mean: float = math.nan  # the numbers of the text, for charts
    error: float = math.nan


@dataclass(frozen=True)
class FormattedTable:
    """A table with title, caption and notes."""

    name: str  # file name without extension
    title: str
    caption: str
    columns: Sequence[str]  # the first is the heading of the row labels
    rows: Sequence[tuple[str, Sequence[TableEntry]]]
    notes: Sequence[str] = ()

    def markdown(self) -> str:
        """Markdown table; the second line of an entry follows it in brackets."""
        lines = [f"## {_md(self.title)}", "", _md(self.caption), ""]
        head = " | ".join(map(_md, self.columns))
        lines += [f"| {head} |", "|---" * len(self.columns) + "|"]
        for label, entries in self.rows:
            cells = [
                (f"**{e.text}**" if e.bold else e.text) + (f" [{e.below}]" if e.below else "")
                for e in entries
            ]
            lines.append("| " + " | ".join(_md(cell) for cell in (label, *cells)) + " |")
        return "\n".join([*lines, "", *(f"- {_md(note)}" for note in self.notes), ""])

    def latex(self) -> str:
        """LaTeX table as wide as the page, for the packages booktabs and graphicx."""
        lines = [r"\begin{table}", r"\centering", rf"\caption{{{_tex(self.title)}. "]
        lines[-1] += _tex(self.caption) + "}"
        columns = "l" + "r" * (len(self.columns) - 1)
        lines += [rf"\resizebox{{\textwidth}}{{!}}{{\begin{{tabular}}{{{columns}}}", r"\toprule"]
        lines += [" & ".join(map(_tex, self.columns)) + r" \\", r"\midrule"]
        for label, entries in self.rows:
            cells = [rf"\textbf{{{_tex(e.text)}}}" if e.bold else _tex(e.text) for e in entries]
            lines.append(" & ".join([_tex(label), *cells]) + r" \\")
            if any(e.below for e in entries):
                below = [rf"{{\small {_tex(e.below)}}}" if e.below else "" for e in entries]
                lines.append(" & ".join(["", *below]) + r" \\")
        lines += [r"\bottomrule", r"\end{tabular}}"]
        if self.notes:
            items = [rf"\item {_tex(note)}" for note in self.notes]
            lines += [r"\begin{itemize}\footnotesize", *items, r"\end{itemize}"]
        return "\n".join([*lines, r"\end{table}", ""])

    def html(self, chart: str = "") -> str:
        """HTML section with the table and its chart, an SVG element; many notes are folded."""
        head = "".join(f"<th scope=col>{escape(c)}</th>" for c in self.columns)
        body = "\n".join(
            f"<tr><th scope=row>{escape(label)}</th>{''.join(map(_html, entries))}</tr>"
            for label, entries in self.rows
        )
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        notes = f"<ul>{notes}</ul>" if notes else ""
        if len(self.notes) > UNFOLDED:
            notes = f"<details><summary>{len(self.notes)} notes</summary>{notes}</details>"
        drawn = f"<div class=wide><figure>{chart}</figure></div>\n{BELOW}" if chart else ""
        return (
            f"<section id={escape(self.name)}><h2>{escape(self.title)}</h2>\n"
            f"<p class=caption>{escape(self.caption)}</p>\n<div class=wide><table>\n"
            f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>\n"
            f"{drawn}{notes}</section>\n"
        )


def _html(entry: TableEntry) -> str:
    text = escape(entry.text)
    text = f"<b>{text}</b>" if entry.bold else text
    return f"<td>{text}{f'<small>{escape(entry.below)}</small>' if entry.below else ''}</td>"


def _md(text: str) -> str:
    """Text with the characters escaped that would end a Markdown cell or start HTML."""
    return escape(text, quote=False).replace("|", "\\|").replace("\n", " ")


def _tex(text: str) -> str:
    """Text with the special characters of LaTeX escaped."""
    escaped = {
        "\\": r"\textbackslash{}",
        "−": r"$-$",
        "ε": r"$\epsilon$",
        "±": r"$\pm$",
        "·": r"$\cdot$",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
    } | {c: "\\" + c for c in "&%$#_{}"}
    escaped |= {
        raised: rf"\textsuperscript{{{digit}}}" for digit, raised in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")
    }
    return "".join(escaped.get(c, c) for c in text)
