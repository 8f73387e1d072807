from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from condensity.data import chunks as rows
from condensity.data.chunks import InMemoryChunks, StandardisedChunks
from condensity.data.sample import Sample, Scaling
from problems import random_sample


def second_moments(part):
    return [(part.X * part.weight[:, None]).T @ part.Y, float(part.weight.sum())]


@pytest.fixture
def sample(monkeypatch):
    monkeypatch.setattr(rows, "CHUNK_ROWS", 8)
    return random_sample(0, n=50, dx=3, dy=2)


def test_a_total_is_that_of_all_at_once(sample):
    found, expected = InMemoryChunks(sample).total(second_moments), second_moments(sample)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
    assert found[1] == pytest.approx(expected[1], rel=1e-12)


def test_only_what_counts_is_counted(sample):
    counted = np.arange(50) % 5 == 0
    counted[8:16] = False  # a whole part
    found = InMemoryChunks(sample, counted).total(second_moments)
    expected = second_moments(sample[np.flatnonzero(counted)])
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
    assert found[1] == pytest.approx(expected[1], rel=1e-12)


def test_threads_give_the_same_sum_to_the_last_bit(sample):
    with ThreadPoolExecutor(3) as pool:
        spread = InMemoryChunks(sample, mapper=pool.map).total(second_moments)
    np.testing.assert_array_equal(spread[0], InMemoryChunks(sample).total(second_moments)[0])


def test_outputs_are_standardised_on_the_way(sample):
    scaling = Scaling(np.array([1.0, -2.0]), np.array([0.5, 3.0]))
    found = StandardisedChunks(InMemoryChunks(sample), scaling).total(second_moments)
    expected = second_moments(Sample(sample.X, scaling.apply(sample.Y), sample.weight))
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
