"""Samples that nothing was chosen with: what is fitted to all is as if all were there at once."""

from dataclasses import replace

import numpy as np
import pytest

import oracles
from condensity.data import chunks as rows
from condensity.data.chunks import InMemoryChunks, RemainingSamples
from condensity.data.sample import Sample
from condensity.locations.location import constant_location, linear_location
from condensity.lsce.full_data import (
    FullDataLoss,
    PendingFit,
    fit_coefficients,
    refine_with_all,
    refit_location,
)
from condensity.members.member import MemberView, OutputKernels
from condensity.members.settings import Setting
from problems import random_sample, random_subspace

SETTING = Setting(sigma_z=0.8, sigma_y=0.5, penalty=0.05)


@pytest.fixture
def parts(monkeypatch):
    """A view of some samples, the others, and all of them in the coordinates of the view."""
    monkeypatch.setattr(rows, "CHUNK_ROWS", 4)
    whole = random_sample(5, n=30, dx=4, dy=2)
    some, rest = whole[np.arange(12)], whole[np.arange(12, 30)]
    share = float(some.weight.sum())
    some = replace(some, weight=some.weight / share)
    view = MemberView.of(some, np.zeros(12), np.arange(0, 12, 2), linear_location)
    view.__dict__["clipped"] = np.asarray  # the loops do not clip outputs
    # Weights of the others are in whatever units the data have.
    others = RemainingSamples(InMemoryChunks(replace(rest, weight=7.0 * rest.weight)), share)
    seen = view.frame.apply(rest)
    together = Sample(
        np.vstack([view.sample.X, seen.X]),
        np.vstack([view.sample.Y, seen.Y]),
        np.r_[share * view.sample.weight, rest.weight],
    )
    return view, others, replace(view, sample=together)


@pytest.mark.parametrize("dz", [1, 3])
def test_loss_and_gradient_over_all_are_those_of_the_loop(parts, dz):
    view, others, together = parts
    W = random_subspace(dz, dz, 4)
    own = view.left_out(W, SETTING.sigma_z, SETTING.sigma_y)
    problem = FullDataLoss(own, others, view)
    background = others.share * np.exp(own.log_background)

    def loss(W):
        return oracles.left_out_loss(W, together, background, 0.8, 0.5)

    point = problem.at(W)
    assert point.value == pytest.approx(loss(W), rel=1e-12)
    gradient = np.zeros_like(W)
    for place in np.ndindex(*W.shape):
        step = np.zeros(W.shape, dtype=complex)
        step[place] = 1e-30j
        gradient[place] = loss(W + step).imag / 1e-30
    np.testing.assert_allclose(point.gradient(), gradient, rtol=1e-10, atol=1e-13)


