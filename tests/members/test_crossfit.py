"""Cross-fitting and stacking against densities built by hand and judged by the metrics."""

from dataclasses import replace

import numpy as np
import pytest

from condensity import LSCE
from condensity.data.sample import Sample, Scaling
from condensity.datasets import toy_b
from condensity.distributions.mixture import Mixture
from condensity.fitting.scores import SCORES
from condensity.fitting.simplex import minimise_on_simplex
from condensity.locations.flexible import smooth_location
from condensity.locations.location import constant_location, linear_location
from condensity.lsce import fit as ensemble
from condensity.lsce.configurations import (
    Configuration,
    configure,
    explore_dimensions,
    fewest_components,
    reselect_setting,
)
from condensity.lsce.consensus import (
    LearnedSubspaces,
    complete_subspace,
    consensus,
    member_subspaces,
    rescaled_subspace,
)
from condensity.lsce.learning import learn_subspace, subspace_containing
from condensity.lsce.stacking import stack
from condensity.members import crossfit as crossfit_module
from condensity.members import views
from condensity.members.averaged import AveragedMembers, Ensemble
from condensity.members.crossfit import Crossfit
from condensity.members.member import MemberView, OutputKernels
from condensity.members.settings import Setting, SettingSelector
from condensity.subspaces.chart import Minimum
from crossfits import LOSSES, OPEN, SEARCH, crossfit, deals, density
from problems import random_sample, random_subspace


@pytest.mark.parametrize("score", LOSSES)
@pytest.mark.parametrize("locator", [constant_location, linear_location])
def test_losses_are_those_of_members_that_have_not_seen_the_sample(locator, score):
    fit = crossfit(locator, score)
    Ws = [random_subspace(j, 2, 4) for j in range(6)]
    setting = Setting(0.8, 0.4, 0.1)
    found = fit.losses(Ws, 0.8, 0.4, (0.01, 0.1))[1]
    exact = np.zeros(45)
    for view, W in zip(fit.views, Ws, strict=True):
        dist = density(view, W, setting, fit.whole.X[view.rows])
        exact[view.rows] += LOSSES[score](dist, fit.whole.Y[view.rows, 0]) / 2
    np.testing.assert_allclose(found, exact, rtol=1e-8)


def test_a_table_of_cells_counts_a_sample_in_every_fold_that_holds_some_of_it():
    whole = random_sample(0, n=30, dx=4)
    masses = [0.25 * whole.weight, 0.75 * whole.weight]
    views = [MemberView.of(whole, mass, np.arange(30), constant_location) for mass in masses]
    fit = Crossfit("none", whole, OPEN, views, SCORES["log"])
    W = random_subspace(0, 1, 4)
    both = [
        -density(view, W, Setting(0.8, 0.4, 0.1), whole.X).log_pdf(whole.Y[:, 0]) for view in views
    ]
    found = fit.losses([W, W], 0.8, 0.4, (0.1,))[0]
    np.testing.assert_allclose(found, 0.25 * both[0] + 0.75 * both[1], rtol=1e-9)


@pytest.mark.parametrize("score", LOSSES)
def test_stacking_finds_the_best_average_over_samples_new_to_it(score):
    made = []
    for locator, dz, setting in [
        (constant_location, 1, Setting(0.8, 0.4, 0.1)),
        (constant_location, 2, Setting(0.5, 0.3, 0.1)),
        (linear_location, 2, Setting(1.0, 0.7, 0.1)),
    ]:
        fit = crossfit(locator, score)
        Ws = [random_subspace(j, dz, 4) for j in range(6)]
        losses = fit.losses(Ws, setting.sigma_z, setting.sigma_y, (0.1,))[0]
        made.append(Configuration(fit.location, dz, setting, Ws, losses, fit))
    weights, loss = stack([c.evaluate() for c in made], np.zeros(3))
    assert weights.sum() == pytest.approx(1)
    assert (weights >= 0).all()
    best = averaged_loss(made, weights, score)
    if score == "log":  # which averages the densities of all members new to a sample first
        assert loss < best
    else:
        assert loss == pytest.approx(best, rel=1e-9)
    rng = np.random.default_rng(0)
    for other in [*np.eye(3), *rng.dirichlet(np.ones(3), 10)]:
        assert best <= averaged_loss(made, other, score) + 1e-3 * abs(best)


