"""Outliers in the samples of the default LSCE."""

import warnings

import numpy as np
import pytest

from condensity import LSCE

QUICK = {"n_components": 1, "n_starts": 2, "max_iter": 10, "random_state": 0}
ROW = 7


def samples(n, seed=0, dy=1):
    """``y = x1 + 0.3 e`` for every output."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    Y = X[:, :dy] + 0.3 * rng.standard_normal((n, dy))
    return X, Y[:, 0] if dy == 1 else Y


def with_outlier(where, size, n, dy=1):
    X, Y = samples(n, dy=dy)
    if where == "x":
        X[ROW, 0] = size
    else:
        Y[ROW, ...] = np.r_[size, Y[ROW, 1:]] if dy > 1 else size
    return X, Y


def assert_same_densities(a, b, X, Y):
    np.testing.assert_array_equal(a.predict_dist(X).pdf(Y), b.predict_dist(X).pdf(Y))


@pytest.mark.parametrize("location", ["auto", "none", "linear"])
@pytest.mark.parametrize(("where", "size"), [("y", -100), ("y", 1e8), ("x", 100), ("x", -1e8)])
def test_one_outlier_does_not_change_the_score(where, size, location):
    test = samples(1000, seed=1)
    clean = LSCE(location=location, **QUICK).fit(*samples(50)).score(*test)
    X, y = with_outlier(where, size, n=50)
    with pytest.warns(UserWarning, match="left out of the fit: 1 of 50 samples"):
        model = LSCE(location=location, **QUICK).fit(X, y)
    assert model.score(*test) > 0.9 * clean


@pytest.mark.parametrize("options", [{}, {"n_members": 1, "location": "none"}])
@pytest.mark.parametrize(("where", "dy"), [("x", 1), ("y", 1), ("y", 2)])
def test_the_fit_is_that_of_the_other_samples(where, dy, options):
    X, Y = with_outlier(where, 1e4, n=100, dy=dy)
    weight = np.random.default_rng(0).integers(1, 4, 100)
    estimator = LSCE(**QUICK | {"n_components": dy} | options)
    with pytest.warns(UserWarning, match="left out of the fit"):
        model = estimator.fit(X, Y, weight)
    others = np.arange(100) != ROW
    clean = LSCE(**QUICK | {"n_components": dy} | options)
    clean.fit(X[others], Y[others], weight[others])
    assert_same_densities(model, clean, X[others], Y[others])


@pytest.mark.filterwarnings("ignore:left out")
def test_order_repetition_and_units_do_not_matter():
    X, y = with_outlier("y", 1e4, n=80)
    weight = np.random.default_rng(0).integers(1, 4, 80)
    order = np.random.default_rng(1).permutation(80)
    model = LSCE(**QUICK).fit(X, y, weight)
    permuted = LSCE(**QUICK).fit(X[order], y[order], weight[order])
    repeated = LSCE(**QUICK).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_same_densities(model, permuted, X[:5], y[:5])
    assert_same_densities(model, repeated, X[:5], y[:5])
    scaled = LSCE(**QUICK).fit(1024.0 * X, y / 64, weight)
    found = scaled.predict_dist(1024.0 * X[:5]).pdf(y[:5] / 64) / 64
    np.testing.assert_allclose(found, model.predict_dist(X[:5]).pdf(y[:5]), rtol=1e-8)


def test_an_outlier_next_to_a_bound_is_left_out():
    X, y = samples(100)
    y = 5 + y
    clean = LSCE(bounds=(0, None), **QUICK).fit(X, y)
    y[ROW] = 1e-12
    message = rf"y is 1e-12 in row {ROW} \(not between 0\.\d+ and \d+(\.\d+)?\)"
    with pytest.warns(UserWarning, match=message):
        model = LSCE(bounds=(0, None), **QUICK).fit(X, y)
    X, y = samples(1000, seed=1)
    assert model.score(X, 5 + y) > 0.9 * clean.score(X, 5 + y)


def test_outliers_may_be_kept():
    X, y = with_outlier("y", 1e4, n=50)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = LSCE(outliers="keep", **QUICK).fit(X, y)
    assert kept.predict_dist(X).std().max() > 100
    with pytest.raises(ValueError, match="outliers must be one of 'omit', 'keep'"):
        LSCE(outliers="drop").fit(X, y)


def test_the_warning_names_columns_rows_and_values():
    pd = pytest.importorskip("pandas")
    X, Y = with_outlier("y", 1e4, n=100, dy=2)
    X[3, 1] = -5e3
    frame = pd.DataFrame(X, columns=list("abcd"))
    with pytest.warns(UserWarning, match="2 of 100 samples") as caught:
        LSCE(**QUICK | {"n_components": 2}).fit(frame, Y)
    (text,) = (str(w.message) for w in caught)
    assert "X in column 'b' is -5000 in row 3 (not between" in text
    assert f"y in column 0 is 10000 in row {ROW} (not between" in text
    X[3, [0, 2, 3]] = 1e5
    with pytest.warns(UserWarning, match="and values of 2 more columns"):
        LSCE(**QUICK | {"n_components": 2}).fit(X, Y)


def test_outliers_beyond_the_subsample_are_left_out_and_counted():
    X, y = samples(300)
    y[::100] = 1e4 * np.arange(1, 4)
    options = QUICK | {"subsample": 100, "location": "linear", "n_members": 2, "cv": 2}
    with pytest.warns(UserWarning, match="left out of the fit: 3 of 300 samples"):
        model = LSCE(**options).fit(X, y)
    assert model.score(*samples(1000, seed=1)) > 0.35
