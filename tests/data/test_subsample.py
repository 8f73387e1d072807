import numpy as np
import pytest
from scipy.stats import kstest

from condensity.data.subsample import row_hashes, smallest_hashes


def table(n=200, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 3)), rng.standard_normal((n, 1))


def test_a_ticket_depends_on_what_is_in_a_row_and_on_the_seed_alone():
    X, Y = table()
    order = np.random.default_rng(1).permutation(len(X))
    first = row_hashes(X, Y, seed=5)
    np.testing.assert_array_equal(row_hashes(X[order], Y[order], seed=5), first[order])
    assert (row_hashes(X, Y, seed=6) != first).all()
    for A, B in ((X[:, ::-1], Y), (X, Y + 1e-15), (np.nextafter(X, 9), Y)):
        assert (row_hashes(A, B, seed=5) != first).any()


def test_the_two_zeros_are_one():
    X, Y = np.zeros((2, 1)), np.zeros((2, 1))
    X[0] = -0.0
    a, b = row_hashes(X, Y, seed=0)
    assert a == b


@pytest.mark.parametrize("columns", [np.arange(4000.0)[:, None], np.ones((4000, 1))])
def test_tickets_are_uniform_even_of_rows_that_differ_by_little(columns):
    Y = 1e-9 * np.arange(4000.0)[:, None]
    found = row_hashes(columns, Y, seed=3) / 2.0**64
    assert kstest(found, "uniform").pvalue > 1e-3
    assert abs(np.corrcoef(found[1:], found[:-1])[0, 1]) < 0.05


def test_equal_rows_are_drawn_together_and_counted_once():
    X, Y = table(60)
    X, Y = np.repeat(X, 7, axis=0), np.repeat(Y, 7, axis=0)
    found = row_hashes(X, Y, seed=2)
    rows = smallest_hashes(found, 10)
    assert len(rows) == 70
    assert len(np.unique(found[rows])) == 10
    assert found[rows].max() < np.delete(found, rows).min()
    assert (np.diff(rows) > 0).all()


@pytest.mark.parametrize("count", [1, 59, 60, 61, 1000])
def test_as_many_as_asked_for_or_all(count):
    found = row_hashes(*table(60), seed=2)
    assert len(smallest_hashes(found, count)) == min(count, 60)
    once = np.repeat(found[:5], 50)
    assert len(smallest_hashes(once, count)) == 50 * min(count, 5)


def test_a_draw_from_parts_is_a_draw_from_their_draws():
    found = row_hashes(*table(300), seed=4)
    winners = found[smallest_hashes(found, 40)]
    parts = np.array_split(found, 7)
    finals = np.concatenate([part[smallest_hashes(part, 40)] for part in parts])
    np.testing.assert_array_equal(np.sort(finals[smallest_hashes(finals, 40)]), np.sort(winners))
