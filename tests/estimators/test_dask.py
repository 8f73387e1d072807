"""Samples that Dask holds, on real workers: the answer is that of the same samples in memory."""

import os
import signal

import numpy as np
import pytest

from condensity import LSCDE, LSCE, LSMI, OPG, SAVE, SIR, DirectionalRegression, FixedSubspace
from condensity.datasets import toy_b

dask = pytest.importorskip("dask", reason="dask is not installed")
da = pytest.importorskip("dask.array")
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


@pytest.mark.parametrize(
    "estimator",
    [
        LSCE(1, **QUICK),
        LSCE(1, **QUICK | {"location": "linear"}),
        LSCDE(subsample=80, random_state=0),
    ],
)
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


def test_outliers_are_left_out_as_in_memory(client):
    X, y, weight = data()
    y[[3, 200]], X[150, 2], weight[[3, 150, 200]] = 1e6, -1e6, 1.0
    model = LSCE(1, **QUICK | {"location": "linear"})
    with pytest.warns(UserWarning, match="left out of the fit: 3 of 300 samples"):
        local = model.fit(X, y, weight).predict(X)
    message = "3 of 300 samples.*X in column 2 is not between .* in 1 row; y is not .* in 2 rows"
    with pytest.warns(UserWarning, match=message):
        model.fit(*in_parts(X, y, weight))
    np.testing.assert_allclose(model.predict(X), local, rtol=1e-8, atol=1e-10)


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


REDUCERS = [
    SIR(2),
    SAVE(2),
    DirectionalRegression(2),
    OPG(2),
    FixedSubspace(np.eye(5)[:2]),
    LSMI(2, n_starts=1, max_iter=2, bandwidth=0.5, penalty=0.1, random_state=0),
]


@pytest.mark.parametrize("reducer", REDUCERS, ids=lambda r: type(r).__name__)
def test_transformers_without_a_density_compute_dask_inputs(reducer):
    X, y, _ = data()
    found = reducer.fit(X, y).transform(in_parts(X)[0])
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(found, reducer.transform(X))


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
    _, y, weight = data()
    found = model.score(*in_parts(X, y, weight))
    assert found == pytest.approx(model.score(X, y, weight), rel=1e-12)


def test_what_does_not_fit_together_is_refused():
    X, y, _ = data()
    parts, targets = in_parts(X, y)
    with pytest.raises(TypeError, match="must all be Dask collections or none of them, got Array"):
        LSCE(1, **QUICK).fit(parts, y)
    with pytest.raises(ValueError, match="cv must be a number of folds for Dask collections"):
        LSCE(1, **QUICK | {"cv": [([0], [1]), ([1], [0])]}).fit(parts, targets)
    with pytest.raises(ValueError, match=r"have \[5, 1\] chunks"):
        LSCE(1, **QUICK).fit(parts, da.from_array(y[:299], chunks=-1))
    wrong = X.copy()
    wrong[150, 2] = np.nan
    with pytest.raises(ValueError, match="chunk 3 of the samples: X contains NaN in 1 of 60 rows"):
        LSCDE(random_state=0).fit(in_parts(wrong)[0], targets)
    with pytest.raises(TypeError, match="only with a subsample"):
        LSCE(1, subsample=None).fit(parts, targets)
    with pytest.raises(ValueError, match="none of the 300 samples has a positive weight"):
        LSCDE(random_state=0).fit(parts, targets, in_parts(np.zeros(300))[0])


def test_samples_without_weight_have_no_score(model):
    X, y, weight = data()
    with pytest.raises(ValueError, match="sample_weight is zero for every sample"):
        model.score(X, y, 0 * weight)
    with pytest.raises(ValueError, match="sample_weight is zero for every sample"):
        model.score(*in_parts(X, y, 0 * weight))


def test_points_are_numbers_or_in_the_parts_of_the_inputs(model):
    X, y, _ = data()
    lazy = model.predict_dist(in_parts(X)[0])
    with pytest.raises(TypeError, match="Y must be a number or a Dask collection"):
        lazy.pdf(y)


def test_a_table_of_cells_is_dealt_as_in_memory(client):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (300, 1)).astype(float)
    y = X[:, 0] + rng.integers(0, 3, 300)
    model = LSCDE(subsample=100, random_state=0)
    local = model.fit(X, y).bandwidth_
    assert model.fit(*in_parts(X, y)).bandwidth_ == local


