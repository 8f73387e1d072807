"""Starts from methods without a search."""

import numpy as np

import condensity.lsce.informed
from condensity import LSMI, OPG, SAVE, DirectionalRegression
from condensity.data.sample import Sample
from condensity.lsce.informed import informed_starts
from condensity.metrics import subspace_error


def spread(n=150, seed=0):
    """Only the variance of y depends on x, along the first input."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5))
    X[:, 2] = 0.0
    return X, 0.5 * X[:, 0] ** 2 * rng.standard_normal(n)


def test_they_are_the_subspaces_of_the_transformers():
    X, y = spread()
    X, y = (X - X.mean(axis=0)) / [*X.std(axis=0)[:2], 1, *X.std(axis=0)[3:]], y / y.std()
    active = np.array([True, True, False, True, True])
    starts = informed_starts(Sample(X, y[:, None], np.full(150, 1 / 150)), active, 2)
    models = [SAVE(2), DirectionalRegression(2), OPG(2, functions="mean"), OPG(2)]
    for W, model in zip(starts, models, strict=True):
        direct = model.fit(X[:, active], y).components_
        np.testing.assert_allclose(W @ W.T, np.eye(2), atol=1e-12)
        assert (W[:, 2] == 0).all()
        assert subspace_error(W[:, active], direct) < 1e-6
    assert informed_starts(Sample(X, y[:, None], np.full(150, 1 / 150)), active, 4) == []


def test_with_many_samples_some_of_them_are_enough(monkeypatch):
    X, y = spread(1500)
    sample = Sample(X, y[:, None], np.full(1500, 1 / 1500))
    sizes = []
    original = condensity.lsce.informed.gradient_directions

    def spy(part, *rest):
        sizes.append((len(part), rest[-1]))
        return original(part, *rest)

    monkeypatch.setattr(condensity.lsce.informed, "gradient_directions", spy)
    *_, last = informed_starts(sample, np.array([True, True, False, True, True]), 1)
    assert sizes == [(600, 150)] * 2
    assert abs(last[0, 0]) > 0.95


def test_lsmi_starts_from_them_too():
    X, y = spread()
    X = X[:, [0, 1, 3, 4]]
    model = LSMI(1, n_starts=1, max_iter=5, random_state=0).fit(X, y)
    assert sum(start.n_centers == model.history_[0].n_centers for start in model.history_) >= 5
    whole = LSMI(4, n_starts=1, max_iter=5, random_state=0).fit(X, y)
    assert len(whole.history_) <= 2


def test_lsmi_finds_a_direction_of_the_spread_that_random_starts_miss():
    """The first input decides the variance of y; nothing else depends on x."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 8))
    y = 0.5 * X[:, 0] ** 2 * rng.standard_normal(200)
    model = LSMI(1, n_starts=1, random_state=0).fit(X, y)
    first_random = model.history_[0]
    assert subspace_error(model.components_, np.eye(8)[:1]) < 0.5
    assert first_random.value > min(start.value for start in model.history_)
