"""Settings that follow the number of samples."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from condensity import LSCE
from condensity.data.prepare import prepare
from condensity.data.sample import canonical
from condensity.fitting.scores import SCORES
from condensity.locations.location import constant_location
from condensity.lsce import large_samples as module
from condensity.lsce.configurations import Configuration
from condensity.lsce.consensus import LearnedSubspaces
from condensity.lsce.large_samples import (
    Learned,
    LocationViews,
    enlarge_for_settings,
    follows_sample_size,
)
from condensity.lsce.learning import learn_subspace, starting_points
from condensity.members.crossfit import Crossfit
from condensity.members.member import MemberView
from condensity.members.settings import EnsembleOptions, Setting
from condensity.metrics import subspace_error
from condensity.subspaces.chart import Minimum
from crossfits import SEARCH

QUICK = {"n_starts": 4, "max_iter": 15, "random_state": 0}


def wave(n, seed):
    """A curve that wide kernels cannot follow, in one of four directions."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    z = (X[:, 0] + X[:, 1]) / np.sqrt(2)
    y = np.sin(3 * z) + 0.2 * rng.standard_normal(n)
    return X, y


def training_data(n=900, subsample=100, **options):
    X, y = wave(n, 0)
    arguments = {"cv": 3, "n_centers": "auto", "auto_centers": 500} | options
    return prepare(
        LSCE(), X, y, None, np.random.default_rng(0), to_fix="", subsample=subsample, **arguments
    )


@pytest.mark.parametrize(
    ("options", "follows"),
    [
        ({}, True),
        ({"subsample": 800}, False),  # most of the samples are in the subsample
        ({"subsample": None}, False),
        ({"cv": None}, False),
        ({"cv": KFold(3, shuffle=True, random_state=0)}, False),  # the caller's folds
    ],
)
def test_settings_follow_the_sample_only_if_most_samples_remain(options, follows):
    assert follows_sample_size(training_data(**options)) is follows


def test_the_number_of_centres_grows_unless_the_caller_has_given_it(monkeypatch):
    monkeypatch.setattr(module, "GROWTH", 4)
    for n_centers, expected in (("auto", 440), (50, 50)):
        data = training_data(n_centers=n_centers)
        larger = enlarge_for_settings(data, np.random.default_rng(0)).data
        assert 440 < len(larger.sample) < 560  # the subsample and about four times as many
        assert len(larger.centers) == (len(larger.sample) if n_centers == "auto" else expected)
    monkeypatch.setattr(module, "CENTERS", 300)
    larger = enlarge_for_settings(training_data(), np.random.default_rng(0)).data
    assert len(larger.centers) == 300


OPTIONS = EnsembleOptions(
    {"none": constant_location}, SCORES["squared"], SEARCH, n_members=5, least_widths=np.zeros(1)
)
CONFIGURATION = Configuration("none", 1, Setting(0.5, 0.3, 0.1), [], np.zeros(0), None)
W = np.array([[1.0, 1.0, 0.0, 0.0]]) / np.sqrt(2)


def test_settings_are_selected_at_samples_that_took_no_part_in_the_fit():
    data = training_data()
    larger = enlarge_for_settings(data, np.random.default_rng(0))
    views = LocationViews(larger.data, OPTIONS, larger.held)
    view = views.plain(CONFIGURATION)
    crossfit = views.crossfit(Learned(CONFIGURATION, view, W))
    assert crossfit.views[0] is view
    trained = view.scaling.mean + view.sample.X * view.units
    own = {tuple(row) for row in np.round(data.sample.X, 9)}
    assert not own & {tuple(row) for row in np.round(trained, 9)}
    held = np.round(larger.data.sample.X[view.rows], 9)
    assert {tuple(row) for row in held} == own
    # Centres are training samples.
    assert set(np.asarray(view.basis)) <= set(range(len(view.sample)))


