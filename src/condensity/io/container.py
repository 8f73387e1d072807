"""One file of arrays and a JSON header: nothing in it can be run.

    magic (12 bytes) | length of the header (8 bytes) | header | arrays | sha256 (32 bytes)

Numbers are little-endian.  The header is JSON: ``{"content": ..., "arrays": [{"dtype", "shape",
"offset"}, ...]}``; offsets count from the end of the header, arrays lie in the order of the list
and fill the file.  The checksum is that of everything before it.
"""

from __future__ import annotations

import hashlib
import json
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: The last byte is the version of the format.
MAGIC = b"condensity\n\x01"
CHECKSUM = 32
DTYPES = {"<f8": 8, "<i8": 8, "|b1": 1}


class DamagedFileError(ValueError):
    """A file that is not what was written."""


def pack(content: Any, arrays: list[NDArray[Any]]) -> bytes:
    """The bytes of a file with ``content``, which JSON knows, and arrays of numbers."""
    plain = [_plain(array) for array in arrays]
    entries, offset = [], 0
    for array in plain:
        entries.append({"dtype": array.dtype.str, "shape": array.shape, "offset": offset})
        offset += array.nbytes
    header = json.dumps({"content": content, "arrays": entries}).encode()
    parts = [MAGIC, len(header).to_bytes(8, "little"), header, *(a.tobytes() for a in plain)]
    body = b"".join(parts)
    return body + hashlib.sha256(body).digest()


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    kinds = {"f": "<f8", "i": "<i8", "u": "<i8", "b": "|b1"}
    if array.dtype.kind not in kinds:
        raise TypeError(f"an array of {array.dtype} cannot be stored")
    return np.ascontiguousarray(array, dtype=kinds[array.dtype.kind])


def unpack(data: bytes) -> tuple[Any, list[NDArray[Any]]]:
    """What ``pack`` was given, or a ``DamagedFileError`` that says what is wrong."""
    start = len(MAGIC) + 8
    if data[: len(MAGIC) - 1] != MAGIC[:-1]:
        raise DamagedFileError("it does not begin as such a file does")
    if len(data) < start + CHECKSUM:
        raise DamagedFileError("it is cut off")
    if data[len(MAGIC) - 1] != MAGIC[-1]:
        raise DamagedFileError(
            f"it has format {data[len(MAGIC) - 1]}, this version reads {MAGIC[-1]}"
        )
    if hashlib.sha256(data[:-CHECKSUM]).digest() != data[-CHECKSUM:]:
        raise DamagedFileError("its checksum is wrong: it is cut off or was changed")
    length = int.from_bytes(data[len(MAGIC) : start], "little")
    if length > len(data) - start - CHECKSUM:
        raise DamagedFileError("its header is longer than the file")
    try:
        header = json.loads(data[start : start + length])
        content, entries = header["content"], header["arrays"]
        arrays = _arrays(entries, memoryview(data)[start + length : -CHECKSUM])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise DamagedFileError(f"its header makes no sense ({type(error).__name__})") from error
    return content, arrays


def _arrays(entries: list[Any], payload: memoryview) -> list[NDArray[Any]]:
    """Cut the arrays out; each begins where the one before it ends, the last ends the file."""
    arrays, end = [], 0
    for entry in entries:
        shape = [int(size) for size in entry["shape"]]
        if min(shape, default=0) < 0 or entry["offset"] != end:
            raise ValueError("misplaced array")
        size = DTYPES[entry["dtype"]] * prod(shape)
        if end + size > len(payload):
            raise ValueError("array beyond the end")
        array = np.frombuffer(payload[end : end + size], dtype=entry["dtype"])
        arrays.append(array.reshape(shape).copy())
        end += size
    if end != len(payload):
        raise ValueError("bytes that belong to no array")
    return arrays
