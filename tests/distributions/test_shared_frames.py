"""Mixtures multiplied by an exponential, and mixtures stretched about their means."""

import numpy as np
import pytest

from mixtures import random_mixture

FRAMES = [((False, False),), ((True, False), (False, False)), ((True, True), (False, True))]


@pytest.mark.parametrize("frames", FRAMES)
@pytest.mark.parametrize("dy", [1, 2])
def test_a_tilted_density_is_the_density_times_an_exponential(dy, frames):
    mixture = random_mixture(0, dy=dy, frames=frames)
    power = np.array([0.7, -0.4])[:dy]
    log_mass, tilted = mixture.tilt(power)
    Y = np.random.default_rng(1).standard_normal((len(mixture), dy))
    expected = mixture.log_pdf(Y) + Y @ power - log_mass
    np.testing.assert_allclose(tilted.log_pdf(Y), expected, rtol=1e-10, atol=1e-12)


def test_the_mass_of_a_tilted_density_is_the_mean_of_the_exponential():
    mixture, power = random_mixture(2), np.array([0.3])
    draws = mixture.sample(200_000, random_state=0)
    estimate = np.exp(0.3 * draws).mean(axis=1)
    np.testing.assert_allclose(np.exp(mixture.tilt(power)[0]), estimate, rtol=0.02)


def test_a_tilted_block_without_shift_and_scale_stays_so():
    mixture = random_mixture(3, frames=((False, False),))
    assert mixture.tilt(np.array([1.0]))[1].blocks[0].fixed


@pytest.mark.parametrize("frames", FRAMES)
@pytest.mark.parametrize("dy", [1, 2])
def test_stretching_keeps_the_mean_and_multiplies_deviations(dy, frames):
    mixture, factors = random_mixture(4, dy=dy, frames=frames), np.array([1.5, 0.7])[:dy]
    wide = mixture.stretch(factors)
    np.testing.assert_allclose(wide.mean(), mixture.mean(), atol=1e-12)
    expected = np.outer(factors, factors) * mixture.cov()
    np.testing.assert_allclose(wide.cov(), expected, rtol=1e-10, atol=1e-12)
    Y = np.random.default_rng(1).standard_normal((len(mixture), dy))
    mean = mixture.mean().reshape(len(mixture), dy)
    inner = mixture.log_pdf(mean + (Y - mean) / factors) - np.log(factors).sum()
    np.testing.assert_allclose(wide.log_pdf(Y), inner, rtol=1e-10)


def test_densities_can_be_blended_with_a_share_for_each_row():
    a, b = random_mixture(5), random_mixture(6)
    share = np.array([0.1, 0.5, 0.9])
    y = np.array([0.3, -1.0, 2.0])
    mixed = type(a).blend([a, b], [np.log(share), np.log(1 - share)])
    np.testing.assert_allclose(mixed.pdf(y), share * a.pdf(y) + (1 - share) * b.pdf(y))
