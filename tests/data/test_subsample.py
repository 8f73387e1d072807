import numpy as np
import pytest
from scipy.stats import kstest

from condensity.data.subsample import drawn, tickets


def table(n=200, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 3)), rng.standard_normal((n, 1))


def test_a_ticket_depends_on_what_is_in_a_row_and_on_the_seed_alone():
    X, Y = table()
    order = np.random.default_rng(1).permutation(len(X))
    first = tickets(X, Y, seed=5)
    np.testing.assert_array_equal(tickets(X[order], Y[order], seed=5), first[order])
    assert (tickets(X, Y, seed=6) != first).all()
    for A, B in ((X[:, ::-1], Y), (X, Y + 1e-15), (np.nextafter(X, 9), Y)):
        assert (tickets(A, B, seed=5) != first).any()


def test_the_two_zeros_are_one():
    X, Y = np.zeros((2, 1)), np.zeros((2, 1))
    X[0] = -0.0
    a, b = tickets(X, Y, seed=0)
    assert a == b


@pytest.mark.parametrize("columns", [np.arange(4000.0)[:, None], np.ones((4000, 1))])
def test_tickets_are_uniform_even_of_rows_that_differ_by_little(columns):
    Y = 1e-9 * np.arange(4000.0)[:, None]
    found = tickets(columns, Y, seed=3) / 2.0**64
    assert kstest(found, "uniform").pvalue > 1e-3
    assert abs(np.corrcoef(found[1:], found[:-1])[0, 1]) < 0.05


def test_equal_rows_are_drawn_together_and_counted_once():
    X, Y = table(60)
    X, Y = np.repeat(X, 7, axis=0), np.repeat(Y, 7, axis=0)
    found = tickets(X, Y, seed=2)
    rows = drawn(found, 10)
    assert len(rows) == 70
    assert len(np.unique(found[rows])) == 10
    assert found[rows].max() < np.delete(found, rows).min()
    assert (np.diff(rows) > 0).all()


@pytest.mark.parametrize("count", [1, 59, 60, 61, 1000])
def test_as_many_as_asked_for_or_all(count):
    found = tickets(*table(60), seed=2)
    assert len(drawn(found, count)) == min(count, 60)
    once = np.repeat(found[:5], 50)
    assert len(drawn(once, count)) == 50 * min(count, 5)


def test_a_draw_from_parts_is_a_draw_from_their_draws():
    found = tickets(*table(300), seed=4)
    winners = found[drawn(found, 40)]
    parts = np.array_split(found, 7)
    finals = np.concatenate([part[drawn(part, 40)] for part in parts])
    np.testing.assert_array_equal(np.sort(finals[drawn(finals, 40)]), np.sort(winners))
