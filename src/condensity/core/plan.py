"""Who is held out from whom: folds, and centres that belong to samples.

A centre may serve a fit only if a sample of that fit sits on it.  When fold j is held out, the
centres that only its samples know go with it, or they would explain those samples by themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from condensity.core.kernels import Indices, Mask
from condensity.core.sample import Sample


@dataclass(frozen=True, eq=False)
class Plan:
    """A sample whose rows are ordered by fold, and the centres drawn from it."""

    sample: Sample
    folds: tuple[slice, ...]
    basis: Sample  # the b centres
    copies: Indices  # (folds, b) how many rows of the fold sit on the centre

    @classmethod
    def draw(
        cls,
        sample: Sample,
        group: Indices,
        *,
        n_centers: int,
        folds: int | Indices,
        rng: np.random.Generator,
    ) -> Plan:
        """Draw distinct centres with the probabilities of the sample; deal the rows to the folds.

        ``group`` numbers the distinct rows (``sample.canonical``).  ``folds`` is the number of
        folds at most, or the label of each row's fold where that is settled already.
        """
        # Streams of their own: centres do not depend on how the rows are dealt.
        pick_rng, deal_rng = rng.spawn(2)
        is_center = _pick(sample, group, n_centers, pick_rng)
        if isinstance(folds, int):
            labels = _deal(is_center, group, folds, deal_rng)
        else:
            labels = np.unique(folds, return_inverse=True)[1]
        copies = np.zeros((labels.max() + 1, group.max() + 1), dtype=np.intp)
        np.add.at(copies, (labels, group), 1)
        centers = np.flatnonzero(is_center)
        order = np.argsort(labels, kind="stable")
        cuts = _slices(np.bincount(labels).tolist())
        return cls(sample[order], cuts, sample[centers], copies[:, group[centers]])

    @property
    def usable(self) -> Mask:
        """Whether a sample outside the fold sits on the centre, (folds, b)."""
        usable: Mask = self.copies.sum(axis=0) > self.copies
        return usable

    def without(self, j: int) -> Plan:
        """The plan of all folds but ``j``: what a fit that must not see that fold may know."""
        held_out = self.folds[j]
        rows = np.r_[0 : held_out.start, held_out.stop : len(self.sample)]
        sizes = [fold.stop - fold.start for fold in self.folds]
        kept = np.flatnonzero(self.usable[j])
        copies = np.delete(self.copies, j, axis=0)[:, kept]
        return Plan(
            self.sample[rows], _slices(sizes[:j] + sizes[j + 1 :]), self.basis[kept], copies
        )


def _pick(sample: Sample, group: Indices, n_centers: int, rng: np.random.Generator) -> Mask:
    """Which rows are centres: the first of each group drawn."""
    mass = np.bincount(group, weights=sample.weight)
    chosen = rng.choice(len(mass), n_centers, replace=False, p=mass / mass.sum())
    return np.isin(np.arange(len(sample)), np.searchsorted(group, chosen))


def _deal(is_center: Mask, group: Indices, n_folds: int, rng: np.random.Generator) -> Indices:
    """Random folds of equal size; centres go round first, so that no fold takes them all.

    Equal rows go to the same fold, or each would explain its twins: a bandwidth of zero could not
    be beaten.  Only where the sample is a table of cells, each with enough rows for every fold, are
    they dealt one by one: there equal rows are what the data are like.
    """
    n_groups = int(group[-1]) + 1
    cells = len(group) >= n_folds * n_groups
    first = np.arange(len(group)) if cells else np.searchsorted(group, np.arange(n_groups))
    units = rng.permutation(len(first))
    units = units[np.argsort(~is_center[first][units], kind="stable")]
    labels = np.empty(len(units), dtype=np.intp)
    labels[units] = np.arange(len(units)) % min(n_folds, len(units))
    return labels if cells else labels[group]


def _slices(sizes: list[int]) -> tuple[slice, ...]:
    """Consecutive slices of the given sizes."""
    ends = np.cumsum(sizes).tolist()
    return tuple(slice(end - size, end) for end, size in zip(ends, sizes, strict=True))
