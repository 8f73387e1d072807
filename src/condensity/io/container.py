"""One file with a JSON header and arrays; it contains no code.

    magic (12 bytes) | length of the header (8 bytes) | header | arrays | sha256 (32 bytes)

Numbers are little-endian.  The header is JSON: ``{"content": ..., "arrays": [{"dtype", "shape",
"offset"}, ...]}``.  Offsets count from the end of the header.  The arrays follow in the order of
the list, without gaps.  The checksum covers everything before it.
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
    """A file that was damaged or changed after it was written, or is of another kind."""


def pack(content: Any, arrays: list[NDArray[Any]]) -> bytes:
    """Bytes of a file with ``content``, which must be valid JSON, and numeric arrays."""
    converted = [_little_endian(array) for array in arrays]
    entries, offset = [], 0
    for array in converted:
        entries.append({"dtype": array.dtype.str, "shape": array.shape, "offset": offset})
        offset += array.nbytes
    header = json.dumps({"content": content, "arrays": entries}).encode()
    parts = [MAGIC, len(header).to_bytes(8, "little"), header, *(a.tobytes() for a in converted)]
    body = b"".join(parts)
    return body + hashlib.sha256(body).digest()


def _little_endian(array: NDArray[Any]) -> NDArray[Any]:
    """The array with one of the three types that files may contain."""
    kinds = {"f": "<f8", "i": "<i8", "u": "<i8", "b": "|b1"}
    if array.dtype.kind not in kinds:
        raise TypeError(f"an array of {array.dtype} cannot be stored: convert it to numbers")
    return np.ascontiguousarray(array, dtype=kinds[array.dtype.kind])


def unpack(data: bytes) -> tuple[Any, list[NDArray[Any]]]:
    """The arguments of ``pack``; a ``DamagedFileError`` describes what is wrong with the bytes."""
    start = len(MAGIC) + 8
    if data[: len(MAGIC) - 1] != MAGIC[:-1]:
        raise DamagedFileError("it does not begin with the signature of a condensity file")
    if len(data) < start + CHECKSUM:
        raise DamagedFileError("it is truncated")
    if data[len(MAGIC) - 1] != MAGIC[-1]:
        raise DamagedFileError(
            f"it has format {data[len(MAGIC) - 1]}, this version reads format {MAGIC[-1]}"
        )
    if hashlib.sha256(data[:-CHECKSUM]).digest() != data[-CHECKSUM:]:
        raise DamagedFileError("its checksum is wrong, so it was truncated or changed")
    length = int.from_bytes(data[len(MAGIC) : start], "little")
    if length > len(data) - start - CHECKSUM:
        raise DamagedFileError("its header is longer than the file")
    try:
        header = json.loads(data[start : start + length])
        content, entries = header["content"], header["arrays"]
        arrays = _arrays(entries, memoryview(data)[start + length : -CHECKSUM])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise DamagedFileError(f"its header is invalid ({type(error).__name__})") from error
    return content, arrays


def _arrays(entries: list[Any], payload: memoryview) -> list[NDArray[Any]]:
    """Arrays in the payload; each begins where the previous one ends; the last ends the file."""
    arrays, end = [], 0
    for entry in entries:
        shape = [int(size) for size in entry["shape"]]
        # An axis may be longer than the file only if another has the length zero.  No array that
        # was written is of this kind, and results would have this many rows.
        if not all(0 <= axis <= len(payload) for axis in shape) or entry["offset"] != end:
            raise ValueError("an array has an invalid shape or offset")
        size = DTYPES[entry["dtype"]] * prod(shape)
        if end + size > len(payload):
            raise ValueError("an array ends beyond the end of the file")
        array = np.frombuffer(payload[end : end + size], dtype=entry["dtype"])
        arrays.append(array.reshape(shape).copy())
        end += size
    if end != len(payload):
        raise ValueError("bytes after the last array")
    return arrays
