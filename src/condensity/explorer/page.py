"""From what is told to one page: the template's files inlined, and nothing else allowed to run."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from html import escape
from importlib.resources import files
from typing import Any

#: The scripts in the order in which they stand on one another.
SCRIPTS = (
    "numbers.js",
    "model.js",
    "joint.js",
    "line.js",
    "regions.js",
    "format.js",
    "svg.js",
    "state.js",
    "inputs.js",
    "curve.js",
    "readings.js",
    "summary.js",
    "contours.js",
    "pair.js",
    "loadings.js",
    "calibration.js",
    "main.js",
)


def page(told: dict[str, Any]) -> str:
    """The page as text."""
    script = '"use strict";\n(() => {\n' + "\n".join(map(_file, SCRIPTS)) + "})();\n"
    style = _file("explorer.css")
    parts = {
        "title": escape(told["title"]),
        "policy": policy(script, style),
        "style": style,
        "content": as_text(told),
        "script": script,
    }
    # One pass: what is put in is not looked at again.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _file("explorer.html"))


def as_text(told: Any) -> str:
    """JSON that no parser of HTML can mistake for the end of the script it stands in."""
    text = json.dumps(told, allow_nan=False, separators=(",", ":"))
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def policy(script: str, style: str) -> str:
    """Nothing is fetched, nothing runs but this script, nothing is styled but by this sheet."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _hash(text: str) -> str:
    return "sha256-" + b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _file(name: str) -> str:
    return (files("condensity.explorer") / "template" / name).read_text(encoding="utf-8")