def averaged_loss(made, weights, score):
    """The loss of the weighted average of members of one view, over all views."""
    total, whole = 0.0, made[0].crossfit.whole
    for j in range(6):
        dists = [
            density(c.crossfit.views[j], c.Ws[j], c.setting, whole.X[c.crossfit.views[j].rows])
            for c in made
        ]
        view = made[0].crossfit.views[j]
        mixed = Mixture.average(dists, weights)
        total += view.held_out.weight @ LOSSES[score](mixed, whole.Y[view.rows, 0])
    return total / 2


def test_a_quadratic_programme_on_the_simplex():
    M, b = np.diag([1.0, 2.0, 4.0]), np.array([1.0, 1.0, -9.0])
    found = minimise_on_simplex(lambda w: (0.5 * w @ M @ w - b @ w, M @ w - b), 3)
    np.testing.assert_allclose(found, [2 / 3, 1 / 3, 0], atol=1e-6)


def test_a_configuration_ends_with_the_best_of_the_settings_around_it():
    found = configure(crossfit(), 1, SEARCH, np.random.default_rng(0), map)
    s = found.setting
    for factor in (2**0.5, 2**-0.5):
        for other in ((s.sigma_z * factor, s.sigma_y), (s.sigma_z, min(1.0, s.sigma_y * factor))):
            losses = found.crossfit.losses(found.Ws, *other, (s.penalty,))[0]
            assert found.loss <= found.crossfit.whole.weight @ losses + 1e-12


def test_members_learn_subspaces_that_lower_the_loss_left_out_of_their_view():
    fit, rng = crossfit(n=90), np.random.default_rng(0)
    found = configure(fit, 1, replace(SEARCH, n_starts=20), rng, map)
    for view, W in zip(fit.views, found.Ws, strict=True):
        problem = view.left_out(W, found.setting.sigma_z, found.setting.sigma_y)
        drawn = [problem.at(random_subspace(seed, 1, 4)).value for seed in range(20)]
        assert problem.at(W).value < min(drawn)


def test_a_similar_configuration_replaces_most_random_starts(monkeypatch):
    seen = []

    def recorded(max_steps, item):
        seen.append(item[1])
        return learn_subspace(max_steps, item)

    monkeypatch.setattr("condensity.lsce.configurations.learn_subspace", recorded)
    fit, search = crossfit(), replace(SEARCH, n_starts=8)
    first = configure(fit, 2, search, np.random.default_rng(0), map)
    assert [len(starts) for starts in seen] == [8] * 6
    seen.clear()
    other = crossfit(linear_location)
    _, second = explore_dimensions(
        other, 2, search, np.random.default_rng(1), map, lambda c: None, others=[first]
    )
    assert [len(starts) for starts in seen] == [3] * 6
    for view, starts, W in zip(other.views, seen, first.Ws, strict=True):
        np.testing.assert_allclose(starts[-1], subspace_containing(view.location.directions, W))
    assert second.n_components == 2


def test_what_refining_makes_worse_is_not_kept(monkeypatch):
    def spoil(max_steps, item):
        return Minimum(random_subspace(1, 1, 4), 0.0, 1)

    rng, n = np.random.default_rng(0), 80
    X = rng.standard_normal((n, 4))
    Y = np.sin(2 * X[:, :1]) + 0.1 * rng.standard_normal((n, 1))
    whole = Sample(X, Y, np.full(n, 1 / n))
    views = [
        MemberView.of(whole, mass, np.arange(n), constant_location) for mass in deals(whole.weight)
    ]
    fit = Crossfit("none", whole, OPEN, views, SCORES["squared"])
    search = replace(SEARCH, n_starts=5, max_steps=30)
    assert configure(fit, 1, search, np.random.default_rng(0), map).refined
    monkeypatch.setattr("condensity.lsce.configurations.refine_subspace", spoil)
    found = configure(fit, 1, search, np.random.default_rng(0), map)
    assert not found.refined
    assert all(abs(W[0, 0]) > 0.9 for W in found.Ws)


