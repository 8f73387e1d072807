"""Data frames of densities, compared with the methods that answer one question each."""

import sys

import numpy as np
import pytest

from condensity.distributions import (
    BoundedMixture,
    Bounds,
    ChunkedDistribution,
    LazyDistribution,
    concatenate_rows,
)
from condensity.targets import MixedDistribution
from mixtures import random_mixture

pd = pytest.importorskip("pandas")
LEVELS = (0.1, 0.5)


def bounded():
    positive = Bounds(np.zeros(1), np.full(1, np.inf))
    return BoundedMixture(random_mixture(0).stretch(np.full(1, 0.3)), positive)


def chunked():
    dist = random_mixture(0)
    return ChunkedDistribution(np.arange(3), lambda own: dist[own], 10**6, 1)


def with_atom():
    return MixedDistribution([0.0], np.full((3, 1), 0.4), random_mixture(0))


KINDS = {
    "mixture": lambda: random_mixture(0),
    "bounded": bounded,
    "chunked": chunked,
    "atoms": with_atom,
    "concatenated": lambda: concatenate_rows([random_mixture(0), bounded()]),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_the_columns_are_the_answers_of_the_methods(kind):
    dist = kind()
    frame = dist.to_frame(LEVELS)
    assert list(frame.columns) == ["mean", "std", "q0.1", "q0.5"]
    expected = np.column_stack([dist.mean(), dist.std(), dist.quantile(0.1), dist.quantile(0.5)])
    np.testing.assert_allclose(frame.to_numpy(), expected, rtol=1e-12)
    assert list(dist.to_frame(()).columns) == ["mean", "std"]


def test_several_outputs_have_columns_of_their_own():
    dist = random_mixture(1, dy=2)
    frame = dist.to_frame([0.3], outputs=["height", "weight"], index=["a", "b", "c"])
    names = [f"{name}_{what}" for name in ("height", "weight") for what in ("mean", "std", "q0.3")]
    assert list(frame.columns) == names
    np.testing.assert_allclose(frame["weight_mean"], dist.mean()[:, 1])
    np.testing.assert_allclose(frame["height_std"], np.sqrt(dist.cov()[:, 0, 0]))
    assert frame.loc["b", "weight_q0.3"] == pytest.approx(dist.marginal(1).quantile(0.3)[1])
    assert list(dist.to_frame(()).columns) == ["y1_mean", "y1_std", "y2_mean", "y2_std"]
    assert list(random_mixture(0).to_frame((), outputs=["p"]).columns) == ["p_mean", "p_std"]


def test_dask_collections_are_predicted_once():
    da = pytest.importorskip("dask.array", reason="dask comes with condensity[dask]")
    dist, calls = random_mixture(0), []

    class Model:
        def predict_dist(self, X):
            calls.append(len(X))
            return dist[np.asarray(X)[:, 0].astype(int)]

    rows = da.from_array(np.arange(3.0)[:, None], chunks=(2, 1))
    frame = LazyDistribution(Model(), rows, 1).to_frame(LEVELS, index=[3, 4, 5])
    pd.testing.assert_frame_equal(frame, dist.to_frame(LEVELS, index=[3, 4, 5]))
    assert calls == [3]


def test_a_parquet_file_holds_the_frame(tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow comes with condensity[parquet]")
    frame = random_mixture(1, dy=2).to_frame()
    frame.to_parquet(tmp_path / "densities.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "densities.parquet"), frame)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"quantiles": 0.5}, r"quantiles must be a list of levels, got shape \(\)"),
        ({"index": [1, 2]}, "index must have 3 names, got 2: pass a list with one name for each r"),
        ({"outputs": ["a", "b"]}, "outputs must have 1 names, got 2"),
        ({"outputs": "y"}, "outputs must have 1 names, got 'y': pass a list"),
        ({"quantiles": [50]}, r"\[0, 1\]"),
    ],
)
def test_what_has_no_columns_is_refused(options, match):
    with pytest.raises(ValueError, match=match):
        random_mixture(0).to_frame(**options)


def test_without_pandas_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match="pip install 'pandas>="):
        random_mixture(0).to_frame()
