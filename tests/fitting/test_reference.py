"""LSMI is LSCE with the reference measure p(y) in place of dy (paper, Sec. 2.8)."""

import numpy as np
import pytest

import oracles
from condensity.data.sample import Sample
from condensity.fitting.moments import Reference
from condensity.fitting.sce import SCE
from condensity.fitting.selection import Candidates, raw_losses, select
from problems import center_rows, fold_labels, random_plan, random_sample, random_subspace

SETTINGS = {"sigma_z": 0.7, "sigma_y": 0.5, "penalty": 0.03}


@pytest.mark.parametrize(("dz", "dy"), [(1, 1), (3, 2)])
def test_value_and_gradient_equal_loops_for_the_density_ratio(dz, dy):
    sample = random_sample(0, dy=dy)
    centers, W = sample[slice(0, 7)], random_subspace(dz, dz, 4)
    point = SCE.build(sample, centers, **SETTINGS, reference=Reference.EMPIRICAL).at(W)
    args = (sample.X, sample.Y, centers.X, centers.Y, *SETTINGS.values(), sample.weight)
    assert point.value == pytest.approx(oracles.sce(W, *args, moments=oracles.H_and_h), rel=1e-12)
    exact = oracles.sce_gradient(W, *args, moments=oracles.H_and_h)
    assert np.abs(point.gradient() - exact).max() <= 1e-12 * np.abs(exact).max()


def test_cross_validation_uses_the_distribution_of_each_fold():
    plan, W = random_plan(dy=2), random_subspace(1, 2, 4)
    candidates = Candidates(((0.5, 0.5), (1.1, 0.4)), (0.01, 0.3))
    choice = select(plan, W, candidates, raw_losses, reference=Reference.EMPIRICAL)
    s, who = plan.sample, (fold_labels(plan), center_rows(plan))
    for i, sigmas in enumerate(candidates.bandwidths):
        for j, penalty in enumerate(candidates.penalties):
            exact = oracles.raw_cv_loss(
                W, s.X, s.Y, *who, *sigmas, penalty, s.weight, moments=oracles.H_and_h
            )
            assert choice.losses[i, j].mean() == pytest.approx(exact, rel=1e-10)


def smi(p, dz, dy):
    """``1/2 int (p / (p_z p_y) - 1)^2 p_z p_y`` of a density on cells (z, y)."""
    p_z, p_y = p.sum(axis=1) * dy, p.sum(axis=0) * dz
    product = np.outer(p_z, p_y)
    return 0.5 * np.sum((p / product - 1) ** 2 * product) * dz * dy


def sce(p, dz, dy):
    """``-1/2 int p(y|z)^2 p(z)``, the function to minimise, of a density on cells (z, y)."""
    p_z = p.sum(axis=1) * dy
    return -0.5 * np.sum((p / p_z[:, None]) ** 2 * p_z[:, None]) * dz * dy


@pytest.mark.parametrize("volume", [1.0, 2.5])
def test_sce_is_smi_up_to_a_constant_for_uniform_y(volume):
    """p(y) = 1 / v: ``SCE = -(SMI + 1/2) / v``; for v = 1 the paper's ``-SMI``, with its 1/2."""
    rng = np.random.default_rng(0)
    p = rng.random((5, 8))
    dz, dy = 0.3, volume / 8
    p /= p.sum(axis=0) * dz * volume  # y is uniform
    np.testing.assert_allclose(p.sum(axis=0) * dz, 1 / volume)
    assert sce(p, dz, dy) == pytest.approx(-(smi(p, dz, dy) + 0.5) / volume, rel=1e-12)
    paper = -0.5 * np.sum((p / (p.sum(axis=1) * dy)[:, None] - 1) ** 2 * p.sum(1)[:, None]) * dy
    if volume == 1.0:
        assert paper * dz * dy == pytest.approx(-smi(p, dz, dy), rel=1e-12)
    bumpy = p * np.linspace(1, 3, 8)
    bumpy /= bumpy.sum() * dz * dy
    assert abs(sce(bumpy, dz, dy) + (smi(bumpy, dz, dy) + 0.5) / volume) > 1e-3


def test_both_estimates_are_proportional_for_uniform_y():
    """For kernels within the range of y, p(y) = 1 / v gives the same integrals as dy / v."""
    rng = np.random.default_rng(0)
    n, volume = 400, 8.0
    y = (np.arange(n) + 0.5) * volume / n - volume / 2
    X = np.column_stack([y + rng.standard_normal(n), rng.standard_normal((n, 3))])
    sample = Sample(X, y[:, None], np.full(n, 1 / n))
    centers = sample[rng.choice(np.flatnonzero(np.abs(y) < 1.5), 30, replace=False)]
    settings = {"sigma_z": 0.8, "sigma_y": 0.4}
    by_dy = SCE.build(sample, centers, **settings, penalty=0.05)
    by_p = SCE.build(
        sample, centers, **settings, penalty=0.05 / volume, reference=Reference.EMPIRICAL
    )
    for seed in range(3):
        W = random_subspace(seed, 2, 4)
        a, b = by_dy.at(W), by_p.at(W)
        assert a.value == pytest.approx(b.value / volume, rel=1e-8)
        np.testing.assert_allclose(a.gradient(), b.gradient() / volume, rtol=1e-5, atol=1e-9)
