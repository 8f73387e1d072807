import numpy as np
import pytest

import oracles
from condensity.fitting import sce as objective
from condensity.fitting.sce import SCE
from problems import random_sample, random_subspace, rotation

SETTINGS = {"sigma_z": 0.7, "sigma_y": 0.5, "penalty": 0.03}
CASES = [(1, 1), (2, 1), (3, 2), (4, 1)]  # (dz, dy)


def problem_and_oracle(dy, seed=0):
    sample = random_sample(seed, dy=dy)
    centers = sample[slice(0, 7)]
    args = (sample.X, sample.Y, centers.X, centers.Y, *SETTINGS.values(), sample.weight)
    return SCE.build(sample, centers, **SETTINGS), args


@pytest.mark.parametrize(("dz", "dy"), CASES)
def test_value_equals_the_sce_of_the_paper(dz, dy):
    problem, args = problem_and_oracle(dy)
    W = random_subspace(dz, dz, 4)
    assert problem.at(W).value == pytest.approx(oracles.sce(W, *args), rel=1e-12)


@pytest.mark.parametrize(("dz", "dy"), CASES)
def test_gradient_equals_the_complex_step_to_1e_12(dz, dy):
    problem, args = problem_and_oracle(dy)
    W = random_subspace(dz, dz, 4)
    ours, exact = problem.at(W).gradient(), oracles.sce_gradient(W, *args)
    assert np.abs(ours - exact).max() <= 1e-12 * np.abs(exact).max()


def test_rotation_within_the_subspace_changes_nothing():
    problem, _ = problem_and_oracle(1)
    W, Q = random_subspace(5, 3, 4), rotation(6, 3)
    point, rotated = problem.at(W), problem.at(Q @ W)
    assert rotated.value == pytest.approx(point.value, rel=1e-12)
    np.testing.assert_allclose(rotated.gradient(), Q @ point.gradient(), atol=1e-13)


def test_gradient_times_w_is_symmetric():
    problem, _ = problem_and_oracle(2)
    W = random_subspace(7, 3, 4)
    moment = problem.at(W).gradient() @ W.T
    np.testing.assert_allclose(moment, moment.T, atol=1e-14)


def test_only_ratios_of_weights_matter():
    sample = random_sample(0)
    doubled = type(sample)(sample.X, sample.Y, 2 * sample.weight)
    W = random_subspace(1, 2, 4)
    points = [SCE.build(s, sample[slice(0, 7)], **SETTINGS).at(W) for s in (sample, doubled)]
    assert points[0].value == pytest.approx(points[1].value, rel=1e-13)
    np.testing.assert_allclose(points[0].gradient(), points[1].gradient(), rtol=1e-11)


def test_value_and_gradient_do_not_depend_on_the_row_blocks(monkeypatch):
    problem, args = problem_and_oracle(1)
    monkeypatch.setattr(objective, "CACHED", 7)  # blocks of seven rows, and a remainder
    assert [rows.stop for rows in problem.blocks()][-2:] == [21, 23]
    W = random_subspace(2, 2, 4)
    point, exact = problem.at(W), oracles.sce_gradient(W, *args)
    assert point.value == pytest.approx(oracles.sce(W, *args), rel=1e-12)
    assert np.abs(point.gradient() - exact).max() <= 1e-12 * np.abs(exact).max()
