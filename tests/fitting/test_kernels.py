import numpy as np
import pytest

from condensity._utils.numerics import BLOCK, row_blocks
from condensity.fitting.kernels import FEW, gaussian, squared_distances


@pytest.mark.parametrize("d", [1, FEW, FEW + 1])
def test_squared_distances_equal_loops(d):
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((5, d)), rng.standard_normal((4, d))
    loops = [[sum((a - b) ** 2) for b in B] for a in A]
    np.testing.assert_allclose(squared_distances(A, B), loops, rtol=1e-13)


@pytest.mark.parametrize("d", [FEW, FEW + 1])
def test_squared_distances_are_accurate_far_from_the_origin(d):
    rng = np.random.default_rng(1)
    A, B = rng.standard_normal((5, d)), rng.standard_normal((4, d))
    loops = [[sum((a - b) ** 2) for b in B] for a in A]
    np.testing.assert_allclose(squared_distances(A + 1e6, B + 1e6), loops, rtol=1e-8)


def test_distances_are_not_negative_and_zero_on_the_diagonal():
    A = np.random.default_rng(2).standard_normal((30, FEW + 1)) * 1e3
    D = squared_distances(A, A)
    assert D.min() >= 0
    np.testing.assert_allclose(np.diag(D), 0, atol=1e-8)


def test_gaussian_equals_the_formula_and_does_not_change_its_argument():
    D = np.array([[0.0, 1.0], [4.0, 9.0]])
    before = D.copy()
    np.testing.assert_allclose(gaussian(D, 0.7), np.exp(-D / (2 * 0.49)))
    np.testing.assert_array_equal(D, before)


@pytest.mark.parametrize(("rows", "width"), [(0, 3), (1, 1), (10, BLOCK // 3), (7, 10 * BLOCK)])
def test_row_blocks_cover_every_row_once_within_the_bound(rows, width):
    blocks = row_blocks(rows, width)
    covered = [i for block in blocks for i in range(block.start, block.stop)]
    assert covered == list(range(rows))
    assert all((b.stop - b.start) * width <= BLOCK or b.stop - b.start == 1 for b in blocks)


@pytest.mark.parametrize("d", [1, FEW])
def test_small_distances_between_centres_far_apart_keep_their_digits(d):
    """With few coordinates no square of a large number is subtracted from another one."""
    assert FEW >= 4
    B = np.concatenate([np.zeros((1, d)), np.full((1, d), 1e8)])
    A = B[1:] + 0.5
    np.testing.assert_allclose(squared_distances(A, B)[0, 1], 0.25 * d, rtol=1e-13)
