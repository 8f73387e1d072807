import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.stats import kstest

from condensity import LSCDE, metrics
from condensity.datasets import illustrative, toy_a, toy_b
from condensity.distributions.block import Block
from condensity.distributions.chunked import ChunkedDistribution
from condensity.distributions.mixture import Mixture
from condensity.metrics import christoffersen_test, kupiec_test, pit_test, reliability_by_group
from condensity.targets import MixedDistribution
from mixtures import random_mixture


@pytest.fixture(scope="module")
def bimodal():
    problem = illustrative("bimodal")
    X, y = problem.sample(400, random_state=0)
    return problem.conditional(X), y


def two_outputs(m=300, seed=0):
    """Correlated pairs around a row's own mean, and draws from them."""
    rng = np.random.default_rng(seed)
    factor = np.linalg.cholesky(np.array([[1.0, 0.6], [0.6, 2.0]]))
    shift = rng.standard_normal((m, 2))
    dist = Mixture([Block(np.zeros((m, 1)), np.zeros((1, 2)), factor, shift=shift)])
    return dist, shift + rng.standard_normal((m, 2)) @ factor.T


def test_squared_loss_is_the_paper_s_formula_by_quadrature(bimodal):
    dist, y = bimodal
    few = range(5)
    by_hand = [
        0.5 * quad(lambda t, i=i: dist[i].pdf(t)[0] ** 2, -5, 5, limit=200)[0]
        - dist[i].pdf(y[i])[0]
        for i in few
    ]
    assert metrics.squared_loss(dist[:5], y[:5]) == pytest.approx(np.mean(by_hand), rel=1e-8)


def test_squared_loss_of_the_truth_beats_any_other_density(bimodal):
    dist, y = bimodal
    X, _ = illustrative("bimodal").sample(400, random_state=0)
    wrong = illustrative("gaussian").conditional(X)
    assert metrics.squared_loss(dist, y) < metrics.squared_loss(wrong, y)


def test_weights_are_repetitions(bimodal):
    dist, y = bimodal
    weight = np.arange(400) % 3
    rows = np.repeat(np.arange(400), weight)
    for loss in (metrics.squared_loss, metrics.log_loss, metrics.crps):
        assert loss(dist, y, weight) == pytest.approx(loss(dist[rows], y[rows]))


def test_log_loss_and_crps_are_means_over_rows(bimodal):
    dist, y = bimodal
    assert metrics.log_loss(dist, y) == pytest.approx(-np.mean(np.log(dist.pdf(y))))
    assert metrics.crps(dist, y) == pytest.approx(np.mean(dist.crps(y)))


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


def test_subspace_error_is_the_distance_of_the_projectors_whatever_the_basis():
    A, B = [[1.0, 0, 0], [1.0, 2.0, 0]], [[0, 1.0, 1.0]]
    P_A, P_B = np.diag([1.0, 1, 0]), np.array([[0, 0, 0], [0, 0.5, 0.5], [0, 0.5, 0.5]])
    assert metrics.subspace_error(A, B) == pytest.approx(np.linalg.norm(P_A - P_B))


def test_subspace_error_accepts_a_single_direction_and_refuses_repeated_ones():
    assert metrics.subspace_error([0.0, 3.0], [[0.0, -1.0]]) == pytest.approx(0)
    with pytest.raises(ValueError, match="drop the directions that repeat"):
        metrics.subspace_error([[1.0, 2.0], [2.0, 4.0]], [[1.0, 0.0]])


@pytest.mark.parametrize("make", [toy_a, toy_b])
def test_losses_are_lowest_at_the_truth_among_rescalings(make):
    problem = make()
    X, y = problem.sample(3000, random_state=1)
    truth = problem.conditional(X)
    block = truth.blocks[0]
    for factor in (0.7, 1.4):
        other = Mixture(
            [
                Block(
                    block.log_weights,
                    block.centers,
                    block.factor * factor,
                    block.shift,
                    block.scale,
                )
            ]
        )
        for loss in (metrics.squared_loss, metrics.log_loss, metrics.crps):
            assert loss(truth, y) < loss(other, y)


def test_subspaces_must_live_in_one_space_and_be_finite():
    with pytest.raises(ValueError, match="A has 2 columns and B 3: pass subspaces of the same"):
        metrics.subspace_error([[1.0, 0]], [[1.0, 0, 0]])
    with pytest.raises(ValueError, match="A must be a finite matrix"):
        metrics.subspace_error([[np.nan, 0]], [[1.0, 0]])