def test_a_search_with_a_flexible_location_starts_from_a_subspace_extended_by_its_value(
    monkeypatch,
):
    seen = []

    def recorded(max_steps, item):
        seen.append(item[1])
        return learn_subspace(max_steps, item)

    plain, search = crossfit(), replace(SEARCH, n_starts=8)
    first = configure(plain, 1, search, np.random.default_rng(0), map)
    monkeypatch.setattr("condensity.lsce.configurations.learn_subspace", recorded)
    other = replace(crossfit(smooth_location), active=np.ones(5, bool))
    explore_dimensions(
        other, 2, search, np.random.default_rng(1), map, lambda c: None, others=[first]
    )
    assert [len(starts) for starts in seen] == [3] * 6
    for starts, W in zip(seen, first.Ws, strict=True):
        # The direction that was found without the location, and the value of the location.
        expected = np.vstack([np.append(W[0], 0.0), np.eye(5)[-1]])
        np.testing.assert_allclose(starts[-1].T @ starts[-1], expected.T @ expected, atol=1e-10)


def test_reported_directions_are_those_that_members_and_final_search_have_in_common():
    members = [random_subspace(seed, 2, 5) for seed in range(3)]
    last = random_subspace(9, 2, 5)
    learned = LearnedSubspaces(members, [*members, last], Minimum(last, 0.0, 1))
    mean = sum(W.T @ W for W in members) / 6 + last.T @ last / 2
    top = np.linalg.eigh(mean)[1][:, -2:]
    np.testing.assert_allclose(learned.common.T @ learned.common, top @ top.T, atol=1e-12)
    alone = LearnedSubspaces(members, [last], Minimum(last, 0.0, 1))
    np.testing.assert_allclose(alone.common.T @ alone.common, last.T @ last, atol=1e-12)


def test_more_components_also_start_from_the_subspace_of_fewer(monkeypatch):
    seen = []

    def recorded(max_steps, item):
        seen.append(item[1])
        return learn_subspace(max_steps, item)

    monkeypatch.setattr("condensity.lsce.configurations.learn_subspace", recorded)
    fit, rng = crossfit(), np.random.default_rng(0)
    smaller = configure(fit, 1, SEARCH, rng, map)
    seen.clear()
    configure(fit, 2, SEARCH, rng, map, smaller)
    for starts, W in zip(seen, smaller.Ws, strict=True):
        assert len(starts) == SEARCH.n_starts + 1
        np.testing.assert_allclose(W @ starts[-1].T @ starts[-1], W, atol=1e-10)


def test_the_setting_of_more_components_is_searched_near_that_of_fewer(monkeypatch):
    fit, rng = crossfit(), np.random.default_rng(0)
    smaller = configure(fit, 1, SEARCH, rng, map)
    near = []
    choose = SettingSelector.choose

    def recorded(selector, setting, *, coarse, strides):
        near.append((setting, coarse))
        return choose(selector, setting, coarse=coarse, strides=strides)

    monkeypatch.setattr(SettingSelector, "choose", recorded)
    configure(fit, 2, SEARCH, rng, map, smaller)
    (first, coarse), *_ = near
    assert not coarse
    assert first.sigma_z == pytest.approx(smaller.setting.sigma_z * 2**0.5)
    assert (first.sigma_y, first.penalty) == (smaller.setting.sigma_y, smaller.setting.penalty)


def test_subspaces_contain_the_directions_of_their_location():
    fit = crossfit(linear_location)
    found = explore_dimensions(fit, 2, SEARCH, np.random.default_rng(0), map, lambda c: None)
    assert found[1].n_components == 2
    for view, W in zip(fit.views, found[1].Ws, strict=True):
        D = view.location.directions
        np.testing.assert_allclose(D @ W.T @ W, D, atol=1e-10)


def test_dimensions_are_tried_upwards_until_two_in_a_row_do_not_help():
    rng, n = np.random.default_rng(0), 80
    X = rng.standard_normal((n, 7))
    Y = np.sin(2 * X[:, :1]) + 0.1 * rng.standard_normal((n, 1))
    whole = Sample(X, Y, np.full(n, 1 / n))
    views = [
        MemberView.of(whole, mass, np.arange(0, n, 2), constant_location)
        for mass in deals(whole.weight)
    ]
    fit = Crossfit("none", whole, np.ones(7, bool), views, SCORES["squared"])
    heard = []
    found = explore_dimensions(fit, None, SEARCH, np.random.default_rng(0), map, heard.append)
    assert heard == found
    losses = {c.n_components: c.loss for c in found}
    best = 1
    for dz in sorted(losses)[1:-1]:
        if losses[dz] < losses[best] - 0.01 * abs(losses[best]):
            best = dz
    assert list(losses) == [0, 7, *range(1, best + 3)]
    assert best + 2 < 6  # so that the search was given up, and did not come to its end


