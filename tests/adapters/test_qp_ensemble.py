"""Ensembles of qp; skipped if qp is not installed."""

import sys

import numpy as np
import pytest

from condensity.distributions import BoundedMixture, Bounds, concatenate_rows
from condensity.targets import MixedDistribution
from mixtures import gaussians, random_mixture


def test_without_qp_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "qp", None)
    with pytest.raises(ModuleNotFoundError, match="pip install 'qp-prob>="):
        random_mixture(0).to_qp()


@pytest.fixture
def qp():
    return pytest.importorskip("qp", reason="qp is not installed: condensity[qp]")


@pytest.mark.parametrize(
    "dist",
    [random_mixture(0), concatenate_rows([random_mixture(0)[:1], random_mixture(5)[1:]])],
    ids=["mixture", "concatenated"],
)
def test_an_ensemble_has_the_same_densities(dist, qp):
    ensemble, grid = dist.to_qp(), np.linspace(-6, 6, 41)
    assert ensemble.npdf == 3
    np.testing.assert_allclose(ensemble.pdf(grid), dist.pdf_on(grid), rtol=1e-9, atol=1e-14)
    cdf = np.column_stack([dist.cdf(y) for y in grid])
    np.testing.assert_allclose(ensemble.cdf(grid), cdf, rtol=1e-9, atol=1e-12)
    # qp interpolates its quantiles between points of a grid.
    levels = np.array([0.1, 0.5, 0.9])
    np.testing.assert_allclose(ensemble.ppf(levels), dist.quantile(levels), atol=0.02)


def test_the_parameters_are_those_of_each_row(qp):
    dist = random_mixture(0)
    data = dist.to_qp(ancil={"id": np.array([7, 8, 9])})
    np.testing.assert_array_equal(data.ancil["id"], [7, 8, 9])
    for i in range(3):
        weights, means, covs = zip(*gaussians(dist, i), strict=True)
        np.testing.assert_allclose(data.objdata["weights"][i], weights)
        np.testing.assert_allclose(data.objdata["means"][i], np.ravel(means))
        np.testing.assert_allclose(data.objdata["stds"][i], np.sqrt(np.ravel(covs)))


def test_what_is_no_mixture_of_one_output_is_refused(qp):
    bounded = BoundedMixture(random_mixture(0), Bounds(np.zeros(1), np.full(1, np.inf)))
    with pytest.raises(TypeError, match="fit with bounds=None, or pass quantiles to qp"):
        bounded.to_qp()
    with pytest.raises(TypeError, match="to_qp needs Gaussian mixtures, and a MixedDistribution"):
        MixedDistribution([0.0], np.full((3, 1), 0.4), random_mixture(0)).to_qp()
    with pytest.raises(ValueError, match=r"select one output first, with dist\.marginal"):
        random_mixture(0, dy=2).to_qp()
