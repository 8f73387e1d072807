import re

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

import oracles
from condensity import LSCDE, LSCE
from condensity.datasets import toy_a, toy_b
from condensity.estimators.published_lsce import PublishedLSCE
from condensity.metrics import subspace_error


@pytest.fixture(scope="module")
def published():
    X, y = toy_b().sample(150, random_state=0)
    return LSCE.as_published(n_components=1, random_state=0, n_jobs=2).fit(X, y), X, y


def test_the_published_procedure_finds_the_subspace_of_toy_b(published):
    model, _, _ = published
    assert subspace_error(model.components_, toy_b().components) < 0.1


def test_the_published_procedure_finds_the_subspace_of_toy_a():
    X, y = toy_a().sample(300, random_state=0)
    model = LSCE.as_published(n_components=2, random_state=0, n_centers=100, n_jobs=2).fit(X, y)
    assert subspace_error(model.components_, toy_a().components) < 0.2


def test_as_published_is_twenty_starts_one_bandwidth_and_the_smallest_sce(published):
    model, _, _ = published
    assert len(model.history_) == 20
    assert model.sce_ == min(start.value for start in model.history_)
    sigma_z, sigma_y = model.bandwidth_
    assert sigma_z == sigma_y


def test_the_fit_is_that_of_lscde_in_the_reduced_coordinates(published):
    model, X, y = published
    Z = (X - X.mean(0)) / X.std(0) @ model.components_.T
    sigma_z, sigma_y = model.bandwidth_
    # LSCDE standardises z once more: the same kernel in units of its standard deviation.
    same = LSCDE(bandwidth=(sigma_z / Z.std(), sigma_y), penalty=model.penalty_).fit(Z, y)
    assert same.sce_ == pytest.approx(model.sce_, rel=1e-9)
    np.testing.assert_allclose(model.predict(X), same.predict(Z), rtol=1e-8)


def test_components_are_orthonormal_and_transform_applies_them(published):
    model, X, _ = published
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(1), atol=1e-12)
    Z = (X - X.mean(0)) / X.std(0) @ model.components_.T
    np.testing.assert_allclose(model.transform(X), Z, atol=1e-12)


def test_history_tells_of_every_start(published):
    model, _, _ = published
    for start in model.history_:
        assert start.n_components == 1
        assert start.stop in {"converged", "step limit"}
        assert start.values[-1] == start.value
        assert len(start.values) >= 2
    assert 1 <= model.n_iter_ <= 100


def test_published_auto_tries_every_dimension_and_keeps_the_best_scored_one():
    X, y = toy_b().sample(120, random_state=3)
    model = PublishedLSCE(n_starts=2, random_state=0).fit(X[:, :3], y)
    table = pd.DataFrame(model.cv_results_)
    assert sorted(table.param_n_components.unique()) == [1, 2, 3]
    assert model.n_components_ == len(model.components_)
    assert table.loc[table.mean_test_score.idxmax()].param_n_components == model.n_components_
    assert [s.n_components for s in model.history_] == [1, 1, 2, 2, 3]


def test_auto_works_with_everything_else_fixed():
    X, y = toy_b().sample(100, random_state=3)
    model = PublishedLSCE(n_starts=2, bandwidth=0.3, penalty=0.01, random_state=0).fit(X[:, :3], y)
    table = model.cv_results_
    assert table["param_n_components"].tolist() == [1, 2, 3]
    best = np.argmax(table["mean_test_score"])
    assert model.n_components_ == table["param_n_components"][best]


def test_all_components_is_no_reduction():
    X, y = toy_b().sample(80, random_state=4)
    fixed = {"bandwidth": 0.8, "penalty": 0.01, "random_state": 0}
    full = PublishedLSCE(n_components=5, **fixed).fit(X, y)
    plain = LSCDE(**fixed).fit(X, y)
    np.testing.assert_allclose(full.predict(X), plain.predict(X), rtol=1e-9)
    assert full.sce_ == pytest.approx(plain.sce_, rel=1e-10)


