"""Tables for people: the same sheet as Markdown, LaTeX and HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Entry:
    """What stands in one place of a sheet."""

    text: str = ""
    bold: bool = False
    below: str = ""  # smaller, under the text


@dataclass(frozen=True)
class Sheet:
    """A table with its title and what is to be known to read it."""

    name: str  # of its files
    title: str
    caption: str
    columns: Sequence[str]  # the first is that of the row's labels
    rows: Sequence[tuple[str, Sequence[Entry]]]
    notes: Sequence[str] = ()

    def markdown(self) -> str:
        """A pipe table; what stands below an entry follows it in brackets."""
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
        """A table environment for the packages booktabs and graphicx, as wide as the page."""
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

    def html(self) -> str:
        """A section of a page."""
        head = "".join(f"<th scope=col>{escape(c)}</th>" for c in self.columns)
        body = "\n".join(
            f"<tr><th scope=row>{escape(label)}</th>{''.join(map(_html, entries))}</tr>"
            for label, entries in self.rows
        )
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        return (
            f"<section id={escape(self.name)}><h2>{escape(self.title)}</h2>\n"
            f"<p>{escape(self.caption)}</p>\n<div class=wide><table>\n"
            f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>\n"
            f"{f'<ul>{notes}</ul>' if notes else ''}</section>\n"
        )


def _html(entry: Entry) -> str:
    text = escape(entry.text)
    text = f"<b>{text}</b>" if entry.bold else text
    return f"<td>{text}{f'<small>{escape(entry.below)}</small>' if entry.below else ''}</td>"


def _md(text: str) -> str:
    """Text that stays within its place in a pipe table, and is not taken for HTML."""
    return escape(text, quote=False).replace("|", "\\|").replace("\n", " ")


def _tex(text: str) -> str:
    """Text with what LaTeX would take for commands made plain."""
    plain = {
        "\\": r"\textbackslash{}",
        "−": r"$-$",
        "ε": r"$\epsilon$",
        "±": r"$\pm$",
        "·": r"$\cdot$",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
    } | {c: "\\" + c for c in "&%$#_{}"}
    plain |= {raised: rf"\textsuperscript{{{digit}}}" for digit, raised in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}
    return "".join(plain.get(c, c) for c in text)
