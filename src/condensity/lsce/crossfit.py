"""Cross-fitting: members learn without a fold and are judged on that fold.

The samples are dealt to K folds, R times over.  Member (r, j) learns from all but fold j of deal r
everything there is to learn: scaling, location, metric, subspace, coefficients.  So every sample
has R members that have not seen it, and what is chosen for all members in common (bandwidths,
penalty, dimension, location) is chosen by their loss on samples that are new to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from condensity._typing import Array, Mask
from condensity.data.sample import Sample
from condensity.distributions.block import Block
from condensity.fitting.scores import Gaussians, Score
from condensity.lsce.averaged import mixture_blocks
from condensity.lsce.member import MOST_KEPT, MemberView, OutputKernels

#: Numbers that tables of outputs may hold together, about (256 MiB).
REMEMBERED = 1 << 25


@dataclass(frozen=True, eq=False)
class MemberEvaluation:
    """How the held-out samples of one view look to the member that has not seen them."""

    weights: Array  # (penalties, m, b + 1)
    components: Gaussians
    match: Array  # (penalties, m) w^T a


@dataclass(frozen=True, eq=False)
class ScoreTables:
    """All about the outputs of one view that does not depend on W, for one sigma_y."""

    outputs: OutputKernels
    match: Array  # (m, b + 1) a, of the samples held out
    pair: Array  # (b + 1, b + 1) A

    @property
    def size(self) -> int:
        """The numbers it holds, or will hold once it was asked."""
        n, yy = len(self.outputs.view.sample), self.outputs.yy
        kernels = n * len(yy) if n <= MOST_KEPT else 0
        return int(kernels + yy.size + self.match.size + self.pair.size)

    @classmethod
    def of(cls, score: Score, view: MemberView, sigma_y: float) -> ScoreTables:
        """The tables of a score, in the units of y."""
        outputs, unit = OutputKernels.build(view, sigma_y), score.unit(view.factor)
        components = outputs.components
        match = unit * score.match(view.held_out.Y, components)
        return cls(outputs, match, unit * score.pair(components, components))

    def judge(self, W: Array, sigma_z: float, penalties: tuple[float, ...]) -> MemberEvaluation:
        """What a member with the subspace W makes of the samples held out."""
        fit = self.outputs.fit(W, sigma_z, penalties)
        weights = fit.weights(self.outputs.view.held_out.X)
        match = np.einsum("pmk,mk->pm", weights, self.match)
        return MemberEvaluation(weights, self.outputs.components, match)


@dataclass(frozen=True, eq=False)
class Crossfit:
    """The views of all members under one location, and how members are scored."""

    location: str
    whole: Sample
    active: Mask  # (dx,) the inputs that vary
    views: Sequence[MemberView]  # deal by deal
    n_partitions: int
    score: Score
    #: By view and sigma_y: every subspace of any dimension is judged with the same few.
    known: dict[tuple[int, float], ScoreTables] = field(
        default_factory=dict, init=False, repr=False
    )

    @property
    def by_cells(self) -> bool:
        """Whether equal samples were dealt one by one, so that a row is held out in part."""
        weight = self.whole.weight
        return any((v.held_out.weight < (1 - 1e-9) * weight[v.rows]).any() for v in self.views)

    def losses(
        self, Ws: Sequence[Array], sigma_z: float, sigma_y: float, penalties: tuple[float, ...]
    ) -> Array:
        """Mean loss of the members that have not seen a sample, at every sample: (penalties, n)."""
        judged = self.judge(Ws, sigma_z, sigma_y, penalties)
        if self.score.sign == 0:
            return self.by_sample([-np.log(np.maximum(j.match, 1e-300)) for j in judged])
        found = []
        for view, j in enumerate(judged):
            norm = np.einsum("pmk,pmk->pm", j.weights @ self._tables(view, sigma_y).pair, j.weights)
            found.append(self.score.sign * (0.5 * norm - j.match))
        return self.by_sample(found)

    def judge(
        self, Ws: Sequence[Array], sigma_z: float, sigma_y: float, penalties: tuple[float, ...]
    ) -> list[MemberEvaluation]:
        """What every member makes of the samples that it has not seen."""
        assert len(Ws) == len(self.views)
        return [
            self._tables(view, sigma_y).judge(W, sigma_z, penalties) for view, W in enumerate(Ws)
        ]

    def _tables(self, view: int, sigma_y: float) -> ScoreTables:
        if (view, sigma_y) not in self.known:
            tables = ScoreTables.of(self.score, self.views[view], sigma_y)
            while (len(self.known) + 1) * tables.size > REMEMBERED and self.known:
                self.known.pop(next(iter(self.known)))  # the oldest
            self.known[view, sigma_y] = tables
        return self.known[view, sigma_y]

    def forget(self) -> None:
        """Free what was kept of outputs: with many samples it is most of a fit's memory."""
        self.known.clear()

    def products(
        self, ours: Sequence[MemberEvaluation], theirs: Sequence[MemberEvaluation]
    ) -> Array:
        """``w^T A w'`` between two densities of each member, by sample: (penalties, n)."""
        found = []
        for view, a, b in zip(self.views, ours, theirs, strict=True):
            table = self.score.unit(view.factor) * self.score.pair(a.components, b.components)
            found.append(np.einsum("pmk,pmk->pm", a.weights @ table, b.weights))
        return self.by_sample(found)

    def by_sample(self, values: Sequence[Array]) -> Array:
        """Average (penalties, m) of views over the members that have not seen a sample."""
        out = np.zeros((len(values[0]), len(self.whole)))
        for view, value in zip(self.views, values, strict=True):
            out[:, view.rows] += value * (view.held_out.weight / self.whole.weight[view.rows])
        return out / self.n_partitions


@dataclass(frozen=True, eq=False)
class HeldOutEvaluation:
    """How all held-out samples look, each to members that have not seen it."""

    crossfit: Crossfit
    parts: Sequence[MemberEvaluation]  # view by view

    @property
    def matches(self) -> Array:
        """``w^T a`` by sample: (n,)."""
        return np.asarray(self.crossfit.by_sample([part.match for part in self.parts])[0])

    def densities(self, view: int) -> list[Block]:
        """The densities in the frame of their location: kernels, background."""
        own, part = self.crossfit.views[view], self.parts[view]
        shift = own.location.at(own.held_out.X)
        return mixture_blocks(part.weights[0], part.components, own.factor, shift)
