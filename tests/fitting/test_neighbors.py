import numpy as np
import pytest

import oracles
from condensity._utils import numerics
from condensity.data.sample import Sample, Scaling
from condensity.fitting import neighbors
from condensity.fitting.neighbors import (
    NeighborDensity,
    held_out_losses,
    neighbor_weights,
    norms_by_nodes,
    norms_by_pairs,
    radii,
    select_radius,
)
from condensity.fitting.scores import Gaussians
from problems import random_sample


def test_weights_of_samples_within_epsilon_or_of_the_nearest_sample():
    distances = np.array([[0.1, 0.5, 2.0], [3.0, 4.0, 3.0], [0.5, 0.5, 0.6]])
    weights = neighbor_weights(distances, np.array([1.0, 3.0, 2.0]), 0.5)
    by_hand = [[1 / 4, 3 / 4, 0], [1 / 3, 0, 2 / 3], [1 / 4, 3 / 4, 0]]
    np.testing.assert_allclose(weights, by_hand, rtol=1e-15)
    everything = neighbor_weights(distances, np.array([1.0, 3.0, 2.0]), np.inf)
    np.testing.assert_allclose(everything, np.tile([1 / 6, 1 / 2, 1 / 3], (3, 1)))


def test_rounding_does_not_decide_the_neighbours():
    distances = np.array([[0.3, 0.1 + 0.2, 0.1 + 0.2 + 1e-9]])  # 0.1 + 0.2 > 0.3 only by rounding
    for epsilon in (0.0, 0.3):
        weights = neighbor_weights(distances, np.ones(3), epsilon)
        np.testing.assert_array_equal(weights, [[0.5, 0.5, 0.0]])


def squared_loss(density, y, dy):
    """``1/2 int p^2 - p(y)`` on a grid; such sums converge exponentially."""
    step = 0.25
    axis = np.arange(-6, 6, step)
    points = np.stack(np.meshgrid(*[axis] * dy, indexing="ij"), axis=-1).reshape(-1, dy)
    return 0.5 * np.sum([density(point) ** 2 for point in points]) * step**dy - density(y)


@pytest.mark.parametrize("dy", [1, 2])
def test_losses_equal_those_of_densities_from_the_other_folds(dy):
    n, sigma, epsilons = 10, 0.7, (0.4, 1.5, np.inf)
    sample = random_sample(3, n=n, dx=2, dy=dy)
    mass = np.zeros((3, n))
    mass[np.arange(n) % 3, np.arange(n)] = sample.weight
    mass[:2, 4] = 0.03, 0.02  # copies of one sample in two folds
    losses = held_out_losses(sample, mass, epsilons, sigma)
    for j in range(3):
        weight = mass.sum(axis=0) - mass[j]
        known = np.flatnonzero(weight)
        for e, epsilon in enumerate(epsilons):
            total = 0.0
            for i in np.flatnonzero(mass[j]):

                def density(y, x=sample.X[i], known=known, weight=weight, epsilon=epsilon):
                    others = sample.X[known], sample.Y[known], weight[known]
                    return oracles.neighbor_density(y, x, *others, epsilon, sigma)

                total += mass[j, i] * squared_loss(density, sample.Y[i], dy)
            assert losses[e, j] == pytest.approx(total / mass[j].sum(), rel=1e-8)


def test_both_methods_for_the_squared_norm_agree_for_one_output(monkeypatch):
    rng = np.random.default_rng(0)
    w = rng.dirichlet(np.ones(60), size=7)
    for sigma in (0.05, 1.0):
        own = Gaussians(rng.standard_normal((60, 1)), np.full(60, sigma))
        by_pairs = norms_by_pairs(w, own)
        np.testing.assert_allclose(norms_by_nodes(w, own), by_pairs, rtol=1e-12)
        with monkeypatch.context() as small:  # in parts
            small.setattr(numerics, "BLOCK", 130)
            np.testing.assert_allclose(norms_by_nodes(w, own), by_pairs, rtol=1e-12)
            np.testing.assert_allclose(norms_by_pairs(w, own), by_pairs, rtol=1e-12)


