"""Cross-fitting: members learn without one fold and are evaluated on that fold.

The samples are partitioned into K folds, R times.  Member (r, j) learns scaling, location, metric,
subspace and coefficients from all folds but fold j of partition r.  So every sample is held out
from R members.  Bandwidths, penalty, dimension and location, which all members share, are chosen by
the members' loss on held-out samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from condensity._typing import Array, Mask
from condensity.data.sample import Sample
from condensity.distributions.block import Block
from condensity.fitting.moments import Sums
from condensity.fitting.output_slope import FLAT, OutputSlope, quadratic_forms
from condensity.fitting.ridge import low_rank_root
from condensity.fitting.scores import Gaussians, Score
from condensity.members.averaged import mixture_blocks
from condensity.members.member import MOST_KEPT, MemberView, OutputKernels

#: Approximate limit of the numbers in all cached tables (256 MiB).
CACHED_NUMBERS = 1 << 25
#: Approximate limit of the numbers in all cached sums (32 MiB).
CACHED_SUMS = 1 << 22


@dataclass(frozen=True, eq=False)
class MemberEvaluation:
    """The densities of one member at its held-out samples."""

    weights: Array  # (penalties, m, b + 1)
    components: Gaussians
    match: Array  # (penalties, m) w^T a, for the density of y


@dataclass(frozen=True, eq=False)
class ScoreTables:
    """The quantities of one view that depend on sigma_y, but not on W."""

    outputs: OutputKernels
    match: Array  # (m, b + 1) a, at held-out samples
    pair: Array  # (T, b + 1, b + 1) A; T > 1 for outputs with two bounds
    rates: Array  # (T, m) the factors of these tables in the rows
    definite: bool  # whether the tables A are positive semidefinite

    @property
    def size(self) -> int:
        """Number of stored numbers, including those computed on first use."""
        n, yy = len(self.outputs.view.sample), self.outputs.yy
        kernels = n * len(yy) if n <= MOST_KEPT else 0
        return int(kernels + yy.size + self.match.size + self.pair.size)

    @classmethod
    def of(
        cls, score: Score, view: MemberView, sigma_y: float, slope: OutputSlope = FLAT
    ) -> ScoreTables:
        """The tables of a score, in the units of y."""
        outputs, unit = OutputKernels.build(view, sigma_y), score.unit(view.factor)
        components = outputs.components
        shift = view.held_location
        at = slope.at(shift + view.held_out.Y @ view.factor.T)
        match = at[:, None] * unit * score.match(view.held_out.Y, components)
        pair = slope.tables(score, view.factor, components, components)
        return cls(outputs, match, pair, slope.rates(shift), score.sign > 0)

    @cached_property
    def roots(self) -> list[Array]:
        """``A = root root^T``, each (b + 1, r).

        A is a smooth function of the centres, so r is small.
        """
        return [low_rank_root(table) for table in self.pair]

    def norms(self, weights: Array) -> Array:
        """``w^T A w`` for weights (penalties, m, b + 1): (penalties, m)."""
        if not self.definite:
            return quadratic_forms(self.rates, self.pair, weights, weights)
        total = np.zeros(weights.shape[:2])
        for rate, root in zip(self.rates, self.roots, strict=True):
            half = weights @ root
            total += rate * np.einsum("pmr,pmr->pm", half, half)
        return total

    def evaluate(
        self, W: Array, sigma_z: float, penalties: tuple[float, ...], sums: Sums
    ) -> MemberEvaluation:
        """The densities of a member with the subspace W at its held-out samples.

        ``sums`` are those of its basis functions over its training samples.
        """
        fit = self.outputs.solve(W, sigma_z, penalties, sums)
        weights = fit.weights(self.outputs.view.held_out.X)
        match = np.einsum("pmk,mk->pm", weights, self.match)
        return MemberEvaluation(weights, self.outputs.components, match)


@dataclass(frozen=True, eq=False)
class Crossfit:
    """The views of all members for one location, and the score of their densities."""

    location: str
    whole: Sample
    active: Mask  # (dx,) the inputs of the density that vary
    views: Sequence[MemberView]  # of all members, or of some
    score: Score
    full_views: Sequence[MemberView] = ()  # the same with all centres
    slope: OutputSlope = FLAT  # of y in its free coordinate
    #: Tables by view and sigma_y: subspaces of all dimensions use the same ones.
    cache: dict[tuple[int, float], ScoreTables] = field(
        default_factory=dict, init=False, repr=False
    )

    #: Sums over training samples by view, sigma_z and subspace: all sigma_y share most of them.
    sums: dict[tuple[int, float, bytes], Sums] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def held_mass(self) -> Array:
        """The weight of each sample, summed over the members it is held out from: (n,)."""
        mass = np.zeros(len(self.whole))
        for view in self.views:
            mass[view.rows] += view.held_out.weight
        return mass

    @cached_property
    def weight(self) -> Array:
        """The weights of the samples in a mean over held-out samples, (n,)."""
        return np.asarray(self.held_mass / self.held_mass.sum())

    @property
    def by_cells(self) -> bool:
        """Whether equal samples lie in different folds, so that a row is partly held out."""
        weight = self.whole.weight
        return any((v.held_out.weight < (1 - 1e-9) * weight[v.rows]).any() for v in self.views)

    def losses(
        self, Ws: Sequence[Array], sigma_z: float, sigma_y: float, penalties: tuple[float, ...]
    ) -> Array:
        """Mean loss at every sample over the members it is held out from: (penalties, n)."""
        evaluated = self.evaluate(Ws, sigma_z, sigma_y, penalties)
        if self.score.sign == 0:
            return self.by_sample([-np.log(np.maximum(j.match, 1e-300)) for j in evaluated])
        values = []
        for view, j in enumerate(evaluated):
            norms = self._tables(view, sigma_y).norms(j.weights)
            values.append(self.score.sign * (0.5 * norms - j.match))
        return self.by_sample(values)

    def evaluate(
        self, Ws: Sequence[Array], sigma_z: float, sigma_y: float, penalties: tuple[float, ...]
    ) -> list[MemberEvaluation]:
        """The densities of every member at its held-out samples."""
        assert len(Ws) == len(self.views)
        return [
            self._tables(view, sigma_y).evaluate(
                W, sigma_z, penalties, self._sums_of(view, W, sigma_z, sigma_y)
            )
            for view, W in enumerate(Ws)
        ]

    def _sums_of(self, view: int, W: Array, sigma_z: float, sigma_y: float) -> Sums:
        """The sums over the training samples; those for the last few ``sigma_z`` are kept."""
        key = view, sigma_z, W.tobytes()
        outputs, similar = self._tables(view, sigma_y).outputs, self.sums.get(key)
        sums = outputs.own_sums(W, sigma_z, similar)
        if similar is None:
            while (len(self.sums) + 1) * sums.zz.size > CACHED_SUMS and self.sums:
                self.sums.pop(next(iter(self.sums)))  # the oldest
            self.sums[key] = sums
        return sums

    def _tables(self, view: int, sigma_y: float) -> ScoreTables:
        if (view, sigma_y) not in self.cache:
            tables = ScoreTables.of(self.score, self.views[view], sigma_y, self.slope)
            while (len(self.cache) + 1) * tables.size > CACHED_NUMBERS and self.cache:
                self.cache.pop(next(iter(self.cache)))  # the oldest
            self.cache[view, sigma_y] = tables
        return self.cache[view, sigma_y]

    def clear(self) -> None:
        """Empty the caches, which are most of the memory of a fit with many samples."""
        self.cache.clear()
        self.sums.clear()

    def products(
        self, ours: Sequence[MemberEvaluation], theirs: Sequence[MemberEvaluation]
    ) -> Array:
        """``w^T A w'`` for two densities of each member, by sample: (penalties, n)."""
        values = []
        for view, a, b in zip(self.views, ours, theirs, strict=True):
            tables = self.slope.tables(self.score, view.factor, a.components, b.components)
            rates = self.slope.rates(view.held_location)
            values.append(quadratic_forms(rates, tables, a.weights, b.weights))
        return self.by_sample(values)

    def by_fold(self, losses: Array) -> Array:
        """Mean losses of the samples held out from each view: (penalties, views)."""
        means = [
            losses[:, view.rows] @ (view.held_out.weight / view.held_out.weight.sum())
            for view in self.views
        ]
        return np.column_stack(means)

    def by_sample(self, values: Sequence[Array]) -> Array:
        """Average values (penalties, m) of the views over the members a sample is held out from."""
        out = np.zeros((len(values[0]), len(self.whole)))
        for view, value in zip(self.views, values, strict=True):
            out[:, view.rows] += value * (view.held_out.weight / self.held_mass[view.rows])
        return out


@dataclass(frozen=True, eq=False)
class HeldOutEvaluation:
    """The densities of all members at their held-out samples."""

    crossfit: Crossfit
    parts: Sequence[MemberEvaluation]  # one for each view

    @property
    def matches(self) -> Array:
        """``w^T a`` by sample: (n,)."""
        return np.asarray(self.crossfit.by_sample([part.match for part in self.parts])[0])

    def densities(self, view: int) -> list[Block]:
        """The densities of one view in standardised y: kernels, background."""
        member, part = self.crossfit.views[view], self.parts[view]
        shift = member.held_location
        return mixture_blocks(part.weights[0], part.components, member.factor, shift)
