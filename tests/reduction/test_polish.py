from dataclasses import replace

import numpy as np
import pytest

from condensity.core.location import linear, nowhere
from condensity.core.mixture import ConditionalMixture
from condensity.core.view import View
from condensity.reduction.configurations import Configuration, configure, containing
from condensity.reduction.consensus import in_units_of
from condensity.reduction.crossfit import Setting
from condensity.reduction.polish import Averages, polish
from crossfits import LOSSES, SEARCH, crossfit, deals, density
from problems import random_subspace

SETTING = Setting(0.8, 0.4, 0.1)


def members(fit, Ws):
    unknown = np.full(len(fit.whole), np.nan)
    return Configuration(fit.location, len(Ws[0]), SETTING, Ws, unknown, fit)


def opinions_by_hand(fit, Ws, a, row):
    """The densities of one sample in view ``a``: by its own subspace and one of the other deal."""
    view = fit.views[a]
    for b, other in enumerate(fit.views):
        if b == a:
            yield density(view, Ws[a], SETTING, fit.whole.X[[row]])
        elif b // 3 != a // 3 and row in other.rows:
            W = containing(view.location.directions, in_units_of(view.scaling, other, Ws[b]))
            yield density(view, W, SETTING, fit.whole.X[[row]])


@pytest.mark.parametrize("score", LOSSES)
@pytest.mark.parametrize("locator", [nowhere, linear])
def test_the_loss_of_an_average_of_two_is_that_of_the_mixture_of_both(locator, score):
    fit = crossfit(locator, score)
    Ws = [
        containing(v.location.directions, random_subspace(j, 2, 4)) for j, v in enumerate(fit.views)
    ]
    found = Averages.of(fit, members(fit, Ws), n_members=2).losses(0.8, 0.4, (0.1,))[0]
    exact = np.zeros(45)
    for a, view in enumerate(fit.views):
        for row in view.rows:
            pair = list(opinions_by_hand(fit, Ws, a, row))
            assert len(pair) == 2
            both = ConditionalMixture.average(pair)
            exact[row] += LOSSES[score](both, fit.whole.Y[row])[0] / 2
    np.testing.assert_allclose(found, exact, rtol=1e-8)


def test_many_members_are_worth_more_than_one_and_equals_are_worth_the_same():
    fit = crossfit()
    Ws = [random_subspace(j, 2, 4) for j in range(6)]
    losses = [
        Averages.of(fit, members(fit, Ws), n).losses(0.8, 0.4, (0.1,)) @ fit.whole.weight
        for n in (1, 2, 9)
    ]
    assert losses[0] > losses[1] > losses[2]
    same = [in_units_of(view.scaling, fit.views[0], Ws[0]) for view in fit.views]
    one, many = (Averages.of(fit, members(fit, same), n).losses(0.8, 0.4, (0.1,)) for n in (1, 9))
    np.testing.assert_allclose(one, many, rtol=1e-8)


def test_polishing_ends_where_no_step_helps_the_average():
    fit = crossfit()
    rough = configure(fit, 1, SEARCH, np.random.default_rng(0), map)
    averages = Averages.of(fit, rough, 10)
    s = polish(rough, averages, SEARCH).shipped

    def loss(sigma_z, sigma_y):
        return averages.losses(sigma_z, sigma_y, (s.penalty,))[0] @ fit.whole.weight

    best = loss(s.sigma_z, s.sigma_y)
    assert best <= loss(rough.setting.sigma_z, rough.setting.sigma_y) + 1e-12
    for factor in (2**0.5, 2**-0.5):
        assert best <= loss(s.sigma_z * factor, s.sigma_y) + 1e-12
        assert best <= loss(s.sigma_z, min(1.0, s.sigma_y * factor)) + 1e-12


def test_where_there_is_but_one_subspace_averages_are_the_members():
    fit = crossfit()
    whole = configure(fit, 4, SEARCH, np.random.default_rng(0), map)
    averages, s = Averages.of(fit, whole, 10), whole.setting
    found = averages.losses(s.sigma_z, s.sigma_y, (s.penalty,))[0]
    np.testing.assert_allclose(found, whole.losses, rtol=1e-10)


def test_averages_are_judged_with_their_mean_weights():
    fit = crossfit(score="log")
    averages = Averages.of(fit, members(fit, [random_subspace(j, 2, 4) for j in range(6)]), 2)
    told = fit.by_sample([-np.log(j.match) for j in averages.judge(SETTING).parts])[0]
    np.testing.assert_allclose(told, averages.losses(0.8, 0.4, (0.1,))[0], rtol=1e-10)


def test_averages_may_be_judged_with_more_centres_on_one_deal():
    """Then they are what members of that deal are worth, but for their centres."""
    fit = crossfit()
    Ws = [random_subspace(j, 2, 4) for j in range(6)]
    whole = fit.whole
    views = [View.of(whole, mass, np.arange(45), nowhere) for mass in deals(whole.weight)[:3]]
    fuller = replace(fit, views=views, n_deals=1)
    found = Averages.of(fuller, members(fit, Ws), 2).losses(0.8, 0.4, (0.1,))[0]
    exact = np.zeros(45)
    for a, view in enumerate(views):
        for row in view.rows:
            pair = [density(view, Ws[a], SETTING, whole.X[[row]])]
            for other, W in zip(fit.views[3:], Ws[3:], strict=True):
                if row in other.rows:
                    W_here = in_units_of(view.scaling, other, W)
                    pair.append(density(view, W_here, SETTING, whole.X[[row]]))
            assert len(pair) == 2
            exact[row] = LOSSES["squared"](ConditionalMixture.average(pair), whole.Y[row])[0]
    np.testing.assert_allclose(found, exact, rtol=1e-8)
