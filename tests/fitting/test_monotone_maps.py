import numpy as np
import pytest
from scipy.stats import norm

from condensity.fitting.monotone_maps import Clipped, NormalScores


def scores_by_loops(y, weight):
    """Normal quantiles of mid-ranks, standardised; one value at a time."""
    out = np.empty(len(y))
    for i, value in enumerate(y):
        below = sum(w for v, w in zip(y, weight, strict=True) if v < value)
        equal = sum(w for v, w in zip(y, weight, strict=True) if v == value)
        out[i] = norm.ppf((below + 0.5 * equal) / sum(weight))
    out -= np.average(out, weights=weight)
    return out / np.sqrt(np.average(out**2, weights=weight))


def test_scores_of_the_sample_equal_loops():
    rng = np.random.default_rng(0)
    Y = np.column_stack([rng.standard_cauchy(40), rng.integers(0, 4, 40)])
    weight = rng.uniform(0.5, 2, 40)
    weight /= weight.sum()
    found = NormalScores.of(Y, weight)(Y)
    for j in range(2):
        np.testing.assert_allclose(found[:, j], scores_by_loops(Y[:, j], weight), atol=1e-12)


def test_scores_do_not_depend_on_monotone_maps_and_weights_are_repetitions():
    rng = np.random.default_rng(1)
    y = rng.standard_normal((30, 1))
    equal = np.full(30, 1 / 30)
    a, b = NormalScores.of(y, equal)(y), NormalScores.of(np.exp(3 * y), equal)(np.exp(3 * y))
    np.testing.assert_allclose(a, b, atol=1e-12)
    counts = rng.integers(1, 4, 30)
    repeated = np.repeat(y, counts, axis=0)
    c = NormalScores.of(y, counts / counts.sum())(y)
    d = NormalScores.of(repeated, np.full(len(repeated), 1 / len(repeated)))(y)
    np.testing.assert_allclose(c, d, atol=1e-12)


def test_new_values_are_between_those_of_their_neighbours_and_not_beyond_the_sample():
    y = np.array([[0.0], [1.0], [10.0]])
    scores = NormalScores.of(y, np.full(3, 1 / 3))
    low, middle, high = scores(y)[:, 0]
    found = scores(np.array([[-5.0], [0.5], [5.5], [99.0]]))[:, 0]
    assert found == pytest.approx([low, (low + middle) / 2, (middle + high) / 2, high])


def test_extreme_values_are_moved_to_25_robust_standard_deviations_from_the_median():
    rng = np.random.default_rng(0)
    y = np.r_[rng.standard_normal(97), 40.0, -1e9, 1e6]
    Y, weight = np.column_stack([y, rng.standard_normal(100)]), np.full(100, 0.01)
    found = Clipped.of(Y, weight)(Y)
    quarter, median, three = np.quantile(y, [0.25, 0.5, 0.75], method="hazen")
    reach = 25 * (three - quarter) / (norm.ppf(0.75) - norm.ppf(0.25))
    clipped = np.clip(y, median - reach, median + reach)
    assert (clipped != y).sum() == 3
    expected = (clipped - clipped.mean()) / clipped.std()
    np.testing.assert_allclose(found[:, 0], expected, atol=1e-3)
    plain = (Y[:, 1] - Y[:, 1].mean()) / Y[:, 1].std()
    np.testing.assert_allclose(found[:, 1], plain, atol=1e-12)


def quantile_by_loops(y, weight, q):
    """Linear interpolation between mid-ranks: all smaller weight plus half of the own."""
    pairs, below = sorted(zip(y, weight, strict=True)), 0.0
    last_rank, last_value = None, None
    for value, w in pairs:
        rank = below + 0.5 * w
        if rank >= q:
            share = (q - last_rank) / (rank - last_rank)
            return (1 - share) * last_value + share * value
        last_rank, last_value, below = rank, value, below + w
    raise AssertionError


def test_weights_count_in_the_limits_the_mean_and_the_unit():
    rng = np.random.default_rng(2)
    y, weight = rng.standard_cauchy(80), rng.uniform(0.2, 3, 80)
    weight /= weight.sum()
    low, median, high = (quantile_by_loops(y, weight, q) for q in (0.25, 0.5, 0.75))
    reach = 25 * (high - low) / 1.349
    clipped = np.clip(y, median - reach, median + reach)
    assert (clipped != y).any()
    mean = sum(w * v for w, v in zip(weight, clipped, strict=True))
    sd = sum(w * (v - mean) ** 2 for w, v in zip(weight, clipped, strict=True)) ** 0.5
    found = Clipped.of(y[:, None], weight)(y[:, None])[:, 0]
    np.testing.assert_allclose(found, (clipped - mean) / sd, rtol=1e-10)


def test_nothing_is_clipped_if_half_of_the_values_are_equal_and_constants_stay_finite():
    y = np.r_[np.zeros(80), np.arange(1.0, 21.0)][:, None]
    found = Clipped.of(y, np.full(100, 0.01))(y)
    np.testing.assert_allclose(found, (y - y.mean()) / y.std(), atol=1e-12)
    ones = np.ones((5, 1))
    np.testing.assert_array_equal(Clipped.of(ones, np.full(5, 0.2))(ones), np.zeros((5, 1)))


def test_values_with_hardly_any_weight_have_finite_scores():
    y = np.arange(20.0)[:, None]
    weight = np.r_[1e-20, np.ones(18), 1e-20]
    assert np.isfinite(NormalScores.of(y, weight / weight.sum())(y)).all()


def test_a_constant_output_has_the_score_zero():
    y = np.ones((5, 1))
    np.testing.assert_array_equal(NormalScores.of(y, np.full(5, 0.2))(y), np.zeros((5, 1)))
