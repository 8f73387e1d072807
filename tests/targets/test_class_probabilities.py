"""Probabilities of classes as arrays against scikit-learn's own predictions, and by hand."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from condensity.data.sample import Scaling
from condensity.targets.class_probabilities import (
    BOOSTING,
    LabelledSample,
    TreeModel,
    _average_weights,
    _held_out,
    _trees_of,
    fit_class_probabilities,
    fit_logistic,
    fit_trees,
)


def sample(n=300, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)) * [1.0, 5.0, 0.1] + [0.0, 2.0, 0.0]
    logits = np.column_stack([np.zeros(n), X[:, 0], 0.3 * X[:, 1] - 1])[:, :n_classes]
    label = np.argmax(logits + rng.gumbel(size=(n, n_classes)), axis=1)
    return LabelledSample(X, label, rng.uniform(0.5, 2.0, n), n_classes)


def folds(n, k=3):
    number = np.arange(n) % k
    return [(np.flatnonzero(number != j), np.flatnonzero(number == j)) for j in range(k)]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_logistic_regression_is_that_of_scikit_learn_on_standardised_inputs(n_classes):
    s = sample(n_classes=n_classes)
    w = s.weight / s.weight.sum()
    mean = w @ s.X
    Z = (s.X - mean) / np.sqrt(w @ (s.X - mean) ** 2)
    theirs = LogisticRegression(C=0.1, max_iter=1000).fit(
        Z, s.label, s.weight * 300 * w.sum() / s.weight.sum()
    )
    np.testing.assert_allclose(fit_logistic(s, 0.1)(s.X), theirs.predict_proba(Z), atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_trees_as_arrays_are_those_of_scikit_learn(n_classes):
    s = sample(n_classes=n_classes)
    model = GradientBoostingClassifier(n_estimators=12, random_state=0, **BOOSTING)
    model.fit(s.X, s.label, s.weight)
    found = TreeModel(Scaling(np.zeros(3), np.ones(3)), _trees_of(model, s))(s.X)
    np.testing.assert_allclose(found, model.predict_proba(s.X), atol=1e-9)


@pytest.mark.parametrize(("origin", "unit"), [(1.7e9, 1.0), (-1.7e9, 0.5), (0.0, 1e50)])
def test_probabilities_do_not_depend_on_the_origin_and_the_unit_of_the_inputs(origin, unit):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((300, 1))
    label = (np.abs(x[:, 0]) < 0.7).astype(int)  # only trees can describe it
    here = LabelledSample(x, label, np.ones(300), 2)
    there = LabelledSample(origin + unit * x, label, np.ones(300), 2)
    found, losses = fit_class_probabilities(here, folds(300), 0)
    moved, moved_losses = fit_class_probabilities(there, folds(300), 0)
    assert losses["trees"] < 0.3 * losses["frequencies"]
    assert moved_losses["trees"] == pytest.approx(losses["trees"], rel=0.02)
    np.testing.assert_allclose(found(here.X), moved(there.X), atol=0.02)
    both = [fit_trees(s, 20, 0)(s.X) for s in (here, there)]
    np.testing.assert_allclose(*both, atol=0.02)


def test_held_out_probabilities_do_not_depend_on_held_out_classes():
    s = sample()
    splits = folds(300)
    found = _held_out(s, splits, lambda train, X: fit_logistic(train, 1.0)(X))
    test = splits[1][1]
    changed = s.label.copy()
    changed[test] = (changed[test] + 1) % 3
    other = LabelledSample(s.X, changed, s.weight, 3)
    again = _held_out(other, splits, lambda train, X: fit_logistic(train, 1.0)(X))
    np.testing.assert_array_equal(found[test], again[test])
    assert np.any(found[splits[0][1]] != again[splits[0][1]])


def test_probabilities_are_shrunk_by_the_weight_of_one_sample():
    s = sample(20)
    certain = np.zeros((1, 3))
    certain[0, 2] = 1.0
    expected = (20 * certain + s.frequencies) / 21
    np.testing.assert_allclose(s.shrunk(certain), expected)
    counts = np.bincount(s.label, s.weight * 20 / s.weight.sum(), minlength=3)
    np.testing.assert_allclose(s.frequencies, (counts + 1 / 3) / 21)


def test_weights_of_the_average_have_the_smallest_log_loss():
    s = sample(200)
    rng = np.random.default_rng(0)
    tables = rng.dirichlet(np.ones(3), (3, 200))
    tables[1, np.arange(200), s.label] += 0.2
    tables /= tables.sum(axis=2, keepdims=True)
    weights = _average_weights(tables, s)

    def loss(free):
        v = np.exp(np.append(free, 0.0))
        return s.loss(np.tensordot(v / v.sum(), tables, axes=1))

    best = minimize(loss, np.zeros(2), method="Nelder-Mead", options={"fatol": 1e-12}).fun
    assert s.loss(np.tensordot(weights, tables, axes=1)) <= best + 1e-3


def test_the_average_is_as_good_as_its_best_model_and_near_the_truth():
    s = sample(1500, n_classes=2)
    found, losses = fit_class_probabilities(s, folds(1500), 0)
    assert losses["average"] <= min(losses.values()) + 1e-3
    assert losses["logistic"] < losses["frequencies"] - 0.02
    X = sample(400, seed=1).X
    truth = expit(X[:, 0])
    assert np.abs(found(X)[:, 1] - truth).mean() < 0.05
    np.testing.assert_allclose(found(X).sum(axis=1), 1.0)


def test_without_information_the_frequencies_remain():
    rng = np.random.default_rng(0)
    s = LabelledSample(rng.standard_normal((400, 2)), rng.integers(0, 2, 400), np.ones(400), 2)
    found, _ = fit_class_probabilities(s, folds(400), 0)
    assert np.ptp(found(s.X)[:, 0]) < 0.2


def test_a_class_that_a_fold_has_all_samples_of_does_not_break_the_losses():
    s = sample(60, n_classes=2)
    label = np.zeros(60, dtype=int)
    label[::3] = 1  # exactly the first fold
    _, losses = fit_class_probabilities(LabelledSample(s.X, label, s.weight, 2), folds(60), 0)
    assert all(np.isfinite(loss) for loss in losses.values())
