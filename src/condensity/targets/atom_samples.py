"""The sample from which the probabilities of atoms are learned, and its folds.

An atom is a class.  Rows with the same x and the same atom are different samples if x is discrete,
and copies of one sample if rows were repeated or weighted.  Different samples get their folds one
by one, copies stay together.
"""

from __future__ import annotations

import numpy as np

from condensity._typing import Array, Indices, Mask
from condensity._utils.validation import check_enough
from condensity.data.folds import draw_fold_labels
from condensity.data.sample import Sample, canonical
from condensity.targets.class_probabilities import LabelledSample

#: Largest number of samples that the weights of all rows can stand for.
MOST_SAMPLES = 100_000


def class_of(y: Array, atoms: Array) -> Indices:
    """The number of the atom that each y is equal to, or the number of atoms if there is none."""
    if not len(atoms):
        return np.zeros(len(y), dtype=np.intp)
    place = np.minimum(np.searchsorted(atoms, y), len(atoms) - 1)
    return np.where(atoms[place] == y, place, len(atoms)).astype(np.intp)


def labelled_sample(
    X: Array,
    Y: Array,
    weight: Array,
    atoms: Array,
    folds: int | Indices,
    rng: np.random.Generator,
) -> tuple[LabelledSample, Indices]:
    """Samples with the classes of their y, and their folds.

    ``folds`` is a number of random folds or the fold of each row.  Neither the order of the rows
    nor repeated rows in place of integer weights matter.
    """
    if isinstance(folds, int):
        measure, origin, _ = canonical(X, Y, weight)
        check_enough("WithAtoms", len(origin), len(measure), n_folds=folds, fix="atoms=[]")
        sample, row = _separated(measure, atoms, folds)
        each, no_centers = np.arange(len(row)), np.arange(0)
        return sample, draw_fold_labels(each, folds, centers=no_centers, rng=rng)
    measure, _, _ = canonical(X, np.column_stack([Y, folds]), weight)
    sample, row = _separated(measure, atoms, 1)
    return sample, measure.Y[row, 1].astype(np.intp)


def _separated(measure: Sample, atoms: Array, least: int) -> tuple[LabelledSample, Indices]:
    """A row for each sample, and the distinct row it comes from."""
    label = class_of(measure.Y[:, 0], atoms)
    counts = sample_counts(measure, label == len(atoms), least)
    row = np.repeat(np.arange(len(measure)), counts)
    weight = (measure.weight / counts)[row]
    return LabelledSample(measure.X[row], label[row], weight, len(atoms) + 1), row


def sample_counts(measure: Sample, beside: Mask, least: int) -> Indices:
    """Of how many samples each distinct row consists, (n,).

    One sample has the mean weight of the rows ``beside`` the atoms, (n,), whose y has a density.
    A row with an atom consists of several samples if there are at least ``least`` of them and x is
    discrete: it occurs with other y, or most of the samples have such an x.  A large weight at an x
    that occurs only once is that of one sample.
    """
    unit = max(float(measure.weight[beside].mean()), 1 / MOST_SAMPLES)
    # A sum of weights that is equal to an integer may be rounded to a number below it.
    counts = np.floor(measure.weight / unit * (1 + 1e-9)).astype(np.intp)
    shared = has_other_targets(measure)
    discrete = shared | (measure.weight @ shared > 0.5)
    return np.where(~beside & discrete & (counts >= least), np.maximum(counts, 1), 1)


def has_other_targets(measure: Sample) -> Mask:
    """Whether the x of each sorted row occurs with two different y or more, (n,)."""
    new = np.r_[True, np.any(measure.X[1:] != measure.X[:-1], axis=1)]
    first, group = np.flatnonzero(new), np.cumsum(new) - 1
    y = measure.Y[:, 0]
    shared: Mask = (np.maximum.reduceat(y, first) > np.minimum.reduceat(y, first))[group]
    return shared