@pytest.mark.parametrize("way", ["norms_by_nodes", "norms_by_pairs"])
def test_the_faster_method_for_the_squared_norm_is_used(way, monkeypatch):
    monkeypatch.delattr(neighbors, way)  # the other method must be used
    n = 20 if way == "norms_by_nodes" else 200
    sample = random_sample(n=n)
    mass = np.stack([np.arange(n) % 2, np.arange(n) % 2 == 0]) * sample.weight
    assert np.isfinite(held_out_losses(sample, mass, (1.0,), 0.3)).all()


def test_losses_do_not_depend_on_the_blocks_they_are_computed_in(monkeypatch):
    sample = random_sample(n=40)
    mass = np.zeros((4, 40))
    mass[np.arange(40) % 4, np.arange(40)] = sample.weight
    whole = held_out_losses(sample, mass, (0.5, 2.0), 0.4)
    monkeypatch.setattr(numerics, "BLOCK", 500)
    np.testing.assert_allclose(held_out_losses(sample, mass, (0.5, 2.0), 0.4), whole, rtol=1e-12)


@pytest.mark.parametrize("dx", [1, 8])
def test_radii_contain_increasing_shares_of_the_pairs(dx):
    n = 50
    sample = random_sample(n=n, dx=dx)
    found = radii(sample)
    assert found[-1] == np.inf
    assert (np.diff(found[:-1]) > 0).all()
    shares = 1 / n * n ** (np.arange(14) / 14)
    for share, radius in zip(shares, found, strict=False):
        within = total = most = 0.0
        for i in range(n):
            for k in range(i):
                both = sample.weight[i] * sample.weight[k]
                inside = np.linalg.norm(sample.X[i] - sample.X[k]) <= radius * (1 + 1e-12)
                within, total = within + inside * both, total + both
                most = max(most, both)
        assert share <= within / total * (1 + 1e-9)
        assert within / total < share + most / total + 1e-9  # one pair less would be too few


def test_radii_use_weights_of_pairs_and_merge_equal_values():
    X = np.array([[0.0], [1.0], [1.0], [3.0]])
    even = radii(Sample(X, np.zeros((4, 1)), np.full(4, 0.25)))
    np.testing.assert_allclose(even, [1.0, 2.0, 3.0, np.inf])  # a quarter of pairs: above 0
    heavy = radii(Sample(X, np.zeros((4, 1)), np.array([0.1, 0.4, 0.4, 0.1])))
    np.testing.assert_allclose(heavy, [0.0, 1.0, 2.0, np.inf])  # pairs at 0 hold half the mass


def test_radii_of_large_samples_come_from_a_subsample(monkeypatch):
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(size=(2000, 1)), axis=0)
    monkeypatch.setattr(numerics, "BLOCK", 200 * 4 * 2000)  # every tenth
    found = np.array(radii(Sample(X, X, np.full(2000, 1 / 2000)))[:-1])
    # P(|U - U'| <= r) = 1 - (1 - r)^2
    np.testing.assert_allclose(1 - (1 - found) ** 2, 2000.0 ** (np.arange(14) / 14 - 1), rtol=0.1)


def test_smallest_mean_loss_is_chosen_with_ties_for_the_smaller_radius():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (60, 1))
    sample = Sample(X, np.sign(X) + 0.1 * rng.standard_normal((60, 1)), np.full(60, 1 / 60))
    mass = np.zeros((5, 60))
    mass[np.arange(60) % 5, np.arange(60)] = 1 / 60
    choice = select_radius(sample, mass, (0.3, 1.0, np.inf), (0.01, 0.1, 1.0))
    assert (choice.epsilon, choice.sigma_y) == (0.3, 0.1)
    assert choice.losses.shape == (3, 3, 5)
    for i, epsilon in enumerate(choice.epsilons):
        for j, sigma in enumerate(choice.bandwidths):
            own = held_out_losses(sample, mass, (epsilon,), sigma)[0]
            np.testing.assert_allclose(choice.losses[i, j], own, rtol=1e-10)
    losses = np.array([[-0.1], [-0.3 + 1e-15], [-0.3]])  # the last two differ by rounding
    same = select_radius(sample, mass, (7.0, 8.0, 9.0), (0.5,), lambda *_: [losses])
    assert same.epsilon == 8.0


