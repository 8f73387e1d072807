"""Held-out losses in the units of y, for densities of its free coordinate u.

``p(y) = p(u) du/dy``, and du/dy is a sum of exponentials ``c_t exp(p_t . u)`` (module ``bounded``).
In row i of a member ``u = b_i + F v`` with v a mixture that has the weights w and the components
``N(c_k, s_k^2 I)``.  A product of Gaussians times an exponential is a product of Gaussians again,
so

    int p^2 dy = sum_t r_it w^T A_t w / det F,  r_it = c_t exp(p_t . b_i),
    A_t,kl = int N_k N_l exp(q_t . v) dv,  q_t = F^T p_t.

The table A_t serves all rows, as without bounds.  The CRPS has no such form: its losses are those
of u.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from condensity._typing import Array
from condensity.data.sample import Scaling
from condensity.distributions._overlap import overlap
from condensity.distributions.block import Block
from condensity.distributions.bounded import Bounds
from condensity.distributions.mixture import Mixture
from condensity.fitting.scores import Gaussians, Score


@dataclass(frozen=True, eq=False)
class OutputSlope:
    """``du/dy = sum_t c_t exp(p_t . u)`` as a function of the standardised free coordinates u."""

    coefficients: Array  # (T,) c
    powers: Array  # (T, dy) p, or (T, 1) if they are equal for all outputs

    @classmethod
    def of(cls, bounds: Bounds | None, scaling: Scaling, score: Score) -> OutputSlope:
        """The slope of outputs with bounds; 1 without bounds, and for the CRPS."""
        if bounds is None or score.name == "crps":
            return FLAT
        terms = bounds.volume_terms()
        powers = np.array([power for _, power in terms])
        coefficients = np.array([c for c, _ in terms]) * np.exp(powers @ scaling.mean)
        return cls(coefficients, powers * scaling.sd)

    @property
    def flat(self) -> bool:
        """Whether the slope is 1 everywhere."""
        return not self.powers.any()

    def at(self, U: Array) -> Array:
        """The slope at free coordinates (m, dy): (m,)."""
        return np.asarray(self.coefficients @ self._exponentials(U))

    def rates(self, shift: Array) -> Array:
        """The factors ``r_it`` of the tables, for the shifts b (m, dy) of the rows: (T, m)."""
        return self.coefficients[:, None] * self._exponentials(shift)

    def tables(self, score: Score, factor: Array, ours: Gaussians, theirs: Gaussians) -> Array:
        """The tables ``A_t / det F`` of two sets of components: (T, b, b'); ``factor`` is F.

        For other scores the table A in its unit.
        """
        tables = []
        for power in self.powers:
            # Each of the two components gets one half of the exponential.
            half = 0.5 * np.broadcast_to(power, len(factor)) @ factor
            (g, left), (h, right) = (tilted(components, half) for components in (ours, theirs))
            table = score.unit(factor) * score.pair(left, right)
            tables.append(g[:, None] * table * h)
        return np.stack(tables)

    def overlap(self, a: Block, b: Block) -> Array:
        """``int p_a p_b du/dy du`` of blocks of the free coordinate: (m,)."""
        if self.flat:
            return overlap(a, b)
        terms = zip(self.coefficients, self.powers, strict=True)
        parts = [c * overlap(a.tilt(0.5 * power), b.tilt(0.5 * power)) for c, power in terms]
        return np.asarray(np.sum(parts, axis=0))

    def squared_norm(self, dist: Mixture) -> Array:
        """``int p^2 dy`` for densities of the free coordinate: (m,)."""
        total = np.zeros(len(dist))
        for j, block in enumerate(dist.blocks):
            total += self.overlap(block, block)
            for other in dist.blocks[:j]:
                total += 2 * self.overlap(block, other)
        return total

    def _exponentials(self, U: Array) -> Array:
        return np.asarray(np.exp(np.stack([(U * power).sum(axis=1) for power in self.powers])))


#: The slope of outputs without bounds.
FLAT = OutputSlope(np.ones(1), np.zeros((1, 1)))


def tilted(components: Gaussians, power: Array) -> tuple[Array, Gaussians]:
    """Gaussians times ``exp(power . v)``: their factors (b,), and Gaussians with other centres.

    ``N(v; c, s^2 I) exp(p . v) = exp(p . c + s^2 |p|^2 / 2) N(v; c + s^2 p, s^2 I)``.
    """
    variance = components.widths**2
    factors = np.exp(components.centers @ power + 0.5 * variance * (power @ power))
    moved = components.centers + variance[:, None] * power
    return factors, Gaussians(moved, components.widths)


def quadratic_forms(rates: Array, tables: Array, left: Array, right: Array) -> Array:
    """``sum_t r_it w_i^T A_t w'_i`` for weights (penalties, m, b) and (penalties, m, b').

    Returns
    -------
    ndarray of shape (penalties, m)
        One number for each penalty and row.
    """
    total = np.zeros(left.shape[:2])
    for rate, table in zip(rates, tables, strict=True):
        total += rate * np.einsum("pmk,pmk->pm", left @ table, right)
    return total
