import numpy as np
import pytest
from scipy.stats import norm

from condensity.fitting.normal_scores import NormalScores


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


def test_a_constant_output_has_the_score_zero():
    y = np.ones((5, 1))
    np.testing.assert_array_equal(NormalScores.of(y, np.full(5, 0.2))(y), np.zeros((5, 1)))
