import numpy as np
import pytest

from condensity.data.sample import Scaling, canonical
from problems import random_sample


def test_order_and_repetition_do_not_change_the_measure_by_a_bit():
    s = random_sample(0, n=12)
    counts = np.array([1, 2, 3] * 4)
    weighted, _, _ = canonical(s.X, s.Y, counts / 4)
    rows = np.random.default_rng(0).permutation(np.repeat(np.arange(12), counts))
    repeated, origin, group = canonical(s.X[rows], s.Y[rows], np.ones(len(rows)))
    for field in ("X", "Y", "weight"):
        np.testing.assert_array_equal(getattr(weighted, field), getattr(repeated, field))
    np.testing.assert_array_equal(s.X[rows][origin], repeated.X[group])


def test_each_row_keeps_its_own_target_and_weight():
    s = random_sample(1, n=15)
    sample, origin, group = canonical(s.X, s.Y, 3 * s.weight)
    assert sorted(origin) == list(range(15))
    np.testing.assert_array_equal(group, np.arange(15))
    np.testing.assert_array_equal(sample.X, s.X[origin])
    np.testing.assert_array_equal(sample.Y, s.Y[origin])
    np.testing.assert_allclose(sample.weight, s.weight[origin])


def test_equal_rows_are_merged_and_only_they():
    s = random_sample(2, n=6)
    rows = np.array([0, 1, 1, 4, 4, 4, 5])
    Y = s.Y[rows].copy()
    Y[2] += 1  # the same inputs with another target are another row
    measure, origin, group = canonical(s.X[rows], Y, np.arange(1.0, 8.0))
    number = dict(zip(origin.tolist(), group.tolist(), strict=True))
    assert number[3] == number[4] == number[5]
    assert len({number[k] for k in (0, 1, 2, 3, 6)}) == len(measure) == 5
    assert measure.weight[number[3]] == pytest.approx((4 + 5 + 6) / 28)


def test_rows_without_weight_are_gone():
    s = random_sample(2, n=6)
    _, origin, _ = canonical(s.X, s.Y, np.array([1.0, 0, 1, 1, 0, 1]))
    assert sorted(origin) == [0, 2, 3, 5]


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


@pytest.mark.parametrize("unit", [1e-99, 1e-8, 1e8, 1e99])
def test_scaling_works_in_any_unit(unit):
    X, weight = random_sample(5, n=40).X, np.full(40, 1 / 40)
    scaling = Scaling.of(X * unit, weight)
    np.testing.assert_allclose(scaling.apply(X * unit), Scaling.of(X, weight).apply(X), atol=1e-12)


@pytest.mark.parametrize(
    ("name", "unit"), [("variance", lambda x: x.std()), ("range", np.ptp), ("none", lambda x: 1.0)]
)
def test_the_unit_of_length_may_be_chosen(name, unit):
    values = np.random.default_rng(0).normal(3, [[5.0, 0.1, 0.0]], size=(40, 3))
    scaling = Scaling.of(values, np.full(40, 1 / 40)).in_unit(name, values)
    scaled = scaling.apply(values)
    for j in (0, 1):
        x = values[:, j]
        np.testing.assert_allclose(scaled[:, j], (x - x.mean()) / unit(x), atol=1e-12)
    assert (scaled[:, 2] == 0).all()  # a constant column stays without effect
