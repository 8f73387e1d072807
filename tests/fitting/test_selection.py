from dataclasses import replace

import numpy as np
import pytest

import oracles
from condensity.data.folds import FoldedSample, draw_folds
from condensity.fitting.selection import (
    BANDWIDTHS,
    LSMI_BANDWIDTHS,
    PENALTIES,
    Candidates,
    first_minimum,
    normalised_losses,
    only_candidate,
    raw_losses,
    select,
    select_near,
)
from problems import center_rows, fold_labels, random_plan, random_sample, random_subspace

CANDIDATES = Candidates(((0.5, 0.5), (1.1, 0.4)), (0.01, 0.3))


def test_the_documented_grids():
    np.testing.assert_allclose(BANDWIDTHS, 10 ** np.linspace(-1.5, 0.5, 9))
    np.testing.assert_allclose(LSMI_BANDWIDTHS, 10 ** np.linspace(-2, 2, 9))
    np.testing.assert_allclose(PENALTIES, 10 ** np.linspace(-3, 1, 9))


@pytest.mark.parametrize("dy", [1, 2])
def test_raw_losses_equal_refits_without_the_fold(dy):
    plan, W = random_plan(dy=dy), random_subspace(1, 2, 4)
    choice = select(plan, W, CANDIDATES, raw_losses)
    s = plan.sample
    for i, sigmas in enumerate(CANDIDATES.bandwidths):
        for j, penalty in enumerate(CANDIDATES.penalties):
            exact = oracles.raw_cv_loss(
                W, s.X, s.Y, fold_labels(plan), center_rows(plan), *sigmas, penalty, s.weight
            )
            assert choice.losses[i, j].mean() == pytest.approx(exact, rel=1e-10)


def squared_loss_by_quadrature(density, dy):
    """``int p^2`` on a grid; such sums converge exponentially for smooth densities."""
    axis = np.arange(-6, 6, 0.3)
    points = np.stack(np.meshgrid(*[axis] * dy, indexing="ij"), axis=-1).reshape(-1, dy)
    return np.sum([density(y) ** 2 for y in points]) * 0.3**dy


@pytest.mark.parametrize("dy", [1, 2])
def test_normalised_losses_equal_those_of_the_clipped_normalised_density(dy):
    plan, W = random_plan(n=12, n_centers=10, dy=dy), random_subspace(2, 2, 4)
    sigmas, penalty = (1.2, 0.8), 1e-6
    choice = select(plan, W, Candidates((sigmas,), (penalty,)), normalised_losses)
    s, labels = plan.sample, fold_labels(plan)
    clipped_somewhere = False
    for fold in range(3):
        train = labels != fold
        c = [k for k in center_rows(plan) if train[k]]
        G, h = oracles.G_and_h(W, s.X[train], s.Y[train], s.X[c], s.Y[c], *sigmas, s.weight[train])
        alpha = np.linalg.solve(G + penalty * np.eye(len(c)), h)
        clipped_somewhere |= bool((alpha < 0).any())
        centers = s.X[c] @ W.T, s.Y[c], alpha, *sigmas
        losses = []
        for i in np.flatnonzero(labels == fold):

            def density(y, z=W @ s.X[i], centers=centers):
                return oracles.conditional_density(y, z, *centers)

            losses.append(0.5 * squared_loss_by_quadrature(density, dy) - density(s.Y[i]))
        exact = np.average(losses, weights=s.weight[labels == fold])
        assert choice.losses[0, 0, fold] == pytest.approx(exact, rel=1e-6)
    assert clipped_somewhere  # otherwise the test would not cover clipping


def test_the_choice_is_the_candidate_with_the_smallest_mean_loss():
    plan, W = random_plan(), random_subspace(3, 1, 4)
    choice = select(plan, W, CANDIDATES, normalised_losses)
    mean = choice.losses.mean(axis=-1)
    i, j = np.argwhere(mean == mean.min())[0]
    assert (choice.sigma_z, choice.sigma_y) == CANDIDATES.bandwidths[i]
    assert choice.penalty == CANDIDATES.penalties[j]
    assert choice.loss == mean.min()


def test_first_minimum_is_the_first_of_losses_that_are_equal_up_to_rounding():
    assert first_minimum(np.array([0.2, -0.3 + 1e-14, -0.3])) == 1
    assert first_minimum(np.array([0.2, -0.3 + 1e-6, -0.3])) == 2
    assert first_minimum(np.array([[5.0, 1.0], [0.5, 0.5]])) == 2


