"""``int p_a p_b`` and ``E|Y - Y'|`` of blocks with different shifts in each row."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from condensity._utils import numerics
from condensity.distributions import _overlap as pairs
from condensity.distributions import _univariate as univariate
from condensity.distributions import _waves as waves
from condensity.distributions.block import Block
from condensity.distributions.mixture import Mixture
from mixtures import gaussians


def block(seed, b, width, shift=None, scale=None):
    rng = np.random.default_rng(seed)
    log_weights = np.log(rng.dirichlet(np.ones(b), 6))
    return Block(log_weights, rng.normal(size=(b, 1)), np.array([[width]]), shift, scale)


def by_loops(a, b):
    out = np.zeros(len(a))
    for i in range(len(a)):
        for k in range(len(a.centers)):
            for j in range(len(b.centers)):
                mu, nu = (
                    s.centers[c, 0] + (0.0 if s.shift is None else s.shift[i, 0])
                    for s, c in ((a, k), (b, j))
                )
                v = a.factor[0, 0] ** 2 + b.factor[0, 0] ** 2
                weight = np.exp(a.log_weights[i, k] + b.log_weights[i, j])
                out[i] += weight * np.exp(-0.5 * (mu - nu) ** 2 / v) / np.sqrt(2 * np.pi * v)
    return out


@pytest.mark.parametrize("moved", ["first", "second", "both"])
@pytest.mark.parametrize("widths", [(0.3, 0.3), (1.0, 0.2)])
def test_overlap_by_frequencies_equals_the_sum_over_pairs(moved, widths):
    rng = np.random.default_rng(0)
    shifts = rng.normal(size=(2, 6, 1))
    a = block(1, 40, widths[0], shift=None if moved == "second" else shifts[0])
    b = block(2, 50, widths[1], shift=None if moved == "first" else shifts[1])
    assert not len(waves.overlaps(a, b)[1])  # `overlap` uses this method
    expected = by_loops(a, b)
    np.testing.assert_allclose(pairs.overlap(a, b), expected, rtol=1e-13)
    np.testing.assert_allclose(pairs._overlap_by_row(a, b), expected, rtol=1e-13)


def test_overlap_of_distant_and_of_narrow_blocks():
    shift = np.array([0.0, 5.0, 10.0, 12.0, 20.0, 1e150])[:, None]
    a, b = block(1, 200, 0.5), block(2, 200, 0.5, shift=shift)
    np.testing.assert_allclose(pairs.overlap(a, b), by_loops(a, b), rtol=1e-13, atol=1e-15)
    a, b = block(1, 4, 1e-4), block(2, 4, 1e-4, shift=np.full((6, 1), 1e-4))
    assert len(waves.overlaps(a, b)[1]) == 6
    np.testing.assert_allclose(pairs.overlap(a, b), by_loops(a, b), rtol=1e-12)


def test_overlap_does_not_depend_on_the_blocks_of_memory(monkeypatch):
    a, b = block(1, 40, 0.3), block(2, 50, 0.3, shift=np.linspace(-1, 1, 6)[:, None])
    whole = pairs.overlap(a, b)
    monkeypatch.setattr(numerics, "BLOCK", 2000)
    np.testing.assert_allclose(pairs.overlap(a, b), whole, rtol=1e-13)


def norm_by_loops(a, b):
    return by_loops(a, a) + 2 * by_loops(a, b) + by_loops(b, b)


def pair_of_blocks(a, b):
    """Two blocks, each with the weight one half, as ``Mixture`` would make them."""
    return [replace(part, given=part.given - np.log(2)) for part in (a, b)]


@pytest.mark.parametrize("moved", ["first", "second", "both"])
@pytest.mark.parametrize("widths", [(0.3, 0.3), (1.0, 0.2)])
def test_squared_norm_by_frequencies_equals_the_sum_over_pairs(moved, widths):
    rng = np.random.default_rng(0)
    shifts = rng.normal(size=(2, 6, 1))
    a = block(1, 40, widths[0], shift=None if moved == "second" else shifts[0])
    b = block(2, 50, widths[1], shift=None if moved == "first" else shifts[1])
    blocks = pair_of_blocks(a, b)
    expected = norm_by_loops(*blocks)
    found, rest = waves.squared_norms(blocks)
    assert not len(rest)
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    np.testing.assert_allclose(pairs.squared_norm_by_pairs(blocks), expected, rtol=1e-13)


def test_distant_blocks_do_not_overlap():
    """A series is periodic; a distant block must not be taken for a near one."""
    shift = np.array([0.0, 5.0, 10.0, 12.0, 20.0, 40.0])[:, None]
    blocks = pair_of_blocks(block(1, 30, 0.5), block(2, 20, 0.5, shift=shift))
    found, rest = waves.squared_norms(blocks)
    assert not len(rest)
    np.testing.assert_allclose(found, norm_by_loops(*blocks), rtol=1e-13)


def test_squared_norm_of_narrow_kernels_is_summed_over_pairs():
    blocks = pair_of_blocks(block(1, 4, 1e-4), block(2, 4, 1e-4, shift=np.full((6, 1), 1e-4)))
    assert len(waves.squared_norms(blocks)[1]) == 6
    found = Mixture(blocks).squared_norm()
    np.testing.assert_allclose(found, norm_by_loops(*blocks), rtol=1e-12)


@pytest.mark.parametrize("far", [1e9, 1e60, 1e150])
def test_one_very_distant_row_does_not_affect_the_others(far):
    shift = np.append(np.zeros(5), far)[:, None]
    a, b = pair_of_blocks(block(1, 4, 0.5), block(2, 4, 0.5, shift=shift))
    found, near = Mixture([a, b]).squared_norm(), replace(b, shift=None)
    np.testing.assert_allclose(found[:-1], norm_by_loops(a, near)[:-1], rtol=1e-12)
    apart = by_loops(a, a) + by_loops(near, near)  # in the last row, a and b do not overlap
    np.testing.assert_allclose(found[-1], apart[-1], rtol=1e-12)


def test_squared_norm_does_not_depend_on_the_blocks_of_memory(monkeypatch):
    blocks = pair_of_blocks(
        block(1, 40, 0.3), block(2, 50, 0.3, shift=np.linspace(-1, 1, 6)[:, None])
    )
    whole, _ = waves.squared_norms(blocks)
    monkeypatch.setattr(numerics, "BLOCK", 2000)
    np.testing.assert_allclose(waves.squared_norms(blocks)[0], whole, rtol=1e-13)


def spread_by_loops(mixture):
    """``E|Y - Y'|`` as a sum over pairs of Gaussians."""
    out = np.zeros(len(mixture))
    for i in range(len(mixture)):
        parts = gaussians(mixture, i)
        for w, mu, v in parts:
            for w2, mu2, v2 in parts:
                sd, gap = float(np.sqrt(v + v2)[0, 0]), float((mu - mu2)[0])
                mean = gap * (2 * stats.norm.cdf(gap / sd) - 1) + 2 * sd * stats.norm.pdf(gap / sd)
                out[i] += w * w2 * mean
    return out


