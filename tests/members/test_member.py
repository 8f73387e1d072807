from dataclasses import replace

import numpy as np
import pytest

import oracles
from condensity.data import chunks as rows
from condensity.data.sample import Sample
from condensity.fitting.scores import SCORES
from condensity.locations.location import constant_location, linear_location
from condensity.members import member as view_module
from condensity.members.member import MemberView, OutputKernels
from problems import random_sample, random_subspace


def held(n=40, seed=0):
    """The weight of a quarter of the samples."""
    s = random_sample(seed, n=n, dx=4, dy=2)
    return s, np.where(np.arange(n) % 4 == 1, s.weight, 0.0)


@pytest.mark.parametrize("locator", [constant_location, linear_location])
def test_a_view_learns_nothing_from_what_it_holds_out(locator):
    s, mass = held()
    centers = np.arange(0, 40, 3)
    a = MemberView.of(s, mass, centers, locator)
    spoilt = Sample(s.X.copy(), s.Y.copy(), s.weight)
    spoilt.X[mass > 0] += 5.0
    spoilt.Y[mass > 0] *= -3.0
    b = MemberView.of(spoilt, mass, centers, locator)
    np.testing.assert_array_equal(a.sample.X, b.sample.X)
    np.testing.assert_array_equal(a.sample.Y, b.sample.Y)
    np.testing.assert_array_equal(a.factor, b.factor)
    assert not np.isin(a.rows, np.flatnonzero(mass == 0)).any()
    assert (a.held_out.Y != b.held_out.Y).all()


def test_a_view_undoes_its_coordinates():
    s, mass = held()
    view = MemberView.of(s, mass, np.arange(40), linear_location)
    X = view.held_out.X
    back = view.location.at(X) + view.held_out.Y @ view.factor.T
    np.testing.assert_allclose(back, s.Y[view.rows], atol=1e-12)
    np.testing.assert_allclose(view.scaling.mean + view.scaling.sd * X, s.X[view.rows], atol=1e-12)
    v = view.sample.Y
    np.testing.assert_allclose((v * view.sample.weight[:, None]).T @ v, np.eye(2), atol=1e-6)


@pytest.mark.parametrize("sigma_y", [0.3, 0.8, 1.0])
def test_pulled_centres_keep_the_variance(sigma_y):
    s, mass = held()
    view = MemberView.of(s, mass, np.arange(40), constant_location)
    parts = view.components(sigma_y)
    centers, w = parts.centers[:-1], view.sample.weight
    spread = (centers * w[:, None]).T @ centers + sigma_y**2 * np.eye(2)
    np.testing.assert_allclose(spread, np.eye(2), atol=1e-6)
    assert parts.widths.tolist() == [sigma_y] * len(centers) + [1.0]


def test_coefficients_are_those_of_the_paper_s_equations_clipped():
    s, mass = held()
    view = MemberView.of(s, mass, np.arange(0, 40, 2), constant_location)
    W, sigma_z, sigma_y, penalty = random_subspace(0, 2, 4), 0.8, 0.5, 0.05
    fit = OutputKernels.build(view, sigma_y).fit(W, sigma_z, (penalty,))
    X, Y, weight = view.sample.X, view.sample.Y, view.sample.weight
    C, V = X[view.basis], view.components(sigma_y).centers[:-1]
    one_by_one = [oracles.G_and_h(W, X[[i]], Y[[i]], C, V, sigma_z, sigma_y) for i in range(len(X))]
    G = sum(w * G for w, (G, _) in zip(weight, one_by_one, strict=True))
    h = sum(w * h for w, (_, h) in zip(weight, one_by_one, strict=True))
    alpha = np.linalg.solve(G + penalty * np.mean(np.diag(G)) * np.eye(len(h)), h)
    np.testing.assert_allclose(fit.alphas[0, :-1], np.maximum(alpha, 0), rtol=1e-8, atol=1e-12)


def test_weights_are_normalised_and_fade_to_the_background_far_away():
    s, mass = held()
    view = MemberView.of(s, mass, np.arange(0, 40, 2), constant_location)
    fit = OutputKernels.build(view, 0.4).fit(random_subspace(1, 2, 4), 0.3, (0.01, 1.0))
    weights = fit.weights(np.vstack([view.sample.X, [[1e3, 0, 0, 0]], [[0, -1e6, 1e6, 0]]]))
    np.testing.assert_allclose(weights.sum(axis=2), 1, rtol=1e-12)
    np.testing.assert_allclose(weights[:, -2:, -1], 1, rtol=1e-12)
    near = weights[:, :-2, -1]
    assert np.median(near) < 0.02


def test_the_background_has_its_share_of_the_mean_mass():
    s, mass = held()
    view = MemberView.of(s, mass, np.arange(0, 40, 2), constant_location)
    W = random_subspace(1, 2, 4)
    fit = OutputKernels.build(view, 0.4).fit(W, 0.5, (0.01,))
    Z = view.sample.X @ W.T
    phi = np.exp(-((Z[:, None] - Z[view.basis]) ** 2).sum(-1) / (2 * 0.5**2))
    kernels = view.sample.weight @ (phi @ fit.alphas[0, :-1])
    assert fit.alphas[0, -1] == pytest.approx(view_module.BACKGROUND * kernels)


def test_without_any_kernel_the_background_remains():
    """All coefficients are 0 if no centre describes any sample."""
    s, mass = held()
    view = MemberView.of(s, mass, np.arange(0, 40, 2), constant_location)
    outputs = OutputKernels.build(view, 0.4)
    W = random_subspace(1, 2, 4)
    sums = replace(outputs.own_sums(W, 0.5), h=np.zeros(20))
    weights = outputs.solve(W, 0.5, (0.01, 1.0), sums).weights(view.sample.X)
    np.testing.assert_array_equal(weights[..., -1], 1.0)
    np.testing.assert_array_equal(weights[..., :-1], 0.0)


def test_with_widest_kernels_the_model_is_the_gaussian_one():
    s, mass = held()
    view = MemberView.of(s, mass, np.arange(40), linear_location)
    parts = view.components(1.0)
    np.testing.assert_array_equal(parts.centers, 0)
    table = SCORES["squared"].pair(parts, parts)
    np.testing.assert_allclose(table, 1 / (4 * np.pi))


def test_outputs_that_are_functions_of_one_another_do_not_break_a_view():
    s, mass = held()
    twin = Sample(s.X, np.column_stack([s.Y[:, 0], 2 * s.Y[:, 0]]), s.weight)
    view = MemberView.of(twin, mass, np.arange(40), constant_location)
    assert np.isfinite(view.held_out.Y).all()


def test_coefficients_do_not_depend_on_how_rows_are_cut_into_blocks(monkeypatch):
    whole = random_sample(4, n=50, dx=4, dy=2)
    view = MemberView.of(whole, np.zeros(50), np.arange(0, 50, 3), constant_location)
    W = random_subspace(1, 2, 4)
    once = OutputKernels.build(view, 0.5).fit(W, 0.8, (0.1, 1.0))
    monkeypatch.setattr(rows, "CHUNK_ROWS", 8)
    monkeypatch.setattr(view_module, "MOST_KEPT", 8)
    cut = OutputKernels.build(view, 0.5)
    np.testing.assert_allclose(cut.fit(W, 0.8, (0.1, 1.0)).alphas, once.alphas, rtol=1e-9)
    assert "phi_y" not in vars(cut)  # it was never there as a whole
