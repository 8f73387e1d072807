"""Probabilities of atoms and the density beside them: the estimator."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from condensity import LSCDE, LSCE, EpsilonKDE, WithAtoms
from condensity.distributions import Block, ChunkedDistribution, Mixture
from condensity.distributions import chunked as chunked_module
from condensity.explorer import write_report
from condensity.metrics import crps, log_loss
from condensity.scorers import neg_crps, neg_log_loss
from condensity.tables import compare_with_baselines, evaluate_model
from condensity.targets import MixedDistribution

FIXED = {"bandwidth": 0.5, "penalty": 0.1, "random_state": 0}


def rain(n=300, seed=0):
    """Half of the days are dry, more of them where the first input is small."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    wet = rng.random(n) < 1 / (1 + np.exp(-2 * X[:, 0]))
    return X, np.where(wet, np.exp(0.7 * X[:, 1] + 0.3 * rng.standard_normal(n)), 0.0)


def model():
    return WithAtoms(LSCDE(**FIXED), random_state=0)


@parametrize_with_checks([WithAtoms(LSCDE())])
@pytest.mark.filterwarnings("ignore:y equals:UserWarning")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_the_density_is_that_of_the_other_samples():
    X, y = rain()
    fitted = model().fit(X, y)
    assert fitted.atoms_.tolist() == [0.0]
    beside = LSCDE(**FIXED).fit(X[y > 0], y[y > 0]).predict_dist(X[:5])
    dist = fitted.predict_dist(X[:5])
    np.testing.assert_allclose(
        dist.pdf_on([0.5, 1.0]), dist.rest[:, None] * beside.pdf_on([0.5, 1.0])
    )
    truth = 1 / (1 + np.exp(2 * X[:, 0]))
    assert np.abs(fitted.predict_dist(X).pmf(0.0) - truth).mean() < 0.06
    np.testing.assert_allclose(fitted.predict(X[:5]), dist.rest * beside.mean())


def test_atoms_and_density_are_better_than_a_density_of_all_values():
    X, y = rain(400)
    X_test, y_test = rain(2000, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the frequent value
        raw = LSCDE(random_state=0).fit(X, y).predict_dist(X_test)
    mixed = WithAtoms(LSCDE(random_state=0), random_state=0).fit(X, y).predict_dist(X_test)
    gain = raw.crps(y_test) - mixed.crps(y_test)
    assert gain.mean() > 3 * gain.std() / np.sqrt(2000)


def test_atoms_are_found_or_given():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2))
    y = rng.standard_normal(200)
    y[:30], y[30:60], y[60:66] = 2.0, -1.0, 5.0
    assert model().fit(X, y).atoms_.tolist() == [-1.0, 2.0]
    given = model().set_params(atoms=[5.0, 2.0]).fit(X, y)
    assert given.atoms_.tolist() == [2.0, 5.0]
    none = model().set_params(atoms=[]).fit(X, y)
    np.testing.assert_array_equal(none.predict(X), LSCDE(**FIXED).fit(X, y).predict(X))
    assert none.model_weights_ == {}


def test_scores_have_no_atoms_that_stand_out():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 2))
    fitted = model().fit(X, rng.integers(0, 5, 100).astype(float))
    assert len(fitted.atoms_) == 0


@pytest.mark.parametrize(
    ("atoms", "message"),
    [
        ([0.0, 7.0], "never equal to the atom 7"),
        ([0.0, 0.0], "different finite numbers"),
        ([np.nan], "different finite numbers"),
        ("all", "different finite numbers"),
    ],
)
def test_atoms_that_cannot_be_fitted_are_refused(atoms, message):
    X, y = rain(80)
    with pytest.raises(ValueError, match=message):
        model().set_params(atoms=atoms).fit(X, y)


def test_a_target_without_other_values_is_refused():
    X, _ = rain(40)
    with pytest.raises(ValueError, match="1 different values beside the atoms"):
        model().set_params(atoms=[0.0]).fit(X, np.arange(40) % 2.0)


def test_a_column_is_one_output():
    X, y = rain(80)
    with pytest.warns(DataConversionWarning, match="ravel"):
        found = model().fit(X, y[:, None]).predict(X)
    np.testing.assert_array_equal(found, model().fit(X, y).predict(X))


def test_several_outputs_are_refused():
    X, y = rain(80)
    with pytest.raises(ValueError, match="one by one"):
        model().fit(X, np.column_stack([y, y]))


def test_repeated_samples_are_integer_weights_and_their_order_does_not_matter():
    X, y = rain(120)
    weight = np.arange(120) % 3
    rows = np.random.default_rng(0).permutation(np.repeat(np.arange(120), weight))
    one, two = model().fit(X, y, weight), model().fit(X[rows], y[rows])
    np.testing.assert_allclose(one.predict(X), two.predict(X), rtol=1e-9)
    np.testing.assert_allclose(one.predict_dist(X).masses, two.predict_dist(X).masses, rtol=1e-9)