def test_parts_may_be_empty():
    pd = pytest.importorskip("pandas")
    X, y, _ = data(120)
    kept = pd.DataFrame(X, columns=list("abcde")).iloc[90:]
    parts = [kept.iloc[:0], kept.iloc[:10], kept.iloc[:0], kept.iloc[10:]]
    targets = [pd.Series(y, name="y").loc[part.index] for part in parts]
    inputs, outputs = (dd.from_delayed([dask.delayed(p) for p in ps]) for ps in (parts, targets))
    fixed = LSCDE(bandwidth=0.5, penalty=0.1, random_state=0)
    with dask.config.set(scheduler="synchronous"):
        found = fixed.fit(inputs, outputs).predict(inputs).compute()
    np.testing.assert_allclose(found, fixed.fit(kept, y[90:]).predict(kept), rtol=1e-8)


def test_all_samples_may_be_few_that_are_repeated():
    X, y = np.repeat([[0.0], [1.0]], 500, axis=0), np.repeat([0.0, 1.0], 500)
    weight = np.full(1000, 0.3)
    chunks = [da.from_array(a, chunks=100) for a in (X, y, weight)]
    with dask.config.set(scheduler="synchronous"):
        model = LSCDE(bandwidth=0.5, penalty=0.1, random_state=0).fit(*chunks)
    local = LSCDE(bandwidth=0.5, penalty=0.1, random_state=0).fit(X, y, weight)
    np.testing.assert_allclose(model.predict([[0.3]]), local.predict([[0.3]]), rtol=1e-8)


def test_blas_keeps_its_threads():
    from threadpoolctl import threadpool_info

    def threads():
        return sorted(lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas")

    X, y, _ = data()
    before = threads()
    for _ in range(3):
        with dask.config.set(scheduler="threads", num_workers=3):
            LSCDE(bandwidth=0.5, penalty=0.1, subsample=50, random_state=0).fit(*in_parts(X, y))
    assert threads() == before


def many(block, columns, fatal=None):
    """A part of samples that are nowhere until they are asked for; one kills its worker, once."""
    if fatal is not None and block == 11 and not os.path.exists(fatal):
        open(fatal, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    rng = np.random.default_rng(block)
    X = rng.random((50_000, 20))
    return np.column_stack([X, X[:, 0] + rng.random(len(X))])[:, columns]


def made(columns, n_blocks, fatal=None):
    count = len(range(21)[columns])
    parts = [
        da.from_delayed(dask.delayed(many)(i, columns, fatal), (50_000, count), float)
        for i in range(n_blocks)
    ]
    return da.concatenate(parts)


PLAIN = LSCDE(n_centers=20, bandwidth=(3.0, 0.5), penalty=0.1, subsample=200, random_state=0)


def test_samples_may_be_more_than_all_workers_can_hold(client):
    X, y = made(slice(0, 20), 160), made(slice(20, 21), 160)[:, 0]
    assert X.nbytes > 2 * 6e8  # two workers, 600 MB each
    model = PLAIN.fit(X, y)
    assert model.predict(np.eye(20))[0] > model.predict(np.eye(20))[1:].max()
    assert np.isfinite(model.sce_)


def test_a_worker_may_die_on_the_way(client, tmp_path):
    fatal = str(tmp_path / "died")
    expected = PLAIN.fit(made(slice(0, 20), 20), made(slice(20, 21), 20)[:, 0]).sce_
    found = PLAIN.fit(made(slice(0, 20), 20, fatal), made(slice(20, 21), 20)[:, 0]).sce_
    assert os.path.exists(fatal)
    assert found == pytest.approx(expected, rel=1e-10)


def test_lazy_answers_do_not_change_when_the_model_is_fitted_again():
    X, y = data()[:2]
    model = LSCDE(bandwidth=0.5, penalty=0.1, random_state=0).fit(X, y)
    (inputs,) = in_parts(X)
    dist, mean = model.predict_dist(inputs), model.predict(inputs)
    before = model.predict(X)
    model.fit(X, 100 + y)
    np.testing.assert_allclose(dist.mean().compute(), before)
    np.testing.assert_allclose(mean.compute(), before)
