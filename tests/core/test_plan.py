import numpy as np

from condensity.core.plan import Plan
from problems import center_rows, fold_labels, random_plan, random_sample


def test_a_plan_deals_every_row_to_one_fold_and_centers_evenly():
    plan = random_plan(n=23, n_centers=9, n_folds=4)
    labels = fold_labels(plan)
    assert sorted(np.bincount(labels)) == [5, 6, 6, 6]
    assert sorted(np.bincount(labels[center_rows(plan)])) == [2, 2, 2, 3]


def test_a_plan_keeps_the_sample():
    sample = random_sample(3)
    plan = Plan.draw(sample, np.arange(23), n_centers=5, folds=3, rng=np.random.default_rng(0))
    order = np.lexsort(plan.sample.X.T)
    back = np.lexsort(sample.X.T)
    for field in ("X", "Y", "weight"):
        ours, theirs = getattr(plan.sample, field)[order], getattr(sample, field)[back]
        np.testing.assert_array_equal(ours, theirs)


def test_a_plan_follows_the_labels_it_is_given():
    sample = random_sample(4, n=12)
    labels = np.array([7, 7, 3] * 4)
    plan = Plan.draw(sample, np.arange(12), n_centers=5, folds=labels, rng=np.random.default_rng(0))
    assert [rows.stop - rows.start for rows in plan.folds] == [4, 8]
    np.testing.assert_array_equal(plan.sample.X[plan.folds[0]], sample.X[labels == 3])


def test_equal_rows_are_one_centre_and_serve_the_folds_that_hold_a_copy_out():
    sample = random_sample(6, n=6)
    rows = np.array([0, 0, 1, 1, 2, 3, 4, 5])
    sample, group = sample[rows], rows
    labels = np.array([0, 1, 0, 0, 0, 1, 1, 1])
    plan = Plan.draw(sample, group, n_centers=6, folds=labels, rng=np.random.default_rng(0))
    assert len(plan.basis) == 6
    for k, x in enumerate(plan.basis.X):
        original = int(np.flatnonzero((x == sample.X).all(axis=1))[0])
        held_by = set(labels[group == group[original]].tolist())
        # row 0 has a copy in either fold: whichever is held out, the other still shows it
        assert plan.usable[:, k].tolist() == [held_by != {0}, held_by != {1}]


def test_equal_rows_share_a_fold_unless_the_sample_is_a_table_of_cells():
    few = np.repeat(np.arange(20), 3)  # three copies of each row, five folds
    sample = random_sample(9, n=20)[few]
    plan = Plan.draw(sample, few, n_centers=20, folds=5, rng=np.random.default_rng(0))
    assert ((plan.copies > 0).sum(axis=0) == 1).all()
    cells = np.repeat(np.arange(4), 10)  # ten copies: every fold can know every cell
    sample = random_sample(9, n=4)[cells]
    plan = Plan.draw(sample, cells, n_centers=4, folds=5, rng=np.random.default_rng(0))
    assert ((plan.copies > 0).sum(axis=0) > 1).all()
    assert plan.usable.all()


def test_centers_are_drawn_with_the_weights_of_the_sample():
    sample = random_sample(7, n=4)
    heavy = type(sample)(sample.X, sample.Y, np.array([0.4, 0.4, 0.1, 0.1]))
    rng = np.random.default_rng(0)
    drawn = np.zeros(4)
    for _ in range(500):
        plan = Plan.draw(heavy, np.arange(4), n_centers=2, folds=np.zeros(4, int), rng=rng)
        drawn[center_rows(plan)] += 1 / 500
    # Without replacement: 0.4 + 0.4 * 0.4 / 0.6 + 2 * 0.1 * 0.4 / 0.9.
    np.testing.assert_allclose(drawn[:2], 0.4 + 0.16 / 0.6 + 0.08 / 0.9, atol=0.05)


def test_without_a_fold_nothing_of_it_is_left():
    plan = random_plan(n=23, n_centers=9, n_folds=4)
    labels, centers = fold_labels(plan), np.array(center_rows(plan))
    for j in range(4):
        part = plan.without(j)
        np.testing.assert_array_equal(part.sample.X, plan.sample.X[labels != j])
        np.testing.assert_array_equal(part.sample.weight, plan.sample.weight[labels != j])
        np.testing.assert_array_equal(part.basis.X, plan.sample.X[centers[labels[centers] != j]])
        others = [k for k in range(4) if k != j]
        for rows, k in zip(part.folds, others, strict=True):
            np.testing.assert_array_equal(part.sample.Y[rows], plan.sample.Y[plan.folds[k]])
        assert part.usable.shape == (3, len(part.basis))
        assert (part.copies.sum(axis=0) == 1).all()


def test_without_a_fold_a_centre_stays_that_another_fold_knows():
    sample = random_sample(8, n=4)
    rows = np.array([0, 0, 1, 2, 3])
    labels = np.array([0, 1, 0, 1, 2])
    plan = Plan.draw(sample[rows], rows, n_centers=4, folds=labels, rng=np.random.default_rng(0))
    part = plan.without(0)
    assert len(part.basis) == 3  # of the two rows that fold 0 knows, one is known elsewhere
    assert (sample.X[0] == part.basis.X).all(axis=1).any()
    assert not (sample.X[1] == part.basis.X).all(axis=1).any()
