"""Directions from slices of y, and directions that are given."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from condensity import LSCDE, OPG, SAVE, SIR, DirectionalRegression, FixedSubspace
from condensity.datasets import toy_a, toy_b
from condensity.metrics import subspace_error

SLICED = pytest.mark.parametrize("reducer", [SIR, SAVE, DirectionalRegression])
SPECTRAL = pytest.mark.parametrize("reducer", [SIR, SAVE, DirectionalRegression, OPG])


def oblique(n=200, seed=0, dy=1):
    """Correlated inputs, one index that moves and one that spreads, outputs with noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4)) @ rng.standard_normal((4, 4)) + [1, 2, 3, 4]
    signal = np.column_stack([np.exp(0.5 * X[:, 0]), X[:, 1] ** 2])
    return X, signal[:, :dy] + 0.1 * rng.standard_normal((n, dy))


@pytest.mark.parametrize("reducer", [SIR, SAVE])
def test_it_agrees_with_statsmodels(reducer, monkeypatch):
    dimred = pytest.importorskip("statsmodels.regression.dimred")
    X, Y = oblique()
    # Theirs divides covariances within slices by n - 1, and sums up samples instead of shares.
    monkeypatch.setattr(np, "cov", partial(np.cov, ddof=0))
    other, unit = {
        SIR: (dimred.SlicedInverseReg, 1),
        SAVE: (dimred.SlicedAverageVarianceEstimation, 20),
    }[reducer]
    theirs = other(Y[:, 0], X).fit(slice_n=20)  # samples a slice
    model = reducer(n_components=3, n_slices=10).fit(X, Y)
    np.testing.assert_allclose(model.eigenvalues_, theirs.eigs / unit, rtol=1e-8)
    raw = model.components_ / X.std(axis=0)
    for k in range(3):
        assert subspace_error(raw[: k + 1], theirs.params[:, : k + 1].T) < 1e-6


def test_sir_finds_what_moves_the_mean_and_not_what_is_symmetric():
    X, y = toy_b().sample(400, random_state=0)
    assert subspace_error(SIR(1).fit(X, y).components_, toy_b().components) < 0.1
    X, y = toy_a().sample(400, random_state=0)
    assert subspace_error(SIR(2).fit(X, y).components_, toy_a().components) > 0.8


@pytest.mark.parametrize("reducer", [SAVE, DirectionalRegression, OPG])
def test_others_find_what_is_symmetric_too(reducer):
    for problem in (toy_a(), toy_b()):
        X, y = problem.sample(400, random_state=0)
        model = reducer(len(problem.components)).fit(X, y)
        assert subspace_error(model.components_, problem.components) < 0.3


def test_two_outputs_tell_two_directions_in_two_slices_each():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 5))
    Y = X[:, [1, 3]] + 0.1 * rng.standard_normal((500, 2))
    model = SIR(2, n_slices=2).fit(X, Y)
    assert model.n_slices_ == [2, 2]
    assert subspace_error(model.components_, np.eye(5)[[1, 3]]) < 0.2
    with pytest.raises(
        ValueError,
        match="between 1 and 2, the number of directions that 2 and 2 slices of y determine",
    ):
        SIR(3, n_slices=2).fit(X, Y)


@SPECTRAL
def test_transform_applies_the_components_to_standardised_inputs(reducer):
    X, Y = oblique()
    model = reducer(2).fit(X, Y)
    Z = (X - X.mean(0)) / X.std(0) @ model.components_.T
    np.testing.assert_allclose(model.transform(X), Z, atol=1e-12)
    np.testing.assert_allclose(np.cov(Z.T, ddof=0), np.eye(2), atol=1e-10)
    assert (Y[:, 0] @ Z >= 0).all()


@SLICED
def test_what_is_found_does_not_depend_on_coordinates_nor_on_the_scale_of_y(reducer):
    X, Y = oblique()
    A = np.random.default_rng(1).standard_normal((4, 4))
    plain = reducer(2).fit(X, Y)
    Z = plain.transform(X)
    np.testing.assert_allclose(reducer(2).fit(X @ A - 3, Y).transform(X @ A - 3), Z, atol=1e-8)
    np.testing.assert_allclose(np.abs(reducer(2).fit(X, Y**3).transform(X)), np.abs(Z), atol=1e-8)


@SPECTRAL
def test_order_is_irrelevant_and_weights_are_repetitions(reducer):
    X, Y = oblique(60, dy=2)
    weight = np.arange(60) % 4
    rows = np.random.default_rng(2).permutation(np.repeat(np.arange(60), weight))
    weighted, repeated = reducer(2).fit(X, Y, weight), reducer(2).fit(X[rows], Y[rows])
    np.testing.assert_array_equal(weighted.components_, repeated.components_)
    assert (weighted.components_ != reducer(2).fit(X, Y).components_).any()


def test_slices_are_as_many_as_asked_for_or_as_needed():
    X, Y = oblique(120)
    assert SIR(2).fit(X, Y).n_slices_ == [10]
    assert SAVE(2).fit(X, Y).n_slices_ == [5]
    assert SIR(2, n_slices=7).fit(X, Y).n_slices_ == [7]
    wide = np.column_stack([X, np.random.default_rng(0).standard_normal((120, 9))])
    assert SIR(12).fit(wide, Y).n_slices_ == [13]
    assert SIR(1).fit(X, Y > 2).n_slices_ == [2]


