"""The subspace that is reported: candidates, their weights and their consensus."""

import math
from dataclasses import replace

import numpy as np
import pytest

import condensity.lsce.fit
from condensity import LSCE, OPG
from condensity.data.sample import Sample
from condensity.fitting.scores import SCORES
from condensity.locations.location import constant_location, linear_location
from condensity.lsce import reported
from condensity.lsce.configurations import Configuration, loss_difference
from condensity.lsce.consensus import LearnedSubspaces, member_subspaces
from condensity.lsce.reported import (
    candidate_weights,
    gradient_subspaces,
    has_slope,
    judge,
    keeps_slope,
    without_location,
)
from condensity.members.crossfit import Crossfit
from condensity.members.member import MemberView
from condensity.members.settings import Setting
from condensity.metrics import subspace_error
from condensity.subspaces.chart import Minimum
from crossfits import SEARCH, crossfit, deals
from problems import random_subspace

FIT = crossfit()
N = len(FIT.whole)


def configuration(location, dz, losses):
    return Configuration(location, dz, Setting(1, 1, 1), [], losses, FIT)


def test_weights_are_the_tails_of_the_difference_from_the_best_candidate():
    noise = np.random.default_rng(0).standard_normal((3, N))
    candidates = [configuration("none", 1, row) for row in noise * 0.2 + [[0.05], [0.0], [0.02]]]
    best = min(candidates, key=lambda c: c.loss)
    for c, weight in zip(candidates, candidate_weights(candidates), strict=True):
        mean, error = loss_difference(c, best)
        tail = 1.0 if c is best else math.erfc(mean / error / math.sqrt(2))
        assert weight == pytest.approx(tail)
        assert tail > reported.LEAST_WEIGHT


def test_equal_candidates_have_equal_weights_and_clearly_worse_ones_have_none():
    noise = np.random.default_rng(0).standard_normal(N)
    worse = configuration("none", 1, 0.1 * noise + 1.0)
    plain = configuration("none", 1, np.zeros(N))
    assert candidate_weights([plain, plain, worse]).tolist() == [1.0, 1.0, 0.0]
    always_worse = configuration("none", 1, np.ones(N))
    assert candidate_weights([plain, always_worse]).tolist() == [1.0, 0.0]


def test_a_linear_location_takes_part_if_its_slope_is_clearly_not_zero():
    noise = np.random.default_rng(0).standard_normal(N)
    noise -= FIT.weight @ noise
    error = np.linalg.norm(FIT.weight * noise)
    constant = configuration("none", 0, np.zeros(N))
    for z, clearly in ((1.9, False), (2.1, True)):
        plane = configuration("linear", 0, noise / error - z)
        made = [constant, plane, configuration("linear", 2, np.zeros(N))]
        assert has_slope(made[2], made) is clearly
        assert has_slope(configuration("reduced", 2, np.zeros(N)), made)
    assert has_slope(made[2], made[1:])


def test_gradients_of_members_are_those_of_their_own_samples():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 4)) * [1.0, 1.0, 0.0, 1.0]
    y = (X[:, 0] + X[:, 1]) ** 2 + 0.1 * rng.standard_normal(90)
    weight = np.full(90, 1 / 90)
    whole = Sample(X, ((y - y.mean()) / y.std())[:, None], weight)
    masses = deals(weight, n_deals=1)
    members = [MemberView.of(whole, mass, np.arange(90), constant_location) for mass in masses]
    active = np.array([True, True, False, True])
    made = Crossfit("none", whole, active, members, SCORES["squared"])
    unknown = [np.empty((2, 4))] * len(members)
    plain = Configuration("none", 2, Setting(1, 1, 1), unknown, np.zeros(90), made)
    found = gradient_subspaces(plain)
    for mass, view, W in zip(masses, members, found, strict=True):
        own = mass == 0
        with pytest.warns(UserWarning, match="does not vary"):
            direct = OPG(2, functions="mean").fit(X[own], y[own])
        np.testing.assert_allclose(W @ W.T, np.eye(2), atol=1e-12)
        assert subspace_error(W, direct.components_) < 1e-6
        assert len(view.sample) == own.sum()


def test_the_projector_of_a_configuration_gives_half_of_the_weight_to_the_last_subspace():
    members, last = [random_subspace(seed, 2, 5) for seed in range(3)], random_subspace(9, 2, 5)
    learned = LearnedSubspaces(members, [*members, last], Minimum(last, 0.0, 1))
    mean = sum(W.T @ W for W in members) / 6 + last.T @ last / 2
    np.testing.assert_allclose(learned.projector, mean, atol=1e-12)
    alone = LearnedSubspaces(members, [last], Minimum(last, 0.0, 1))
    np.testing.assert_allclose(alone.projector, last.T @ last, atol=1e-12)


def test_candidates_are_compared_without_location_where_that_is_possible():
    view = MemberView.of(FIT.whole, np.zeros(N), np.arange(N), constant_location)
    everywhere = replace(view, location=replace(view.location, anywhere=True))
    views = {"none": view, "linear": view, "flexible": everywhere}
    zeros = np.zeros(N)
    plain, linear = configuration("none", 2, zeros), configuration("linear", 2, zeros)
    made = [configuration("none", 1, zeros), plain, linear]
    assert without_location(made, linear, views) is plain
    assert without_location([made[0], linear], linear, views) is None
    assert without_location(made, replace(linear, crossfit=None), views) is None
    assert without_location(made, configuration("flexible", 2, zeros), views) is None
    whole_space = [configuration(name, 4, zeros) for name in ("none", "linear")]
    assert without_location(whole_space, whole_space[1], views) is None
    masses = [0.25 * FIT.whole.weight, 0.75 * FIT.whole.weight]
    parts = [MemberView.of(FIT.whole, mass, np.arange(N), constant_location) for mass in masses]
    cells = replace(FIT, views=parts)
    assert without_location(made, replace(linear, crossfit=cells), views) is None


