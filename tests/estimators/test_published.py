import re

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

import oracles
from condensity import LSCDE, LSCE, LSMI
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


def test_as_published_is_twenty_starts_one_bandwidth_and_the_smallest_loss(published):
    model, _, y = published
    assert [start.n_centers for start in model.history_[:20]] == [100] * 20
    last = model.history_[20:]
    assert 1 <= len(last) <= 3
    assert {start.n_centers for start in last} == {model.n_centers_} == {150}
    best = min(last, key=lambda start: start.loss)
    assert model.sce_ == best.value
    # The course of the search is in standardised units, scores are in those of y.
    score = model.cv_results_["mean_test_score"].max()
    assert score == pytest.approx(-best.loss / np.std(y))
    sigma_z, sigma_y = model.bandwidth_
    assert sigma_z == sigma_y


def test_with_the_raw_score_the_smallest_sce_is_kept():
    X, y = toy_a().sample(60, random_state=1)
    model = LSCE.as_published(2, scoring="raw", random_state=0).set_params(n_starts=4).fit(X, y)
    assert model.sce_ == min(start.value for start in model.history_)
    assert model.sce_ < max(start.value for start in model.history_)


def scaled(values, scaling):
    """By plain formulae: zero mean, and unit variance, range or unit."""
    unit = {"variance": values.std(0), "range": np.ptp(values, axis=0), "none": 1.0}[scaling]
    return (values - values.mean(0)) / unit


@pytest.mark.parametrize("make", [PublishedLSCE, LSMI])
def test_scaling_is_the_same_as_to_scale_in_advance(make):
    X, y = toy_b().sample(60, random_state=2)
    X = X * [1.0, 5.0, 0.1, 1.0, 1.0]
    for scaling in ("variance", "range", "none"):
        fixed = {"n_starts": 2, "bandwidth": 0.4, "penalty": 0.01, "random_state": 0}
        a = make(1, scaling=scaling, **fixed).fit(X, y)
        b = make(1, scaling="none", **fixed).fit(scaled(X, scaling), scaled(y, scaling))
        np.testing.assert_allclose(abs(a.components_), abs(b.components_), atol=1e-6)
        np.testing.assert_allclose(a.transform(X), scaled(X, scaling) @ a.components_.T, atol=1e-9)


def test_candidates_start_at_a_tenth_of_a_standard_deviation_or_a_thirtieth_of_the_range():
    X, y = toy_b().sample(40, random_state=2)
    for scaling, smallest in (("variance", 0.1), ("range", 10**-1.5), ("none", 10**-1.5)):
        model = PublishedLSCE(1, n_starts=1, scaling=scaling, random_state=0).fit(X, y)
        table = model.cv_results_["param_sigma_y"]
        assert table.min() == pytest.approx(smallest)
        assert table.max() == pytest.approx(10**0.5)


@pytest.mark.parametrize(("name", "value"), [("scaling", "sd"), ("scoring", "log")])
def test_unknown_options_are_refused_with_the_known_ones(name, value):
    X, y = toy_b().sample(40, random_state=2)
    with pytest.raises(ValueError, match=f"{name} must be .*got '{value}'"):
        PublishedLSCE(1, **{name: value}).fit(X, y)


def test_the_fit_is_that_of_lscde_in_the_reduced_coordinates(published):
    model, X, y = published
    Z, V = scaled(X, "variance") @ model.components_.T, scaled(y, "variance")
    fixed = {"bandwidth": model.bandwidth_, "penalty": model.penalty_}
    same = LSCDE(scaling="none", **fixed).fit(Z, V)
    assert same.sce_ == pytest.approx(model.sce_, rel=1e-9)
    means = same.predict(Z) * y.std() + y.mean()
    np.testing.assert_allclose(model.predict(X), means, rtol=1e-8)


def test_components_are_orthonormal_and_transform_applies_them(published):
    model, X, _ = published
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(1), atol=1e-12)
    Z = scaled(X, "variance") @ model.components_.T
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
    X, y = toy_b().sample(100, random_state=3)
    model = PublishedLSCE(n_starts=2, random_state=0).fit(X[:, :3], y)
    table = pd.DataFrame(model.cv_results_)
    assert sorted(table.param_n_components.unique()) == [1, 2, 3]
    assert model.dimension_scores_.shape == (3,)
    assert model.n_components_ == len(model.components_) == np.argmax(model.dimension_scores_) + 1
    assert [s.n_components for s in model.history_] == [1, 1, 2, 2, 3]


