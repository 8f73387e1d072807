"""Stages for RAIL; the oracle is a fit of the estimator itself.  Skipped if RAIL is missing."""

import sys

import numpy as np
import pytest

import condensity.rail_stages as stages
from condensity import LSCE

BANDS = ["u", "g", "r"]
LIMITS = {"u": 27.0, "g": 28.0, "r": 28.5}
OPTIONS = {
    "n_components": 1, "location": "linear", "bandwidth": (0.8, 0.5), "penalty": 0.05,
    "n_starts": 1, "max_iter": 3, "n_members": 1, "cv": 2, "bounds": (0, None),
}  # fmt: skip


def test_without_rail_the_remedy_is_named(monkeypatch):
    for name in ("LSCEInformer", "LSCEEstimator"):
        monkeypatch.delitem(vars(stages), name, raising=False)
        monkeypatch.setitem(sys.modules, "rail.estimation.informer", None)
        with pytest.raises(ModuleNotFoundError, match="pip install 'pz-rail-base>="):
            getattr(stages, name)
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        stages.other  # noqa: B018


def galaxies(n, seed):
    rng = np.random.default_rng(seed)
    z = rng.gamma(4.0, 0.2, n)
    table = {
        band: 22 + (j + 1) * np.log(z) + 0.3 * rng.standard_normal(n)
        for j, band in enumerate(BANDS)
    }
    table["u"][:3], table["g"][3] = 99.0, np.nan
    return table | {"redshift": z}


def inputs(table):
    """The magnitudes with limits, written out."""
    X = np.column_stack([table[band] for band in BANDS])
    X[:3, 0], X[3, 1] = LIMITS["u"], LIMITS["g"]
    return X


@pytest.fixture
def common(tmp_path, monkeypatch):
    pytest.importorskip("rail", reason="RAIL is not installed: condensity[rail]")
    monkeypatch.chdir(tmp_path)
    return {
        "bands": BANDS, "mag_limits": LIMITS, "nondetect_val": 99.0, "redshift_col": "redshift",
        "hdf5_groupname": "",
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore")  # those of RAIL
def test_the_stages_give_the_densities_of_the_estimator(common):
    train, test = galaxies(80, 0), galaxies(25, 1)
    informer = stages.LSCEInformer.make_stage(
        name="inform", model="model.pkl", options=OPTIONS, seed=3, **common
    )
    handle = informer.inform(train)
    assert handle.data.random_state == 3
    estimator = stages.LSCEEstimator.make_stage(
        name="estimate", model=handle, zmin=0.0, zmax=4.0, nzbins=401, chunk_size=10,
        point_estimates=["mean"], **common,
    )  # fmt: skip
    found = estimator.estimate(test).data
    own = LSCE(random_state=3, **OPTIONS).fit(inputs(train), train["redshift"])
    dist, grid = own.predict_dist(inputs(test)), np.linspace(0, 4, 401)
    density = dist.pdf_on(grid)
    density /= np.trapezoid(density, grid, axis=1)[:, None]
    np.testing.assert_allclose(found.pdf(grid), density, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.median().ravel(), dist.quantile(0.5), atol=0.02)


@pytest.mark.filterwarnings("ignore")
def test_a_band_without_a_limit_is_named(common):
    common["mag_limits"] = {"u": 27.0}
    informer = stages.LSCEInformer.make_stage(
        name="inform", model="model.pkl", options=OPTIONS, **common
    )
    with pytest.raises(ValueError, match="band 'g' has 1 values that are not detected"):
        informer.inform(galaxies(80, 0))
