"""The loss to expect: optimism of a selection, weights that regard it, and shapes without x."""

from dataclasses import replace

import numpy as np
import pytest

from condensity import LSCE
from condensity.data.sample import Sample
from condensity.datasets import toy_b
from condensity.locations.location import constant_location, linear_location
from condensity.lsce.configurations import (
    FEW,
    configure,
    expected_optimism,
    explore_dimensions,
    fewest_components,
    stacking_excess,
)
from condensity.lsce.stacking import loss_of_average, stack
from condensity.members.settings import SettingSelector, first_setting
from crossfits import OPEN, SEARCH, crossfit
from problems import random_subspace


def selector(score="squared", **changes):
    fit = crossfit(score=score)
    Ws = [random_subspace(j, 1, 4) for j in range(6)]
    return SettingSelector(fit, Ws, replace(SEARCH, **changes))


@pytest.mark.parametrize("score", ["squared", "log", "crps"])
def test_optimism_compares_the_best_of_all_folds_with_the_best_of_each(score):
    chooser = selector(score)
    best = chooser.choose(first_setting(SEARCH, 1), coarse=True, strides=(1,))
    fit, total, mass = chooser.crossfit, 0.0, 0.0
    candidates = [(float(chooser.z[i]), float(chooser.y[j])) for i, j in chooser.cache]
    for view in fit.views:
        share = view.held_out.weight

        def mean(losses, view=view, share=share):
            return sum(share[k] * losses[row] for k, row in enumerate(view.rows)) / sum(share)

        tried = [
            mean(losses)
            for sigmas in candidates
            for losses in fit.losses(chooser.Ws, *sigmas, SEARCH.penalties)
        ]
        own = mean(fit.losses(chooser.Ws, best.sigma_z, best.sigma_y, (best.penalty,))[0])
        total += sum(share) * (own - min(tried))
        mass += sum(share)
    assert chooser.optimism(best) == pytest.approx(total / mass, rel=1e-9)
    assert chooser.optimism(best) > 0


def test_a_single_candidate_is_not_optimistic():
    fixed = selector(sigma_z=0.8, sigma_y=0.5, penalty=0.1)
    best = fixed.choose(first_setting(fixed.search, 1), coarse=True, strides=(1,))
    assert (best.sigma_z, best.sigma_y, best.penalty) == (0.8, 0.5, 0.1)
    assert fixed.optimism(best) == 0


def three_configurations():
    fits = {locator: crossfit(locator) for locator in (constant_location, linear_location)}
    sizes = [(constant_location, 0), (constant_location, 2), (linear_location, 1)]
    rng = np.random.default_rng(0)
    return [configure(fits[locator], dz, SEARCH, rng, map) for locator, dz in sizes]


def test_the_excess_adds_a_standard_error_of_the_gain_over_a_shape_without_x():
    simple, *others = made = three_configurations()
    found = stacking_excess(made)
    assert found[0] == pytest.approx(simple.optimism, rel=1e-12)
    weight = simple.crossfit.whole.weight
    for c, excess in zip(others, found[1:], strict=True):
        gain = c.losses - simple.losses
        mean = sum(w * g for w, g in zip(weight, gain, strict=True))
        variance = sum((w * (g - mean)) ** 2 for w, g in zip(weight, gain, strict=True))
        assert excess == pytest.approx(c.optimism + variance**0.5, rel=1e-9)


def test_with_many_samples_the_excess_is_small():
    few = three_configurations()
    n, whole = len(few[0].losses), few[0].crossfit.whole
    assert np.sum(whole.weight**2) * FEW > 1
    # The same losses for each of eight copies of every sample.
    copies = np.tile(np.arange(n), 8)
    many = Sample(whole.X[copies], whole.Y[copies], whole.weight[copies] / 8)

    def copied(view):
        rows = np.concatenate([view.rows + n * k for k in range(8)])
        return replace(view, rows=rows, held_out=many[rows])

    made = [
        replace(
            c,
            losses=c.losses[copies],
            crossfit=replace(c.crossfit, whole=many, views=[copied(v) for v in c.crossfit.views]),
        )
        for c in few
    ]
    share = FEW * np.sum(whole.weight**2) / 8
    optimism = np.array([c.optimism for c in few])
    errors = stacking_excess(few) - optimism
    expected = share * (optimism + errors / np.sqrt(8))
    np.testing.assert_allclose(stacking_excess(made), expected, rtol=1e-9)


