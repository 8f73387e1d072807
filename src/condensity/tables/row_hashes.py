"""Hashes of training rows: they recognise a row that was used in a fit, and do not contain it.

A hash has 32 bits.  Of the rows that a table of numbers can have, very many share each hash, so a
row cannot be recovered by trying values.  Of a million new rows, about one in four thousand equals
one of a million hashes by chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from condensity._typing import Array, Mask

HASH_BYTES = 4
#: Hexadecimal digits of the salt.
SALT_DIGITS = 32


@dataclass(frozen=True, eq=False)
class TrainingRowHashes:
    """Hashes of the rows of a fit, in increasing order, so that the order of the rows is not kept.

    ``salt`` makes the hashes of the same row differ between models.  It depends on the rows alone,
    so equal fits have equal files.
    """

    salt: str
    words: NDArray[np.int64]  # (k,) two hashes each

    def __post_init__(self) -> None:
        digits = isinstance(self.salt, str) and len(self.salt) == SALT_DIGITS
        if not (digits and set(self.salt) <= set("0123456789abcdef")):
            raise ValueError(
                f"the salt must be {SALT_DIGITS} hexadecimal digits, got {self.salt!r:.40}"
            )
        array = isinstance(self.words, np.ndarray)
        if not (array and self.words.dtype.kind == "i" and self.words.ndim == 1):
            raise ValueError("row hashes must be a one-dimensional array of integers")

    @classmethod
    def of(cls, X: Array, Y: Array) -> TrainingRowHashes:
        """Hashes of rows with inputs ``X`` (n, dx) and outputs ``Y`` (n, dy)."""
        rows = _rows(X, Y)
        salt = blake2b(rows.tobytes(), digest_size=SALT_DIGITS // 2).hexdigest()
        hashes = np.unique(_hashes(rows, salt))
        even = np.append(hashes, hashes[-1:]) if len(hashes) % 2 else hashes
        return cls(salt, even.view("<i8").astype(np.int64))

    def contain(self, X: Array, Y: Array) -> Mask:
        """Mask of the rows that equal a row of the fit, (m,)."""
        known = self.words.astype("<i8").view("<u4")
        return np.asarray(np.isin(_hashes(_rows(X, Y), self.salt), known))


def _rows(X: Array, Y: Array) -> Array:
    # Adding zero turns -0 into 0, which is the same number.
    return np.ascontiguousarray(np.hstack([X, Y]), dtype="<f8") + 0.0


def _hashes(rows: Any, salt: str) -> NDArray[np.uint32]:
    key = bytes.fromhex(salt)
    digests = (blake2b(row.tobytes(), digest_size=HASH_BYTES, key=key).digest() for row in rows)
    return np.frombuffer(b"".join(digests), dtype="<u4")
