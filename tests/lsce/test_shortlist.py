"""Configurations ranked with some of the folds, and completed with the others."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import KFold

import condensity.lsce.fit
from condensity import LSCE
from condensity.datasets import toy_b
from condensity.locations.location import constant_location
from condensity.lsce import shortlist as module
from condensity.lsce.configurations import Configuration, complete, configure
from condensity.lsce.dimension import compare
from condensity.lsce.shortlist import SHARE, all_masses, held_out_masses, shortlist
from condensity.members.crossfit import Crossfit
from condensity.members.member import MemberView
from condensity.members.settings import Setting
from crossfits import OPEN, SEARCH, crossfit, deals
from problems import random_sample, random_subspace

QUICK = {"n_starts": 4, "max_iter": 10, "random_state": 0}


class Data:
    """Samples with three partitions into five folds."""

    def __init__(self, n=400, n_folds=5, by_cells=False):
        self.sample, self.by_cells = np.empty(n), by_cells
        rng = np.random.default_rng(0)
        labels = [rng.permutation(n) % n_folds for _ in range(3)]
        self.partitions = [
            np.array([np.where(fold == j, 1 / n, 0.0) for j in range(n_folds)]) for fold in labels
        ]
        self.folds = self.partitions[0]


class Options:
    """The default."""

    n_components, n_members = None, 5


def options(**changes):
    return type("Changed", (Options,), changes)


def test_the_first_folds_hold_out_a_share_of_the_samples():
    held, n_first = held_out_masses(Data(), Options)
    assert n_first == 2
    assert sum(mass.sum() for mass in held[:2]) >= SHARE > held[0].sum()
    # All members are there once.
    every = all_masses(Data())
    assert sorted(mass.tobytes() for mass in held) == sorted(mass.tobytes() for mass in every)
    # They are evenly spaced folds of one partition, so no sample is held out twice.
    np.testing.assert_array_equal(held[:2], Data().folds[[0, 4]])
    assert held_out_masses(Data(n_folds=10), Options)[1] == 4


@pytest.mark.parametrize(
    ("data", "choice"),
    [
        (Data(n=module.LEAST_SAMPLES - 1), Options),
        (Data(by_cells=True), Options),
        (Data(), options(n_components=2)),
        (Data(), options(n_members=1)),
        (Data(n_folds=2), Options),
    ],
)
def test_otherwise_all_members_learn_all_configurations(data, choice):
    held, n_first = held_out_masses(data, choice)
    if n_first < len(held):
        assert len(data.folds) == 2
        assert n_first == 1
    else:
        np.testing.assert_array_equal(held, all_masses(data))


def test_completed_configurations_are_those_of_all_members():
    """The first members stay as they are, the others learn in the same way."""
    n, rng = 45, np.random.default_rng(0)
    whole = random_sample(0, n=n, dx=4)
    views = [
        MemberView.of(whole, mass, np.arange(0, n, 2), constant_location)
        for mass in deals(whole.weight)
    ]
    whole_fit = crossfit()
    some = Crossfit("none", whole, OPEN, views[:2], whole_fit.score)
    search = replace(SEARCH, n_starts=10, max_steps=30)
    c = configure(some, 1, search, rng, map)
    # Losses on some folds are means over the samples of these folds.
    held = sum(view.held_out.weight.sum() for view in views[:2])
    rows = np.concatenate([view.rows for view in views[:2]])
    assert c.loss == pytest.approx(whole.weight[rows] @ c.losses[rows] / held, rel=1e-12)
    every = Crossfit("none", whole, OPEN, views, whole_fit.score)
    done = complete(c, every, search, rng, map)
    assert done.setting == c.setting
    assert len(done.Ws) == 6
    for ours, kept in zip(done.Ws, c.Ws, strict=False):
        np.testing.assert_array_equal(ours, kept)
    s = c.setting
    exact = every.losses(done.Ws, s.sigma_z, s.sigma_y, (s.penalty,))[0]
    np.testing.assert_array_equal(done.losses, exact)
    # What members learn is better than directions drawn at random.
    others = [random_subspace(j, 1, 4) for j in range(6)]
    assert done.loss < every.weight @ every.losses(others, s.sigma_z, s.sigma_y, (s.penalty,))[0]


def test_what_is_clearly_worse_is_not_on_the_list():
    fit = crossfit()
    n = len(fit.whole)
    noise = np.random.default_rng(0).standard_normal(n)

    def made(location, dz, loss):
        losses = loss + 0.01 * noise
        Ws = [random_subspace(j, dz, 4) for j in range(6)]
        return Configuration(location, dz, Setting(1.0, 0.5, 0.1), Ws, losses, fit)

    view = MemberView.of(fit.whole, np.zeros(n), np.arange(n), constant_location)
    configurations = [
        made("none", 0, -0.1),
        made("none", 1, -1.0),
        made("none", 2, -0.99),
        made("none", 3, -0.5),
        made("other", 0, -0.1),
        made("other", 1, -0.2),
    ]
    views = {"none": view, "other": view}
    comparison = compare(configurations, views)
    assert comparison.undecided(configurations) == [1, 2]

    # All the weight is that of the second one.
    evaluated = np.eye(6)[1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "weigh", lambda *_: (evaluated, -1.0))
        found = shortlist(Options, views, configurations)
    assert found == configurations[:3]


def test_the_members_of_a_default_fit_are_those_of_all_folds():
    X, y = toy_b().sample(320, random_state=0)
    model = LSCE(**QUICK, cv=5).fit(X, y)
    table = model.cv_results_
    used = table["weight"] > 0
    for _, part in model._density.parts:
        assert len(part.members) == 6  # five folds and all samples
    # Every fold has a score, so every sample was held out.
    assert all(np.isfinite(table[f"split{k}_test_score"][used]).all() for k in range(5))
    assert np.abs(table["split4_test_score"]).min() > 0


def test_fewer_configurations_are_learned_by_all_members(monkeypatch):
    seen = []
    find = condensity.lsce.fit.complete_all

    def recorded(data, options, views, configurations, *rest):
        done = find(data, options, views, configurations, *rest)
        seen.append((len(configurations), len(done)))
        return done

    monkeypatch.setattr(condensity.lsce.fit, "complete_all", recorded)
    X, y = toy_b().sample(320, random_state=0)
    folds = list(KFold(5, shuffle=True, random_state=1).split(X))
    model = LSCE(**QUICK, cv=folds).fit(X, y)
    ((n_all, n_done),) = seen
    assert n_done < n_all
    assert len(model.cv_results_["weight"]) == n_done