@SPECTRAL
def test_fewer_samples_than_inputs_have_directions_too(reducer):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((30, 40))
    y = X[:, 0] + 0.1 * rng.standard_normal(30)
    Z = reducer(2).fit(X, y).transform(X)
    assert np.isfinite(Z).all()
    same = reducer(2).fit(X * 8 - 1, y).transform(X * 8 - 1)
    np.testing.assert_allclose(same, Z, atol=1e-6)


@SPECTRAL
def test_a_constant_input_gets_no_weight(reducer):
    X, Y = oblique()
    X[:, 2] = 5.0
    with pytest.warns(UserWarning, match="does not vary in column b2: it has no effect"):
        model = reducer(3).fit(pd.DataFrame(X, columns=["b0", "b1", "b2", "b3"]), Y)
    assert (model.components_[:, 2] == 0).all()
    assert np.linalg.matrix_rank(model.components_) == 3


@SLICED
@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"n_components": 0}, "n_components must be an integer >= 1, got 0"),
        ({"n_components": 5}, "between 1 and 4, the number of varying inputs, got 5"),
        ({"n_components": "auto"}, "got 'auto'"),
        ({"n_slices": 1}, "n_slices must be an integer >= 2 or 'auto', got 1"),
        ({"n_slices": "many"}, "got 'many'"),
    ],
)
def test_parameters(reducer, parameters, match):
    X, Y = oblique(40)
    model = reducer(**parameters)
    with pytest.raises(ValueError, match=match):
        model.fit(X, Y)
    assert not hasattr(model, "components_")


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"n_components": 5}, "between 1 and 4, the number of varying inputs, got 5"),
        ({"functions": "median"}, "functions must be one of 'distribution', 'mean', got 'median'"),
    ],
)
def test_parameters_of_opg(parameters, match):
    X, Y = oblique(40)
    with pytest.raises(ValueError, match=match):
        OPG(**parameters).fit(X, Y)


def test_opg_of_the_distribution_does_not_depend_on_the_scale_of_y_or_on_coordinates():
    X, Y = oblique()
    A = np.random.default_rng(1).standard_normal((4, 4))
    Z = np.abs(OPG(2).fit(X, Y).transform(X))
    np.testing.assert_allclose(np.abs(OPG(2).fit(X, Y**3).transform(X)), Z, atol=1e-8)
    np.testing.assert_allclose(np.abs(OPG(2).fit(X @ A, Y).transform(X @ A)), Z, atol=1e-6)
    mean = np.abs(OPG(2, functions="mean").fit(X, Y).transform(X))
    assert abs(mean - Z).max() > 0.01


def test_opg_of_the_mean_does_not_find_directions_of_the_spread():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 4))
    y = X[:, 0] ** 2 + np.exp(X[:, 1]) * rng.standard_normal(400)
    assert subspace_error(OPG(2).fit(X, y).components_, np.eye(4)[:2]) < 0.3
    assert subspace_error(OPG(2, functions="mean").fit(X, y).components_, np.eye(4)[:2]) > 0.3


def test_sir_cannot_find_more_than_its_slices_tell():
    X, Y = oblique(40)
    limit = "between 1 and 1, the number of directions that 2 slices of y determine"
    remedy = limit + r" \(raise n_slices if .*\), got 2"
    with pytest.raises(ValueError, match=remedy):
        SIR(2).fit(X, Y > 2)
    assert SAVE(2).fit(X, Y > 2).components_.shape == (2, 4)


def test_fixed_directions_act_on_inputs_as_they_are():
    X = np.random.default_rng(0).standard_normal((20, 3)) * [1, 10, 100] + 5
    W = np.array([[0.6, 0.8, 0.0], [1.0, 0.0, 2.0]])
    model = FixedSubspace(W).fit(X)
    np.testing.assert_allclose(model.transform(X), X @ W.T)
    np.testing.assert_array_equal(model.components_, W)
    assert model.get_feature_names_out().tolist() == ["fixedsubspace0", "fixedsubspace1"]
    np.testing.assert_array_equal(FixedSubspace().fit_transform(X), X)
    np.testing.assert_array_equal(FixedSubspace([0, 0, 1]).fit_transform(X), X[:, 2:])


@pytest.mark.parametrize(
    "W",
    [np.ones((1, 4)), [[1, 2, np.nan]], [[1, 2, 3], [2, 4, 6]], "first", [], np.ones((1, 1, 3))],
)
def test_directions_that_do_not_fit_are_refused(W):
    X = np.random.default_rng(0).standard_normal((20, 3))
    with pytest.raises(ValueError, match=r"components must be None or a matrix .* 3 columns"):
        FixedSubspace(W).fit(X)


def test_they_work_in_pipelines_and_frames():
    X, y = toy_b().sample(80, random_state=0)
    learned = SIR(2), SAVE(2), DirectionalRegression(2), OPG(2)
    for reducer in (*learned, FixedSubspace(np.eye(5)[:2])):
        pipe = make_pipeline(reducer, LSCDE(bandwidth=0.5, penalty=0.1))
        assert np.isfinite(pipe.fit(X, y).predict(X)).all()
        frame = pd.DataFrame(X, columns=list("abcde"))
        Z = reducer.set_output(transform="pandas").fit(frame, y).transform(frame)
        assert Z.columns.tolist() == [f"{type(reducer).__name__.lower()}{k}" for k in (0, 1)]
        np.testing.assert_allclose(Z, pipe[0].set_output(transform="default").transform(frame))
