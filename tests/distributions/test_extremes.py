"""Densities far out, in tiny units and of many outputs: no warnings, no NaN, no endless sums."""

import time

import numpy as np
import pytest

from condensity.distributions import Block, BoundedMixture, Bounds, ChunkedDistribution, Mixture
from condensity.distributions.mixture import Mixture as MixtureClass
from mixtures import random_mixture

INF = np.inf
FAR = np.array([-1e6, -1000.0, -300.0, 300.0, 700.0, 800.0, 1e6])


def far_out(lower, upper, shift=FAR, width=0.3):
    """Rows whose free coordinates lie far from zero: kernels, and a background that is wider."""
    rng, shift = np.random.default_rng(0), np.asarray(shift, dtype=float)[:, None]
    weights = np.log(rng.dirichlet(np.ones(4), len(shift)))
    free = Mixture(
        [
            Block(weights[:, :3], rng.standard_normal((3, 1)), np.full((1, 1), width), shift),
            Block(weights[:, 3:], np.zeros((1, 1)), np.eye(1), 1.05 * shift),
        ]
    )
    return BoundedMixture(free, Bounds(np.array([lower]), np.array([upper])))


BOUNDS = {"above": (0.0, INF), "below": (-INF, 0.0), "between": (0.0, 1.0)}
ANSWERS = {
    "mean": lambda d, y: d.mean(),
    "var": lambda d, y: d.var(),
    "std": lambda d, y: d.std(),
    "cov": lambda d, y: d.cov(),
    "squared_norm": lambda d, y: d.squared_norm(),
    "crps": lambda d, y: d.crps(y),
    "pdf": lambda d, y: d.pdf(y),
    "cdf": lambda d, y: d.cdf(y),
    "pdf_on": lambda d, y: d.pdf_on(np.array([-1.0, -1e-320, 0.0, 1e-320, 0.5, 1.0, 3.0])),
    "quantile": lambda d, y: d.quantile([0.1, 0.5]),
    "hdr": lambda d, y: np.concatenate(d.hdr(0.5)),
    "hpd_level": lambda d, y: d.hpd_level(y),
    "modes": lambda d, y: np.concatenate(d.modes()),
}


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("case", BOUNDS)
@pytest.mark.parametrize("y", [-2.0, 0.0, 0.5, 1.0, 1e300])
def test_answers_far_out_are_numbers_or_infinite(case, answer, y):
    dist = far_out(*BOUNDS[case])
    assert not np.isnan(ANSWERS[answer](dist, np.full(len(FAR), y))).any()


@pytest.mark.parametrize("case", BOUNDS)
def test_every_row_far_out_has_a_mode(case):
    assert all(len(own) for own in far_out(*BOUNDS[case]).modes())


def test_crps_between_two_bounds_does_not_depend_on_the_distance():
    dist, y = far_out(0.0, 1.0, [-1e6, 1e6, 1e12]), np.array([0.25, 0.25, 1.0])
    np.testing.assert_allclose(dist.crps(y), [0.25, 0.75, 0.0], atol=1e-14)


def test_moments_of_log_normals_far_out_keep_their_digits():
    """A factor of y is a shift of its logarithm."""
    near, far = far_out(0.0, INF, [0.0, 0.0, 0.0]), far_out(0.0, INF, [0.0, 0.0, 0.0])
    shift = np.array([-200.0, 0.0, 250.0])
    far = BoundedMixture(far.free.moved(shift[:, None]), far.bounds)
    factor = np.exp(shift)
    np.testing.assert_allclose(far.mean(), factor * near.mean(), rtol=1e-12)
    np.testing.assert_allclose(far.std(), factor * near.std(), rtol=1e-12)
    np.testing.assert_allclose(far.squared_norm(), near.squared_norm() / factor, rtol=1e-12)
    y = near.quantile(0.3)
    np.testing.assert_allclose(far.crps(factor * y), factor * near.crps(y), rtol=1e-11)


@pytest.mark.parametrize("width", [1e-3, 1e-8, 1e-10])
@pytest.mark.parametrize("shift", [1.0, 300.0])
def test_variances_of_narrow_densities_are_positive_and_correct(width, shift):
    one = Block(np.zeros((1, 1)), np.zeros((1, 1)), np.full((1, 1), width), np.full((1, 1), shift))
    dist = BoundedMixture(Mixture([one]), Bounds(np.zeros(1), np.full(1, INF)))
    sd = np.sqrt(np.expm1(width**2)) * np.exp(shift + width**2 / 2)
    np.testing.assert_allclose(dist.std(), sd, rtol=1e-6)


def test_variances_of_narrow_mixtures_are_not_negative():
    rng = np.random.default_rng(0)
    free = Mixture([Block(rng.random((300, 5)), 1e-9 * rng.random((5, 1)), np.full((1, 1), 1e-9))])
    assert (BoundedMixture(free, Bounds(np.zeros(1), np.full(1, INF))).var() >= 0).all()


