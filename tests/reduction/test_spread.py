from dataclasses import replace

import numpy as np
import pytest

from condensity.core.location import linear, nowhere
from condensity.core.sample import Sample
from condensity.reduction.configurations import Configuration
from condensity.reduction.crossfit import Setting
from condensity.reduction.spread import FACTORS, best_stretch
from crossfits import crossfit, density
from problems import random_subspace


def configuration(locator=nowhere, sigma_y=0.4, dz=1):
    fit = crossfit(locator)
    setting, Ws = Setting(0.8, sigma_y, 0.1), [random_subspace(j, dz, 4) for j in range(6)]
    losses = fit.losses(Ws, setting.sigma_z, setting.sigma_y, (0.1,))[0]
    return Configuration(fit.location, dz, setting, Ws, losses, fit)


def dispersion(configurations, weights, factor):
    """``E (F(y) - 1/2)^2`` at new samples, by densities of the shipped kind."""
    total = 0.0
    for j in range(6):
        view = configurations[0].crossfit.views[j]
        whole = configurations[0].crossfit.whole
        dists = [
            density(c.crossfit.views[j], c.Ws[j], c.setting, whole.X[view.rows])
            for c in configurations
        ]
        mixed = type(dists[0]).average(dists, weights).stretch(factor)
        u = mixed.cdf(whole.Y[view.rows, 0])
        total += view.held_out.weight @ (u - 0.5) ** 2
    return total / 2


def test_the_stretch_makes_new_samples_look_uniform():
    configurations = [configuration(), configuration(linear, sigma_y=0.9, dz=2)]
    weights = np.array([0.3, 0.7])
    judged = [c.judge() for c in configurations]
    found = best_stretch(configurations, judged, weights, least=0.0)
    misses = {f: abs(dispersion(configurations, weights, f) - 1 / 12) for f in FACTORS}
    assert found == min(misses, key=misses.get)
    assert min(FACTORS) < found < max(FACTORS)


def test_kernels_are_not_stretched_below_their_floor():
    c = configuration()
    whole = c.crossfit.whole
    calmer = replace(c.crossfit, whole=Sample(whole.X, 0.6 * whole.Y, whole.weight))
    c = replace(c, crossfit=calmer)  # new samples spread less than the densities say
    free = best_stretch([c], [c.judge()], np.ones(1), least=0.0)
    assert free < 0.9
    for least, expected in ((0.93, 0.95), (1.0, 1.0), (7.0, 1.0)):
        found = best_stretch([c], [c.judge()], np.ones(1), least=least)
        assert found == pytest.approx(expected)
