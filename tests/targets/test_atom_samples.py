"""Samples of classes: which rows are copies of one sample, and which are several samples."""

import numpy as np
import pytest

from condensity.data.sample import canonical
from condensity.targets.atom_samples import class_of, has_other_targets, labelled_sample

ZERO = np.array([0.0])


def discrete(n=400, seed=0):
    """Half of the rows have x = 0 and mostly y = 0, the others x = 1 and mostly another y."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, 1)).astype(float)
    dry = rng.random(n) < np.where(X[:, 0] == 0, 0.9, 0.1)
    return X, np.where(dry, 0.0, np.exp(rng.normal(size=n)))[:, None]


def sample_of(X, Y, weight=None, folds=5):
    weight = np.ones(len(X)) if weight is None else weight
    return labelled_sample(X, Y, weight, ZERO, folds, np.random.default_rng(0))


def test_rows_with_the_same_discrete_input_are_different_samples():
    X, Y = discrete()
    sample, folds = sample_of(X, Y)
    assert len(sample.label) == 400
    np.testing.assert_allclose(sample.weight, 1 / 400)
    np.testing.assert_array_equal(np.bincount(folds), 80)
    for x in (0, 1):
        here = sample.X[:, 0] == x
        assert here.sum() == (X[:, 0] == x).sum()
        assert (sample.label[here] == 0).sum() == ((X[:, 0] == x) & (Y[:, 0] == 0)).sum()
        # Random folds, not strata: held-out shares differ from those of the training samples.
        counts = np.bincount(folds[here & (sample.label == 0)], minlength=5)
        assert counts.min() > 0
        assert np.ptp(counts) > 1


def test_copies_of_a_sample_stay_together():
    X = np.random.default_rng(0).normal(size=(60, 2))
    Y = np.where(X[:, :1] > 0, 0.0, X[:, 1:])
    rows = np.repeat(np.arange(60), 7)
    sample, folds = sample_of(X[rows], Y[rows])
    assert len(sample.label) == 60
    np.testing.assert_array_equal(np.bincount(folds), 12)
    # Copies at a discrete input stay together too.
    X, Y = discrete()
    copies = np.repeat(np.arange(400), 10)
    assert len(sample_of(X[copies], Y[copies])[0].label) == 400


def test_fewer_rows_with_an_atom_than_folds_stay_together():
    X = np.repeat(np.arange(40.0), 5)[:, None]
    Y = np.random.default_rng(0).normal(size=(200, 1))
    Y[2::5] = Y[3::5] = Y[4::5] = 0.0
    assert len(sample_of(X, Y, folds=4)[0].label) == 120
    assert len(sample_of(X, Y, folds=3)[0].label) == 200


def test_a_large_weight_at_an_input_that_occurs_once_is_that_of_one_sample():
    X = np.random.default_rng(0).normal(size=(60, 2))
    Y = np.where(X[:, :1] > 0, 0.0, X[:, 1:])
    sample, _ = sample_of(X, Y, np.where(Y[:, 0] == 0, 100.0, 1.0))
    assert len(sample.label) == 60


def test_an_input_at_which_only_the_atom_occurs_is_discrete_if_most_inputs_are():
    X, Y = discrete()
    X[:50], Y[:50] = 2.0, 0.0  # always closed
    sample, folds = sample_of(X, Y)
    counts = np.bincount(folds[sample.X[:, 0] == 2], minlength=5)
    assert counts.sum() == 50
    assert counts.min() > 0


@pytest.mark.parametrize("factor", [1.0, 0.3, 4.0])
def test_order_repeated_rows_and_the_unit_of_weights_do_not_matter(factor):
    X, Y = discrete()
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 4, 400).astype(float)
    one, folds = sample_of(X, Y, factor * weight)
    rows = rng.permutation(np.repeat(np.arange(400), weight.astype(int)))
    two, repeated = sample_of(X[rows], Y[rows])
    np.testing.assert_array_equal(one.X, two.X)
    np.testing.assert_array_equal(one.label, two.label)
    np.testing.assert_allclose(one.weight, two.weight)
    np.testing.assert_array_equal(folds, repeated)


def test_more_folds_than_rows_are_refused():
    X, Y = discrete(30)
    with pytest.raises(ValueError, match=r"WithAtoms.*atoms=\[\]"):
        sample_of(X, Y, folds=31)


def test_given_folds_remain_those_of_the_rows():
    X, Y = discrete()
    given = np.random.default_rng(2).integers(0, 3, 400)
    sample, folds = sample_of(X, Y, folds=given)
    for x in (0, 1):
        for k in range(3):
            expected = np.sum((X[:, 0] == x) & (Y[:, 0] == 0) & (given == k))
            found = (sample.X[:, 0] == x) & (sample.label == 0) & (folds == k)
            assert found.sum() == expected
    assert sample.weight.sum() == pytest.approx(1.0)


def test_many_samples_in_one_weight_are_bounded():
    X, Y = discrete()
    weight = np.where(Y[:, 0] == 0, 1.0, 1e-11)
    sample, _ = sample_of(X, Y, weight)
    assert len(sample.label) <= 100_000 + 400
    assert sample.weight.sum() == pytest.approx(1.0)


def test_inputs_with_other_targets():
    X = np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 3.0], [2.0, 3.0], [2.0, 3.0]])
    Y = np.array([[0.0], [1.0], [0.0], [0.0], [0.0]])
    measure = canonical(X, Y, np.ones(5))[0]
    assert has_other_targets(measure).tolist() == [True, True, False, False]


def test_classes_by_hand():
    found = class_of(np.array([3.0, 1.0, 0.0, 2.0]), np.array([0.0, 3.0]))
    assert found.tolist() == [1, 2, 0, 2]
    assert class_of(np.ones(2), np.empty(0)).tolist() == [0, 0]
