"""Arrays as text that the scripts of the page read."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

#: A JSON object that the scripts of the page read.
PageData = dict[str, Any]


def encode_array(values: Any) -> PageData:
    """Numbers as base64 of little-endian float64, without rounding."""
    return _encode(values, "f8")


def encode_single(values: Any) -> PageData:
    """Numbers in single precision as base64 of little-endian float32, without rounding."""
    return _encode(values, "f4")


def encode_indices(values: Any) -> PageData:
    """Whole numbers as base64 of little-endian int32."""
    return _encode(values, "i4")


def _encode(values: Any, kind: str) -> PageData:
    data = np.ascontiguousarray(values, dtype=f"<{kind}").tobytes()
    return {kind: base64.b64encode(data).decode("ascii")}
