"""Limits of ordinary values, and samples that are left out."""

import numpy as np
import pytest
from scipy.stats import cauchy, norm

from condensity import LSCDE
from condensity.data import outliers
from condensity.data.outliers import Limits
from condensity.data.prepare import prepare
from condensity.data.sample import Sample, canonical


def sample(y, weight=None):
    """A sample with one ordinary input and the output ``y``."""
    n = len(y)
    weight = np.ones(n) if weight is None else np.asarray(weight, dtype=float)
    return Sample(np.linspace(-1, 1, n)[:, None], np.reshape(y, (n, 1)), weight / weight.sum())


def limits(y, weight=None):
    found = Limits.of(sample(y, weight))
    return found.low[1], found.high[1]


def is_outlying(y, weight=None):
    return Limits.of(sample(y, weight)).beyond(sample(y, weight))[:, 1]


def quantile_by_loops(values, weight, level):
    """Linear interpolation between mid-ranks: all smaller weight plus half of the own."""
    below, last = 0.0, None
    for value, w in sorted(zip(values, weight, strict=True)):
        rank = below + w / 2
        if rank >= level:
            if last is None:
                return value
            return last[1] + (value - last[1]) * (level - last[0]) / (rank - last[0])
        below, last = below + w, (rank, value)
    return last[1]


@pytest.mark.parametrize("draw", ["standard_normal", "standard_exponential", "standard_cauchy"])
@pytest.mark.parametrize("n", [30, 200])
def test_limits_equal_loops(draw, n):
    rng = np.random.default_rng(n)
    y, weight = getattr(rng, draw)(n), rng.uniform(0.5, 2.0, n)
    weight /= weight.sum()
    middle = quantile_by_loops(y, weight, 0.5)
    distance = [abs(v - middle) for v in y]
    body, tail = (quantile_by_loops(distance, weight, level) for level in (0.6, 0.9))
    # The tail is followed from the probability 0.1 to 0.3 / n; a fourth of it is one ratio away.
    chance, reach = 0.1, tail
    ratio = min(max(tail / body, 1.9544), 4.5872)
    goal = min(0.3 * sum(w * w for w in weight), 0.1 / 16)
    while chance / 4 > goal:
        chance, reach = chance / 4, reach * ratio
    reach *= ratio ** np.emath.logn(4, chance / goal)
    np.testing.assert_allclose(limits(y, weight), [middle - reach, middle + reach], rtol=1e-10)


def test_the_limit_has_the_stated_chance_under_a_power_law():
    n, index = 4000, 1.5
    beyond = (np.arange(n // 2) + 0.5) / (n // 2)  # the share of larger distances
    distance = beyond ** (-1 / index)
    _, high = limits(np.r_[-distance, distance])
    assert high**-index == pytest.approx(outliers.CHANCE / n, rel=0.02)


def test_the_lightest_tails_are_normal_and_the_heaviest_those_of_a_cauchy_distribution():
    for ratio, law in ((outliers.LIGHTEST, norm), (outliers.HEAVIEST, cauchy)):
        assert ratio == pytest.approx(law.ppf(0.95) / law.ppf(0.8), abs=1e-4)


@pytest.mark.parametrize("size", [20, 1e4, 1e8, -20, -1e8])
@pytest.mark.parametrize("n", [50, 200])
def test_one_value_far_from_all_others_is_an_outlier_and_no_other(n, size):
    y = np.random.default_rng(1).standard_normal(n)
    y[3] = size
    np.testing.assert_array_equal(np.flatnonzero(is_outlying(y)), [3])


def test_heavy_tails_are_no_outliers():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        for y in (
            rng.standard_normal(50),
            rng.standard_t(3, 1000),
            np.exp(rng.standard_normal(1000)),
            rng.standard_exponential(200),
            rng.poisson(0.3, 200),
            rng.uniform(size=1000) < 0.01,
        ):
            assert not is_outlying(np.asarray(y, dtype=float)).any()


def test_a_group_of_values_far_away_is_a_part_of_the_population():
    y = np.random.default_rng(0).standard_normal(1000)
    y[:9] = 1e4 + np.arange(9)
    assert is_outlying(y).sum() == 9
    y[9:11] = 2e4
    assert not is_outlying(y).any()
    few = y[7:64]  # four of 57
    assert not is_outlying(few).any()
    assert is_outlying(few[1:]).sum() == 3


def test_a_frequent_value_does_not_hide_an_outlier():
    y = np.r_[np.zeros(150), np.random.default_rng(0).standard_exponential(50)]
    assert not is_outlying(y).any()
    y[170] = 1e4
    np.testing.assert_array_equal(np.flatnonzero(is_outlying(y)), [170])


def test_rounding_errors_are_no_scale():
    y = np.full(1000, 0.3)
    y[::2] = 0.1 + 0.2
    y[:5] = 1.0
    assert len(np.unique(y)) == 3
    assert not is_outlying(y).any()


def test_a_constant_has_no_limits():
    assert limits(np.full(20, 0.1)) == (-np.inf, np.inf)


def test_units_move_the_limits_along():
    y = np.random.default_rng(0).standard_t(4, 80)
    low, high = limits(y)
    np.testing.assert_allclose(limits(5 - 1e-7 * y), [5 - 1e-7 * high, 5 - 1e-7 * low], rtol=1e-12)


def prepared(X, y, weight=None, **options):
    rng = np.random.default_rng(1)
    return prepare(LSCDE(), X, y, weight, rng, cv=3, to_fix="", omit_outliers=True, **options)


def problem(n=120):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 2))
    return X, np.column_stack([X[:, 0], X[:, 1]]) + 0.1 * rng.standard_normal((n, 2))