def test_discrete_inputs_have_the_shares_of_their_rows():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 1)).astype(float)
    dry = rng.random(400) < np.where(X[:, 0] == 0, 0.9, 0.1)
    y = np.where(dry, 0.0, np.exp(rng.standard_normal(400)))
    shares = [(y[X[:, 0] == k] == 0).mean() for k in (0, 1)]
    fitted = model().fit(X, y)
    np.testing.assert_allclose(fitted.predict_dist([[0.0], [1.0]]).pmf(0.0), shares, atol=0.02)
    noisy = model().fit(X + 1e-9 * rng.standard_normal((400, 1)), y)
    assert fitted.cv_losses_["average"] == pytest.approx(noisy.cv_losses_["average"], abs=0.02)
    order = rng.permutation(400)
    again = model().fit(X[order], y[order]).predict_dist([[0.0], [1.0]])
    np.testing.assert_array_equal(again.masses, fitted.predict_dist([[0.0], [1.0]]).masses)


def test_unequal_weights_need_a_density_that_accepts_them():
    X, y = rain(120)

    class Plain:
        """A density that does not accept weights."""

        def get_params(self, deep=True):
            return {}

        def set_params(self, **params):
            return self

        def fit(self, X, y):
            return self

        def predict_dist(self, X):
            return Mixture([Block(np.zeros((len(X), 1)), np.zeros((1, 1)), np.eye(1))])

    with pytest.raises(ValueError, match="does not accept sample_weight"):
        WithAtoms(Plain()).fit(X, y, 1.0 + np.arange(120))
    assert len(WithAtoms(Plain()).fit(X, y).predict_dist(X[:3])) == 3


def test_given_folds_are_those_of_the_density_too():
    X, y = rain(150)
    groups = np.repeat(np.arange(30), 5)
    folds = list(GroupKFold(3).split(X, y, groups))
    fitted = WithAtoms(LSCDE(random_state=0), cv=folds, random_state=0).fit(X, y)
    beside = np.flatnonzero(y > 0)
    label = np.zeros(150, dtype=int)
    for j, (_, test) in enumerate(folds):
        label[test] = j
    for j, (_, test) in enumerate(fitted.density_.cv):
        np.testing.assert_array_equal(test, np.flatnonzero(label[beside] == j))


def test_names_pipelines_and_scorers():
    X, y = rain(150)
    frame = pd.DataFrame(X, columns=list("abc"))
    fitted = model().fit(frame, y)
    assert list(fitted.feature_names_in_) == list("abc")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted.predict_dist(frame)
    dist = fitted.predict_dist(frame)
    assert neg_crps(fitted, frame, y) == pytest.approx(-crps(dist, y))
    assert neg_log_loss(fitted, frame, y) == pytest.approx(-log_loss(dist, y))
    wet = y > 0
    by_hand = np.where(wet, np.log(dist.rest) + dist.continuous.log_pdf(y), np.log(dist.pmf(0.0)))
    assert neg_log_loss(fitted, frame, y) == pytest.approx(by_hand.mean())
    pipe = make_pipeline(StandardScaler(), model())
    assert np.isfinite(cross_val_score(pipe, X, y, cv=3, scoring=neg_crps)).all()


def test_very_many_rows_are_answered_in_chunks(monkeypatch):
    X, y = rain(150)
    fitted = model().fit(X, y)
    whole = fitted.predict_dist(X)
    monkeypatch.setattr(chunked_module, "BLOCK", 100)
    monkeypatch.setattr(chunked_module, "CHUNK", 5000)
    chunked = fitted.predict_dist(X)
    assert isinstance(chunked, ChunkedDistribution)
    assert isinstance(chunked.compute(), MixedDistribution)
    np.testing.assert_allclose(chunked.crps(y), whole.crps(y), rtol=1e-10)
    np.testing.assert_allclose(chunked.quantile([0.3, 0.9]), whole.quantile([0.3, 0.9]), rtol=1e-9)
    with pytest.raises(AttributeError, match=r"compute\(\)\.masses"):
        _ = chunked.masses


def test_tables_evaluate_it_beside_a_model_without_inputs():
    X, y = rain(200)
    X_test, y_test = rain(100, seed=2)
    fitted = model().fit(X, y)
    evaluation = compare_with_baselines(fitted, (X, y), (X_test, y_test))
    plain = evaluate_model(fitted, X_test, y_test)
    assert evaluation.error == plain.error
    assert evaluation.log_loss == pytest.approx(log_loss(fitted.predict_dist(X_test), y_test))
    assert evaluation.error < evaluation.error_without_inputs
    assert evaluation.error_without_reduction is None


def test_the_report_refuses_it_in_one_sentence(tmp_path):
    X, y = rain(100)
    with pytest.raises(TypeError, match="WithAtoms"):
        write_report(model().fit(X, y), tmp_path / "page.html")


def test_other_densities_beside_the_atoms():
    X, y = rain(200)
    for density in (EpsilonKDE(1.0, 0.3), LSCE(1, n_starts=1, n_members=1, max_iter=3)):
        dist = WithAtoms(density, random_state=0).fit(X, y).predict_dist(X[:4])
        np.testing.assert_allclose(dist.prob(-np.inf, np.inf), 1.0)
