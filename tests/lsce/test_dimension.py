"""The number of components that is reported."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone

import condensity.lsce.fit
from condensity import LSCE
from condensity.datasets import toy_b
from condensity.locations.location import constant_location, linear_location
from condensity.lsce.configurations import Configuration
from condensity.lsce.dimension import (
    Comparison,
    compare,
    find_reference,
    loss_difference,
    member_agreement,
    needs_components,
    supported_components,
)
from condensity.members.member import MemberView
from condensity.members.settings import Setting
from crossfits import crossfit
from problems import random_subspace

FIT = crossfit()
N = len(FIT.whole)
#: Losses of mean zero that differ from sample to sample.
NOISE = np.random.default_rng(0).standard_normal(N)
NOISE -= FIT.whole.weight @ NOISE
ERROR = np.sqrt(np.sum((FIT.whole.weight * NOISE) ** 2))


def configuration(location, dz, loss, noise=0.0):
    """A configuration with a mean loss, and noise that its standard errors come from."""
    losses = np.full(N, loss) + noise * NOISE / ERROR
    return Configuration(location, dz, Setting(1, 1, 1), [], losses, FIT)


def reported(configurations, agreement):
    reference = find_reference(configurations)
    pairs = [loss_difference(c, reference) for c in configurations]
    excess, error = np.transpose(pairs)
    return supported_components(configurations, reference, excess, error, np.array(agreement))


def test_the_error_of_a_difference_is_that_of_a_weighted_mean():
    a, b = configuration("none", 1, -1.0, 0.1), configuration("linear", 2, -1.3, 0.4)
    weight, losses = FIT.whole.weight, a.losses - b.losses
    mean = sum(weight[i] * losses[i] for i in range(N))
    variance = sum(weight[i] ** 2 * (losses[i] - mean) ** 2 for i in range(N))
    assert loss_difference(a, b) == pytest.approx((mean, variance**0.5), rel=1e-10)
    assert mean == pytest.approx(0.3)
    assert variance**0.5 == pytest.approx(0.3)


def test_another_location_must_be_better_by_two_standard_errors():
    plain = [configuration("none", 1, -0.8), configuration("none", 2, -1.0)]
    slightly = configuration("linear", 3, -1.19, noise=0.1)
    clearly = configuration("linear", 3, -1.21, noise=0.1)
    assert find_reference([*plain, slightly]) is plain[1]
    assert find_reference([*plain, clearly]) is clearly
    assert find_reference([slightly]) is slightly


def test_fewer_components_are_enough_within_one_standard_error_or_two_per_cent():
    disagree = [np.nan, 0.1, 0.1, 0.1]
    sizes = 4, 1, 2, 3
    made = [
        configuration("none", dz, x) for dz, x in zip(sizes, (-0.9, -0.97, -0.981, -1), strict=True)
    ]
    assert reported(made, disagree) == 2
    made[1] = configuration("none", 1, -0.97, noise=0.029)
    assert reported(made, disagree) == 2
    made[1] = configuration("none", 1, -0.97, noise=0.031)
    assert reported(made, disagree) == 1


def test_of_the_numbers_that_are_enough_the_largest_with_agreement_is_reported():
    made = [
        configuration("none", dz, x) for dz, x in [(1, -0.99), (2, -0.995), (3, -1), (4, -0.99)]
    ]
    assert reported(made, [0.9, 0.7, 0.69, np.nan]) == 2
    assert reported(made, [0.9, 0.6, 0.7, np.nan]) == 3
    assert reported(made, [0.9, 0.6, 0.6, 0.9]) == 1  # not more than the reference has
    assert reported(made, [0.5, 0.6, 0.6, 0.6]) == 1
    made[3] = configuration("none", 4, -1.001)  # members cannot disagree on the whole space
    assert reported(made, [0.5, 0.9, 0.6, np.nan]) == 2


def test_only_the_location_of_the_reference_counts():
    made = [configuration("none", 2, -1.0), configuration("linear", 1, -1.0)]
    assert reported(made, [0.1, 0.1]) == 2
    clearly = [configuration("none", 1, -1.0), configuration("linear", 2, -1.5)]
    assert reported(clearly, [0.9, 0.9]) == 2


def test_with_a_location_other_locations_count_too():
    made = [configuration("none", 1, -1.0), configuration("linear", 1, -1.49)]
    made.append(configuration("reduced", 2, -1.5))
    assert reported(made, [0.9, 0.9, 0.6]) == 1
    assert reported(made, [0.9, 0.9, 0.8]) == 2


def test_components_beyond_those_of_a_linear_location_must_lower_the_loss():
    view = MemberView.of(FIT.whole, np.zeros(N), np.arange(N), linear_location)
    (n_lead,), views = {len(view.location.directions)}, {"linear": view, "none": view}
    alone = configuration("linear", 0, -1.0)
    for loss, needed in ((-1.0, False), (-1.0019, False), (-1.0021, True)):
        more = configuration("linear", n_lead + 1, loss)
        assert needs_components(more, [alone, more], views) is needed
        assert needs_components(more, [more], views)
    own = configuration("linear", n_lead, -1.0)
    assert needs_components(own, [alone, own], views)


@pytest.mark.parametrize(("loss", "clearly"), [(-1.19, False), (-1.21, True)])
def test_directions_of_a_reduced_location_are_reported_if_it_is_clearly_better(loss, clearly):
    plain = configuration("none", 1, -1.0)
    reduced = replace(configuration("reduced", 1, loss, noise=0.1), start=plain)
    nothing, made = np.zeros(2), [plain, reduced]
    both = Comparison(nothing, nothing, nothing, [0, 1], [0, 1], plain)
    assert both.best(made, np.array([0.5, 0.5])) is (reduced if clearly else plain)
    alone = replace(both, candidates=[1]).best(made, np.array([0.5, 0.5]))
    assert alone is reduced


def test_agreement_is_that_of_the_last_direction():
    view = MemberView.of(FIT.whole, np.zeros(N), np.arange(N), constant_location)
    W, setting = random_subspace(0, 2, 4), Setting(1, 1, 1)
    sd = [own.scaling.sd / view.scaling.sd for own in FIT.views]
    same = [np.linalg.qr((W * s).T)[0].T for s in sd]  # one subspace in the units of each member
    c = Configuration("none", 2, setting, same, np.zeros(N), FIT)
    assert member_agreement(c, view) == pytest.approx(1)
    half = [*same[:3], *(np.vstack([W[0], [0, 0, 0, 0]]) for W in same[3:])]
    c = Configuration("none", 2, setting, half, np.zeros(N), FIT)
    assert member_agreement(c, view) < 0.9
    whole = Configuration("none", 4, setting, [np.eye(4)] * 6, np.zeros(N), FIT)
    assert np.isnan(member_agreement(whole, view))
    assert compare([Configuration("none", 1, setting, [], np.zeros(N), None)], {}) is None


QUICK = {"n_starts": 4, "max_iter": 10, "random_state": 0}


@pytest.fixture(scope="module")
def fitted():
    X, y = toy_b().sample(100, random_state=0)
    return LSCE(**QUICK).fit(X, y), X, y


def test_the_table_compares_configurations_with_the_reference(fitted):
    model, _, _ = fitted
    table = model.cv_results_
    scores, location = table["mean_test_score"], table["param_location"]
    (reference,) = np.flatnonzero(table["score_difference_se"] == 0)
    assert table["score_difference"][reference] == 0
    # It is the best configuration through directions if it is clearly better than the best one
    # without location; else it is the latter.
    strict = (location != "flexible") & (table["param_n_components"] > 0)
    plain = int(np.argmax(np.where(strict & (location == "none"), scores, -np.inf)))
    top = int(np.argmax(np.where(strict, scores, -np.inf)))
    clearly = -table["score_difference"][plain] > 2 * table["score_difference_se"][plain]
    assert reference == (top if clearly else plain)
    # Folds have equal weights, so the mean over folds is the mean over samples.
    np.testing.assert_allclose(table["score_difference"], scores - scores[reference], atol=1e-10)
    best = table["is_best"]
    assert table["agreement"][best] == pytest.approx(
        model.subspace_agreement_[model.n_components_ - 1]
    )
    assert np.isnan(table["agreement"][table["param_n_components"] == 5]).all()


@pytest.mark.parametrize(("scoring", "unit"), [("squared", 0.1), ("crps", 10.0), ("log", 1.0)])
def test_differences_are_in_the_units_of_y(scoring, unit):
    X, y = toy_b().sample(50, random_state=0)
    model = LSCE(1, scoring=scoring, n_starts=1, max_iter=2, random_state=0)
    tables = [clone(model).fit(X, factor * y).cv_results_ for factor in (1.0, 10.0)]
    for name in ("score_difference", "score_difference_se"):
        ours, scaled = (table[name] for table in tables)
        assert np.abs(ours).max() > 0
        np.testing.assert_allclose(scaled, unit * ours, rtol=1e-6)


def test_a_configuration_in_the_average_is_preferred():
    made = [configuration("none", 2, -1.0), configuration("linear", 2, -0.9)]
    made.append(configuration("none", 1, -2.0))
    nothing = np.zeros(3)
    weigh = partial(Comparison(nothing, nothing, nothing, [0, 1], [0, 1], made[0]).best, made)
    assert weigh(np.array([0.0, 0.1, 0.9])) is made[1]
    assert weigh(np.array([0.1, 0.1, 0.8])) is made[0]
    assert weigh(np.array([0.0, 0.0, 1.0])) is made[0]


def test_reported_directions_need_no_weight_and_do_not_change_the_density(fitted, monkeypatch):
    model, X, y = fitted
    table = model.cv_results_
    strict = table["param_location"] != "flexible"
    idle = {
        int(dz)
        for dz in table["param_n_components"]
        if dz and not table["weight"][strict & (table["param_n_components"] == dz)].any()
    }
    dz = min(idle - {model.n_components_})
    none = np.zeros(len(table["weight"]))
    rows = np.flatnonzero(strict & (table["param_n_components"] == dz))
    monkeypatch.setattr(
        condensity.lsce.fit,
        "compare",
        lambda made, _: Comparison(none, none, none, rows, rows, made[rows[0]]),
    )
    other = LSCE(**QUICK).fit(X, y)
    assert other.n_components_ == dz == len(other.components_)
    assert other.transform(X).shape == (100, dz)
    np.testing.assert_array_equal(other.predict_dist(X).pdf(y), model.predict_dist(X).pdf(y))


def test_only_configurations_with_directions_of_their_own_are_reported():
    through = MemberView.of(FIT.whole, np.zeros(N), np.arange(N), constant_location)
    everywhere = replace(through, location=replace(through.location, anywhere=True))
    views = {"none": through, "flexible": everywhere}
    Ws = [random_subspace(0, 2, 4)] * len(FIT.views)
    empty = [np.empty((0, 4))] * len(FIT.views)
    made = [
        replace(configuration("flexible", 2, -9.0), Ws=Ws),
        replace(configuration("none", 0, -8.0), Ws=empty),
        replace(configuration("none", 2, -1.0), Ws=Ws),
    ]
    assert list(compare(made, views).candidates) == [2]
    # All are compared with the best of those that take part.
    np.testing.assert_allclose(compare(made, views).excess, [-8, -7, 0])
    # If all locations depend on all inputs, there is nothing else to report.
    assert list(compare(made[:1], views).candidates) == [0]
