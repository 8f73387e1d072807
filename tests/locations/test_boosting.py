"""Trees with many samples: their values are sorted into bins."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor

from condensity.locations import boosting, flexible
from condensity.locations.boosting import add_trees, mean_of_trees, without_trees
from condensity.locations.flexible import tree_location
from problems import random_sample


def binned(n=300, dy=1, size=12, monkeypatch=None):
    monkeypatch.setattr(boosting, "BINNED_ROWS", 200)
    s = random_sample(0, n=n, dx=3, dy=dy)
    X = s.X.astype(np.float32).astype(float)
    fits = []
    for part in (np.arange(n) % 2 == 0, np.arange(n) % 3 == 0):
        models = [without_trees(n) for _ in range(dy)]
        for model, y in zip(models, s.Y.T, strict=True):
            add_trees(model, size, X[part], y[part], s.weight[part])
        fits.append(models)
    return fits


def test_the_number_of_samples_decides_whether_values_are_sorted_into_bins():
    assert isinstance(without_trees(boosting.BINNED_ROWS - 1), GradientBoostingRegressor)
    assert isinstance(without_trees(boosting.BINNED_ROWS), HistGradientBoostingRegressor)
    leaves = [without_trees(n).max_leaf_nodes for n in (1000, 10_000, 10**6)]
    assert leaves == [16, 33, 64]


@pytest.mark.parametrize("dy", [1, 2])
def test_predictions_of_binned_trees_are_those_of_the_regressors(dy, monkeypatch):
    fits = binned(dy=dy, monkeypatch=monkeypatch)
    new = 2 * np.random.default_rng(1).normal(size=(500, 3))
    new = new.astype(np.float32).astype(float)
    for n_trees in (5, None):
        exact = np.mean(
            [np.column_stack([first_trees(m, n_trees, new) for m in fit]) for fit in fits], axis=0
        )
        np.testing.assert_allclose(mean_of_trees(fits, n_trees)(new), exact, rtol=1e-6)


def first_trees(model, n_trees, X):
    """The prediction of a regressor after ``n_trees`` rounds, or after the last one."""
    *_, last = (p for i, p in enumerate(model.staged_predict(X)) if n_trees is None or i < n_trees)
    return last


def test_trees_that_are_added_continue_those_that_are_there(monkeypatch):
    monkeypatch.setattr(boosting, "BINNED_ROWS", 200)
    s = random_sample(0, n=300, dx=3)
    grown, whole = without_trees(300), without_trees(300)
    for size in (4, 8):
        add_trees(grown, size, s.X, s.Y[:, 0], s.weight)
    add_trees(whole, 8, s.X, s.Y[:, 0], s.weight)
    np.testing.assert_allclose(grown.predict(s.X), whole.predict(s.X), rtol=1e-12)


def test_residuals_of_binned_trees_are_those_of_fits_to_the_other_folds(monkeypatch):
    monkeypatch.setattr(boosting, "BINNED_ROWS", 200)
    monkeypatch.setattr(flexible, "BINNED_ROWS", 200)
    monkeypatch.setattr(flexible, "MOST_TREES", flexible.TREES_A_ROUND)
    s = random_sample(0, n=300, dx=3)
    folds = np.random.default_rng(0).permutation(300) % flexible.FOLDS_OF_MANY
    X, y = (np.round(values * 2**30) / 2**30 for values in (s.X, s.Y[:, 0]))
    X = X.astype(np.float32).astype(float)
    expected = np.empty(300)
    for fold in range(flexible.FOLDS_OF_MANY):
        rest = folds != fold
        weight = s.weight[rest] / s.weight[rest].mean()
        options = boosting.BINNED_BOOSTING | {"max_iter": flexible.TREES_A_ROUND}
        model = HistGradientBoostingRegressor(random_state=0, max_leaf_nodes=16, **options)
        model.fit(X[rest], y[rest], sample_weight=weight)
        expected[~rest] = s.Y[~rest, 0] - model.predict(X[~rest])
    found = tree_location(s.X, s.Y, s.weight)
    np.testing.assert_allclose(found.residuals[:, 0], expected, rtol=1e-8)
