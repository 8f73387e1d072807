import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from condensity import LSMI
from condensity.datasets import toy_b
from condensity.metrics import subspace_error


@parametrize_with_checks([LSMI(n_components=1, n_starts=2, max_iter=200)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_mutual_information_of_gaussians():
    """Correlation r: ``SMI = r^2 / (1 - r^2) / 2``; r as it is in the sample."""
    rng = np.random.default_rng(0)
    X, noise = rng.standard_normal((2, 1500, 1))
    y = 0.4 * X + 0.9 * noise
    r = np.corrcoef(X[:, 0], y[:, 0])[0, 1]
    settled = LSMI(1, n_starts=1, bandwidth=1.0, penalty=1e-4, random_state=0)
    assert settled.fit(X, y).smi_ == pytest.approx(0.5 * r**2 / (1 - r**2), rel=0.15)
    assert abs(settled.fit(X, rng.standard_normal(1500)).smi_) < 0.01


def test_finds_the_direction_of_a_toy_problem_and_tells_what_it_did():
    problem = toy_b()
    X, y = problem.sample(150, random_state=0)
    model = LSMI(1, n_starts=3, random_state=0).fit(X, y)
    assert subspace_error(model.components_, problem.components) < 0.25
    Z = model.transform(X)
    expected = ((X - X.mean(axis=0)) / X.std(axis=0)) @ model.components_.T
    np.testing.assert_allclose(Z, expected, rtol=1e-10, atol=1e-12)
    assert np.corrcoef(Z[:, 0], y)[0, 1] > 0
    assert model.smi_ == max(-start.value - 0.5 for start in model.history_)
    assert list(model.get_feature_names_out()) == ["lsmi0"]


def test_same_seed_same_answer_for_any_number_of_workers():
    X, y = toy_b().sample(60, random_state=0)
    one, two = (LSMI(2, n_starts=2, random_state=0, n_jobs=j).fit(X, y) for j in (1, 2))
    np.testing.assert_array_equal(one.components_, two.components_)


def test_auto_tries_every_dimension():
    X, y = toy_b().sample(80, random_state=0)
    model = LSMI(n_starts=1, random_state=0).fit(X[:, :3], y)
    assert sorted(set(model.cv_results_["param_n_components"])) == [1, 2, 3]
    assert model.n_components_ == np.argmax(model.dimension_scores_) + 1
    assert clone(model).n_components == "auto"


def test_progress_is_told_by_name(capsys):
    X, y = toy_b().sample(40, random_state=0)
    LSMI(1, n_starts=2, random_state=0, verbose=1).fit(X, y)
    assert capsys.readouterr().out.startswith(
        "[LSMI] start 1 of 6, 40 centres: n_components=1, SMI 0."
    )
