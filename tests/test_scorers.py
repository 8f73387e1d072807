"""Scorers see through pipelines and searches to the densities, and say so where there are none."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from condensity import LSCDE, LSMI, SIR, EpsilonKDE, Reduced, metrics, scorers

LOSSES = {
    scorers.neg_squared_loss: metrics.squared_loss,
    scorers.neg_log_loss: metrics.log_loss,
    scorers.neg_crps: metrics.crps,
}
QUICK = LSCDE(bandwidth=0.5, penalty=0.1, random_state=0)


def problem(n=60):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3)) * [1, 10, 1] + [0, 50, 0]
    return X, X[:, 0] + 0.5 * rng.standard_normal(n)


@pytest.mark.parametrize("scorer", LOSSES)
def test_cross_val_score_is_minus_the_loss_at_the_fold(scorer):
    X, y = problem()
    found = cross_val_score(QUICK, X, y, cv=3, scoring=scorer)
    for value, (train, test) in zip(found, KFold(3).split(X), strict=True):
        dist = QUICK.fit(X[train], y[train]).predict_dist(X[test])
        assert value == pytest.approx(-LOSSES[scorer](dist, y[test]), rel=1e-12)


@pytest.mark.parametrize(
    "model", [EpsilonKDE(random_state=0), Reduced(SIR(), QUICK)], ids=["EpsilonKDE", "Reduced"]
)
def test_every_estimator_of_densities_is_scored(model):
    X, y = problem()
    model.fit(X, y)
    assert scorers.neg_squared_loss(model, X, y) == pytest.approx(model.score(X, y), rel=1e-12)


def test_a_pipeline_transforms_before_it_is_asked():
    X, y = problem()
    pipe = make_pipeline(StandardScaler(), SIR(2), QUICK).fit(X, y)
    dist = pipe[-1].predict_dist(pipe[:-1].transform(X))
    for scorer, loss in LOSSES.items():
        assert scorer(pipe, X, y) == pytest.approx(-loss(dist, y), rel=1e-12)
    alone = make_pipeline(QUICK).fit(X, y)
    assert scorers.neg_crps(alone, X, y) == pytest.approx(
        -metrics.crps(QUICK.fit(X, y).predict_dist(X), y)
    )


def test_a_search_is_scored_and_scores():
    X, y = problem()
    grid = {"lscde__bandwidth": [0.2, 1.0]}
    pipe = make_pipeline(StandardScaler(), QUICK)
    search = GridSearchCV(pipe, grid, cv=3, scoring=scorers.neg_log_loss).fit(X, y)
    by_hand = [
        cross_val_score(
            pipe.set_params(lscde__bandwidth=b), X, y, cv=3, scoring=scorers.neg_log_loss
        )
        for b in (0.2, 1.0)
    ]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], np.mean(by_hand, axis=1))
    best = search.best_estimator_
    assert scorers.neg_crps(search, X, y) == scorers.neg_crps(best, X, y)
    nested = make_pipeline(FunctionTransformer(), search).fit(X, y)
    assert np.isfinite(scorers.neg_crps(nested, X, y))


def test_several_scorers_and_workers_at_once():
    X, y = problem()
    wanted = {"log": scorers.neg_log_loss, "crps": scorers.neg_crps}
    found = cross_validate(QUICK, X, y, cv=2, scoring=wanted, n_jobs=2)
    np.testing.assert_allclose(
        found["test_crps"], cross_val_score(QUICK, X, y, cv=2, scoring=scorers.neg_crps)
    )


@pytest.mark.parametrize("scorer", LOSSES)
def test_weights_are_repetitions(scorer):
    X, y = problem()
    model, weight = QUICK.fit(X, y), np.arange(60) % 3
    rows = np.repeat(np.arange(60), weight)
    assert scorer(model, X, y, weight) == pytest.approx(scorer(model, X[rows], y[rows]))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_many_rows_are_answered_in_pieces(frame, monkeypatch):
    X, y = problem()
    named = frame(dict(zip("abc", X.T, strict=True)))
    model = QUICK.fit(named, y)
    whole = scorers.neg_log_loss(model, named, y)
    monkeypatch.setattr(scorers, "SCORED_ROWS", 7)
    assert scorers.neg_log_loss(model, named, y) == pytest.approx(whole, rel=1e-12)


def test_several_outputs_have_no_crps():
    X, y = problem()
    Y = np.column_stack([y, y**2])
    model = QUICK.fit(X, Y)
    loss = metrics.log_loss(model.predict_dist(X), Y)
    assert scorers.neg_log_loss(model, X, Y) == pytest.approx(-loss)
    with pytest.raises(ValueError, match="crps is defined for one output"):
        scorers.neg_crps(model, X, Y)


def test_what_has_no_density_is_refused_in_one_sentence():
    X, y = problem()
    with pytest.raises(TypeError, match="LinearRegression has no predict_dist: pass an estimator"):
        scorers.neg_crps(LinearRegression().fit(X, y), X, y)
    mapped = TransformedTargetRegressor(QUICK, transformer=StandardScaler()).fit(X, y)
    with pytest.raises(TypeError, match="TransformedTargetRegressor has no predict_dist"):
        scorers.neg_crps(mapped, X, y)
    pipe = make_pipeline(StandardScaler(), LSMI(1, n_starts=1, bandwidth=0.5, penalty=0.1))
    with pytest.raises(TypeError, match="LSMI at the end of Pipeline has no predict_dist"):
        scorers.neg_crps(pipe.fit(X, y), X, y)
    unfinished = GridSearchCV(QUICK, {"penalty": [0.1]}, cv=2, refit=False).fit(X, y)
    with pytest.raises(TypeError, match="or a search over one with refit=True"):
        scorers.neg_crps(unfinished, X, y)


def test_what_is_not_fitted_says_so():
    X, y = problem()
    pipe = make_pipeline(StandardScaler(), LSCDE())
    for model in (LSCDE(), pipe, GridSearchCV(pipe, {})):
        with pytest.raises(NotFittedError, match="not fitted"):
            scorers.neg_crps(model, X, y)
    with pytest.raises(ValueError, match="X has 60 rows but y has 59"):
        scorers.neg_crps(QUICK.fit(X, y), X, y[1:])


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("scorer", LOSSES)
def test_weights_are_routed_to_a_scorer_that_requests_them(scorer, n_jobs):
    X, y = problem()
    weight = np.random.default_rng(1).uniform(size=len(y))
    with config_context(enable_metadata_routing=True):
        model = LSCDE(bandwidth=0.5, penalty=0.1, random_state=0)
        model.set_fit_request(sample_weight=True)
        options = {"cv": KFold(2), "params": {"sample_weight": weight}, "n_jobs": n_jobs}
        weighted = scorer.set_score_request(sample_weight=True)
        found = cross_validate(model, X, y, scoring=weighted, **options)["test_score"]
        several = cross_validate(model, X, y, scoring={"one": weighted}, **options)["test_one"]
        unweighted = scorer.set_score_request(sample_weight=False)
        plain = cross_validate(model, X, y, scoring=unweighted, **options)["test_score"]
    for k, (train, test) in enumerate(KFold(2).split(X)):
        dist = model.fit(X[train], y[train], weight[train]).predict_dist(X[test])
        expected = -LOSSES[scorer](dist, y[test], sample_weight=weight[test])
        assert found[k] == several[k] == pytest.approx(expected, rel=1e-12)
        assert plain[k] == pytest.approx(-LOSSES[scorer](dist, y[test]), rel=1e-12)


def test_weights_that_a_scorer_does_not_request_are_an_error():
    X, y = problem()
    with config_context(enable_metadata_routing=True):
        model = LSCDE(bandwidth=0.5, penalty=0.1).set_fit_request(sample_weight=True)
        options = {"cv": 2, "params": {"sample_weight": np.ones(len(y))}}
        with pytest.raises(UnsetMetadataPassedError):
            cross_validate(model, X, y, scoring=scorers.neg_crps, **options)
        search = GridSearchCV(model, {"penalty": [0.1]}, cv=2, scoring=scorers.neg_crps)
        with pytest.raises(UnsetMetadataPassedError, match="neg_crps"):
            search.fit(X, y, sample_weight=np.ones(len(y)))
    assert "neg_crps.set_score_request" in repr(scorers.neg_crps.set_score_request(sample_weight=1))