def test_of_configurations_as_good_as_the_best_the_simplest_is_chosen():
    fit = crossfit()
    made = [
        Configuration("none", dz, Setting(1, 1, 1), [], np.full(45, loss), fit)
        for dz, loss in [(4, -1.0), (3, -1.006), (2, -0.999), (1, -0.9)]
    ]
    assert fewest_components(made) is made[2]


def test_consensus_is_the_dominant_eigenspace_of_the_mean_projector():
    Ws = [random_subspace(j, 2, 5) for j in range(4)]
    W, agreement = consensus(Ws)
    values, vectors = np.linalg.eigh(np.mean([V.T @ V for V in Ws], axis=0))
    np.testing.assert_allclose(agreement, values[::-1], atol=1e-12)
    top = vectors[:, ::-1][:, :2]
    np.testing.assert_allclose(W.T @ W, top @ top.T, atol=1e-12)
    assert consensus([Ws[0]] * 3)[1] == pytest.approx([1, 1, 0, 0, 0], abs=1e-12)


def test_members_are_carried_over_to_the_units_of_all_samples():
    fit = crossfit()
    view = MemberView.of(fit.whole, np.zeros(45), np.arange(45), constant_location)
    Ws = [random_subspace(j, 2, 4) for j in range(6)]
    found = member_subspaces(
        Configuration("none", 2, Setting(1, 1, 1), Ws, np.zeros(45), fit), view
    )
    for own, W, V in zip(fit.views, Ws, found, strict=True):
        z, u = own.scaling.apply(fit.whole.X) @ W.T, view.scaling.apply(fit.whole.X) @ V.T
        # The same subspace: each is an affine function of the other.
        design = np.column_stack([u, np.ones(45)])
        left = z - design @ np.linalg.lstsq(design, z, rcond=None)[0]
        np.testing.assert_allclose(left, 0, atol=1e-10)
        np.testing.assert_allclose(V @ V.T, np.eye(2), atol=1e-12)
    constant = np.array([1.0, 0.0, 1.0, 1.0])
    assert np.isfinite(rescaled_subspace(constant, fit.views[0].units, Ws[0])).all()


def test_completion_adds_what_is_missing_and_nothing_that_is_constant():
    active = np.array([True, False, True, True])
    W = np.array([[0.6, 0.0, 0.8, 0.0]])
    full = complete_subspace(W, active)
    np.testing.assert_array_equal(full[0], W[0])
    np.testing.assert_allclose(full.T @ full, np.diag(active.astype(float)), atol=1e-12)


def test_an_average_of_members_is_the_average_of_their_densities():
    sample = random_sample(0, n=40, dx=4)
    whole = Sample(sample.X, sample.Y, sample.weight)
    view = MemberView.of(whole, np.zeros(40), np.arange(0, 40, 2), linear_location)
    outputs, setting = OutputKernels.build(view, 0.4), Setting(0.7, 0.4, 0.1)
    Ws = [random_subspace(j, 2, 4) for j in range(3)]
    fits = [outputs.fit(W, 0.7, (0.1,)) for W in Ws]
    y_scaling = Scaling(np.array([3.0]), np.array([2.0]))
    together = Ensemble(
        [(1.0, AveragedMembers.of(view, outputs.components, fits))], y_scaling, view.scaling, Ws[0]
    ).at(whole.X)
    y = 3.0 + 2.0 * whole.Y[:, 0]
    alone = [density(view, W, setting, whole.X).pdf(whole.Y[:, 0]) / 2.0 for W in Ws]
    np.testing.assert_allclose(together.pdf(y), np.mean(alone, axis=0), rtol=1e-9)
    used = np.any([fit.alphas[0, :-1] > 0 for fit in fits], axis=0).sum()
    assert [len(block.centers) for block in together.blocks] == [used, 1]


