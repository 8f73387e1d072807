"""The page as text: the files of the template in one HTML document that runs nothing else."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from html import escape
from importlib.resources import files
from typing import Any

#: The scripts in the order of their dependencies.
SCRIPTS = (
    "numbers.js",
    "location.js",
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


def render_page(data: dict[str, Any]) -> str:
    """HTML of the page that shows ``data``."""
    script = '"use strict";\n(() => {\n' + "\n".join(map(_file, SCRIPTS)) + "})();\n"
    style = _file("explorer.css")
    parts = {
        "title": escape(data["title"]),
        "policy": content_security_policy(script, style),
        "style": style,
        "content": escaped_json(data),
        "script": script,
    }
    # A single pass: placeholders inside the inserted parts are not replaced.
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _file("explorer.html"))


def escaped_json(data: Any) -> str:
    """JSON without the letters <, > and &, so that it cannot end the script element around it."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def content_security_policy(script: str, style: str) -> str:
    """Policy that allows this script and this style sheet, by their hashes, and no request."""
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