def test_a_held_out_sample_is_not_described_by_its_own_kernel():
    # Pure noise and every sample a centre: a leak would reward the narrowest kernel.
    rng = np.random.default_rng(5)
    sample = random_sample(5, n=60)
    noise = type(sample)(sample.X, rng.standard_normal((60, 1)), np.full(60, 1 / 60))
    every = np.arange(60)
    plan = FoldedSample.cut(
        noise, draw_folds(noise.weight, every, 5, centers=every, rng=rng), every
    )
    candidates = Candidates(((0.01, 0.01), (1.0, 1.0)), (1e-3,))
    assert select(plan, np.eye(4), candidates, normalised_losses).sigma_y == 1.0


def test_losses_of_tiny_bandwidths_are_finite():
    plan = random_plan()
    choice = select(plan, np.eye(4), Candidates(((1e-3, 0.5),), (0.1,)), normalised_losses)
    assert np.isfinite(choice.losses).all()


def test_only_candidate_is_chosen_without_a_loss():
    choice = only_candidate(Candidates(((0.5, 0.6),), (0.2,)))
    assert (choice.sigma_z, choice.sigma_y, choice.penalty) == (0.5, 0.6, 0.2)
    assert np.isnan(choice.loss)


def walk(losses, start):
    """End point and visited points of a descent by steps of one, first upwards, then downwards."""
    at, seen = start, {start}
    for step in (1, -1):
        while 0 <= at + step < len(losses):
            seen.add(at + step)
            if losses[at + step] >= losses[at]:
                break
            at += step
    return at, sorted(seen)


@pytest.mark.parametrize("first", [(0, 0), (0, 4), (8, 2), (4, 4)])
def test_select_near_descends_from_the_last_choice_to_a_local_minimum(first):
    plan = random_plan()
    grid = Candidates(tuple((s, s) for s in np.logspace(-1, 1, 9)), tuple(np.logspace(-3, 1, 5)))
    W = random_subspace(1, 2, 4)
    whole = select(plan, W, grid, raw_losses)
    mean = whole.losses.mean(axis=-1)
    walks = [walk(row, first[1]) for row in mean]  # among penalties, by bandwidth
    best, seen = walk([row[j] for row, (j, _) in zip(mean, walks, strict=True)], first[0])
    (sigma_z, sigma_y), last = grid.bandwidths[first[0]], grid.penalties[first[1]]
    start = replace(whole, sigma_z=sigma_z, sigma_y=sigma_y, penalty=last)
    near = select_near(plan, W, raw_losses, start)
    penalty = walks[best][0]
    assert (near.sigma_z, near.penalty) == (grid.bandwidths[best][0], grid.penalties[penalty])
    assert near.loss == pytest.approx(mean[best, penalty], rel=1e-12)
    tried = ~np.isnan(near.losses).any(axis=2)
    for i, row in enumerate(tried):
        assert np.flatnonzero(row).tolist() == (walks[i][1] if i in seen else [])
    np.testing.assert_allclose(near.losses[tried], whole.losses[tried], rtol=1e-12, atol=1e-15)
    again = select_near(plan, W, raw_losses, near)
    assert (again.sigma_z, again.penalty, again.loss) == (near.sigma_z, near.penalty, near.loss)


def test_losses_are_accurate_if_one_fold_has_most_of_the_weight():
    sample = random_sample(3, n=30)
    weight = np.where(np.arange(30) < 10, 1e20, 1.0)
    heavy = type(sample)(sample.X, sample.Y, weight / weight.sum())
    mass = np.array([np.where(np.arange(30) // 10 == j, heavy.weight, 0.0) for j in range(3)])
    plan = FoldedSample.cut(heavy, mass, np.arange(30))
    choice = select(plan, np.eye(4), CANDIDATES, raw_losses)
    s, labels = plan.sample, fold_labels(plan)
    exact = oracles.raw_cv_loss(
        np.eye(4), s.X, s.Y, labels, center_rows(plan), 0.5, 0.5, 0.01, s.weight
    )
    assert choice.losses[0, 0].mean() == pytest.approx(exact, rel=1e-9)


def test_a_very_large_loss_does_not_make_the_other_losses_equal():
    assert first_minimum(np.array([4e6, -1.6e-5, -2.4e-4])) == 2
    assert first_minimum(np.array([-1.0 - 1e-13, -1.0, -1.0 - 2e-13])) == 0
