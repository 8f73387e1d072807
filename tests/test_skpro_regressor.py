"""The regressor of skpro; skipped if skpro is not installed."""

import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import condensity.skpro_regressor as module
from condensity import LSCDE

pd = pytest.importorskip("pandas")
FAST = LSCDE(bandwidth=0.5, penalty=0.1, random_state=0)


def test_without_skpro_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "skpro.regression.base", None)
    with pytest.raises(ModuleNotFoundError, match="pip install 'skpro>="):
        module.SkproRegressor()


@pytest.fixture
def skpro():
    return pytest.importorskip("skpro", reason="skpro is not installed: condensity[skpro]")


def samples(dy):
    rng = np.random.default_rng(dy)
    X = pd.DataFrame(rng.standard_normal((60, 2)), columns=["a", "b"], index=np.arange(60) + 5)
    names = ["u", "v"][:dy]
    return X, pd.DataFrame(X.to_numpy()[:, :1] + rng.normal(size=(60, dy)), X.index, names)


@pytest.mark.parametrize("dy", [1, 2])
def test_the_distributions_are_those_of_the_estimator(skpro, dy):
    X, y = samples(dy)
    model = module.SkproRegressor(FAST).fit(X[:50], y[:50])
    found = model.predict_proba(X[50:])
    target = y.to_numpy()[:50, 0] if dy == 1 else y.to_numpy()[:50]
    own = clone(FAST).fit(X[:50], target).predict_dist(X[50:])
    np.testing.assert_allclose(found.mean().to_numpy().squeeze(), own.mean(), rtol=1e-12)
    assert list(found.columns) == list(y.columns)
    assert found.index.equals(X.index[50:])
    quantiles = model.predict_quantiles(X[50:], alpha=[0.2])
    expected = np.column_stack([m.quantile(0.2) for m in own.marginals()])
    np.testing.assert_allclose(quantiles.to_numpy(), expected, rtol=1e-9)


def test_a_pipeline_is_fitted_as_a_clone(skpro):
    X, y = samples(1)
    pipe = make_pipeline(StandardScaler(), FAST)
    model = module.SkproRegressor(pipe).fit(X, y)
    expected = clone(pipe).fit(X, y["u"]).predict(X)
    np.testing.assert_allclose(model.predict(X).to_numpy()[:, 0], expected, rtol=1e-12)
    assert not hasattr(pipe[0], "mean_")
    assert model.estimator_.predict(X).shape == (60,)


@pytest.mark.filterwarnings("ignore")
def test_the_tests_of_skpro_pass(skpro):
    from skpro.utils.estimator_checks import check_estimator

    results = check_estimator(module.SkproRegressor, verbose=False)
    assert len(results) > 50
    assert {name: str(found) for name, found in results.items() if found != "PASSED"} == {}