@pytest.mark.parametrize(
    ("dz", "z", "judged", "kept"),
    [(1, 0.0, -0.1, True), (1, 0.0, 0.1, False), (2, 1.9, -0.1, False), (2, 2.1, -0.1, True)],
)
def test_a_slope_is_reported_alone_if_it_is_all_or_clearly_better(dz, z, judged, kept, monkeypatch):
    noise = np.random.default_rng(0).standard_normal(N)
    noise -= FIT.weight @ noise
    plain = configuration("none", dz, np.zeros(N))
    better = noise / np.linalg.norm(FIT.weight * noise) - z
    linear = replace(configuration("linear", dz, better), crossfit=crossfit(linear_location))
    other = configuration("none", dz, np.full(N, judged))
    monkeypatch.setattr(reported, "judge", lambda *_: other)
    assert keeps_slope(linear, plain, SEARCH) is kept
    assert not keeps_slope(replace(linear, location="reduced"), plain, SEARCH)


def test_other_directions_are_judged_by_the_density_without_location():
    truth, wrong = np.eye(4)[:1], np.eye(4)[3:]
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    weight = np.full(60, 1 / 60)
    whole = Sample(X, X[:, :1] ** 2 + 0.1 * rng.standard_normal((60, 1)), weight)
    masses = deals(weight, n_deals=1)
    members = [MemberView.of(whole, mass, np.arange(60), constant_location) for mass in masses]
    made = Crossfit("none", whole, np.ones(4, bool), members, SCORES["squared"])
    nothing, setting = np.zeros(60), Setting(0.5, 0.35, 0.01)
    plain = Configuration("none", 1, setting, [wrong] * 3, nothing, made)
    good, bad = (judge(plain, Ws, SEARCH) for Ws in ([truth] * 3, [wrong] * 3))
    assert good.loss < bad.loss - 0.05
    again = made.losses(
        [truth] * 3, good.setting.sigma_z, good.setting.sigma_y, (good.setting.penalty,)
    )
    np.testing.assert_allclose(good.losses, again[0])
    assert judge(plain, plain.Ws, SEARCH) is plain


def captured(monkeypatch, model, X, y):
    """The fitted model, and the arguments of the report."""
    seen = {}
    original = condensity.lsce.fit.reported_subspace

    def spy(data, options, views, configurations, best, learn):
        seen.update(views=dict(views), configurations=configurations, best=best, learn=learn)
        return original(data, options, views, configurations, best, learn)

    monkeypatch.setattr(condensity.lsce.fit, "reported_subspace", spy)
    return model.fit(X, y), seen


QUICK = {"n_starts": 4, "n_members": 4, "max_iter": 10, "random_state": 0}


def test_the_report_is_the_dominant_eigenspace_of_weighted_projectors(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((90, 4))
    y = X[:, 0] ** 2 + X[:, 1] ** 2 + 0.3 * rng.standard_normal(90)
    weights, judged = [], []
    original = reported.candidate_weights

    def spy(candidates):
        judged.extend(candidates)
        weights.extend(original(candidates))
        return original(candidates)

    monkeypatch.setattr(reported, "candidate_weights", spy)
    model, seen = captured(monkeypatch, LSCE(2, **QUICK), X, y)
    same = [c for c in seen["configurations"] if c.n_components == 2]
    rivals = [c for c in same if has_slope(c, seen["configurations"])]
    assert [c.location for c in same] == ["none", "linear", "reduced"]
    assert len(weights) == len(rivals) + 1
    total = np.zeros((4, 4))
    for i, (weight, c) in enumerate(zip(weights, judged, strict=True)):
        if weight > 0:
            Ws = member_subspaces(c, seen["views"]["none"])
            share = 1.0 if i < len(rivals) else 0.5
            if i < len(rivals):
                *Ws, last = seen["learn"](rivals[i]).averaged
                Ws = [*Ws, *[last] * len(Ws)]
            total += share * weight * sum(W.T @ W for W in Ws) / len(Ws)
    W = np.linalg.eigh(total)[1][:, -2:].T
    assert subspace_error(model.components_, W) < 1e-10
    assert sum(weight > 0 for weight in weights) > 1


@pytest.mark.parametrize(
    "parameters", [{"location": "linear"}, {"location": "reduced"}, {"n_members": 1}]
)
def test_a_single_kind_of_density_reports_its_own_directions(parameters, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 4))
    y = X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.standard_normal(80)
    model, seen = captured(monkeypatch, LSCE(2, **QUICK | parameters), X, y)
    own = seen["learn"](seen["best"])
    assert subspace_error(model.components_, own.common) < 1e-10


@pytest.mark.parametrize("noisy_mean", [True, False])
def test_an_inaccurate_slope_does_not_spoil_the_report(noisy_mean):
    rng = np.random.default_rng(0)
    X, e = rng.standard_normal((150, 6)), rng.standard_normal(150)
    # A spread that follows another input makes the slope of a regression inaccurate.
    y = X[:, 1] + (0.3 + 2 * X[:, 0] ** 2) * e if noisy_mean else X @ np.ones(6) + 3 * e
    B = np.eye(6)[:2] if noisy_mean else np.ones((1, 6)) / np.sqrt(6)
    error = {
        location: subspace_error(
            LSCE(len(B), location=location, random_state=0).fit(X, y).components_ / X.std(0), B
        )
        for location in ("auto", "none", "linear")
    }
    worse = "linear" if noisy_mean else "none"
    assert error["auto"] < error[worse]