def test_a_subspace_keeps_its_meaning_in_another_view():
    larger = enlarge_for_settings(training_data(), np.random.default_rng(0))
    view = LocationViews(larger.data, OPTIONS, larger.held).plain(CONFIGURATION)
    whole = LocationViews(larger.data, OPTIONS, 0 * larger.held).plain(CONFIGURATION)
    own = LearnedSubspaces([], [W], Minimum(W, 0.0, 0))
    moved = Learned.of(CONFIGURATION, own, {"none": view}).in_view(whole)
    # The direction in the units of the data stays.
    direction, found = W[0] / view.units, moved.W[0] / whole.units
    assert np.abs(view.units / whole.units - 1).max() > 1e-3
    cosine = direction @ found / np.linalg.norm(direction) / np.linalg.norm(found)
    assert abs(cosine) == pytest.approx(1.0, rel=1e-9)


def test_the_subspace_is_refined_with_the_samples_of_the_view():
    larger = enlarge_for_settings(training_data(2000), np.random.default_rng(0))
    view = LocationViews(larger.data, OPTIONS, larger.held).plain(CONFIGURATION)
    off = np.array([[1.0, 0.7, 0.2, 0.0]])
    start = Learned(CONFIGURATION, view, off / np.linalg.norm(off))
    truth = W * view.units / np.linalg.norm(W * view.units)
    assert subspace_error(start.W, truth) > 0.3
    assert subspace_error(start.refined().W, truth) < 0.1


@pytest.fixture(scope="module")
def fits():
    """Models of 4000 samples with a subsample of 200, and of that subsample alone."""
    X, y = wave(4000, 1)
    settings = QUICK | {"subsample": 200, "location": "none"}
    large = LSCE(1, **settings).fit(X, y)
    small = LSCE(1, **settings).fit(X[:200], y[:200])
    return large, small


def test_more_samples_give_narrower_kernels_and_more_centres(fits):
    large, small = fits
    assert large.bandwidth_[0] <= small.bandwidth_[0]
    assert np.prod(large.bandwidth_) < np.prod(small.bandwidth_)
    (_, part), *_ = large._density.parts
    assert len(part.members[0].U) > 500


def test_more_samples_give_a_better_density_and_calibrated_intervals(fits):
    large, small = fits
    X, y = wave(3000, 2)
    assert large.score(X, y) > small.score(X, y) + 0.05
    assert large.cv_score_ == pytest.approx(large.score(X, y), abs=0.08)
    inside = np.mean(large.predict_dist(X).cdf(y) < 0.9)
    assert 0.87 < inside < 0.93
    truth = np.array([[1.0, 1.0, 0.0, 0.0]]) / np.sqrt(2)
    assert subspace_error(large.components_, truth) < 0.05
    assert subspace_error(large.components_, truth) < subspace_error(small.components_, truth)


def test_the_answer_does_not_depend_on_the_number_of_jobs(fits):
    X, y = wave(1500, 1)
    settings = QUICK | {"subsample": 100, "max_iter": 5}
    one, two = (LSCE(1, n_jobs=j, **settings).fit(X, y).predict_dist(X[:20]) for j in (1, 2))
    np.testing.assert_array_equal(one.pdf(y[:20]), two.pdf(y[:20]))


def test_refining_removes_what_a_subspace_has_learned_from_held_out_samples():
    """In pure noise no direction helps, so a gain at held-out samples is a leak."""
    gains = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((500, 12)), rng.standard_normal(500)
        whole, _, _ = canonical(X, y[:, None], np.full(500, 1 / 500))
        held = np.where(rng.permutation(500) < 230, 1 / 500, 0.0)
        everything, others = (
            MemberView.of(whole, mass, np.arange(0, 500, 2), constant_location)
            for mass in (0 * held, held)
        )
        active = np.ones(12, dtype=bool)
        starts = starting_points(everything, active, 2, 6, rng)
        leaked = Learned(CONFIGURATION, others, learn_subspace(20, (everything, starts)).W)
        fit = Crossfit("none", whole, active, [others], SCORES["squared"])

        def loss(W, fit=fit):
            return min(fit.losses([W], s, 0.7, (0.1,))[0] @ fit.weight for s in (0.7, 1.4))

        nothing = loss(np.empty((0, 12)))
        gains.append([nothing - loss(one.W) for one in (leaked, leaked.refined())])
    before, after = np.mean(gains, axis=0)
    assert before > 0.003
    assert after < 0.5 * before
