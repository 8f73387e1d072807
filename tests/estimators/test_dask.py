"""Samples that Dask holds, on real workers: the answer is that of the same samples in memory."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from condensity import LSCDE, LSCE
from condensity.datasets import toy_b

da = pytest.importorskip("dask.array", reason="dask is not installed")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore")  # those of the cluster as it comes and goes

CHUNKS = (30, 1, 109, 60, 100)
SETTINGS = {"subsample": 80, "n_members": 2, "n_starts": 1, "cv": 2, "max_iter": 10}
QUICK = SETTINGS | {"location": "none", "random_state": 0}


@pytest.fixture(scope="module")
def client():
    """Two worker processes."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        distributed.LocalCluster(**options, memory_limit="600MB") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def data(n=300):
    X, y = toy_b().sample(n, random_state=0)
    X[7] = X[n // 2]
    y[7] = y[n // 2]  # a sample that is in two parts
    weight = np.random.default_rng(0).integers(0, 3, n).astype(float)
    return X, y, weight


def in_parts(*arrays):
    return [da.from_array(a, chunks=(CHUNKS, *a.shape[1:])) for a in arrays]


@pytest.mark.parametrize("estimator", [LSCE(1, **QUICK), LSCDE(subsample=80, random_state=0)])
def test_the_answer_is_that_of_the_samples_in_memory(client, estimator):
    X, y, weight = data()
    local = estimator.fit(X, y, weight).predict_dist(X)
    bandwidth = estimator.bandwidth_
    spread = estimator.fit(*in_parts(X, y, weight))
    assert spread.bandwidth_ == bandwidth
    assert spread.n_features_in_ == 5
    found = spread.predict_dist(X)
    np.testing.assert_allclose(found.pdf(y), local.pdf(y), rtol=1e-8)
    np.testing.assert_allclose(found.mean(), local.mean(), rtol=1e-8, atol=1e-10)


def test_frames_keep_the_names_of_their_columns(client):
    pd = pytest.importorskip("pandas")
    X, y, _ = data(120)
    frame = pd.DataFrame(X, columns=list("abcde")).assign(y=np.exp(y))
    model = LSCE(1, bounds=(0, None), **QUICK)
    local = model.fit(frame[list("abcde")], frame["y"]).predict(frame[list("abcde")])
    parts = dd.from_pandas(frame, npartitions=4)
    model.fit(parts[list("abcde")], parts["y"])
    assert model.feature_names_in_.tolist() == list("abcde")
    found = model.predict(parts[list("abcde")])
    np.testing.assert_allclose(found.compute(), local, rtol=1e-8)


@pytest.fixture(scope="module")
def model():
    X, y, _ = data(80)
    return LSCE(1, **QUICK | {"subsample": None}).fit(X, y)


QUESTIONS = {
    "mean": lambda dist, y: dist.mean(),
    "var": lambda dist, y: dist.var(),
    "pdf": lambda dist, y: dist.pdf(y),
    "log_pdf": lambda dist, y: dist.log_pdf(y),
    "cdf": lambda dist, y: dist.cdf(y),
    "crps": lambda dist, y: dist.crps(y),
    "pdf at a point": lambda dist, y: dist.pdf(0.5),
    "prob": lambda dist, y: dist.prob(0.0, 1.0),
    "quantile": lambda dist, y: dist.quantile(0.9),
    "quantiles": lambda dist, y: dist.quantile([0.1, 0.5, 0.9]),
    "interval": lambda dist, y: dist.interval(0.8),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_for_inputs_in_parts_wait_until_they_are_computed(model, question):
    X, y, _ = data()
    ask = QUESTIONS[question]
    lazy = ask(model.predict_dist(in_parts(X)[0]), in_parts(y)[0])
    assert isinstance(lazy, da.Array)
    expected = ask(model.predict_dist(X), y)
    assert lazy.chunks[0] == CHUNKS
    assert lazy.shape == expected.shape
    found = lazy.compute(scheduler="synchronous")
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_what_else_a_model_answers(model):
    X, _, _ = data()
    (parts,) = in_parts(X)
    lazy = model.predict_dist(parts)
    draws = lazy.sample(4, random_state=1)
    assert draws.shape == (300, 4)
    first = draws.compute(scheduler="synchronous")
    again = lazy.sample(4, random_state=1).compute(scheduler="synchronous")
    np.testing.assert_array_equal(first, again)
    assert len(np.unique(first)) == 1200
    for found, expected in (
        (model.predict(parts), model.predict(X)),
        (model.transform(parts), model.transform(X)),
        (lazy.compute().mean(), model.predict(X)),
    ):
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12)


def test_what_does_not_fit_together_is_refused():
    X, y, _ = data()
    parts, targets = in_parts(X, y)
    with pytest.raises(TypeError, match="must all be Dask collections or none of them, got Array"):
        LSCE(1, **QUICK).fit(parts, y)
    with pytest.raises(ValueError, match="cv must be a number of folds for Dask collections"):
        LSCE(1, **QUICK | {"cv": [([0], [1]), ([1], [0])]}).fit(parts, targets)
    with pytest.raises(ValueError, match=r"come in \[5, 1\] parts"):
        LSCE(1, **QUICK).fit(parts, da.from_array(y[:299], chunks=-1))
    wrong = X.copy()
    wrong[150, 2] = np.nan
    with pytest.raises(ValueError, match="part 3 of the samples: X contains NaN in 1 of 60 rows"):
        LSCDE(random_state=0).fit(in_parts(wrong)[0], targets)


def many(block, columns):
    """A part of samples that are nowhere until they are asked for."""
    rng = np.random.default_rng(block)
    X = rng.standard_normal((50_000, 20))
    return np.column_stack([X, X[:, 0] + 0.5 * rng.standard_normal(len(X))])[:, columns]


def made(columns, n_blocks=80):
    import dask

    count = len(range(21)[columns])
    parts = [
        da.from_delayed(dask.delayed(many)(i, columns), (50_000, count), float)
        for i in range(n_blocks)
    ]
    return da.concatenate(parts)


PLAIN = LSCDE(n_centers=20, bandwidth=(3.0, 0.5), penalty=0.1, subsample=200, random_state=0)


def test_samples_may_be_more_than_a_worker_can_hold(client):
    X, y = made(slice(0, 20)), made(slice(20, 21))[:, 0]
    assert X.nbytes > 6.3e8  # and 600 MB is what a worker has
    model = PLAIN.fit(X, y)
    assert model.predict(np.eye(20))[0] > model.predict(np.eye(20))[1:].max()
    assert np.isfinite(model.sce_)


def test_a_worker_may_die_on_the_way(client):
    X, y = made(slice(0, 20), 30), made(slice(20, 21), 30)[:, 0]
    expected = PLAIN.fit(X, y).sce_
    victims = client.run(os.getpid)

    def kill():
        time.sleep(0.5)
        os.kill(min(victims.values()), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    found = PLAIN.fit(X, y).sce_
    killer.join()
    assert found == pytest.approx(expected, rel=1e-10)
    assert client.run(os.getpid) != victims