SHIFTS = np.linspace(-2.0, 3.0, 6)[:, None]


@pytest.mark.parametrize("narrow", [0.3, 0.05])
def test_mean_difference_by_frequencies_equals_the_sum_over_pairs(narrow):
    mixture = Mixture([block(1, 9, narrow), block(2, 5, 1.0, shift=SHIFTS)])
    c = mixture.components("a test")
    assert not c.shared
    expected = spread_by_loops(mixture)
    np.testing.assert_allclose(
        pairs.mean_difference_of_blocks(mixture.blocks, c), expected, rtol=1e-13
    )
    np.testing.assert_allclose(univariate.mean_difference(c), expected, rtol=1e-13)


def test_rows_that_need_too_many_frequencies_are_summed_over_pairs(monkeypatch):
    far = np.append(SHIFTS[:5, 0], 1e7)[:, None]
    mixture = Mixture([block(1, 9, 0.3), block(2, 5, 1.0, shift=far)])
    calls, original = [], univariate.mean_difference
    monkeypatch.setattr(
        univariate, "mean_difference", lambda c: calls.append(len(c)) or original(c)
    )
    found = pairs.mean_difference_of_blocks(mixture.blocks, mixture.components("a test"))
    assert calls == [1]
    np.testing.assert_allclose(found, spread_by_loops(mixture), rtol=1e-13)


def test_mean_difference_does_not_depend_on_the_blocks_of_memory(monkeypatch):
    mixture = Mixture([block(1, 40, 0.3), block(2, 50, 0.3, shift=SHIFTS)])
    whole = pairs.mean_difference_of_blocks(mixture.blocks, mixture.components("a test"))
    monkeypatch.setattr(numerics, "BLOCK", 2000)
    again = pairs.mean_difference_of_blocks(mixture.blocks, mixture.components("a test"))
    np.testing.assert_allclose(again, whole, rtol=1e-13)


def test_mean_difference_of_rows_with_a_scale():
    scale = np.linspace(0.5, 2.0, 6)
    blocks = [block(1, 9, 0.3), block(2, 5, 1.0, shift=SHIFTS, scale=scale)]
    mixture = Mixture(blocks)
    found = pairs.mean_difference_of_blocks(mixture.blocks, mixture.components("a test"))
    np.testing.assert_allclose(found, spread_by_loops(mixture), rtol=1e-13)


def test_mean_difference_is_accurate_for_a_large_common_shift():
    def coarse(values):
        return np.round(values * 2**16) / 2**16  # so that shifts are exact

    def mixture(out):
        parts = [block(1, 9, 0.3), block(2, 5, 0.05)]
        shifts = [np.full((6, 1), out), coarse(SHIFTS) + out]
        pairs = zip(parts, shifts, strict=True)
        return Mixture([replace(b, centers=coarse(b.centers), shift=s) for b, s in pairs])

    far = mixture(2.0**33)
    found = pairs.mean_difference_of_blocks(far.blocks, far.components("a test"))
    # At this distance a mean is rounded to 1e-6, and the error of a variance is its square.
    np.testing.assert_allclose(found, spread_by_loops(mixture(0.0)), rtol=1e-11)
