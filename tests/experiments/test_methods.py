"""What is compared is compared fairly, and in the right coordinates."""

import json
import warnings

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold

from condensity import LSCDE, LSMI, SIR
from condensity.datasets import Split, toy_b
from condensity.experiments.methods import (
    DENSITIES,
    FLOORLESS,
    LINEAR,
    MODEL_SEEDS,
    OURS,
    REDUCERS,
    AllSubspaces,
    evaluate,
    folds_of,
)
from condensity.experiments.problems import (
    N_TEST,
    TEST_SEEDS,
    Data,
    artificial_data,
    in_unit_box,
)


def stretched(n=300):
    """Inputs of different sizes; y depends on their plain sum, an oblique direction."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n + 100, 3)) * [1.0, 5.0, 1.0]
    Y = X[:, :1] + X[:, 1:2] + 0.1 * rng.standard_normal((n + 100, 1))
    W = np.array([[1.0, 1.0, 0.0]]) / 2**0.5
    return Data(X[:n], Y[:n], X[n:], Y[n:], W=W)


@pytest.mark.parametrize("method", ["SIR", "SAVE", "LSMI", "LSCE", OURS, FLOORLESS])
def test_directions_are_compared_in_the_units_of_the_inputs(method):
    results = evaluate(method, stretched(), 0, quick=True)
    # In standardised inputs the direction is (1, 5, 0): 0.78 away from the true one.
    for found in results.values():
        assert found["Error_DR"] < 0.1
        assert found["dz"] == 1


def test_the_truth_has_no_error_and_no_reduction_all_of_it():
    data = artificial_data("toy (b)", 60, 0)
    true, none = (evaluate(method, data, 0) for method in ("True", "None"))
    assert true["LSCDE"]["Error_DR"] == pytest.approx(0, abs=1e-12)
    assert none["ε-KDE"]["Error_DR"] == pytest.approx(4**0.5)  # of five directions one is right
    assert (true["LSCDE"]["dz"], none["LSCDE"]["dz"]) == (1, 5)
    assert len(data.X_test) == N_TEST
    for density in ("LSCDE", "ε-KDE"):
        assert true[density]["Error_CDE"] < none[density]["Error_CDE"] - 0.05


def test_the_error_of_a_toy_is_that_of_its_own_outputs():
    """Kernels work on y of unit variance; the loss is given for y as it was drawn."""
    found = evaluate("True", artificial_data("toy (b)", 60, 1), 1)["LSCDE"]
    X, y = toy_b().sample(60, random_state=1)
    X_test, y_test = toy_b().sample(N_TEST, random_state=TEST_SEEDS + 1)
    fixed = {"bandwidth": tuple(found["bandwidth"]), "penalty": found["penalty"]}
    model = LSCDE(60, scaling="none", random_state=0, **fixed).fit(X[:, 1:2], y / y.std())
    dist = model.predict_dist(X_test[:, 1:2])
    # p(y) = p(y / sd) / sd, and the integral of its square over y has one factor 1 / sd too.
    loss = 0.5 * dist.squared_norm() / y.std() - dist.pdf(y_test / y.std()) / y.std()
    assert found["Error_CDE"] == pytest.approx(loss.mean(), rel=1e-9)


def test_tables_are_scaled_to_one_before_they_are_split():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(5, 3, (30, 2)), rng.normal(-4, 2, (30, 2))
    X[:, 1] = 1.0  # a constant input stays finite
    data = in_unit_box(Split(X[:10], Y[:10], X[10:], Y[10:], 1.0), X, Y)
    for train, test, whole in ((data.X, data.X_test, X), (data.Y, data.Y_test, Y)):
        both = np.vstack([train, test])
        np.testing.assert_allclose(both[:, 0].min(), 0, atol=1e-15)
        np.testing.assert_allclose(both[:, 0].max(), 1)
        np.testing.assert_allclose(np.diff(both[:, 0]), np.diff(whole[:, 0]) / np.ptp(whole[:, 0]))
    assert (data.X[:, 1] == 0).all()
    assert (data.unit, data.scaling) == (1.0, "none")


def test_the_number_of_directions_is_that_with_the_best_score_on_common_folds():
    whole = stretched(120)
    data = Data(whole.X, whole.Y, whole.X_test, whole.Y_test)  # no one knows the truth
    found = evaluate("SIR", data, 3)["LSCDE"]
    folds, scores = folds_of(data, MODEL_SEEDS + 3), []
    for dz in (1, 2, 3):
        W = SIR(n_components=dz).fit(data.X, data.Y).components_ / data.X.std(axis=0)
        W = np.linalg.qr(W.T)[0].T
        density = LSCDE(n_centers=120, cv=folds, scaling="none", random_state=MODEL_SEEDS + 3)
        scores.append(density.fit(data.X @ W.T, data.Y).cv_results_["mean_test_score"].max())
    assert found["dz"] == 1 + int(np.argmax(scores))
    assert "Error_DR" not in found


def test_lsmi_gives_its_subspaces_without_selecting_one():
    X, y = toy_b().sample(60, random_state=0)
    settings = {"n_starts": 2, "max_iter": 5, "random_state": 0}
    every, selected = (make(**settings) for make in (AllSubspaces, LSMI))
    told = {"every": [], "selected": []}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        every.set_params(verbose=told["every"].append).fit(X, y)
        selected.set_params(verbose=told["selected"].append).fit(X, y)
    for W, V in zip(every.subspaces_, selected.subspaces_, strict=True):
        np.testing.assert_array_equal(W, V)
    assert not any(progress.fold is not None for progress in told["every"])
    assert any(progress.fold is not None for progress in told["selected"])
    assert REDUCERS["LSMI"] is AllSubspaces


def test_densities_do_not_depend_on_the_basis_of_a_subspace():
    """Kernels are round and z is not scaled: only the span of W counts."""
    whole = stretched(60)
    W = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 2)))[0].T
    turned = np.linalg.qr(np.random.default_rng(1).normal(size=(2, 2)))[0] @ W
    folds = list(KFold(5).split(whole.X))
    for make in DENSITIES.values():
        model = make(60).set_params(cv=folds, random_state=0)
        np.testing.assert_allclose(
            *(
                clone(model).fit(whole.X @ V.T, whole.Y).cv_results_["mean_test_score"]
                for V in (W, turned)
            ),
            rtol=1e-8,
        )


def test_equal_samples_stay_together_and_folds_hold_everyone_once():
    data = artificial_data("toy (b)", 40, 0)
    twice = Data(np.vstack([data.X] * 2), np.vstack([data.Y] * 2), data.X_test, data.Y_test)
    folds = folds_of(twice, 0)
    for train, test in folds:
        known = set(map(tuple, twice.X[train].tolist()))
        assert not known & set(map(tuple, twice.X[test].tolist()))
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(80))
    other = folds_of(twice, 1)
    assert any(
        len(a[1]) != len(b[1]) or (a[1] != b[1]).any() for a, b in zip(folds, other, strict=True)
    )


def test_a_target_of_few_values_tells_few_directions():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 4))
    Y = np.sign(X[:, :1] + 0.3 * rng.standard_normal((90, 1)))  # two values: one direction
    found = evaluate("SIR", Data(X[:60], Y[:60], X[60:], Y[60:]), 0)
    assert found["LSCDE"]["dz"] == 1


@pytest.mark.filterwarnings("ignore:X does not vary")
@pytest.mark.parametrize("method", ["None", "SIR", "SAVE", "LSMI", "LSCE", OURS, LINEAR])
def test_an_input_may_be_the_same_in_all_samples_to_learn_from(method):
    whole = stretched(60)
    X, X_test = (np.column_stack([X, np.zeros(len(X))]) for X in (whole.X, whole.X_test))
    X_test[0, 3] = 1.0  # first met in a test
    for found in evaluate(method, Data(X, whole.Y, X_test, whole.Y_test), 0, quick=True).values():
        assert found["Error_CDE"] < -0.01
        assert method in ("None", LINEAR) or found["dz"] <= 3


@pytest.mark.filterwarnings("ignore:y equals 0 in")
def test_without_a_floor_kernels_are_narrower_than_the_steps_of_y():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((160, 2))
    Y = np.round(X[:, :1] + 0.3 * rng.standard_normal((160, 1)))
    data = Data(X[:80], Y[:80], X[80:], Y[80:])
    floored, free = (evaluate(m, data, 0, quick=True)["own"] for m in (OURS, FLOORLESS))
    assert free["Error_CDE"] < 3 * floored["Error_CDE"] < 0


def test_the_linear_gaussian_is_a_regression_with_the_residuals_covariance():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 3))
    Y = X @ rng.standard_normal((3, 2)) + 4.0 + rng.standard_normal((90, 2)) @ [[1, 0.9], [0, 0.1]]
    data = Data(X[:60], Y[:60], X[60:], Y[60:], unit=2.5)
    fit = LinearRegression().fit(X[:60], Y[:60])
    left = Y[:60] - fit.predict(X[:60])
    law = multivariate_normal(cov=left.T @ left / (60 - 4))
    density = law.pdf(Y[60:] - fit.predict(X[60:])).mean()
    # The integral of a Gaussian's square is its density, with twice the covariance, at the mean.
    square = multivariate_normal(cov=2 * law.cov).pdf(np.zeros(2))
    found = evaluate(LINEAR, data, 0)["Gaussian"]["Error_CDE"]
    assert found == pytest.approx(2.5 * (0.5 * square - density), rel=1e-10)


def test_what_was_chosen_is_kept_and_can_be_written():
    found = evaluate("None", artificial_data("toy (a)", 50, 0), 0)
    text = json.dumps(found, allow_nan=False)
    assert json.loads(text)["ε-KDE"]["epsilon"] == "inf"
    assert found["LSCDE"]["bandwidth"][0] == found["LSCDE"]["bandwidth"][1] > 0
    assert found["LSCDE"]["penalty"] > 0
