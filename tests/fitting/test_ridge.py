import numpy as np
import pytest

from condensity.fitting.ridge import low_rank_root, solve


def gram(seed=0, b=6, rank=6):
    A = np.random.default_rng(seed).standard_normal((b, rank))
    return A @ A.T


@pytest.mark.parametrize("penalty", [1e-6, 0.1, 10.0])
def test_solution_makes_the_gradient_of_the_ridged_loss_vanish(penalty):
    G, h = gram(), np.random.default_rng(1).uniform(size=6)
    alpha = solve(G, h, penalty=penalty)
    np.testing.assert_allclose(G @ alpha + penalty * alpha, h, rtol=1e-9)


def test_several_right_hand_sides_at_once():
    G, H = gram(), np.random.default_rng(2).uniform(size=(6, 3))
    one_by_one = np.column_stack([solve(G, h, penalty=0.1) for h in H.T])
    np.testing.assert_allclose(solve(G, H, penalty=0.1), one_by_one)


def test_singular_system_without_penalty_gives_the_solution_of_smallest_norm():
    G = gram(3, rank=2)
    h = G @ np.random.default_rng(3).standard_normal(6)
    np.testing.assert_allclose(solve(G, h, penalty=0.0), np.linalg.pinv(G) @ h, atol=1e-8)


def test_the_matrix_is_not_changed():
    G = gram()
    before = G.copy()
    solve(G, np.ones(6), penalty=1.0)
    np.testing.assert_array_equal(G, before)


@pytest.mark.parametrize("rank", [1, 3, 6])
def test_the_low_rank_root_has_as_many_columns_as_the_matrix_has_dimensions(rank):
    G = gram(4, rank=rank)
    before = G.copy()
    root = low_rank_root(G)
    assert root.shape == (6, rank)
    np.testing.assert_allclose(root @ root.T, G, rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(G, before)


def test_a_low_rank_root_has_all_digits_and_few_columns():
    """A is a smooth function of the centres: most of its eigenvalues are rounding errors."""
    centers = np.linspace(-3, 3, 80)
    A = np.exp(-0.5 * (centers[:, None] - centers) ** 2 / 2.0)
    root = low_rank_root(A)
    assert root.shape[1] < 30
    np.testing.assert_allclose(root @ root.T, A, atol=1e-12)
