"""Distributions of PyTorch; skipped if PyTorch is not installed."""

import sys

import numpy as np
import pytest

from condensity.conformal import RecalibratedDistribution
from condensity.distributions import BoundedMixture, Bounds, concatenate_rows
from condensity.targets import MixedDistribution
from mixtures import gaussians, loop_pdf, random_mixture


def test_without_torch_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ModuleNotFoundError, match="pip install 'torch>="):
        random_mixture(0).to_torch()


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="torch is not installed: condensity[torch]")


def bounded(*pairs, seed=0):
    lower, upper = (np.array(ends, dtype=float) for ends in zip(*pairs, strict=True))
    free = random_mixture(seed, dy=len(pairs)).stretch(np.full(len(pairs), 0.4))
    return BoundedMixture(free, Bounds(lower, upper))


KINDS = {
    "one output": lambda: random_mixture(0),
    "two outputs": lambda: random_mixture(1, dy=2),
    "three outputs": lambda: random_mixture(2, dy=3),
    "concatenated": lambda: concatenate_rows([random_mixture(0)[:1], random_mixture(5)[1:]]),
    "bounded below": lambda: bounded((0, np.inf)),
    "bounded above": lambda: bounded((-np.inf, 2)),
    "bounded twice": lambda: bounded((-1, 3)),
    "two outputs, one bounded": lambda: bounded((0, np.inf), (-np.inf, np.inf), seed=1),
    "three outputs, bounded": lambda: bounded((0, 1), (-np.inf, 5), (2, np.inf), seed=2),
}


@pytest.fixture(params=KINDS)
def law(request, torch):
    """Densities, and the same in PyTorch."""
    dist = KINDS[request.param]()
    return dist, dist.to_torch()


def points(dist, n=1):
    draws = dist.sample(n, random_state=3)
    return draws[:, 0] if n == 1 else np.moveaxis(draws, 1, 0)


def test_the_densities_are_the_same(law, torch):
    dist, theirs = law
    assert theirs.batch_shape == (3,)
    assert theirs.event_shape == (() if dist.n_outputs == 1 else (dist.n_outputs,))
    for y in points(dist, 20):
        found = theirs.log_prob(torch.tensor(y)).numpy()
        np.testing.assert_allclose(found, dist.log_pdf(y), rtol=1e-9, atol=1e-9)


def test_gradients_in_the_values_are_differences_of_our_density(law, torch):
    dist, theirs = law
    y = points(dist)
    leaf = torch.tensor(y, requires_grad=True)
    theirs.log_prob(leaf).sum().backward()
    found = leaf.grad.numpy().reshape(len(y), -1)
    step = 1e-5
    for j in range(dist.n_outputs):
        move = np.zeros_like(y)
        move[(..., j) if dist.n_outputs > 1 else ...] = step
        slope = (dist.log_pdf(y + move) - dist.log_pdf(y - move)) / (2 * step)
        np.testing.assert_allclose(found[:, j], slope, rtol=1e-4, atol=1e-5)


def test_the_components_are_those_of_each_row(torch):
    dist = random_mixture(1, dy=2)
    theirs = dist.to_torch()
    parts = theirs.component_distribution
    for i in range(3):
        for k, (weight, mean, cov) in enumerate(gaussians(dist, i)):
            assert float(theirs.mixture_distribution.probs[i, k]) == pytest.approx(weight)
            np.testing.assert_allclose(parts.mean[i, k].numpy(), mean)
            np.testing.assert_allclose(parts.covariance_matrix[i, k].numpy(), cov)
        y = np.array([0.3, -0.2])
        found = float(theirs.log_prob(torch.tensor(y))[i].exp())
        assert found == pytest.approx(loop_pdf(dist, i, y))


def test_the_distribution_function_and_the_draws_are_those_of_our_density(torch):
    for dist in (random_mixture(0), bounded((0, np.inf)), bounded((-np.inf, 2)), bounded((-1, 3))):
        y, theirs = points(dist), dist.to_torch()
        np.testing.assert_allclose(theirs.cdf(torch.tensor(y)).numpy(), dist.cdf(y), rtol=1e-9)
        torch.manual_seed(0)
        draws = theirs.sample((4000,)).numpy()
        assert np.all(np.abs((draws < y).mean(axis=0) - dist.cdf(y)) < 0.04)


def test_the_type_of_the_numbers_can_be_chosen(torch):
    dist = random_mixture(0)
    assert dist.to_torch().mean.dtype == torch.float64
    single = dist.to_torch(dtype=torch.float32, device="cpu")
    assert single.mean.dtype == torch.float32
    np.testing.assert_allclose(single.mean.numpy(), dist.mean(), rtol=1e-5)


def test_what_is_no_mixture_is_refused(torch):
    normal = random_mixture(0)
    atoms = MixedDistribution([0.0], np.full((3, 1), 0.4), normal)
    mapped = RecalibratedDistribution(normal, [0, 0.5, 1], [0, 0.4, 1])
    unlike = concatenate_rows([normal, bounded((0, np.inf))])
    for dist in (atoms, mapped, unlike):
        with pytest.raises(TypeError, match=r"to_torch needs Gaussian mixtures, .* is not one"):
            dist.to_torch()
