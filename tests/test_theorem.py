"""Theorem 1 of the paper, on discretised joint densities and on the estimators."""

import numpy as np
import pytest

from condensity import LSCDE

CELL = {"z": 0.25, "rest": 0.5, "y": 0.2}  # widths of the grid cells


def joint(seed, sufficient):
    """Density on cells (z, rest of x, y); with ``sufficient``, y depends on z only."""
    rng = np.random.default_rng(seed)
    p_x = rng.dirichlet(np.ones(20)).reshape(4, 5)
    p_y = rng.dirichlet(np.ones(6), size=(4, 1 if sufficient else 5))
    p = p_x[:, :, None] * np.broadcast_to(p_y, (4, 5, 6))
    return p / np.prod(list(CELL.values()))


def sce_of_y_given_x(p):
    p_x = p.sum(axis=2) * CELL["y"]
    conditional = p / p_x[:, :, None]
    return -0.5 * np.sum(conditional**2 * p_x[:, :, None]) * np.prod(list(CELL.values()))


def sce_of_y_given_z(p):
    p_zy = p.sum(axis=1) * CELL["rest"]
    p_z = p_zy.sum(axis=1) * CELL["y"]
    conditional = p_zy / p_z[:, None]
    return -0.5 * np.sum(conditional**2 * p_z[:, None]) * CELL["z"] * CELL["y"]


def right_hand_side(p):
    """Integral of the theorem, computed factor by factor."""
    p_x = p.sum(axis=2) * CELL["y"]
    p_z = p_x.sum(axis=1) * CELL["rest"]
    p_y_z = p.sum(axis=1) * CELL["rest"] / p_z[:, None]
    p_rest_z = p_x / p_z[:, None]
    p_rest_y_z = p / p_z[:, None, None]
    ratio = p_rest_y_z / (p_rest_z[:, :, None] * p_y_z[:, None, :])
    integrand = (ratio - 1) ** 2 * p_y_z[:, None, :] ** 2 * p_x[:, :, None]
    return 0.5 * np.sum(integrand) * np.prod(list(CELL.values()))


@pytest.mark.parametrize("seed", range(5))
def test_cost_of_reducing_the_input_equals_the_integral_of_the_theorem(seed):
    p = joint(seed, sufficient=False)
    cost = sce_of_y_given_z(p) - sce_of_y_given_x(p)
    assert cost == pytest.approx(right_hand_side(p), rel=1e-10)
    assert cost > 1e-3


@pytest.mark.parametrize("seed", range(5))
def test_reducing_to_sufficient_inputs_costs_nothing(seed):
    p = joint(seed, sufficient=True)
    assert sce_of_y_given_z(p) == pytest.approx(sce_of_y_given_x(p), rel=1e-12)
    assert right_hand_side(p) == pytest.approx(0, abs=1e-12)


def test_the_estimated_sce_approaches_the_true_one():
    # y = 0.8 z + 0.6 e: p(y|z) is N(0.8 z, 0.36), so SCE = -1/2 int p^2 = -1 / (4 sqrt(pi) 0.6).
    rng = np.random.default_rng(0)
    z = rng.standard_normal(2000)
    y = 0.8 * z + 0.6 * rng.standard_normal(2000)
    model = LSCDE(random_state=0).fit(z[:, None], y)
    truth = -1 / (4 * np.sqrt(np.pi) * 0.6)
    assert model.sce_ * 1 / np.std(y) == pytest.approx(truth, rel=0.05)


def test_the_estimate_is_lowest_for_the_sufficient_input():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((500, 2))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.standard_normal(500)
    fixed = {"bandwidth": 0.4, "penalty": 0.01, "random_state": 0}
    sce = {j: LSCDE(**fixed).fit(X[:, [j]], y).sce_ for j in (0, 1)}
    mixed = LSCDE(**fixed).fit((X @ [0.8, 0.6])[:, None], y).sce_
    assert sce[0] < mixed < sce[1]
