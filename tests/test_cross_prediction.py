"""Densities of composites, and of samples by models that have not seen them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    ShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from condensity import LSCDE, LSCE, WithAtoms, cross_val_predict_dist, predict_dist

FAST = LSCDE(bandwidth=(0.8, 0.5), penalty=0.05, random_state=0)


def samples(n=60, dy=1):
    rng = np.random.default_rng(dy)
    X = rng.standard_normal((n, 2))
    Y = np.exp(0.5 * X[:, :1] + 0.3 * rng.standard_normal((n, dy)))
    return X, Y[:, 0] if dy == 1 else Y


def test_a_pipeline_transforms_the_inputs_before_its_last_step_answers():
    X, y = samples()
    pipe = make_pipeline(StandardScaler(), FAST).fit(X, y)
    scaler = StandardScaler().fit(X)
    alone = clone(FAST).fit(scaler.transform(X), y)
    expected = alone.predict_dist(scaler.transform(X[:5])).quantile(0.3)
    np.testing.assert_array_equal(predict_dist(pipe, X[:5]).quantile(0.3), expected)


def test_a_search_answers_with_its_best_estimator():
    X, y = samples()
    search = GridSearchCV(make_pipeline(StandardScaler(), FAST), {"lscde__penalty": [0.01, 10]})
    search.fit(X, y)
    expected = predict_dist(search.best_estimator_, X[:5]).mean()
    np.testing.assert_array_equal(predict_dist(search, X[:5]).mean(), expected)


def by_loop(estimator, X, y, cv, question):
    """The answers of models that are fitted in a loop without one fold each."""
    out = np.empty(len(y))
    for train, test in cv.split(X, y):
        out[test] = question(clone(estimator).fit(X[train], y[train]).predict_dist(X[test]), test)
    return out


ESTIMATORS = {
    "one model": FAST,
    "average of members": LSCE(
        1, location="linear", bandwidth=(0.8, 0.5), penalty=0.05, n_starts=1, max_iter=3,
        n_members=2, cv=2, random_state=0,
    ),
    "bounds": LSCE(
        1, location="none", bandwidth=(0.8, 0.5), penalty=0.05, n_starts=1, max_iter=3,
        n_members=1, cv=2, bounds=(0, None), random_state=0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)
def test_every_row_is_predicted_by_the_model_without_its_fold(estimator):
    X, y = samples()
    cv = KFold(3, shuffle=True, random_state=1)
    dist = cross_val_predict_dist(estimator, X, y, cv=cv)
    for question in (
        lambda d, rows: d.quantile(0.2),
        lambda d, rows: d.log_pdf(y[rows]),
        lambda d, rows: d.crps(y[rows]),
    ):
        expected = by_loop(estimator, X, y, cv, question)
        np.testing.assert_allclose(question(dist, np.arange(60)), expected, rtol=1e-12)
        in_memory = question(dist.compute(), np.arange(60))
        np.testing.assert_allclose(in_memory, expected, rtol=1e-8, atol=1e-10)


def test_bounds_that_only_some_folds_have_are_no_obstacle():
    X, y = samples()
    y = y**4
    y[:20] -= 50  # without these rows all outputs are positive
    model = LSCE(1, location="none", n_starts=1, max_iter=3, n_members=1, cv=2, random_state=0)
    model.set_params(bounds="auto")
    dist = cross_val_predict_dist(model, X, y, cv=KFold(3))
    kinds = {type(part).__name__ for part in dist.dists}
    expected = by_loop(model, X, y, KFold(3), lambda d, rows: d.mean())
    np.testing.assert_allclose(dist.mean(), expected, rtol=1e-12)
    np.testing.assert_allclose(dist.compute().mean(), expected, rtol=1e-9)
    assert kinds == {"Mixture", "BoundedMixture"}


def test_several_outputs_and_atoms_are_concatenated_too():
    X, Y = samples(dy=2)
    dist = cross_val_predict_dist(FAST, X, Y, cv=2)
    assert dist.n_outputs == 2
    assert dist.cov().shape == (60, 2, 2)
    y = np.where(np.arange(60) % 3, Y[:, 0], 0.0)
    atoms = cross_val_predict_dist(WithAtoms(FAST, atoms=[0.0]), X, y, cv=2)
    assert (atoms.prob(-np.inf, 0.0) > 0.05).all()


def test_groups_stay_together():
    X, y = samples()
    groups = np.arange(60) // 20
    dist = cross_val_predict_dist(FAST, X, y, cv=GroupKFold(3), groups=groups)
    own = clone(FAST).fit(X[20:], y[20:]).predict_dist(X[:20])
    np.testing.assert_allclose(dist[:20].mean(), own.mean(), rtol=1e-12)


def test_frames_pipelines_and_workers_give_the_same():
    X, y = samples()
    frame = pd.DataFrame(X, columns=["a", "b"], index=np.arange(100, 160))
    pipe = make_pipeline(StandardScaler(), FAST)
    one = cross_val_predict_dist(pipe, frame, pd.Series(y, index=frame.index), cv=3)
    two = cross_val_predict_dist(pipe, X, y, cv=3, n_jobs=2)
    np.testing.assert_allclose(one.mean(), two.mean(), rtol=1e-12)
    alone = cross_val_predict_dist(pipe, X, y, cv=3)
    np.testing.assert_array_equal(alone.mean(), two.mean())


def test_weights_are_cut_to_the_rows_of_a_fit():
    X, y = samples()
    weight = np.random.default_rng(0).integers(1, 4, 60).astype(float)
    params = {"sample_weight": weight}
    dist = cross_val_predict_dist(FAST, X, y, cv=KFold(2), params=params)
    own = clone(FAST).fit(X[30:], y[30:], sample_weight=weight[30:]).predict_dist(X[:30])
    np.testing.assert_allclose(dist[:30].mean(), own.mean(), rtol=1e-12)


def test_the_estimator_is_not_changed():
    X, y = samples()
    model = clone(FAST)
    cross_val_predict_dist(model, X, y, cv=2)
    assert not model.__sklearn_is_fitted__()


@pytest.mark.parametrize(
    "cv",
    [
        TimeSeriesSplit(3),
        ShuffleSplit(3, random_state=0),
        [(np.arange(30), np.arange(30, 60)), (np.arange(60), np.arange(30))],
    ],
)
def test_folds_must_hold_out_every_sample_once(cv):
    X, y = samples()
    with pytest.raises(ValueError, match=r"GroupKFold\(5\)|do not contain the rows"):
        cross_val_predict_dist(FAST, X, y, cv=cv)


def test_dask_collections_and_other_estimators_are_refused():
    X, y = samples()
    with pytest.raises(TypeError, match="has no predict_dist: pass an estimator of densities"):
        cross_val_predict_dist(StandardScaler(), X, y)
    da = pytest.importorskip("dask.array", reason="dask comes with condensity[dask]")
    with pytest.raises(TypeError, match=r"compute\(\) X and y"):
        cross_val_predict_dist(FAST, da.from_array(X), y)