def test_a_given_dimension_has_no_score():
    X, y = toy_b().sample(40, random_state=3)
    model = PublishedLSCE(1, n_starts=1, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.dimension_scores_, [np.nan])


@pytest.mark.parametrize("make", [PublishedLSCE, LSMI])
def test_the_number_of_directions_needs_three_folds_and_centres_outside_any_two(make):
    X, y = toy_b().sample(40, random_state=3)
    with pytest.raises(ValueError, match="needs at least 3 folds, got 2: raise cv or give"):
        make(cv=2, n_starts=1, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"folds . and . contain all 2 centres.*raise n_centers"):
        make(n_centers=2, n_starts=1, random_state=0).fit(X, y)
    make(1, cv=2, n_centers=2, n_starts=1, random_state=0).fit(X, y)
    assert make(cv=3, n_centers=3, n_starts=1, random_state=0).fit(X, y).n_components_ >= 1


def test_a_single_input_leaves_no_number_of_directions_to_select():
    X, y = toy_b().sample(40, random_state=3)
    model = PublishedLSCE(cv=2, n_centers=2, n_starts=1, random_state=0).fit(X[:, 1:2], y)
    assert model.n_components_ == 1
    np.testing.assert_array_equal(model.dimension_scores_, [np.nan])


def test_progress_of_the_held_out_folds_is_printed(capsys):
    X, y = toy_b().sample(40, random_state=3)
    PublishedLSCE(n_starts=1, verbose=1, random_state=0).fit(X[:, :2], y)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("[LSCE] start 2 of 2, 40 centres: n_components=2, SCE -")
    assert lines[2].startswith("[LSCE] held-out fold 1 of 10: n_components=1, loss -")
    assert len(lines) == 12


def test_auto_works_with_everything_else_fixed():
    X, y = toy_b().sample(100, random_state=3)
    model = PublishedLSCE(n_starts=2, bandwidth=0.3, penalty=0.01, random_state=0).fit(X[:, :3], y)
    assert model.cv_results_["param_n_components"].tolist() == [1, 2, 3]
    assert model.n_components_ == np.argmax(model.dimension_scores_) + 1


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
    assert re.fullmatch(
        r"\[LSCE\] start 2 of 3, 50 centres: n_components=1, SCE -\d+\.\d{4}", lines[1]
    )


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


@pytest.mark.parametrize("scoring", ["raw", "normalised"])
def test_scores_belong_to_the_subspace_that_is_returned(scoring):
    X, y = toy_a().sample(60, random_state=1)
    folds = list(KFold(5).split(X))
    model = PublishedLSCE(2, n_starts=2, scoring=scoring, cv=folds, random_state=0).fit(X, y)
    table = pd.DataFrame(model.cv_results_)
    row = table.loc[table.mean_test_score.idxmax()]
    loss = cv_loss(model, X, y, folds) / np.std(y)  # that of the oracle is for standardised y
    assert row.mean_test_score == pytest.approx(-loss, rel=1e-8)


def cv_loss(model, X, y, folds):
    """Refit at the model's subspace without each fold, by the oracle's loops."""
    Z, V = scaled(X, "variance") @ model.components_.T, scaled(y, "variance")[:, None]
    eye, (sigma_z, sigma_y), losses = np.eye(Z.shape[1]), model.bandwidth_, []
    for train, test in folds:
        centers = Z[train], V[train]
        G, h = oracles.G_and_h(eye, *centers, *centers, sigma_z, sigma_y)
        alpha = np.linalg.solve(G + model.penalty_ * np.eye(len(h)), h)
        if model.scoring == "raw":
            G, h = oracles.G_and_h(eye, Z[test], V[test], *centers, sigma_z, sigma_y)
            losses.append(alpha @ G @ alpha / 2 - h @ alpha)
            continue
        grid = np.arange(-8, 8, 0.04)[:, None]
        for z, v in zip(Z[test], V[test], strict=True):
            of = z, *centers, alpha, sigma_z, sigma_y
            square = sum(oracles.conditional_density(y, *of) ** 2 for y in grid) * 0.04
            losses.append(0.5 * square - oracles.conditional_density(v, *of))
    return np.mean(losses)
