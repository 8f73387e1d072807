"""Distance of subspaces."""

import numpy as np
import pytest

from condensity import metrics


def test_subspace_error_is_the_distance_of_the_projectors_whatever_the_basis():
    A, B = [[1.0, 0, 0], [1.0, 2.0, 0]], [[0, 1.0, 1.0]]
    P_A, P_B = np.diag([1.0, 1, 0]), np.array([[0, 0, 0], [0, 0.5, 0.5], [0, 0.5, 0.5]])
    assert metrics.subspace_error(A, B) == pytest.approx(np.linalg.norm(P_A - P_B))


def test_subspace_error_accepts_a_single_direction_and_refuses_repeated_ones():
    assert metrics.subspace_error([0.0, 3.0], [[0.0, -1.0]]) == pytest.approx(0)
    with pytest.raises(ValueError, match="drop the directions that repeat"):
        metrics.subspace_error([[1.0, 2.0], [2.0, 4.0]], [[1.0, 0.0]])


def test_subspaces_must_live_in_one_space_and_be_finite():
    with pytest.raises(ValueError, match="A has 2 columns and B 3: pass subspaces of the same"):
        metrics.subspace_error([[1.0, 0]], [[1.0, 0, 0]])
    with pytest.raises(ValueError, match="A must be a finite matrix"):
        metrics.subspace_error([[np.nan, 0]], [[1.0, 0]])
