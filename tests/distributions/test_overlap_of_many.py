import numpy as np
import pytest

from condensity.distributions import _overlap as module
from condensity.distributions._overlap import mean_overlaps, overlap
from condensity.distributions.block import Block


def a_mixture(seed, m=6, sd=0.3, shift=True):
    """Kernels and a wide background with a shift in each row, of one output."""
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(5), m)
    moved = rng.normal(scale=3, size=(m, 1)) + 100 if shift else None
    centers = rng.normal(size=(4, 1))
    narrow, wide = np.array([[sd]]), np.array([[1.0]])
    return [
        Block(weights[:, :4], centers, narrow, shift=moved, plain=True),
        Block(np.log(weights[:, 4:]), np.zeros((1, 1)), wide, shift=moved),
    ]


@pytest.mark.parametrize("sds", [(0.3, 0.3, 0.5), (0.01, 0.4, 0.9), (1e-6, 0.4, 0.9)])
def test_mean_overlaps_are_those_of_all_pairs_of_blocks(sds):
    mixtures = [a_mixture(seed, sd=sd) for seed, sd in enumerate(sds)]
    weight = np.random.default_rng(9).uniform(size=6)
    expected = [
        [weight @ sum(overlap(a, b) for a in ours for b in theirs) for theirs in mixtures]
        for ours in mixtures
    ]
    np.testing.assert_allclose(mean_overlaps(mixtures, weight), expected, rtol=1e-9)


def test_very_narrow_gaussians_do_not_need_very_many_frequencies(monkeypatch):
    """Half a million standard deviations fit into the range of the means."""
    mixtures, sizes = [a_mixture(seed, sd=1e-6) for seed in range(2)], []
    characteristic = module._characteristic
    monkeypatch.setattr(
        module,
        "_characteristic",
        lambda mixture, origin, omega: (
            sizes.append(len(omega)) or characteristic(mixture, origin, omega)
        ),
    )
    assert np.isfinite(mean_overlaps(mixtures, np.full(6, 1 / 6))).all()
    assert sum(sizes) < 10_000


def test_mean_overlaps_of_mixtures_without_shifts():
    mixtures = [a_mixture(seed, shift=False) for seed in range(2)]
    weight = np.full(6, 1 / 6)
    first = weight @ sum(overlap(a, b) for a in mixtures[0] for b in mixtures[1])
    assert mean_overlaps(mixtures, weight)[0, 1] == pytest.approx(first, rel=1e-10)


def test_the_memory_of_mean_overlaps_is_bounded(monkeypatch):
    mixtures, weight = [a_mixture(seed) for seed in range(3)], np.full(6, 1 / 6)
    whole = mean_overlaps(mixtures, weight)
    monkeypatch.setattr("condensity._utils.numerics.BLOCK", 100)  # two frequencies at a time
    np.testing.assert_allclose(mean_overlaps(mixtures, weight), whole, rtol=1e-12)
