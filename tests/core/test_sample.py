import numpy as np

from condensity.core.sample import Scaling, distinct
from problems import random_sample


def test_order_and_repetition_do_not_change_the_measure():
    s = random_sample(0, n=12)
    counts = np.array([1, 2, 3] * 4)
    weighted, _ = distinct(s.X, s.Y, counts.astype(float))
    rows = np.random.default_rng(0).permutation(np.repeat(np.arange(12), counts))
    repeated, _ = distinct(s.X[rows], s.Y[rows], np.ones(len(rows)))
    for field in ("X", "Y", "weight"):
        np.testing.assert_array_equal(getattr(weighted, field), getattr(repeated, field))


def test_each_row_keeps_its_own_target_and_weight():
    s = random_sample(1, n=15)
    merged, origin = distinct(s.X, s.Y, s.weight)
    assert len(merged) == 15
    np.testing.assert_allclose(merged.weight.sum(), 1)
    for x, y, w, row in zip(merged.X, merged.Y, merged.weight, origin, strict=True):
        assert (x == s.X[row]).all()
        assert (y == s.Y[row]).all()
        np.testing.assert_allclose(w, s.weight[row])
    assert sorted(origin) == list(range(15))


def test_rows_without_weight_are_gone():
    s = random_sample(2, n=6)
    weight = np.array([1.0, 0, 1, 1, 0, 1])
    merged, origin = distinct(s.X, s.Y, weight)
    assert sorted(origin) == [0, 2, 3, 5]
    assert not any((x == merged.X).all(axis=1).any() for x in s.X[weight == 0])


def test_scaling_gives_mean_zero_and_variance_one_under_the_weights():
    s = random_sample(3, n=50)
    Z = Scaling.of(s.X * 7 + 100, s.weight).apply(s.X * 7 + 100)
    np.testing.assert_allclose(s.weight @ Z, 0, atol=1e-12)
    np.testing.assert_allclose(s.weight @ Z**2, 1)


def test_scaling_without_weights_is_the_plain_mean_and_standard_deviation():
    X = random_sample(4, n=31).X
    scaling = Scaling.of(X, np.full(31, 1 / 31))
    np.testing.assert_allclose(scaling.mean, X.mean(axis=0), atol=1e-14)
    np.testing.assert_allclose(scaling.sd, X.std(axis=0))


def test_a_constant_column_becomes_zero_whatever_it_is_later():
    X = np.column_stack([np.full(7, 0.1), np.arange(7.0)])
    scaling = Scaling.of(X, np.full(7, 1 / 7))
    assert scaling.varies.tolist() == [False, True]
    assert (scaling.apply(X + 5)[:, 0] == 0).all()


def test_spread_of_the_size_of_rounding_counts_as_constant():
    column = np.full(8, 1e6)
    column[3] = np.nextafter(1e6, np.inf)
    assert not Scaling.of(column[:, None], np.full(8, 1 / 8)).varies.any()
