"""Workers may be processes, threads or a Dask cluster: the answer is the same."""

import os

import joblib
import numpy as np
import pytest

import cells
from condensity import LSCDE, LSCE, SIR, Reduced
from condensity._utils.parallel import parallel_map, thread_map
from condensity.datasets import toy_b

FEW = {"n_starts": 2, "cv": 2, "random_state": 0}
MODELS = {
    "LSCE": LSCE(1, n_members=2, max_iter=5, **FEW),
    "LSCE of a subsample": LSCE(1, n_members=2, max_iter=5, subsample=50, **FEW),
    "LSCE as published": LSCE.as_published(1).set_params(**FEW),
    "LSCDE of a subsample": LSCDE(cv=2, subsample=50, random_state=0),
    "Reduced": Reduced(SIR(), LSCDE(bandwidth=0.5, penalty=0.1), [1, 2], cv=2, random_state=0),
}


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed", reason="dask is not installed")
    options = {"n_workers": 2, "threads_per_worker": 2, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.mark.filterwarnings("ignore")  # those of the cluster as it comes and goes
@pytest.mark.parametrize("name", MODELS)
def test_a_cluster_gives_the_same_answer(client, name):
    X, y = toy_b().sample(80, random_state=0)
    model = MODELS[name]
    here = model.set_params(n_jobs=None).fit(X, y).predict_dist(X).pdf(y)
    with joblib.parallel_backend("dask"):
        there = model.set_params(n_jobs=-1).fit(X, y).predict_dist(X).pdf(y)
    np.testing.assert_array_equal(there, here)


@pytest.mark.filterwarnings("ignore")
def test_samples_stay_where_they_are(client):
    with joblib.parallel_backend("dask"):
        assert set(thread_map(2)(cells.where, range(4))) == {os.getpid()}
        assert os.getpid() not in set(parallel_map(2)(cells.where, range(4)))


@pytest.mark.filterwarnings("ignore")
def test_samples_in_parts_may_meet_workers_of_the_same_cluster(client):
    da = pytest.importorskip("dask.array")
    X, y = toy_b().sample(80, random_state=0)
    model = LSCDE(cv=2, subsample=50, random_state=0)
    here = model.fit(X, y).predict(X)
    with joblib.parallel_backend("dask"):
        model.fit(da.from_array(X, chunks=(20, 5)), da.from_array(y, chunks=20))
    np.testing.assert_allclose(model.predict(X), here, rtol=1e-8)