def test_refining_by_all_lowers_the_loss_over_all(parts):
    view, others, _ = parts
    lead = view.location.directions  # stays within
    W = np.vstack([lead, np.linalg.svd(lead)[2][2:3]])
    own = view.left_out(W, SETTING.sigma_z, SETTING.sigma_y)
    end = refine_with_all(view, W, own, others)
    problem = FullDataLoss(own, others, view)
    assert end.value == pytest.approx(problem.at(end.W).value, rel=1e-12)
    assert end.value < problem.at(W).value
    np.testing.assert_allclose(end.W @ end.W.T, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(lead @ end.W.T @ end.W, lead, atol=1e-12)


def test_coefficients_are_fitted_to_all(parts):
    view, others, together = parts
    Ws = [random_subspace(seed, 2, 4) for seed in (3, 4)]
    other = Setting(sigma_z=1.2, sigma_y=0.9, penalty=0.3)
    models = [PendingFit(OutputKernels.build(view, s.sigma_y), s, Ws) for s in (SETTING, other)]
    found = fit_coefficients(models, others)
    sample, C = together.sample, view.sample.X[view.basis]
    for averaged, setting in zip(found, (SETTING, other), strict=True):
        V = view.components(setting.sigma_y).centers[:-1]
        sigmas = setting.sigma_z, setting.sigma_y
        expected = []
        for W in Ws:
            G, h = oracles.G_and_h(W, sample.X, sample.Y, C, V, *sigmas, sample.weight)
            ridge = setting.penalty * np.mean(np.diag(G)) * np.eye(len(h))
            expected.append(np.maximum(np.linalg.solve(G + ridge, h), 0))
        used = np.any(np.array(expected) > 1e-12, axis=0)  # by any member; others are left out
        for member, W, alpha in zip(averaged.members, Ws, expected, strict=True):
            np.testing.assert_allclose(member.alphas[0, :-1], alpha[used], rtol=1e-8, atol=1e-12)
            Z, U = sample.X @ W.T, C @ W.T
            nearness = np.exp(-((Z[:, None] - U) ** 2).sum(-1) / (2 * setting.sigma_z**2))
            mean = sample.weight @ (nearness @ alpha) / sample.weight.sum()
            assert member.alphas[0, -1] == pytest.approx(0.01 * mean, rel=1e-9)


def test_without_others_coefficients_are_those_of_the_view(parts):
    view, _, _ = parts
    W = random_subspace(3, 2, 4)
    outputs = OutputKernels.build(view, 0.5)
    (averaged,) = fit_coefficients([PendingFit(outputs, SETTING, [W])], None)
    expected = outputs.fit(W, 0.8, (0.05,)).alphas
    np.testing.assert_array_equal(averaged.members[0].alphas, expected)


def least_squares(X, Y, weight, shrinkage, share):
    """What a plane through all samples leaves, by the normal equations, output by output."""
    x, y = X - weight @ X, Y - weight @ Y
    slopes = []
    for axis, penalty in zip(shrinkage.axes.T, shrinkage.penalties, strict=True):
        gram = (x * weight[:, None]).T @ x + share * penalty * np.eye(X.shape[1])
        slopes.append(np.linalg.solve(gram, (x * weight[:, None]).T @ (y @ axis)))
    return y - x @ np.column_stack(slopes) @ shrinkage.axes.T


def test_a_plane_is_fitted_to_all(monkeypatch):
    monkeypatch.setattr(rows, "CHUNK_ROWS", 4)
    whole = random_sample(5, n=30, dx=3, dy=2)
    some, rest = whole[np.arange(12)], whole[np.arange(12, 30)]
    share = float(some.weight.sum())
    some = replace(some, weight=some.weight / share)
    view = MemberView.of(some, np.zeros(12), np.arange(12), linear_location)
    found = refit_location(view, some.Y, RemainingSamples(InMemoryChunks(rest), share))
    X = view.scaling.apply(whole.X)
    left = least_squares(X, whole.Y, whole.weight, view.location.shrinkage, share)
    np.testing.assert_allclose(found.location.at(X), whole.Y - left, atol=1e-12)
    np.testing.assert_array_equal(found.sample.Y, view.sample.Y)  # as if not seen
    np.testing.assert_array_equal(found.factor, view.factor)
    inside = found.location.directions
    np.testing.assert_allclose(found.location.at(X), found.location.at(X @ inside.T @ inside))


def test_what_a_plane_through_all_leaves_is_what_it_leaves_of_new_samples():
    rng, dx, dy = np.random.default_rng(0), 60, 5
    slope = rng.standard_normal((dx, dy)) / 4

    def draw(n):
        X = rng.standard_normal((n, dx))
        return Sample(X, X @ slope + rng.standard_normal((n, dy)), np.full(n, 1 / n))

    some, rest, new = draw(200), draw(60), draw(5000)
    view = MemberView.of(some, np.zeros(200), np.arange(200), linear_location)
    found = refit_location(view, some.Y, RemainingSamples(InMemoryChunks(rest), 200 / 260))
    left = np.vstack([found.sample.Y, found.frame.apply(rest).Y])
    of_new = found.frame.apply(new).Y
    # More samples give a better plane.
    assert np.mean(of_new**2) < np.mean(view.frame.apply(new).Y ** 2)
    assert 0.9 < np.mean(left**2) / np.mean(of_new**2) < 1.1


def test_what_is_no_plane_stays(parts):
    view, others, _ = parts
    view = MemberView.of(view.sample, np.zeros(12), np.arange(12), constant_location)
    assert refit_location(view, np.zeros((12, 2)), others) is view