def test_samples_with_outliers_are_left_out_whole():
    X, Y = problem()
    Y[5, 1], X[8, 0], X[9, 0] = 1e6, -1e6, np.nextafter(X[9, 0], 1)
    data = prepared(X, Y)
    rest = np.delete(np.arange(120), [5, 8])
    expected = canonical(X[rest], Y[rest], np.ones(118))[0]
    for name in ("X", "Y", "weight"):
        np.testing.assert_array_equal(getattr(data.sample, name), getattr(expected, name))
    assert data.outliers.n == 2
    assert data.outliers.counts.tolist() == [1, 0, 0, 1]
    assert data.outliers.first == {0: (8, -1e6), 3: (5, 1e6)}
    assert data.n_given == 120


def test_a_sample_without_weight_is_no_outlier():
    X, Y = problem()
    Y[5] = 1e6
    assert prepared(X, Y, np.arange(120) != 5).outliers is None


def test_without_outliers_and_without_the_option_nothing_changes():
    X, Y = problem()
    assert prepared(X, Y).outliers is None
    Y[5] = 1e6
    plain = prepare(LSCDE(), X, Y, None, np.random.default_rng(1), cv=3, to_fix="")
    assert plain.outliers is None
    assert len(plain.sample) == 120


@pytest.mark.parametrize("rows", [(0, 1, 2), (0,)])
def test_outliers_are_left_out_of_the_remaining_samples_too(rows):
    X, Y = problem()
    weight = np.linspace(1, 2, 120)
    drawn = prepared(X, Y, weight, subsample=60).sample.X
    remaining = np.flatnonzero(~np.isin(X[:, 0], drawn[:, 0]))
    out = remaining[list(rows)]
    Y[out, 0] = 1e6
    # Another value has another hash: the subsample is drawn again, and some may be in it.
    data = prepared(X, Y, weight, subsample=60)
    assert data.outliers.n == len(rows)
    assert data.outliers.counts.tolist() == [0, 0, len(rows), 0]
    (count,) = data.remaining.rows.total(lambda part: [len(part)])
    assert count + len(data.sample) == 120 - len(rows)
    kept = np.delete(weight, out).sum()
    within = np.isin(X[:, 0], data.sample.X[:, 0])
    assert data.remaining.share == pytest.approx(weight[within].sum() / kept)


def test_no_samples_remain_if_all_of_them_are_outliers():
    for seed in range(200):  # until the outlier is the one sample that is not drawn
        X, Y = problem(40)
        Y[seed % 40] = 1e6 + seed
        data = prepared(X, Y, subsample=39)
        assert data.outliers.n == 1
        if data.remaining is None:
            assert len(data.sample) == 39
            return
    raise AssertionError
