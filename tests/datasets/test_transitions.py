import numpy as np
import pytest

from condensity.datasets import Transitions


@pytest.fixture
def walk():
    """Thirty transitions in seven episodes of different lengths; X tells the row."""
    X = np.arange(30.0)[:, None]
    episodes = np.repeat([4, 0, 2, 6, 1, 3, 5], [3, 5, 4, 6, 2, 7, 3])
    return Transitions("Walk", X, X * 2.0, ("s",), ("s'",), 8, "made up", episodes)


def rows(X):
    return X[:, 0].astype(int)


@pytest.mark.parametrize("seed", range(20))
def test_no_episode_is_on_both_sides(walk, seed):
    X, Y, X_test, Y_test, unit = walk.split_episodes(seed)
    known, new = (set(walk.episodes[rows(side)]) for side in (X, X_test))
    assert len(X) == 8
    assert not known & new
    assert known | new == set(range(7))
    assert unit == 58.0
    np.testing.assert_array_equal(np.vstack([Y, Y_test]), 2.0 * np.vstack([X, X_test]))
    # Whole episodes, but for the one that is cut.
    cut = [e for e in known if (walk.episodes[rows(X)] == e).sum() < (walk.episodes == e).sum()]
    assert len(cut) <= 1
    assert len(rows(X_test)) == sum((walk.episodes == e).sum() for e in new)


def test_the_seed_decides_and_every_episode_is_dealt(walk):
    first, again = (rows(walk.split_episodes(3).X) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    dealt = {e for seed in range(30) for e in walk.episodes[rows(walk.split_episodes(seed).X)]}
    assert dealt == set(range(7))
    assert len(walk.split_episodes(0, max_test=2).X_test) == 2


def test_it_is_a_table_with_random_splits_too(walk):
    y = list(walk)[1]
    assert len(walk.split(0).X) == 8
    assert y.shape == (30,)
    assert repr(walk) == "<Transitions 'Walk': X (30, 1), Y (30, 1), 7 episodes>"


def test_impossible_splits_are_refused(walk):
    with pytest.raises(ValueError, match=r"n_train .* and 2\d \(whole episodes .*, got 30"):
        walk.split_episodes(0, n_train=30)
    with pytest.raises(ValueError, match="max_test must be an integer >= 1, got 0"):
        walk.split_episodes(0, max_test=0)
