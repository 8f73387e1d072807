"""Values that are uniform if the densities are calibrated."""

import numpy as np
import pytest
from scipy.stats import kstest

from condensity import metrics
from condensity.distributions.block import Block
from condensity.distributions.chunked import ChunkedDistribution
from condensity.distributions.mixture import Mixture
from condensity.targets import MixedDistribution
from mixtures import random_mixture


def two_outputs(m=300, seed=0):
    """Correlated pairs around a row's own mean, and draws from them."""
    rng = np.random.default_rng(seed)
    factor = np.linalg.cholesky(np.array([[1.0, 0.6], [0.6, 2.0]]))
    shift = rng.standard_normal((m, 2))
    dist = Mixture([Block(np.zeros((m, 1)), np.zeros((1, 2)), factor, shift=shift)])
    return dist, shift + rng.standard_normal((m, 2)) @ factor.T


def test_pit_of_the_truth_is_uniform(bimodal):
    dist, y = bimodal
    assert kstest(metrics.pit(dist, y), "uniform").pvalue > 0.01
    assert kstest(metrics.pit(dist, y + 0.3), "uniform").pvalue < 1e-6


@pytest.mark.parametrize("chunked", [False, True])
def test_pit_of_values_with_a_probability_is_uniform_and_seeded(chunked):
    rng = np.random.default_rng(0)
    masses = rng.dirichlet(np.ones(3), 3000)[:, :-1]
    truth = MixedDistribution([0.0, 1.0], masses, random_mixture(0)[np.zeros(3000, dtype=int)])
    y = truth.sample(1, random_state=0)[:, 0]
    assert kstest(truth.cdf(y), "uniform").pvalue < 1e-9  # because of the jumps
    dist = ChunkedDistribution(np.arange(3000), truth.__getitem__, 500, 1) if chunked else truth
    values = metrics.pit(dist, y)
    assert kstest(values, "uniform").pvalue > 0.01
    np.testing.assert_array_equal(values, metrics.pit(truth, y, random_state=0))
    beside = ~np.isin(y, truth.atoms)
    np.testing.assert_allclose(values[beside], truth.cdf(y)[beside], atol=1e-12)


def test_pit_of_several_outputs_is_that_of_each_marginal():
    dist, Y = two_outputs()
    values = metrics.pit(dist, Y)
    assert values.shape == (300, 2)
    np.testing.assert_allclose(values[:, 1], dist.marginal(1).cdf(Y[:, 1]))
    assert kstest(values[:, 0], "uniform").pvalue > 0.01


def test_pit_of_several_outputs_needs_as_many_columns():
    dist, Y = two_outputs(5)
    with pytest.raises(ValueError, match="y has 1 columns but the density has 2 outputs"):
        metrics.pit(dist, Y[:, 0])


def test_hpd_coverage_of_the_truth_is_uniform_and_matches_the_regions(bimodal):
    dist, y = bimodal
    values = metrics.hpd_coverage(dist, y)
    assert kstest(values, "uniform").pvalue > 0.01
    inside = [
        any(low <= t <= high for low, high in region)
        for region, t in zip(dist.hdr(0.7), y, strict=True)
    ]
    np.testing.assert_array_equal(values <= 0.7, inside)


def test_hpd_coverage_of_two_outputs_is_the_chi_square_of_the_ellipse():
    from scipy.stats import chi2

    dist, Y = two_outputs()
    residual = Y - dist.mean()
    squared = np.einsum("ij,ijk,ik->i", residual, np.linalg.inv(dist.cov()), residual)
    ours = metrics.hpd_coverage(dist, Y, random_state=0)
    np.testing.assert_allclose(ours, chi2(2).cdf(squared), atol=0.1)
    np.testing.assert_allclose(np.mean(ours - chi2(2).cdf(squared)), 0, atol=0.01)


def test_hpd_coverage_by_sampling_is_repeatable():
    dist, Y = two_outputs(50)
    first, again, other = (metrics.hpd_coverage(dist, Y, random_state=s) for s in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