def test_moments_near_one_of_two_bounds_keep_their_digits():
    """There y = exp(u), but for a factor 1 - exp(u)."""
    one, two = far_out(0.0, INF, [-25.0, -30.0]), far_out(0.0, 1.0, [-25.0, -30.0])
    np.testing.assert_allclose(two.mean(), one.mean(), rtol=1e-8)
    np.testing.assert_allclose(two.std(), one.std(), rtol=1e-8)


def test_the_crps_of_a_density_without_mean_is_infinite():
    dist = far_out(0.0, INF, [0.0, 800.0], width=60.0)
    np.testing.assert_array_equal(dist.mean(), INF)
    for y in (0.0, 1.0, 1e300):
        np.testing.assert_array_equal(dist.crps([y, y]), INF)


@pytest.mark.parametrize("shift", [1e10, 1e17, 1e300])
def test_shapes_without_bounds_do_not_depend_on_the_distance(shift):
    near = random_mixture(3, m=4, frames=((True, False), (True, False)))
    far = near.moved(np.full((4, 1), shift))  # the frames of rows are rounded, not their shapes
    again = far.moved(np.full((4, 1), -shift))
    for name in ("var", "squared_norm"):
        here, there = (getattr(dist, name)() for dist in (again, far))
        np.testing.assert_allclose(there, here, rtol=1e-9)
    assert all(len(own) for own in far.modes())
    np.testing.assert_allclose(far.crps(np.full(4, shift)), again.crps(np.zeros(4)), rtol=1e-9)


def test_log_weights_of_any_size_give_weights_that_sum_to_one():
    logs = np.array([[1e30, 1e30, -1e30], [-1e30, -1e30 - 1e17, -2e30], [0.0, 0.0, -np.inf]])
    dist = Mixture([Block(logs, np.zeros((3, 1)), np.eye(1))])
    np.testing.assert_allclose(np.exp(dist.log_weights).sum(axis=1), 1.0, rtol=1e-15)
    np.testing.assert_allclose(np.exp(dist.log_weights[0]), [0.5, 0.5, 0.0])


@pytest.mark.parametrize("frames", [((False, False),), ((True, True), (True, False))])
def test_densities_of_many_outputs_in_tiny_units_are_not_nan(frames):
    dist = random_mixture(0, m=2, dy=8, frames=frames)
    for unit in (1e-50, 1e50):
        blocks = [
            Block(
                b.log_weights, unit * b.centers, unit * b.factor,
                None if b.shift is None else unit * b.shift, b.scale,
            )
            for b in dist.blocks
        ]  # fmt: skip
        tiny = Mixture(blocks)
        limit = INF if unit < 1 else 0.0
        np.testing.assert_array_equal(tiny.squared_norm(), limit)
        np.testing.assert_array_equal(tiny.pdf(np.zeros((2, 8))), limit)
        np.testing.assert_array_equal(tiny.pdf_on(np.zeros((1, 8))), limit)
        nowhere = np.full((2, 8), 1e3 * unit)
        np.testing.assert_array_equal(tiny.pdf(nowhere), 0.0)
        np.testing.assert_array_equal(tiny.pdf_on(nowhere), 0.0)
        shift = 8 * np.log(unit)
        points = np.ones((2, 8))
        np.testing.assert_allclose(tiny.log_pdf(unit * points) + shift, dist.log_pdf(points))


def test_too_many_outputs_with_two_bounds_are_refused_with_a_remedy():
    free = random_mixture(0, m=2, dy=12, frames=((True, False),))
    dist = BoundedMixture(free, Bounds(np.zeros(12), np.ones(12)))
    started = time.process_time()
    for answer in (dist.squared_norm, dist.modes):
        with pytest.raises(ValueError, match=r"sums of 531441 terms.*dist.marginal\(\[0, 1\]\)"):
            answer()
    assert time.process_time() - started < 60
    assert np.isfinite(dist.log_pdf(np.full((2, 12), 0.5))).all()
    assert np.isfinite(dist.marginal([0, 1]).squared_norm()).all()
    one_bound = BoundedMixture(free, Bounds(np.zeros(12), np.full(12, INF)))
    assert np.isfinite(one_bound.squared_norm()).all()


def test_densities_are_not_arrays():
    mixture = random_mixture(0)
    many = ChunkedDistribution(np.arange(3)[:, None], lambda X: mixture[X[:, 0]], 7, 1)
    bounded = BoundedMixture(mixture, Bounds(np.zeros(1), np.full(1, INF)))
    for dist in (mixture, bounded, many):
        for convert in (np.asarray, np.array, lambda d: np.ones(3) + d):
            with pytest.raises(TypeError, match=r"is not an array of numbers.*dist.mean\(\)"):
                convert(dist)


def test_attributes_of_densities_in_memory_are_explained_for_many_rows():
    mixture = random_mixture(0)
    many = ChunkedDistribution(np.arange(3)[:, None], lambda X: mixture[X[:, 0]], 7, 1)
    with pytest.raises(AttributeError, match=r"chunk by chunk: use dist.compute\(\).blocks"):
        _ = many.blocks
    with pytest.raises(AttributeError, match="'ChunkedDistribution' object has no attribute 'x'"):
        _ = many.x
    assert isinstance(many.compute(), MixtureClass)
    assert len(many.compute().blocks) == len(mixture.blocks)
