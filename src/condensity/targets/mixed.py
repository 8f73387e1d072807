"""Distributions with atoms: values with a positive probability, and a density beside them.

``P(Y in A) = sum_k w_k 1[a_k in A] + r int_A p(y) dy`` with ``r = 1 - sum_k w_k``.  All answers
follow from those of the density p.  The mean absolute difference of p, which the CRPS needs, is
read off its CRPS at a point c that no value lies below: there ``E|Y - c| = E[Y] - c``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr

from condensity._typing import Array, Indices
from condensity._utils.parameters import check_count, check_rng
from condensity.distributions import _checks as checks
from condensity.distributions.base import Distribution
from condensity.distributions.concatenated import concatenate_rows
from condensity.targets.mixed_rows import ROUNDING, quantiles_of, with_points

#: Probability below the point that the CRPS is read off, if there is no bound.
FAINT = 1e-18


class MixedDistribution(Distribution):
    """Distributions of one output with atoms, and a density of all other values.

    An atom is a value with a positive probability, such as no rain, or a capped price.  Without a
    density it is a discrete distribution.

    Parameters
    ----------
    atoms : array-like of shape (K,)
        Different values, in increasing order.
    masses : array-like of shape (m, K)
        Their probabilities in each row; the sum of a row is at most 1.
    continuous : Distribution or None
        Densities of all other values, of one output, which have the remaining probability.  None:
        the probabilities of a row must sum to 1.

    See Also
    --------
    WithAtoms : The estimator that gives it.
    rounded : Densities of counts and scores as discrete distributions.

    Notes
    -----
    There is no density in the usual sense.  ``pdf`` and ``log_pdf`` use probabilities at atoms and
    the density, times the remaining probability, elsewhere.  This is the density with respect to
    lengths and counts of atoms together: its logarithm is the likelihood, and the log loss and the
    squared loss are proper.  Their values depend on the unit of y, as always, and on which values
    are atoms: compare them only between models with the same atoms.  The CRPS can be compared with
    that of any model.  ``pdf_on`` draws a curve, and leaves the atoms out: its integral is the
    remaining probability.  ``quantile`` is the smallest y with ``P(Y <= y) >= q``.  ``hdr``
    contains atoms, as intervals of length zero, before any other value, and ``modes`` begins with
    them.  ``entropy`` is that of this density.  ``frozen``, ``to_skpro``, ``to_torch``,
    ``to_qp``, ``twcrps``, ``kl``, ``l2_distance`` and ``mixture_of`` are not available.

    Examples
    --------
    >>> import numpy as np
    >>> from condensity.distributions import Block, Mixture
    >>> from condensity.targets import MixedDistribution
    >>> normal = Mixture([Block(np.zeros((1, 1)), np.zeros((1, 1)), np.eye(1))])
    >>> dist = MixedDistribution([0.0], [[0.5]], normal)
    >>> dist.cdf(0.0), dist.prob(-1e-9, 0.0).round(3), dist.quantile(0.6)
    (array([0.75]), array([0.5]), array([0.]))
    """

    def __init__(
        self, atoms: ArrayLike, masses: ArrayLike, continuous: Distribution | None
    ) -> None:
        self.atoms = np.asarray(atoms, dtype=float)
        self.masses = np.asarray(masses, dtype=float)
        self.continuous = continuous
        self._check()

    def _check(self) -> None:
        atoms, masses = self.atoms, self.masses
        if atoms.ndim != 1 or not np.isfinite(atoms).all() or np.any(np.diff(atoms) <= 0):
            raise ValueError(f"atoms must be finite numbers in increasing order, got {atoms}")
        if masses.ndim != 2 or masses.shape[1] != len(atoms):
            raise ValueError(
                f"masses must have shape (m, {len(atoms)}), one column for each atom, got "
                f"{masses.shape}"
            )
        total = masses.sum(axis=1)
        if not (np.all(masses >= 0) and np.all(total <= 1 + 1e-9)):
            raise ValueError("masses must be >= 0 with sums of at most 1 in every row")
        if self.continuous is None:
            if np.any(np.abs(total - 1) > 1e-9):
                raise ValueError("masses must sum to 1 in every row if there is no density")
        else:
            checks.one_output(self.continuous.n_outputs, "a distribution with atoms")
            if len(self.continuous) != len(masses):
                raise ValueError(
                    f"masses have {len(masses)} rows but there are {len(self.continuous)} "
                    "densities: pass one row for each density"
                )

    @classmethod
    def _join(cls, dists: Sequence[Any], rows: Sequence[Indices]) -> MixedDistribution | None:
        # A value that is an atom in some rows only has a density in the others.
        atoms, beside = dists[0].atoms, [dist.continuous for dist in dists]
        if not all(np.array_equal(atoms, dist.atoms) for dist in dists):
            return None
        absent = [one is None for one in beside]
        if any(absent) and not all(absent):
            return None
        masses = np.concatenate([dist.masses for dist in dists])
        masses = masses[np.argsort(np.concatenate(rows))]
        whole = None if any(absent) else concatenate_rows(beside, rows).compute()
        return cls(atoms, masses, whole)

    @property
    def n_outputs(self) -> int:
        return 1

    @cached_property
    def rest(self) -> Array:
        """Probability of all values that are not atoms, (m,)."""
        if self.continuous is None:
            return np.zeros(len(self))
        return np.asarray(np.maximum(1.0 - self.masses.sum(axis=1), 0.0))

    def __len__(self) -> int:
        return len(self.masses)

    def __repr__(self) -> str:
        beside = "" if self.continuous is None else f", {self.continuous!r}"
        return f"MixedDistribution(m={len(self)}, atoms={len(self.atoms)}{beside})"

    def __getitem__(self, index: Any) -> MixedDistribution:
        rows = checks.rows_at(index, len(self))
        beside = None if self.continuous is None else self.continuous[rows]
        return MixedDistribution(self.atoms, self.masses[rows], beside)

    def compute(self) -> MixedDistribution:
        if self.continuous is None:
            return self
        return MixedDistribution(self.atoms, self.masses, self.continuous.compute())

    def pmf(self, Y: ArrayLike) -> Array:
        """Probability of one value for each row, ``P(Y = y_i | x_i)``.

        Parameters
        ----------
        Y : array-like of shape (m,)
            Values; a number is the same for all rows.

        Returns
        -------
        ndarray of shape (m,)
            Probabilities: zero for values that are not atoms.
        """
        y = checks.rows_of(Y, len(self), 1)
        return np.asarray(np.where(y == self.atoms, self.masses, 0.0).sum(axis=1))

    def log_pdf(self, Y: ArrayLike) -> Array:
        y = checks.rows_of(Y, len(self), 1)
        at_atom = (y == self.atoms).any(axis=1)
        with np.errstate(divide="ignore"):
            mass = np.log(self.pmf(y))
            if self.continuous is None:
                return mass
            # The density may be zero or without bound at an atom, where it is not used.
            beside = np.log(self.rest) + self.continuous.log_pdf(y)
        return np.where(at_atom, mass, beside)

    def pdf_on(self, grid: ArrayLike) -> Array:
        points = checks.grid_of(grid, 1)
        if self.continuous is None:
            return np.zeros((len(self), len(points)))
        return self.rest[:, None] * self.continuous.pdf_on(points)

    def squared_norm(self) -> Array:
        norm = np.sum(self.masses**2, axis=1)
        if self.continuous is not None:
            norm += self.rest**2 * self.continuous.squared_norm()
        return np.asarray(norm)

    def cdf(self, Y: ArrayLike) -> Array:
        y = checks.rows_of(Y, len(self), 1)
        below = np.where(self.atoms <= y, self.masses, 0.0).sum(axis=1)
        if self.continuous is not None:
            below += self.rest * self.continuous.cdf(y)
        return np.asarray(np.minimum(below, 1.0))

    def prob(self, lower: ArrayLike, upper: ArrayLike) -> Array:
        a, b = checks.ordered_bounds(lower, upper, len(self))
        inside = (self.atoms > a[:, None]) & (self.atoms <= b[:, None])
        out = np.where(inside, self.masses, 0.0).sum(axis=1)
        if self.continuous is not None:
            out += self.rest * self.continuous.prob(a, b)
        return np.asarray(out)

    def quantile(self, q: ArrayLike) -> Array:
        levels = np.asarray(q, dtype=float)
        if levels.ndim > 1:
            raise ValueError(f"q must be a number or one-dimensional, got shape {levels.shape}")
        wanted = np.atleast_1d(levels)
        if not ((wanted >= 0) & (wanted <= 1)).all():
            raise ValueError(
                f"a quantile level must be a number in [0, 1], got {q!r}: pass probabilities "
                "(0.9), not percentages (90)"
            )
        out = np.empty((len(self), len(wanted)))
        reached = np.cumsum(self.masses, axis=1) + self.rest[:, None] * self._below_atoms
        for i in range(len(self)):
            beside = None if self.continuous is None else self.continuous[i]
            row = self.atoms, self.masses[i], float(self.rest[i])
            out[i] = quantiles_of(*row, beside, wanted, reached[i])
        return out if levels.ndim else out[:, 0]

    def partial_moment(self, threshold: ArrayLike, order: int = 1, tail: str = "upper") -> Array:
        t, order, side = checks.tail_question(threshold, order, tail, len(self))
        gap = side * (self.atoms - t[:, None])  # order 0 does not count an atom at the threshold
        powers = np.where(gap > 0, np.maximum(gap, 0.0) ** order, 0.0)
        total = np.einsum("mk,mk->m", self.masses, powers)
        if self.continuous is not None:
            total += self.rest * self.continuous.partial_moment(t, order, tail)
        return np.asarray(total)

    def entropy(self, n_draws: int = 1000, random_state: Any = None) -> Array:
        total = entr(self.masses).sum(axis=1) + entr(self.rest)
        if self.continuous is not None:
            total += self.rest * self.continuous.entropy(n_draws, random_state)
        return np.asarray(total)

    def _free_coordinate(self) -> tuple[Any, Any]:
        raise TypeError(
            "this question is not answered for distributions with atoms: ask dist.continuous, "
            "the densities beside the atoms, or use crps"
        )

    def condition(self, columns: int | Sequence[int], values: ArrayLike) -> Distribution:
        checks.given_and_rest(columns, values, len(self), 1)  # one output leaves none
        raise AssertionError("one output leaves none")

    def crps(self, Y: ArrayLike) -> Array:
        y = checks.rows_of(Y, len(self), 1)
        score = np.einsum("mk,mk->m", self.masses, np.abs(y - self.atoms))
        # sum_kl w_k w_l |a_k - a_l| / 2, from the mass on both sides of every gap.
        below = np.cumsum(self.masses, axis=1)
        score -= (below * (below[:, -1:] - below))[:, :-1] @ np.diff(self.atoms)
        if self.continuous is None:
            return np.asarray(score)
        half, r = 0.5 * self._mean_difference, self.rest
        # E|Y - c| of the density is its CRPS at c plus half its mean absolute difference.
        to_atoms = [self.continuous.crps(np.full(len(self), a)) + half for a in self.atoms]
        score += r * (self.continuous.crps(y) + half) - r**2 * half
        for mass, distance in zip(self.masses.T, to_atoms, strict=True):
            score -= r * mass * distance
        return np.asarray(score)

    def hdr(self, level: float) -> list[Array]:
        level = checks.probability(level)
        out = []
        for i, masses in enumerate(self.masses):
            order = np.argsort(-masses, kind="stable")
            order = order[masses[order] > 0]
            total = np.cumsum(masses[order])
            count = int(np.searchsorted(total, level - ROUNDING)) + 1
            atoms = np.repeat(np.sort(self.atoms[order[:count]])[:, None], 2, axis=1)
            left = level - float(total[-1]) if len(total) else level
            if left <= ROUNDING or self.continuous is None:
                out.append(atoms)
                continue
            region = self.continuous[i].hdr(min(left / float(self.rest[i]), 1 - ROUNDING))[0]
            out.append(with_points(region, atoms))
        return out

    def modes(self) -> list[Array]:
        beside = [np.empty(0)] * len(self) if self.continuous is None else self.continuous.modes()
        out = []
        for masses, peaks in zip(self.masses, beside, strict=True):
            order = np.argsort(-masses, kind="stable")
            out.append(np.append(self.atoms[order[masses[order] > 0]], peaks))
        return out

    def hpd_level(self, Y: ArrayLike, n_draws: int = 1000, random_state: Any = None) -> Array:
        y = checks.rows_of(Y, len(self), 1)
        mass = self.pmf(y)
        level = np.where(self.masses >= mass[:, None], self.masses, 0.0).sum(axis=1)
        if self.continuous is None:
            return np.asarray(level)
        beside = self.rest * self.continuous.hpd_level(y)
        return np.asarray(level + np.where(mass > 0, 0.0, beside))

    def mean(self) -> Array:
        mean = self.masses @ self.atoms
        if self.continuous is not None:
            mean += self.rest * self.continuous.mean()
        return np.asarray(mean)

    def var(self) -> Array:
        mean = self.mean()
        out = np.einsum("mk,mk->m", self.masses, (self.atoms - mean[:, None]) ** 2)
        if self.continuous is not None:
            apart = (self.continuous.mean() - mean) ** 2
            out += self.rest * (self.continuous.var() + apart)
        return np.asarray(out)

    def cov(self) -> Array:
        return self.var()[:, None, None]

    def marginal(self, columns: int | Sequence[int]) -> MixedDistribution:
        checks.columns_of(columns, 1)
        return self

    def sample(self, n: int = 1, random_state: Any = None) -> Array:
        n, rng = check_count("n", n, low=0), check_rng(random_state)
        edges = np.cumsum(self.masses, axis=1)
        if self.continuous is None:
            edges[:, -1:] = 1.0
        pairs = zip(edges, rng.random((len(self), n)), strict=True)
        number = np.array([np.searchsorted(own, u, side="right") for own, u in pairs], dtype=int)
        number = number.reshape(len(self), n)
        beside = (
            np.zeros((len(self), n)) if self.continuous is None else self._beside.sample(n, rng)
        )
        return np.where(number < len(self.atoms), np.append(self.atoms, 0.0)[number], beside)

    def frozen(self, row: int = 0) -> Any:
        raise TypeError(
            "a distribution with atoms has no counterpart in scipy.stats: use the methods of "
            "dist[i], or dist.continuous.frozen(i) for the density beside the atoms"
        )

    def to_skpro(self, index: Any = None, columns: Any = None) -> Any:
        raise TypeError(
            "a distribution with atoms cannot be converted to skpro: use "
            "dist.continuous.to_skpro() for the density beside the atoms"
        )

    @property
    def _beside(self) -> Distribution:
        assert self.continuous is not None
        return self.continuous

    @cached_property
    def _below_atoms(self) -> Array:
        """The distribution function of the density at the atoms, (m, K)."""
        out = np.zeros(self.masses.shape)
        if self.continuous is not None:
            for k, atom in enumerate(self.atoms):
                out[:, k] = self.continuous.cdf(np.full(len(self), atom))
        return out

    @cached_property
    def _mean_difference(self) -> Array:
        """``E|Y - Y'|`` of the density, (m,)."""
        beside, mean = self._beside, self._beside.mean()
        low, high = beside.quantile([0.0, 1.0]).T
        if np.isfinite(low).all():
            return np.asarray(2 * (mean - low - beside.crps(low)))
        if np.isfinite(high).all():
            return np.asarray(2 * (high - mean - beside.crps(high)))
        low = beside.quantile(FAINT)
        return np.asarray(2 * (mean - low - beside.crps(low)))