def test_a_held_out_sample_is_not_described_by_its_own_kernel():
    # Pure noise: a leak would reward the narrowest kernels of the nearest samples.
    rng = np.random.default_rng(5)
    sample = random_sample(5, n=60)
    noise = Sample(sample.X, rng.standard_normal((60, 1)), np.full(60, 1 / 60))
    mass = np.zeros((5, 60))
    mass[np.arange(60) % 5, np.arange(60)] = 1 / 60
    choice = select_radius(noise, mass, (1e-3, 3.0, np.inf), (0.01, 0.5))
    assert choice.sigma_y == 0.5
    assert choice.epsilon > 1


def density(epsilon, **kwargs):
    sample = random_sample(n=30, dx=2, **kwargs)
    dy = sample.Y.shape[1]
    x_scaling = Scaling(np.array([1.0, -2.0]), np.array([0.5, 4.0]))
    y_scaling = Scaling(np.arange(dy) + 3.0, np.arange(dy) + 0.5)
    return NeighborDensity(x_scaling, y_scaling, sample, epsilon, 0.4)


@pytest.mark.parametrize("dy", [1, 2])
def test_density_is_the_mean_of_the_kernels_of_the_neighbours(dy):
    model = density(0.8, dy=dy)
    s = model.sample
    X = np.array([[1.0, -2.0], [1.3, 0.0], [4.0, 30.0]])
    Y = model.y_scaling.mean + np.array([[0.3], [-0.2], [0.1]]) * model.y_scaling.sd
    by_hand = [
        oracles.neighbor_density(
            (y - model.y_scaling.mean) / model.y_scaling.sd,
            (x - model.x_scaling.mean) / model.x_scaling.sd,
            s.X,
            s.Y,
            s.weight,
            0.8,
            0.4,
        )
        / np.prod(model.y_scaling.sd)
        for x, y in zip(X, Y, strict=True)
    ]
    np.testing.assert_allclose(model.at(X).pdf(Y), by_hand, rtol=1e-12)


def test_far_from_all_samples_only_the_nearest_kernel_is_used():
    model = density(0.8)
    direction = np.array([0.6, 0.8])
    nearest = int(np.argmax(model.sample.X @ direction))
    far = model.at(model.x_scaling.mean + 1e6 * model.x_scaling.sd * direction[None])
    assert far.width == 1
    center = model.y_scaling.mean + model.y_scaling.sd * model.sample.Y[nearest]
    np.testing.assert_allclose(far.mean(), center)
    np.testing.assert_allclose(far.std(), 0.4 * model.y_scaling.sd)


def test_samples_that_are_near_no_row_are_not_components():
    model = density(0.3)
    X = model.x_scaling.mean + model.x_scaling.sd * model.sample.X[:4]
    some = model.at(X)
    apart = [model.at(x[None]) for x in X]
    assert max(d.width for d in apart) <= some.width < len(model.sample)
    for i, own in enumerate(apart):
        grid = np.linspace(0, 6, 50)
        np.testing.assert_allclose(some[i].pdf_on(grid), own.pdf_on(grid), rtol=1e-12, atol=1e-300)


def test_densities_do_not_depend_on_the_blocks_they_are_computed_in(monkeypatch):
    model = density(0.8)
    X = np.random.default_rng(0).standard_normal((50, 2))
    whole = model.at(X).mean()
    monkeypatch.setattr(numerics, "BLOCK", 1000)
    np.testing.assert_array_equal(model.at(X).mean(), whole)