def test_stacking_minimises_the_held_out_loss_plus_the_optimism():
    made = three_configurations()
    evaluations = [c.evaluate() for c in made]
    optimism = np.array([0.0, 0.02, 0.05])
    weights, loss = stack(evaluations, optimism)
    held_out = loss_of_average(evaluations)

    def total(w):
        return held_out(w)[0] + w @ optimism

    assert loss == pytest.approx(held_out(weights)[0], rel=1e-12)
    rng = np.random.default_rng(1)
    for other in [*np.eye(3), *rng.dirichlet(np.ones(3), 200)]:
        assert total(weights) <= total(other) + 2e-3 * abs(loss)


@pytest.mark.parametrize("n_members", [1, 5])
def test_the_score_to_expect_is_the_held_out_score_less_the_optimism(n_members, monkeypatch):
    seen = []

    def recorded(configurations):
        seen.append(expected_optimism(configurations))
        return seen[-1]

    monkeypatch.setattr("condensity.lsce.stacking.expected_optimism", recorded)
    X, y = toy_b().sample(80, random_state=0)
    quick = {"location": "none", "n_starts": 3, "max_iter": 5, "random_state": 0}
    model = LSCE(1, n_members=n_members, **quick).fit(X, y)
    monkeypatch.setattr("condensity.lsce.stacking.expected_optimism", lambda c: np.zeros(len(c)))
    without = LSCE(1, n_members=n_members, **quick).fit(X, y)
    weights = model.cv_results_["weight"]
    difference = (without.cv_score_ - model.cv_score_) * y.std()
    assert difference == pytest.approx(weights @ seen[-1], rel=1e-9)
    assert difference > 0


def test_a_location_with_more_directions_than_components_is_not_tried_at_all():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    Y = X[:, :2] + 0.3 * rng.standard_normal((60, 2))
    with pytest.warns(UserWarning, match="linear location skipped"):
        model = LSCE(1, n_starts=3, max_iter=5, random_state=0).fit(X, Y)
    assert set(model.location_weights_) == {"none", "reduced"}


def test_a_hopeless_optimism_leaves_all_weight_to_the_simple_density():
    evaluations = [c.evaluate() for c in three_configurations()]
    weights, _ = stack(evaluations, np.array([0.0, 10.0, 10.0]))
    np.testing.assert_array_equal(weights, [1, 0, 0])


@pytest.mark.parametrize("locator", [constant_location, linear_location])
def test_without_components_the_shape_does_not_depend_on_x(locator):
    fit = crossfit(locator)
    c = configure(fit, 0, SEARCH, np.random.default_rng(0), map)
    assert c.n_components == 0
    for part in c.evaluate().parts:
        np.testing.assert_allclose(part.weights, part.weights[:, :1] * np.ones_like(part.weights))


def test_every_location_is_also_tried_without_components():
    for dimension in (None, 2):
        made = explore_dimensions(
            crossfit(), dimension, SEARCH, np.random.default_rng(0), map, lambda c: None
        )
        assert made[0].n_components == 0
        assert made[1].n_components == (OPEN.sum() if dimension is None else 2)


def test_the_best_configuration_has_components():
    simple, *others = three_configurations()
    better = replace(simple, losses=simple.losses - 10.0)
    assert fewest_components([better, *others]).n_components > 0


def test_noise_gets_nearly_the_density_that_ignores_x():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 6)), rng.normal(size=50)
    model = LSCE(random_state=0).fit(X, y)
    new = rng.normal(size=(2000, 6)), rng.normal(size=2000)
    truth = 1 / (4 * np.sqrt(np.pi))  # the score of the normal density, 1/2 int p^2
    assert model.score(*new) > 0.9 * truth
    assert model.n_components_ >= 1