def test_members_settle_anew_where_centres_are_more():
    """Their setting is then the best near the old one, by the loss that they have with these."""
    fit = crossfit()
    rough = configure(fit, 1, SEARCH, np.random.default_rng(0), map)
    views = [
        MemberView.of(fit.whole, m, np.arange(45), constant_location)
        for m in deals(fit.whole.weight)
    ]
    fuller = replace(fit, views=views)
    found = reselect_setting(rough, fuller, SEARCH)
    assert found.crossfit is fuller
    assert found.Ws is rough.Ws
    assert found.refined == rough.refined
    s = found.setting

    def loss(sigma_z, sigma_y):
        return fuller.losses(rough.Ws, sigma_z, sigma_y, (s.penalty,))[0] @ fit.whole.weight

    assert found.loss == pytest.approx(loss(s.sigma_z, s.sigma_y), rel=1e-12)
    assert found.loss <= loss(rough.setting.sigma_z, rough.setting.sigma_y) + 1e-12
    for factor in (2**0.5, 2**-0.5):
        assert found.loss <= loss(s.sigma_z * factor, s.sigma_y) + 1e-12
        assert found.loss <= loss(s.sigma_z, min(1.0, s.sigma_y * factor)) + 1e-12


def test_other_views_have_tables_of_their_own():
    """What is remembered of a view is not told of another that took its place."""
    fit, Ws = crossfit(), [random_subspace(j, 2, 4) for j in range(6)]
    before = fit.losses(Ws, 0.8, 0.4, (0.1,))
    views = [
        MemberView.of(fit.whole, m, np.arange(45), constant_location)
        for m in deals(fit.whole.weight)
    ]
    fuller, fresh = replace(fit, views=views), replace(crossfit(), views=views)
    told = fuller.losses(Ws, 0.8, 0.4, (0.1,))
    np.testing.assert_array_equal(told, fresh.losses(Ws, 0.8, 0.4, (0.1,)))
    assert np.abs(told - before).max() > 1e-3
    np.testing.assert_array_equal(fit.losses(Ws, 0.8, 0.4, (0.1,)), before)


def test_what_is_remembered_of_outputs_is_bounded(monkeypatch):
    fit, Ws = crossfit(), [random_subspace(j, 2, 4) for j in range(6)]
    sizes = [0.2, 0.3, 0.4, 0.5]
    free = [fit.losses(Ws, 0.8, s, (0.1,)) for s in sizes]
    assert len(fit.cache) == 6 * len(sizes)
    tables = fit.cache[0, 0.2]
    size, out = tables.size, tables.outputs
    assert size == sum(a.size for a in (out.phi_y, out.yy, tables.match, tables.pair))
    monkeypatch.setattr(crossfit_module, "CACHED_NUMBERS", 7 * size)
    held = crossfit()
    for s, exact in zip(sizes, free, strict=True):
        np.testing.assert_array_equal(held.losses(Ws, 0.8, s, (0.1,)), exact)
    assert 1 <= len(held.cache) <= 7


def test_what_counts_is_judged_with_all_centres(monkeypatch):
    """Of an average and of a single model; without more centres nothing is done twice."""
    X, y = toy_b().sample(60, random_state=0)
    heard = []
    monkeypatch.setattr(
        ensemble,
        "reselect_setting",
        lambda c, fit, search: heard.append(fit) or reselect_setting(c, fit, search),
    )
    for n_members in (1, 5):
        model = LSCE(1, n_members=n_members, n_starts=1, max_iter=5, random_state=0)
        model.fit(X, y)
        assert not heard
        with monkeypatch.context() as patch:
            patch.setattr(views, "SELECTION_CENTERS", 20)
            model.fit(X, y)
        assert {len(view.basis) for fit in heard for view in fit.views} == {48}
        assert len(heard) == 1 if n_members == 1 else len(heard) >= 1
        heard.clear()
    with monkeypatch.context() as patch:
        patch.setattr(views, "SELECTION_CENTERS", 48)  # just as many as there are
        model.fit(X, y)
    assert not heard


def test_what_is_forgotten_is_found_again():
    fit, Ws = crossfit(), [random_subspace(j, 2, 4) for j in range(6)]
    before = fit.losses(Ws, 0.8, 0.4, (0.1,))
    assert fit.cache
    fit.clear()
    assert not fit.cache
    np.testing.assert_array_equal(fit.losses(Ws, 0.8, 0.4, (0.1,)), before)
