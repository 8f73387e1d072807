import numpy as np
import pytest
from scipy.stats import kstest

import oracles
from condensity.subspaces.grassmann import (
    Geodesic,
    natural_gradient,
    orient_signs,
    orthonormal,
    projector_gap,
    random_point,
    standard_basis,
)
from problems import random_sample, random_subspace, rotation

SHAPES = [(1, 3), (2, 5), (3, 4), (4, 4), (5, 7)]


def point_and_gradient(dz, dx, seed=0):
    return random_subspace(seed, dz, dx), np.random.default_rng(seed + 1).standard_normal((dz, dx))


@pytest.mark.parametrize(("dz", "dx"), SHAPES)
@pytest.mark.parametrize("t", [0.0, 0.3, 2.0])
def test_geodesic_equals_the_matrix_exponential_of_the_paper(dz, dx, t):
    W, gradient = point_and_gradient(dz, dx)
    ours = Geodesic.along(W, -natural_gradient(W, gradient))(t)
    exact = oracles.geodesic(W, oracles.complement(W), gradient, t)
    np.testing.assert_allclose(ours, exact, atol=1e-13)


@pytest.mark.parametrize(("dz", "dx"), SHAPES)
def test_geodesic_keeps_rows_orthonormal(dz, dx):
    W, gradient = point_and_gradient(dz, dx)
    W_t = Geodesic.along(W, natural_gradient(W, gradient))(0.7)
    np.testing.assert_allclose(W_t @ W_t.T, np.eye(dz), atol=1e-13)


def test_geodesic_starts_with_the_velocity_of_its_tangent():
    W, gradient = point_and_gradient(2, 5)
    D = natural_gradient(W, gradient)
    curve = Geodesic.along(W, D)
    np.testing.assert_allclose((curve(1e-6) - curve(-1e-6)) / 2e-6, D, atol=1e-8)


def test_natural_gradient_is_tangent_and_equals_the_projection_on_the_complement():
    W, gradient = point_and_gradient(2, 5)
    D, W_perp = natural_gradient(W, gradient), oracles.complement(W)
    np.testing.assert_allclose(D @ W.T, 0, atol=1e-14)
    np.testing.assert_allclose(D, gradient @ W_perp.T @ W_perp, atol=1e-14)


@pytest.mark.parametrize(("da", "db"), [(1, 1), (2, 2), (2, 3), (3, 1)])
def test_projector_gap_is_the_frobenius_distance_of_the_projectors(da, db):
    A, B = random_subspace(0, da, 5), random_subspace(1, db, 5)
    assert projector_gap(A, B) == pytest.approx(np.linalg.norm(A.T @ A - B.T @ B), rel=1e-12)


def test_projector_gap_does_not_depend_on_the_basis_and_resolves_tiny_angles():
    A = random_subspace(0, 2, 5)
    assert projector_gap(A, rotation(1, 2) @ A) < 1e-14
    angle = 1e-12
    line = np.array([[np.cos(angle), np.sin(angle)]])
    assert projector_gap(np.eye(2)[:1], line) == pytest.approx(np.sqrt(2) * angle, rel=1e-9)


def test_orthonormal_keeps_the_row_space():
    M = np.random.default_rng(0).standard_normal((2, 5))
    W = orthonormal(M)
    np.testing.assert_allclose(W @ W.T, np.eye(2), atol=1e-14)
    np.testing.assert_allclose(M @ W.T @ W, M, atol=1e-13)


def test_random_points_are_uniform():
    rng = np.random.default_rng(0)
    projectors = [W.T @ W for W in (random_point(rng, 2, 5) for _ in range(4000))]
    np.testing.assert_allclose(np.mean(projectors, axis=0), np.eye(5) * 2 / 5, atol=0.02)
    # A diagonal entry of a uniform projector of rank 2 in 5 dimensions is Beta(1, 3/2).
    assert kstest([P[0, 0] for P in projectors], "beta", args=(1, 1.5)).pvalue > 0.01
    diagonal = [np.sum(P[:2, :2]) / 2 for P in projectors]  # along (1, 1) / sqrt(2)
    assert kstest(diagonal, "beta", args=(1, 1.5)).pvalue > 0.01


def test_oriented_directions_grow_with_the_first_output_and_keep_the_span():
    W, s = random_subspace(3, 2, 4), random_sample(3, dy=2)
    turned = orient_signs(W, s)
    assert ((s.weight * s.Y[:, 0]) @ s.X @ turned.T >= 0).all()
    np.testing.assert_allclose(turned.T @ turned, W.T @ W, atol=1e-15)
    np.testing.assert_array_equal(orient_signs(-W, s), turned)


def test_the_standard_basis_depends_on_the_subspace_alone():
    W = random_subspace(0, 3, 6)
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0]
    standard = standard_basis(W)
    np.testing.assert_allclose(standard_basis(turn @ W), standard, atol=1e-12)
    np.testing.assert_allclose(standard @ standard.T, np.eye(3), atol=1e-12)
    assert projector_gap(standard, W) < 1e-12
