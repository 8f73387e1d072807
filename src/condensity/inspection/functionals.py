"""Properties of a density that can be explained, and the proper loss of each.

A loss is proper if the true density has the smallest expected loss.  So a larger loss means that
the property is described less well.

| property          | loss at y                                        | unit |
|-------------------|--------------------------------------------------|------|
| density           | ``-log p(y)``                                    | nats |
| mean m            | ``(y - m)^2``                                    | y^2  |
| spread s          | ``log s + (y - m)^2 / (2 s^2)``, m held fixed    | nats |
| quantile t of q   | ``(1[y < t] - q) (t - y)``                       | y    |
| P(y > t)          | ``(1[y > t] - P)^2``                             | 1    |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from condensity._typing import Array
from condensity.distributions.base import Distribution

#: Properties without and with a number.
PLAIN, WITH_NUMBER = ("density", "mean", "spread"), ("quantile", "above")


@dataclass(frozen=True)
class Property:
    """A property of a density of one output, with the number that belongs to it."""

    name: str
    number: float = float("nan")

    @classmethod
    def of(cls, value: Any) -> Property:
        """From a name, or a pair of a name and a number."""
        if isinstance(value, str) and value in PLAIN:
            return cls(value)
        pair = isinstance(value, tuple | list) and len(value) == 2 and value[0] in WITH_NUMBER
        if not pair or not np.isfinite(value[1]) or (value[0] == "quantile" and not _inner(value)):
            raise ValueError(
                "of must be 'density', 'mean', 'spread', ('quantile', level) with a level strictly "
                f"between 0 and 1, or ('above', threshold), got {value!r}"
            )
        return cls(value[0], float(value[1]))

    @classmethod
    def of_number(cls, value: Any) -> Property:
        """The same without "density", which is not a number but a curve."""
        asked = cls.of(value)
        if asked.name == "density":
            raise ValueError(
                "of='density' is a curve, and a number is needed: use 'mean', 'spread', "
                "('quantile', level) or ('above', threshold)"
            )
        return asked

    @property
    def text(self) -> str:
        """The property in words."""
        if self.name == "quantile":
            return f"{self.number:g} quantile"
        return f"P(y > {self.number:g})" if self.name == "above" else self.name

    def of_rows(self, dist: Distribution) -> Array:
        """The property of each density of one output, (m,)."""
        if self.name == "mean":
            return dist.mean()
        if self.name == "spread":
            return dist.std()
        if self.name == "quantile":
            return dist.quantile(self.number)
        return dist.prob(self.number, np.inf)

    def losses(self, dist: Distribution, Y: Array, mean: Array) -> Array:
        """The loss of each density at its sample, (m,); ``mean`` (m,) stays fixed for a spread."""
        if self.name == "density":
            return -dist.log_pdf(Y)
        y, answer = Y[:, 0], self.of_rows(dist)
        if self.name == "mean":
            return np.asarray((y - answer) ** 2)
        if self.name == "spread":
            return np.asarray(np.log(answer) + (y - mean) ** 2 / (2 * answer**2))
        if self.name == "quantile":
            return np.asarray(((y < answer) - self.number) * (answer - y))
        return np.asarray(((y > self.number) - answer) ** 2)


def _inner(value: Any) -> bool:
    return bool(0 < value[1] < 1)