def test_hpd_coverage_by_sampling_is_repeatable():
    dist, Y = two_outputs(50)
    first, again, other = (metrics.hpd_coverage(dist, Y, random_state=s) for s in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_pit_of_several_outputs_needs_as_many_columns():
    dist, Y = two_outputs(5)
    with pytest.raises(ValueError, match="y has 1 columns but the density has 2 outputs"):
        metrics.pit(dist, Y[:, 0])


def as_frame(values):
    """A Dask data frame or series in three chunks."""
    import dask.dataframe as dd

    frame = pd.DataFrame(values).rename(columns=str)
    return dd.from_pandas(frame if np.ndim(values) == 2 else frame["0"], npartitions=3)


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("dy", [1, 2])
def test_densities_of_dask_collections_have_the_same_losses(dy):
    da = pytest.importorskip("dask.array", reason="dask is not installed")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    Y = X[:, :dy] + rng.standard_normal((40, dy))
    Y = Y[:, 0] if dy == 1 else Y
    model = LSCDE(bandwidth=0.5, penalty=0.1, random_state=0).fit(X, Y)
    lazy, eager = model.predict_dist(da.from_array(X, chunks=(15, 2))), model.predict_dist(X)
    in_frame = model.predict_dist(as_frame(X))  # whose chunks have an unknown number of rows
    names = ["squared_loss", "log_loss", "pit", *(["crps", "hpd_coverage"] if dy == 1 else [])]
    for name in names:
        metric = getattr(metrics, name)
        found = np.asarray(metric(lazy, da.from_array(Y, chunks=15)))
        np.testing.assert_allclose(found, metric(eager, Y), rtol=1e-10)
        found = np.asarray(metric(in_frame, as_frame(Y)))
        np.testing.assert_allclose(found, metric(eager, Y), rtol=1e-10)


def test_a_prediction_is_not_a_density():
    for metric in (metrics.squared_loss, metrics.log_loss, metrics.crps, metrics.pit):
        with pytest.raises(
            TypeError, match=r"must be a Distribution.*got ndarray: pass model.predict_dist\(X\)"
        ):
            metric(np.zeros(3), np.zeros(3))


def test_a_single_weight_is_the_weight_of_all(bimodal):
    dist, y = bimodal
    assert metrics.crps(dist, y, 2.0) == pytest.approx(metrics.crps(dist, y))


def test_squared_loss_of_densities_that_overflow_is_refused():
    tiny = Mixture([Block(np.zeros((2, 1)), np.zeros((1, 8)), 1e-50 * np.eye(8))])
    with pytest.raises(ValueError, match=r"a density is too large.*multiply y by a factor"):
        metrics.squared_loss(tiny, np.zeros((2, 8)))
    assert metrics.squared_loss(tiny, np.ones((2, 8))) == np.inf
    assert np.isfinite(metrics.log_loss(tiny, np.zeros((2, 8))))


def test_kupiec_is_the_likelihood_ratio():
    hits = np.array([True] * 7 + [False] * 43)
    expected = 2 * (stats.binom.logpmf(7, 50, 7 / 50) - stats.binom.logpmf(7, 50, 0.05))
    found = kupiec_test(hits, 0.05)
    assert found.statistic == pytest.approx(expected)
    assert found.pvalue == pytest.approx(stats.chi2.sf(expected, 1))
    assert kupiec_test([False] * 20, 0.05).statistic == pytest.approx(-40 * np.log(0.95))


def test_christoffersen_is_the_likelihood_ratio_of_a_chain():
    hits = np.random.default_rng(0).random(80) < 0.3
    counts = np.zeros((2, 2))
    for before, now in itertools.pairwise(hits):
        counts[int(before), int(now)] += 1

    def log_likelihood(p):  # p[i]: probability of a violation after state i
        return sum(counts[i, 1] * np.log(p[i]) + counts[i, 0] * np.log(1 - p[i]) for i in (0, 1))

    free = log_likelihood(counts[:, 1] / counts.sum(axis=1))
    same = log_likelihood([counts[:, 1].sum() / 79] * 2)
    assert christoffersen_test(hits).statistic == pytest.approx(2 * (free - same))
    both = christoffersen_test(hits, 0.2)
    assert both.statistic == pytest.approx(2 * (free - log_likelihood([0.2, 0.2])))
    assert both.pvalue == pytest.approx(stats.chi2.sf(both.statistic, 2))


@pytest.mark.parametrize(
    "test", [lambda h: kupiec_test(h, 0.2), lambda h: christoffersen_test(h, 0.2)]
)
def test_coverage_tests_reject_at_their_level_and_find_what_is_wrong(test):
    rng = np.random.default_rng(0)
    right = [test(rng.random(300) < 0.2).pvalue for _ in range(400)]
    wrong = [test(rng.random(300) < 0.35).pvalue for _ in range(50)]
    assert 0.02 < np.mean(np.array(right) < 0.05) < 0.09
    assert np.mean(np.array(wrong) < 0.05) > 0.95


def test_kolmogorov_and_smirnov_are_those_of_scipy():
    u = np.random.default_rng(0).random(40)
    expected = stats.kstest(u, "uniform")
    assert pit_test(u) == pytest.approx((expected.statistic, expected.pvalue))


def test_the_statistic_of_anderson_and_darling_is_that_of_a_loop():
    u = np.random.default_rng(0).random(30)
    s = np.sort(u)
    loop = sum((2 * i - 1) * (np.log(s[i - 1]) + np.log(1 - s[30 - i])) for i in range(1, 31))
    assert pit_test(u, "ad").statistic == pytest.approx(-30 - loop / 30)
    assert pit_test(np.zeros(3), "ad").pvalue == 0.0
    assert metrics._anderson_darling_cdf(0.01) == 0.0
    assert pit_test(np.arange(0.5, 30) / 30, "ad").pvalue > 0.99


@pytest.mark.parametrize("z", [0.3, 0.8, 1.5, 2.5, 4.0, 6.0])
def test_the_limit_of_anderson_and_darling_is_an_inverted_characteristic_function(z):
    j, t = np.arange(1, 2000)[:, None], np.linspace(1e-6, 150, 6001)
    rest = np.exp(1j * t / 2000)  # the mean of the terms that are left out
    phi = rest * np.exp(-0.5 * np.log(1 - 2j * t / (j * (j + 1))).sum(axis=0))
    above = 0.5 + np.trapezoid((np.exp(-1j * t * z) * phi).imag / t, t) / np.pi
    assert 1 - metrics._anderson_darling_cdf(z) == pytest.approx(above, abs=2e-5)


def test_reliability_by_group_is_the_share_of_each_group():
    rng = np.random.default_rng(0)
    dist = Mixture([Block(np.zeros((400, 1)), np.zeros((1, 1)), np.eye(1))])
    groups = np.repeat(["wide", "right"], 200)
    y = np.where(groups == "wide", 3.0, 1.0) * rng.standard_normal(400)
    for region in ("interval", "hpd"):
        table = reliability_by_group(dist, y, groups, [0.5, 0.9], region)
        assert table["group"].tolist() == ["right", "right", "wide", "wide"]
        for k, (group, level) in enumerate(zip(table["group"], table["level"], strict=True)):
            low, high = dist.interval(level)[0]
            inside = ((y >= low) & (y <= high))[groups == group]
            assert table["coverage"][k] == pytest.approx(inside.mean())
            assert table["n"][k] == 200
            assert table["standard_error"][k] == pytest.approx(np.sqrt(level * (1 - level) / 200))
            assert (table["pvalue"][k] < 0.001) == (group == "wide")


def test_wrong_arguments_of_tests_are_refused():
    with pytest.raises(ValueError, match="True and False"):
        kupiec_test([0.1, 0.2], 0.1)
    with pytest.raises(ValueError, match="at least 2"):
        christoffersen_test([True])
    with pytest.raises(ValueError, match=r"in \[0, 1\]"):
        pit_test([0.1, 1.2])
    with pytest.raises(ValueError, match="method must be one of 'ks', 'ad'"):
        pit_test([0.1], "cvm")
    dist = Mixture([Block(np.zeros((2, 1)), np.zeros((1, 1)), np.eye(1))])
    with pytest.raises(ValueError, match="one label for each density"):
        reliability_by_group(dist, np.zeros(2), [0, 1, 1])
