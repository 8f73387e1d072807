"""Losses of densities, and what all losses and diagnostics accept."""

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad

from condensity import LSCDE, metrics
from condensity.datasets import illustrative, toy_a, toy_b
from condensity.distributions.block import Block
from condensity.distributions.mixture import Mixture


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
