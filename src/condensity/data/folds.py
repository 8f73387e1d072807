"""Cross-validation folds and centres.

A fit may use a centre only if one of its training samples lies on it.  When a fold is held out, the
centres that lie only on its samples are left out too: otherwise they would explain these samples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from condensity._typing import Array, Indices, Mask
from condensity._utils.validation import check_enough, check_folds
from condensity.data.sample import Sample, canonical


@dataclass(frozen=True, eq=False)
class FoldedSample:
    """A sample with rows ordered by fold, and its centres."""

    sample: Sample
    folds: tuple[slice, ...]
    basis: Sample  # the b centres
    known: Mask  # (folds, b) whether a sample of the fold lies on the centre

    @classmethod
    def cut(cls, measure: Sample, mass: Array, centers: Indices) -> FoldedSample:
        """Cut distinct rows into folds; the rows ``centers`` are the centres.

        ``mass`` (folds, n) is the weight of each row of the measure within each fold.
        """
        held = mass > 0
        fold, row = np.nonzero(held)
        sample = Sample(measure.X[row], measure.Y[row], mass[fold, row] / mass.sum())
        return cls(sample, _slices(held.sum(axis=1).tolist()), measure[centers], held[:, centers])

    def thinned(self, n_centers: int) -> FoldedSample:
        """The same sample with at most ``n_centers`` of its centres, evenly spaced in their order.

        All centres are kept if a fold would otherwise have no usable centre.
        """
        b = len(self.basis)
        if b <= n_centers:
            return self
        kept = np.linspace(0, b - 1, n_centers).round().astype(np.intp)
        thinned = replace(self, basis=self.basis[kept], known=self.known[:, kept])
        return thinned if thinned.usable.any(axis=1).all() else self

    def without(self, fold: int) -> FoldedSample:
        """The samples of all other folds, with the centres that one of them lies on."""
        rows = np.ones(len(self.sample), dtype=bool)
        rows[self.folds[fold]] = False
        sizes = [s.stop - s.start for j, s in enumerate(self.folds) if j != fold]
        usable, others = self.usable[fold], np.arange(len(self.folds)) != fold
        sample = self.sample[rows]
        sample = replace(sample, weight=sample.weight / sample.weight.sum())
        return FoldedSample(
            sample, _slices(sizes), self.basis[usable], self.known[others][:, usable]
        )

    @property
    def usable(self) -> Mask:
        """Whether a sample outside the fold lies on the centre, (folds, b)."""
        usable: Mask = self.known.sum(axis=0) > self.known
        return usable


def draw_centers(weight: Array, n_centers: int, rng: np.random.Generator) -> Indices:
    """Draw rows with probabilities ``weight`` (n,) as centres, in increasing order."""
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
    """Whether distinct rows are the cells of a table of x by y with at least half of them filled.

    Samples repeated by drawing with replacement do not form such a table: each y occurs with only
    one x.
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
    """Assign rows at random to ``n_folds`` folds, or fewer if there are fewer rows: (n,).

    Equal rows, which share a number in ``group``, go to the same fold.  Otherwise each would
    explain its copies, and a bandwidth of zero would always win.  If the sample is a ``table`` of
    cells with enough rows in each for every fold, they are assigned one by one, because equal rows
    are then a property of the data.  Rows of ``centers`` are assigned first, so that no fold gets
    all of them.
    """
    n_groups = int(group[-1]) + 1
    cells = table and len(group) >= n_folds * n_groups
    unit = group if cells else np.arange(n_groups)
    order = rng.permutation(len(unit))
    order = order[np.argsort(~np.isin(unit[order], centers), kind="stable")]
    labels = np.empty(len(unit), dtype=np.intp)
    labels[order] = np.arange(len(unit)) % min(n_folds, len(unit))
    return labels if cells else labels[group]


def label_rows(
    cv: Any, X: Array, Y: Array, weight: Array, rng: np.random.Generator, *, name: str, fix: str
) -> Indices:
    """The fold of each row, (n,), for the parameter ``cv`` of the estimator ``name``.

    ``fix`` names what makes folds unnecessary, for the error if there are too few samples.
    """
    folds = check_folds(cv, X, Y, weight)
    if not isinstance(folds, int):
        return folds
    measure, origin, group = canonical(X, Y, weight)
    check_enough(name, len(origin), len(measure), n_folds=folds, fix=fix)
    labels, no_centers = np.zeros(len(X), dtype=np.intp), np.arange(0)
    labels[origin] = draw_fold_labels(
        group, folds, table=is_contingency_table(measure), centers=no_centers, rng=rng
    )
    return labels


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
