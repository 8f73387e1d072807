"""A location that is a smooth function of the directions z = W x."""

import warnings

import numpy as np
import pytest

from condensity import LSCE
from condensity.data.sample import Sample
from condensity.fitting import gaussian_process
from condensity.fitting.gaussian_process import Hyperparameters
from condensity.locations import location
from condensity.locations.location import ReducedFunction, ReducedLocator
from condensity.locations.location_names import check_location
from condensity.lsce.consensus import complete_subspace
from condensity.members.member import MemberView
from problems import random_subspace

DX = 4
CHOSEN = Hyperparameters(np.array([0.7, 1.5]), 0.3, 0.05)
QUICK = {"n_starts": 4, "n_centers": 40, "max_iter": 15, "cv": 3, "random_state": 0}
GIVEN = {"bandwidth": (0.6, 0.4), "penalty": 0.1}


def curved(n=60, dy=1, seed=0):
    """Outputs that are curved functions of two directions, with uneven weights."""
    rng = np.random.default_rng(seed)
    X, W = rng.standard_normal((n, DX)), random_subspace(1, 2, DX)
    Z = X @ W.T
    signal = np.column_stack([np.sin(2 * Z[:, 0]), Z[:, 1] ** 2 + Z[:, 0]])[:, :dy]
    weight = rng.uniform(0.5, 1.5, n)
    return W, Sample(X, signal + 0.1 * rng.standard_normal((n, dy)), weight / weight.sum())


def beside(W, X, seed=3):
    """Inputs with the same ``W x``, far away."""
    step = 5.0 * np.random.default_rng(seed).standard_normal(X.shape)
    return X + step - step @ np.linalg.pinv(W) @ W


@pytest.fixture
def fixed(monkeypatch):
    """The hyperparameters do not depend on the samples."""
    monkeypatch.setattr(gaussian_process, "choose_hyperparameters", lambda *_: CHOSEN)


def process_mean(z, Z, Y, variances):
    """The mean of the process at one z, from samples whose noise has these variances, by loops."""

    def k(a, b):
        bell = sum((p - q) ** 2 / s**2 for p, q, s in zip(a, b, CHOSEN.lengths, strict=True))
        return np.exp(-bell / 2) + CHOSEN.slope * sum(a * b) + 1.0

    K = np.array([[k(a, b) for b in Z] for a in Z]) + np.diag(variances)
    ones = np.ones(len(Z))
    mean = ones @ np.linalg.solve(K, Y) / (ones @ np.linalg.solve(K, ones))
    return mean + np.array([k(z, b) for b in Z]) @ np.linalg.solve(K, Y - mean)


@pytest.mark.parametrize("dy", [1, 2])
@pytest.mark.parametrize("dz", [1, 2, DX])
def test_the_location_depends_on_x_only_through_its_directions(dy, dz):
    W, s = curved(dy=dy)
    W = complete_subspace(W, np.ones(DX, dtype=bool))[:dz]
    found = ReducedLocator(W)(s.X, s.Y, s.weight)
    new = np.random.default_rng(5).standard_normal((7, DX))
    np.testing.assert_allclose(found.at(beside(W, new)), found.at(new), atol=1e-9)
    assert np.abs(found.at(2 * new) - found.at(new)).max() > 0.1
    # It needs no input of its own: its directions are those of the density.
    np.testing.assert_array_equal(found.directions, W)
    assert found.predicted is None
    assert not found.anywhere


@pytest.mark.parametrize("labels", [None, np.arange(30) % 4])
@pytest.mark.parametrize("dy", [1, 2])
def test_residuals_are_those_of_locations_without_the_samples(fixed, dy, labels):
    W, s = curved(n=30, dy=dy)
    found = ReducedLocator(W)(s.X, s.Y, s.weight, labels)
    Z, noise = s.X @ W.T, CHOSEN.noise / (30 * s.weight)
    groups = np.arange(30) if labels is None else labels
    for i in range(30):
        rest = groups != groups[i]
        exact = s.Y[i] - process_mean(Z[i], Z[rest], s.Y[rest], noise[rest])
        np.testing.assert_allclose(found.residuals[i], exact, atol=1e-5)
    np.testing.assert_allclose(
        found.at(s.X[:3]), [process_mean(z, Z, s.Y, noise) for z in Z[:3]], atol=1e-5
    )


def test_few_samples_carry_the_function(monkeypatch):
    W, s = curved(n=50)
    monkeypatch.setattr(location, "REDUCED_CENTERS", 10)
    found = ReducedLocator(W)(s.X, s.Y, s.weight)
    assert found.at.function.centers.shape == (10, 2)
    assert found.residuals.shape == (50, 1)


