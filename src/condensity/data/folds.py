"""Who is held out from whom: folds, and centres that belong to samples.

A centre may serve a fit only if a sample of that fit sits on it.  When fold j is held out, the
centres that only its samples know go with it, or they would explain those samples by themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from condensity._typing import Array, Indices, Mask
from condensity.data.sample import Sample


@dataclass(frozen=True, eq=False)
class FoldedSample:
    """A sample whose rows are ordered by fold, and the centres drawn from it."""

    sample: Sample
    folds: tuple[slice, ...]
    basis: Sample  # the b centres
    known: Mask  # (folds, b) whether a sample of the fold sits on the centre

    @classmethod
    def cut(cls, measure: Sample, mass: Array, centers: Indices) -> FoldedSample:
        """Cut a measure of distinct rows, of which ``centers`` are centres.

        ``mass`` (folds, n) is the weight of each row of the measure within each fold.
        """
        held = mass > 0
        fold, row = np.nonzero(held)
        sample = Sample(measure.X[row], measure.Y[row], mass[fold, row] / mass.sum())
        return cls(sample, _slices(held.sum(axis=1).tolist()), measure[centers], held[:, centers])

    @property
    def usable(self) -> Mask:
        """Whether a sample outside the fold sits on the centre, (folds, b)."""
        usable: Mask = self.known.sum(axis=0) > self.known
        return usable


def draw_centers(weight: Array, n_centers: int, rng: np.random.Generator) -> Indices:
    """Draw centres among rows with their probabilities ``weight`` (n,), in increasing order."""
    return np.sort(rng.choice(len(weight), n_centers, replace=False, p=weight))


def draw_folds(
    weight: Array,
    group: Indices,
    n_folds: int,
    *,
    centers: Indices,
    rng: np.random.Generator,
    table: bool = False,
) -> Array:
    """The weight of each group within each of ``n_folds`` random folds, (folds, groups)."""
    labels = draw_fold_labels(group, n_folds, centers=centers, rng=rng, table=table)
    return fold_weights(weight, group, labels)


def is_contingency_table(measure: Sample) -> bool:
    """Whether distinct rows are the cells of a table: x crossed with y, at least half of them met.

    Samples that were repeated, as by drawing with replacement, are not: every y has an x of its
    own.
    """
    n_x, n_y = (len(np.unique(values, axis=0)) for values in (measure.X, measure.Y))
    return n_x * n_y <= 2 * len(measure)


def draw_fold_labels(
    group: Indices,
    n_folds: int,
    *,
    centers: Indices,
    rng: np.random.Generator,
    table: bool = False,
) -> Indices:
    """Deal rows at random to ``n_folds`` folds, or fewer if there are fewer rows: (n,).

    Equal rows, which share a number in ``group``, go to the same fold, or each would explain its
    twins: a bandwidth of zero could not be beaten.  Only where the sample is a ``table`` of cells,
    each with enough rows for every fold, are they dealt one by one: there equal rows are what the
    data are like.  Rows of ``centers`` go round first, so that no fold takes them all.
    """
    n_groups = int(group[-1]) + 1
    cells = table and len(group) >= n_folds * n_groups
    unit = group if cells else np.arange(n_groups)
    order = rng.permutation(len(unit))
    order = order[np.argsort(~np.isin(unit[order], centers), kind="stable")]
    labels = np.empty(len(unit), dtype=np.intp)
    labels[order] = np.arange(len(unit)) % min(n_folds, len(unit))
    return labels if cells else labels[group]


def fold_weights(weight: Array, group: Indices, labels: Indices) -> Array:
    """The weight of each group within the fold of each label, (folds, groups)."""
    labels = np.unique(labels, return_inverse=True)[1]
    mass = np.zeros((labels.max() + 1, group[-1] + 1))
    np.add.at(mass, (labels, group), weight)
    return mass


def _slices(sizes: list[int]) -> tuple[slice, ...]:
    """Consecutive slices of the given sizes."""
    ends = np.cumsum(sizes).tolist()
    return tuple(slice(end - size, end) for end, size in zip(ends, sizes, strict=True))
