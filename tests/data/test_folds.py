from dataclasses import replace

import numpy as np
import pytest

from condensity.data.folds import (
    FoldedSample,
    draw_centers,
    draw_fold_labels,
    draw_folds,
    fold_weights,
    is_contingency_table,
)
from condensity.data.sample import Sample
from problems import center_rows, fold_labels, random_plan, random_sample


def test_every_row_is_in_one_fold_and_folds_are_of_one_size():
    plan = random_plan(n=23, n_centers=9, n_folds=4)
    assert sorted(np.bincount(fold_labels(plan))) == [5, 6, 6, 6]
    assert (plan.known.sum(axis=0) == 1).all()
    labels = fold_labels(plan)
    for k, row in enumerate(center_rows(plan)):
        assert plan.known[labels[row], k]


def test_centres_are_spread_over_the_folds():
    group = np.arange(30)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        mass = draw_folds(np.ones(30), group, 5, centers=np.array([3, 8, 11, 20, 29]), rng=rng)
        assert (mass[:, [3, 8, 11, 20, 29]].sum(axis=1) == 1).all()


def test_a_plan_keeps_the_sample():
    plan, sample = random_plan(3), random_sample(3)
    order, back = np.lexsort(plan.sample.X.T), np.lexsort(sample.X.T)
    np.testing.assert_array_equal(plan.sample.X[order], sample.X[back])
    np.testing.assert_array_equal(plan.sample.Y[order], sample.Y[back])
    np.testing.assert_allclose(plan.sample.weight[order], sample.weight[back], rtol=1e-14)


def test_a_plan_without_a_fold_is_the_plan_of_the_other_samples():
    sample, labels = random_sample(4, n=20), np.arange(20) % 4
    centers = np.arange(0, 20, 3)
    plan = FoldedSample.cut(sample, fold_weights(sample.weight, np.arange(20), labels), centers)
    rows = np.flatnonzero(labels != 2)
    mass = fold_weights(sample.weight[rows], np.arange(15), labels[rows])
    expected = FoldedSample.cut(sample[rows], mass, np.flatnonzero(np.isin(rows, centers)))
    found = plan.without(2)
    assert found.folds == expected.folds
    np.testing.assert_array_equal(found.known, expected.known)
    for part in ("sample", "basis"):
        np.testing.assert_array_equal(getattr(found, part).X, getattr(expected, part).X)
        np.testing.assert_array_equal(getattr(found, part).Y, getattr(expected, part).Y)
    np.testing.assert_allclose(found.sample.weight, expected.sample.weight, rtol=1e-14)


def test_a_centre_stays_if_another_fold_has_a_sample_on_it():
    measure = random_sample(6, n=6)
    group = np.array([0, 0, 1, 2, 3, 4, 5])
    labels = np.array([0, 1, 0, 0, 1, 2, 2])  # the first row is in the folds 0 and 1
    plan = FoldedSample.cut(measure, fold_weights(np.ones(7), group, labels), np.arange(6))
    found = plan.without(0)
    np.testing.assert_array_equal(found.basis.X, measure.X[[0, 3, 4, 5]])
    np.testing.assert_array_equal(found.known, [[1, 1, 0, 0], [0, 0, 1, 1]])


def test_a_plan_follows_the_labels_it_is_given():
    sample = random_sample(4, n=12)
    labels = np.array([7, 7, 3] * 4)
    mass = fold_weights(sample.weight, np.arange(12), labels)
    plan = FoldedSample.cut(sample, mass, np.arange(5))
    assert [rows.stop - rows.start for rows in plan.folds] == [4, 8]
    np.testing.assert_array_equal(plan.sample.X[plan.folds[0]], sample.X[labels == 3])


def test_equal_rows_are_one_centre_and_serve_the_folds_that_hold_a_copy_out():
    measure = random_sample(6, n=6)
    group = np.array([0, 0, 1, 1, 2, 3, 4, 5])
    labels = np.array([0, 1, 0, 0, 0, 1, 1, 1])
    mass = fold_weights(np.ones(8), group, labels)
    plan = FoldedSample.cut(measure, mass, np.arange(6))
    assert len(plan.sample) == 7  # row 0 stands in both folds, row 1 once with twice the weight
    assert plan.sample.weight.sum() == pytest.approx(1)
    twice = (measure.X[1] == plan.sample.X).all(axis=1)
    assert plan.sample.weight[twice] == pytest.approx(2 / 8)
    # Row 0 has a copy in either fold: whichever is held out, the other still shows it.
    assert plan.usable.tolist() == [
        [True, False, False, True, True, True],
        [True] * 3 + [False] * 3,
    ]