def test_a_held_out_sample_plays_no_part_in_its_location():
    W, s = curved(dy=2)
    held = np.arange(60) % 4 == 1
    mass = np.where(held, s.weight, 0.0)
    view = MemberView.of(s, mass, np.arange(60), ReducedLocator(W))
    other = Sample(s.X, np.where(held[:, None], 100.0, s.Y), s.weight)
    again = MemberView.of(other, mass, np.arange(60), ReducedLocator(W))
    new = np.random.default_rng(5).standard_normal((7, DX))
    np.testing.assert_array_equal(again.location.at(new), view.location.at(new))
    assert view.held_out.X.shape == (15, DX)  # no more input
    m = view.location.at(view.scaling.apply(s.X[held]))
    np.testing.assert_allclose(view.held_out.Y @ view.factor.T, s.Y[held] - m, atol=1e-10)


# In LSCE


def parts(model):
    return [part for _, part in model._density.parts]


@pytest.mark.parametrize(("dz", "dy"), [(1, 1), (2, 1), (2, 2)])
@pytest.mark.parametrize("given", [{}, GIVEN], ids=["selected", "given"])
def test_the_density_of_a_single_model_depends_on_x_only_through_z(dz, dy, given):
    _, s = curved(n=80, dy=dy)
    model = LSCE(dz, location="reduced", n_members=1, **QUICK, **given).fit(s.X, s.Y)
    assert all(isinstance(part.location, ReducedFunction) for part in parts(model))
    assert model.location_ == "reduced"
    # The directions act on standardised inputs.
    other = beside(model.components_ / s.X.std(axis=0), s.X)
    np.testing.assert_allclose(model.transform(other), model.transform(s.X), atol=1e-9)
    grid = np.linspace(-3, 3, 9)
    Y = np.column_stack([grid] * dy)
    found, exact = (model.predict_dist(X[:10]).pdf_on(Y) for X in (other, s.X))
    np.testing.assert_allclose(found, exact, rtol=1e-7, atol=1e-9)
    assert np.abs(exact - exact[0]).max() > 0.05  # it does depend on z


def test_the_location_of_an_average_is_a_function_of_common_directions():
    _, s = curved(n=80)
    model = LSCE(2, location="reduced", n_members=3, **QUICK).fit(s.X, s.Y)
    (part,) = [p for p in parts(model) if isinstance(p.location, ReducedFunction)]
    assert part.location.W.shape == (2, DX)
    assert part.predicted is None
    assert all(member.W.shape == (2, DX) for member in part.members)
    np.testing.assert_allclose(part.location.W @ part.location.W.T, np.eye(2), atol=1e-10)


def test_a_curved_mean_is_described_better_than_by_a_constant():
    """With few samples, kernels that must follow the mean are too wide."""
    _, s = curved(n=150)
    _, new = curved(n=400, seed=1)
    scores = [
        LSCE(2, location=location, n_members=2, **QUICK).fit(s.X, s.Y).score(new.X, new.Y)
        for location in ("none", "reduced")
    ]
    assert scores[1] > scores[0] + 0.05


def test_auto_tries_it_and_a_constant_is_its_first_step():
    _, s = curved(n=80)
    model = LSCE(1, n_members=2, **QUICK).fit(s.X, s.Y)
    assert set(model.cv_results_["param_location"]) == {"none", "linear", "reduced"}
    model = LSCE(1, location="reduced", n_members=2, **QUICK).fit(s.X, s.Y)
    table = model.cv_results_
    # Without directions there is nothing that it could be a function of.
    plain = table["param_location"] == "none"
    np.testing.assert_array_equal(table["param_n_components"][plain], 0)
    assert "reduced" in table["param_location"]
    assert list(check_location("reduced")) == ["none"]


def test_a_fit_with_a_reduced_location_gives_no_warning():
    """Its directions are learned without a location, which is not one that was skipped."""
    _, s = curved(n=60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LSCE(1, location="reduced", n_members=1, **QUICK, **GIVEN).fit(s.X, s.Y)


@pytest.mark.parametrize(("dx", "n_components"), [(1, "auto"), (3, 3)])
def test_where_no_directions_are_to_be_learned_the_location_is_constant(dx, n_components):
    s = curved(40)[1]
    model = LSCE(n_components, location="reduced", n_members=2, **QUICK).fit(s.X[:, :dx], s.Y)
    assert set(model.cv_results_["param_location"]) == {"none"}
    assert np.isfinite(model.predict_dist(s.X[:, :dx]).pdf(s.Y[:, 0])).all()
