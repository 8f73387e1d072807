"""Formulae as MathML, which browsers draw by themselves: pages need no script and no network."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

#: What the converter does not know, in words that it knows.
KNOWN = {r"\arg": r"\mathrm{arg}\,", "{aligned}": "{align*}"}


def mathml(tex: str, *, display: str) -> str:
    """A formula in TeX as an element ``<math>``."""
    for theirs, ours in KNOWN.items():
        tex = tex.replace(theirs, ours)
    found = convert(tex, display=display)
    unknown = re.search(r"<m[io]>(\\\w+|&(?=<))", found)  # an & is left of lines not aligned
    if unknown:
        raise ValueError(f"{unknown.group(1)} has no MathML in: {tex}")
    return found


def inline(translator: HTML5Translator, node: nodes.math) -> None:
    """A formula within a line."""
    translator.body.append(mathml(node.astext(), display="inline"))
    raise nodes.SkipNode


def block(translator: HTML5Translator, node: nodes.math_block) -> None:
    """A formula in lines of its own, with its number if it has one."""
    translator.body.append(translator.starttag(node, "div", CLASS="formula"))
    translator.body.append(mathml(node.astext(), display="block"))
    if node["number"]:
        translator.body.append(f'<span class="eqno">({node["number"]})</span>')
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer under the name ``mathml``."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