def test_equal_rows_share_a_fold_unless_the_sample_is_a_table_of_cells():
    rng = np.random.default_rng(0)
    few = np.repeat(np.arange(20), 3)  # three copies of each row, five folds
    mass = draw_folds(np.ones(60), few, 5, centers=np.arange(20), rng=rng)
    assert ((mass > 0).sum(axis=0) == 1).all()
    assert mass.sum() == 60
    cells = np.repeat(np.arange(4), 10)  # ten copies: every fold can know every cell
    options = {"centers": np.arange(4), "rng": rng}
    mass = draw_folds(np.ones(40), cells, 5, **options)  # unless they are samples repeated
    assert ((mass > 0).sum(axis=0) == 1).all()
    mass = draw_folds(np.ones(40), cells, 5, **options, table=True)
    assert ((mass > 0).sum(axis=0) > 1).all()
    np.testing.assert_array_equal(mass.sum(axis=1), [8] * 5)


def test_a_table_crosses_x_with_y():
    x, y = np.meshgrid(np.arange(3.0), np.arange(4.0))
    crossed = Sample(x.reshape(-1, 1), y.reshape(-1, 1), np.full(12, 1 / 12))
    assert is_contingency_table(crossed)
    assert is_contingency_table(crossed[np.r_[0:3, 5, 8:12]])  # some cells are empty
    assert not is_contingency_table(crossed[np.array([0, 4, 8, 11, 7])])  # most are
    assert not is_contingency_table(random_sample(1, n=12))
    assert not is_contingency_table(
        replace(crossed, X=random_sample(1, n=12).X)
    )  # only y is discrete
    assert not is_contingency_table(replace(crossed, Y=random_sample(1, n=12).Y))  # only x is


def test_labels_and_masses_are_dealt_alike():
    group = np.repeat(np.arange(9), [1, 3, 2, 1, 1, 2, 1, 1, 1])
    weight = np.linspace(1, 2, 13)
    labels = draw_fold_labels(group, 4, centers=np.arange(3), rng=np.random.default_rng(5))
    mass = draw_folds(weight, group, 4, centers=np.arange(3), rng=np.random.default_rng(5))
    assert labels.shape == (13,)
    by_hand = np.zeros((4, 9))
    for row in range(13):
        by_hand[labels[row], group[row]] += weight[row]
    np.testing.assert_allclose(mass, by_hand)


def test_there_are_no_more_folds_than_distinct_rows():
    group, rng = np.array([0, 0, 1, 1, 2, 2]), np.random.default_rng(0)
    mass = draw_folds(np.ones(6), group, 5, centers=np.arange(3), rng=rng)
    assert mass.shape == (3, 3)


def test_centers_are_drawn_with_the_weights_of_the_sample():
    sample = random_sample(7, n=4)
    heavy = type(sample)(sample.X, sample.Y, np.array([0.4, 0.4, 0.1, 0.1]))
    rng, drawn = np.random.default_rng(0), np.zeros(4)
    for _ in range(500):
        drawn[draw_centers(heavy.weight, 2, rng)] += 1 / 500
    # Without replacement: 0.4 + 0.4 * 0.4 / 0.6 + 2 * 0.1 * 0.4 / 0.9.
    np.testing.assert_allclose(drawn[:2], 0.4 + 0.16 / 0.6 + 0.08 / 0.9, atol=0.05)


def test_thinned_keeps_the_sample_and_some_of_the_centres():
    plan = random_plan(n=60, n_centers=30, n_folds=3)
    thinned = plan.thinned(7)
    assert thinned.sample is plan.sample
    assert len(thinned.basis) == 7
    labels, rows = fold_labels(plan), center_rows(thinned)
    assert set(rows) < set(center_rows(plan))
    for k, row in enumerate(rows):
        assert thinned.known[:, k].nonzero()[0].tolist() == [labels[row]]
    assert plan.thinned(30) is plan


def test_centres_are_not_thinned_if_a_fold_would_have_none():
    sample = random_sample(4, n=12)
    labels = np.array([0] * 11 + [1])
    mass = fold_weights(sample.weight, np.arange(12), labels)
    plan = FoldedSample.cut(sample, mass, np.array([0, 1, 11, 2, 3]))
    assert plan.thinned(2) is plan  # the first and the last are both in fold 0
    assert len(plan.thinned(3).basis) == 3


def test_cells_are_divided_only_if_every_fold_gets_rows_of_each():
    """Of a table with few rows in its cells, equal rows stay in one fold."""
    group = np.repeat(np.arange(6), 2)
    labels = draw_fold_labels(
        group, 3, centers=np.arange(6), rng=np.random.default_rng(0), table=True
    )
    np.testing.assert_array_equal(labels[::2], labels[1::2])
    group = np.repeat(np.arange(6), 3)
    labels = draw_fold_labels(
        group, 3, centers=np.arange(6), rng=np.random.default_rng(0), table=True
    )
    assert any(len(set(labels[group == g])) > 1 for g in range(6))