def test_output_names_and_frames():
    X, y = toy_b().sample(60, random_state=5)
    model = PublishedLSCE(n_components=2, n_starts=1, random_state=0).set_output(transform="pandas")
    Z = model.fit_transform(X, y)
    assert Z.columns.tolist() == ["publishedlsce0", "publishedlsce1"]
    assert model.get_feature_names_out().tolist() == ["publishedlsce0", "publishedlsce1"]
    np.testing.assert_allclose(Z, model.set_output(transform="default").transform(X))


def test_a_constant_input_gets_no_weight_whatever_it_is_later():
    X, y = toy_b().sample(80, random_state=6)
    X[:, 3] = 0.1
    with pytest.warns(UserWarning, match="does not vary in column 3: it has no effect"):
        model = PublishedLSCE(n_components=2, n_starts=2, random_state=0).fit(X, y)
    assert (model.components_[:, 3] == 0).all()
    assert np.linalg.matrix_rank(model.components_) == 2
    moved = X.copy()
    moved[:, 3] = 77.0
    np.testing.assert_array_equal(model.predict(moved), model.predict(X))


def test_too_few_steps_are_warned_of_with_the_remedy():
    X, y = toy_a().sample(80, random_state=7)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 steps: raise max_iter"):
        PublishedLSCE(n_components=2, n_starts=1, max_iter=1, random_state=0).fit(X, y)


def test_verbose_prints_a_line_for_every_start(capsys):
    X, y = toy_b().sample(50, random_state=8)
    PublishedLSCE(n_components=1, n_starts=3, random_state=0, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert re.fullmatch(r"\[LSCE\] start 2 of 3: n_components=1, SCE -\d+\.\d{4}", lines[1])


def test_a_callable_hears_of_every_start_instead(capsys):
    X, y = toy_b().sample(50, random_state=8)
    heard = []
    PublishedLSCE(n_components=1, n_starts=3, random_state=0, verbose=heard.append).fit(X, y)
    assert [(p.done, p.total) for p in heard] == [(1, 3), (2, 3), (3, 3)]
    assert capsys.readouterr().out == ""


def test_densities_of_reduced_inputs_are_those_of_the_inputs():
    X, y = toy_b().sample(60, random_state=9)
    model = PublishedLSCE(2, n_starts=1, bandwidth=0.5, penalty=0.1, random_state=0).fit(X, y)
    by_z = model.predict_dist_reduced(model.transform(X)).pdf(y)
    np.testing.assert_allclose(by_z, model.predict_dist(X).pdf(y), rtol=1e-10)
    with pytest.raises(ValueError, match="Z has 3 columns but n_components_ is 2: pass 2 columns"):
        model.predict_dist_reduced(np.zeros((1, 3)))


def test_scores_belong_to_the_subspace_that_is_returned():
    X, y = toy_a().sample(60, random_state=1)
    folds = list(KFold(5).split(X))
    model = PublishedLSCE(2, n_starts=2, cv=folds, random_state=0).fit(X, y)
    table = pd.DataFrame(model.cv_results_)
    row = table.loc[table.mean_test_score.idxmax()]
    assert row.mean_test_score == pytest.approx(-cv_loss(model, X, y, folds), rel=1e-8)


def cv_loss(model, X, y, folds):
    """Refit at the model's subspace without each fold, by the oracle's loops."""
    Z = (X - X.mean(0)) / X.std(0) @ model.components_.T
    V = ((y - y.mean()) / y.std())[:, None]
    eye, (sigma_z, sigma_y), losses = np.eye(Z.shape[1]), model.bandwidth_, []
    for train, test in folds:
        args = Z[train], V[train], sigma_z, sigma_y
        G, h = oracles.G_and_h(eye, Z[train], V[train], *args)
        alpha = np.linalg.solve(G + model.penalty_ * np.eye(len(h)), h)
        G, h = oracles.G_and_h(eye, Z[test], V[test], *args)
        losses.append(alpha @ G @ alpha / 2 - h @ alpha)
    return np.mean(losses)
