from dataclasses import replace

import numpy as np
import pytest

from condensity.data.sample import Sample
from condensity.distributions.block import Block
from condensity.distributions.mixture import Mixture
from condensity.fitting.scores import SCORES
from condensity.locations.location import constant_location, linear_location
from condensity.lsce.calibration import FACTORS, HeldOutDensities, best_stretch
from condensity.lsce.configurations import Configuration
from condensity.members.member import MemberView
from condensity.members.settings import Setting
from crossfits import LOSSES, crossfit, deals, density
from problems import random_subspace


def configuration(locator=constant_location, sigma_y=0.4, dz=1):
    fit = crossfit(locator)
    setting, Ws = Setting(0.8, sigma_y, 0.1), [random_subspace(j, dz, 4) for j in range(6)]
    losses = fit.losses(Ws, setting.sigma_z, setting.sigma_y, (0.1,))[0]
    return Configuration(fit.location, dz, setting, Ws, losses, fit)


def dispersion(configurations, weights, factor):
    """``E (F(y) - 1/2)^2`` at new samples, by densities of the shipped kind."""
    return at_new_samples(configurations, weights, factor, lambda d, y: (d.cdf(y) - 0.5) ** 2)


def loss(configurations, weights, factor, score="squared"):
    return at_new_samples(configurations, weights, factor, LOSSES[score])


def at_new_samples(configurations, weights, factor, what):
    total = 0.0
    for j in range(6):
        view = configurations[0].crossfit.views[j]
        whole = configurations[0].crossfit.whole
        dists = [
            density(c.crossfit.views[j], c.Ws[j], c.setting, whole.X[view.rows])
            for c in configurations
        ]
        mixed = type(dists[0]).average(dists, weights).stretch(np.array([factor]))
        total += view.held_out.weight @ what(mixed, whole.Y[view.rows, 0])
    return total / 2


def test_the_stretch_makes_new_samples_look_uniform():
    configurations = [configuration(), configuration(linear_location, sigma_y=0.9, dz=2)]
    weights = np.array([0.3, 0.7])
    judged = [c.evaluate() for c in configurations]
    found = best_stretch(judged, weights, least=0.0)
    misses = {f: abs(dispersion(configurations, weights, f) - 1 / 12) for f in FACTORS}
    bearable = loss(configurations, weights, 1.0)
    good = [f for f in FACTORS if loss(configurations, weights, f) <= bearable + 1e-12]
    assert found == min(good, key=misses.get)
    assert min(FACTORS) < found < max(FACTORS)


def test_kernels_are_not_stretched_below_their_floor():
    c = configuration()
    whole = c.crossfit.whole
    calmer = Sample(whole.X, 0.4 * whole.Y, whole.weight)
    views = [replace(v, held_out=v.frame.apply(calmer[v.rows])) for v in c.crossfit.views]
    # New samples spread less than the densities say.
    c = replace(c, crossfit=replace(c.crossfit, whole=calmer, views=views))
    free = best_stretch([c.evaluate()], np.ones(1), least=0.0)
    assert free < 0.9
    for least, expected in ((0.93, 0.95), (1.0, 1.0), (7.0, 1.0)):
        found = best_stretch([c.evaluate()], np.ones(1), least=least)
        assert found == pytest.approx(expected)


@pytest.mark.parametrize("score", LOSSES)
def test_the_loss_of_stretched_densities_is_that_of_the_shipped_ones(score):
    view, c = crossfit().views[0], configuration()
    dist = density(view, c.Ws[0], c.setting, c.crossfit.whole.X[view.rows])
    y, weight = c.crossfit.whole.Y[view.rows, 0], view.held_out.weight
    held_out = HeldOutDensities(dist, y[:, None], weight)
    for factor in (0.7, 1.0, 1.3):
        exact = weight @ LOSSES[score](dist.stretch(np.array([factor])), y)
        assert held_out.loss(SCORES[score], factor) == pytest.approx(exact, rel=1e-9)


def test_peaks_at_repeated_values_are_not_moved_away():
    c = configuration(sigma_y=0.02)
    whole = c.crossfit.whole
    half_zero = np.where(np.arange(len(whole))[:, None] % 2 == 0, 0.0, 3.0 + whole.Y)
    views = [
        MemberView.of(
            Sample(whole.X, half_zero, whole.weight), mass, np.arange(0, 45, 2), constant_location
        )
        for mass in deals(whole.weight)
    ]
    fit = replace(c.crossfit, whole=Sample(whole.X, half_zero, whole.weight), views=views)
    c = replace(c, crossfit=fit)
    assert best_stretch([c.evaluate()], np.ones(1), least=0.0) == 1.0


def two_outputs():
    """Densities of two outputs that all but settle one another, and samples of them."""
    rng = np.random.default_rng(0)
    factor = np.array([[1.0, 0.0], [0.999, 0.05]])
    blocks = [
        Block(np.log(share) + np.zeros((60, 1)), np.full((1, 2), c), factor)
        for share, c in ((0.3, -1.0), (0.7, 0.5))
    ]
    dist = Mixture(blocks)
    return dist, dist.sample(1, random_state=rng).reshape(60, 2), rng.uniform(0.5, 1, 60)


@pytest.mark.parametrize("score", ["squared", "log"])
def test_several_outputs_are_stretched_as_one(score):
    dist, Y, weight = two_outputs()
    held_out = HeldOutDensities(dist, Y, weight)
    for factor in (0.8, 1.25):
        wider = dist.stretch(np.full(2, factor))
        exact = weight @ LOSSES[score](wider, Y)
        assert held_out.loss(SCORES[score], factor) == pytest.approx(exact, rel=1e-9)
        squares = [(wider.marginal(j).cdf(Y[:, j]) - 0.5) ** 2 for j in (0, 1)]
        expected = weight @ (squares[0] + squares[1]) / 2
        assert held_out.dispersion(factor) == pytest.approx(expected, rel=1e-9)
