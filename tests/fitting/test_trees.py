"""Sums of trees as arrays against scikit-learn's own predictions."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor

from condensity._utils import numerics
from condensity.fitting import trees
from condensity.locations.boosting import mean_of_trees
from problems import random_sample


def boosted(X, Y, n_fits=1, **options):
    """One regressor for each output, on parts of the samples: ``n_fits`` lists."""
    options = {"n_estimators": 25, "max_depth": 3, "random_state": 0} | options
    parts = [np.arange(len(X)) % (n_fits + 1) != j for j in range(n_fits)]
    return [
        [GradientBoostingRegressor(**options).fit(X[part], y[part]) for y in Y.T] for part in parts
    ]


def predictions(fits, X):
    """The mean over the fits of scikit-learn's predictions."""
    return np.mean([np.column_stack([m.predict(X) for m in fit]) for fit in fits], axis=0)


@pytest.mark.parametrize("dy", [1, 3])
@pytest.mark.parametrize("n_fits", [1, 4])
def test_predictions_are_those_of_the_regressors(dy, n_fits):
    s = random_sample(0, n=80, dx=3, dy=dy)
    fits = boosted(s.X, s.Y, n_fits)
    new = 2 * np.random.default_rng(1).normal(size=(500, 3))
    np.testing.assert_allclose(mean_of_trees(fits)(new), predictions(fits, new), rtol=1e-10)


def test_trees_of_different_depths_and_trees_without_a_split_are_followed_to_their_leaves():
    s = random_sample(0, n=80, dx=3)
    (deep,), (stump,) = boosted(s.X, s.Y, max_depth=6), boosted(s.X, s.Y, max_depth=1)
    (flat,) = boosted(s.X, s.Y, min_samples_leaf=60)
    assert {m.estimators_[0, 0].tree_.max_depth for m in (*deep, *stump, *flat)} == {6, 1, 0}
    fits = [deep, stump, flat]
    np.testing.assert_allclose(mean_of_trees(fits)(s.X), predictions(fits, s.X), rtol=1e-10)
    only = mean_of_trees([flat])
    assert only.depth == 0
    np.testing.assert_allclose(only(s.X), predictions([flat], s.X), rtol=1e-10)


def test_rows_at_a_threshold_go_where_the_regressor_sends_them():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, size=(90, 2)).astype(float)
    Y = np.sin(X[:, :1]) + 0.1 * rng.normal(size=(90, 1))
    fits = boosted(X, Y)
    found = mean_of_trees(fits)
    inner = found.below != np.arange(len(found.below))
    at = np.zeros((2 * inner.sum(), 2))
    at[np.arange(inner.sum()), found.feature[inner]] = found.threshold[inner]
    at[inner.sum() + np.arange(inner.sum()), found.feature[inner]] = np.nextafter(
        found.threshold[inner].astype(np.float32), np.float32(np.inf)
    )
    np.testing.assert_allclose(found(at), predictions(fits, at), rtol=1e-10)


def test_inputs_are_rounded_to_single_precision_as_the_regressor_does():
    s = random_sample(0, n=60, dx=1)
    fits = boosted(s.X, s.Y)
    found = mean_of_trees(fits)
    cut = found.threshold[0].astype(np.float32)
    ends = np.nextafter(cut, np.float32([-9, 9])).astype(float)
    new = np.linspace(*ends, 41)[:, None]  # near a threshold, finer than single precision
    np.testing.assert_allclose(found(new), predictions(fits, new), rtol=1e-10)
    assert len(np.unique(new)) == 41
    assert len(np.unique(found(new))) == 2


def test_blocks_of_rows_give_the_same_answer_as_all_rows_together(monkeypatch):
    s = random_sample(0, n=80, dx=3, dy=2)
    found = mean_of_trees(boosted(s.X, s.Y, 2))
    whole, sizes = found(s.X), []
    monkeypatch.setattr(trees, "row_blocks", lambda n, width: numerics.row_blocks(n, 1 << 60))
    plain = trees.TreeSum._block
    monkeypatch.setattr(
        trees.TreeSum, "_block", lambda self, X: (sizes.append(len(X)), plain(self, X))[1]
    )
    np.testing.assert_array_equal(found(s.X), whole)
    assert len(sizes) > 1
    assert sum(sizes) == 80


def test_no_rows_give_no_values():
    s = random_sample(0, n=20, dx=3, dy=2)
    assert mean_of_trees(boosted(s.X, s.Y))(np.empty((0, 3))).shape == (0, 2)


@pytest.mark.filterwarnings("error")
def test_an_input_beyond_single_precision_is_beyond_every_threshold():
    s = random_sample(0, n=60, dx=2)
    found = mean_of_trees(boosted(s.X, s.Y))
    far, near = np.array([[1e300, -1e300]]), np.array([[1e30, -1e30]])
    np.testing.assert_array_equal(found(far), found(near))


@pytest.mark.parametrize("depth", [-1, trees.MAX_DEPTH + 1])
def test_an_impossible_depth_is_refused(depth):
    s = random_sample(0, n=20, dx=3)
    found = mean_of_trees(boosted(s.X, s.Y))
    with pytest.raises(ValueError, match="depth must be from 0 to 100"):
        replace(found, depth=depth)
