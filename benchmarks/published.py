"""The procedure of the paper in plain NumPy, the reference for the speed of the library.

It starts from twenty random subspaces.  From each start it takes natural-gradient steps along
geodesics with a backtracking line search until the subspace converges.  Before every fifth step it
selects bandwidth and penalty by five-fold cross-validation over the whole grid.  The smallest SCE
wins.  It repeats this for every number of directions and selects the number with the smallest
cross-validated loss.  The code is vectorised NumPy with the gradient in matrix products, as a
careful reader of the paper would write it.  It does not downdate folds, does not reuse
factorisations or distances, and does not restrict the grid search to the neighbourhood of the last
choice.  It shares no code with the library.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

N_STARTS, N_CENTERS, N_FOLDS, MAX_STEPS, STEPS_PER_ROUND = 20, 200, 5, 100, 5
BANDWIDTHS, PENALTIES = np.logspace(-1.0, 0.5, 7), np.logspace(-3, 1, 9)


def kernel(A, B, sigma):
    squared = ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2)
    return np.exp(-squared / (2 * sigma**2))


def integrals(V, sigma):
    """int phi_y phi_y^T dy."""
    return (np.sqrt(np.pi) * sigma) ** V.shape[1] * kernel(V, V, np.sqrt(2) * sigma)


class Fit:
    """The least-squares fit in the coordinates z = W x."""

    def __init__(self, W, X, Y, U, V, sigma, penalty):
        self.W, self.X, self.Y, self.U, self.V = W, X, Y, U, V
        self.sigma, self.penalty = sigma, penalty
        self.phi_z, self.phi_y = kernel(X @ W.T, U @ W.T, sigma), kernel(Y, V, sigma)
        self.yy = integrals(V, sigma)
        self.G = self.phi_z.T @ self.phi_z / len(X) * self.yy
        self.h = (self.phi_z * self.phi_y).mean(axis=0)
        self.alpha = np.linalg.solve(self.G + penalty * np.eye(len(U)), self.h)
        self.value = 0.5 * self.alpha @ self.G @ self.alpha - self.h @ self.alpha

    def gradient(self):
        W, X, U, alpha = self.W, self.X, self.U, self.alpha
        beta = np.linalg.solve(self.G + self.penalty * np.eye(len(U)), self.G @ alpha)
        outer = np.outer(alpha, 1.5 * alpha - beta)
        R = self.phi_z * (self.phi_z @ ((outer + outer.T) * self.yy))
        R += self.phi_z * self.phi_y * (beta - 2 * alpha)
        R /= len(X)
        Z, C = X @ W.T, U @ W.T
        total = (Z * R.sum(axis=1)[:, None]).T @ X - (Z.T @ R) @ U
        total += (C * R.sum(axis=0)[:, None]).T @ U - (R @ C).T @ X
        return -total / self.sigma**2


def cross_validate(W, X, Y, centers, folds):
    """The least held-out loss on the whole grid, and its bandwidth and penalty."""
    losses = np.zeros((len(BANDWIDTHS), len(PENALTIES)))
    for i, sigma in enumerate(BANDWIDTHS):
        for j in range(N_FOLDS):
            held_out, kept = folds == j, centers[folds[centers] != j]
            Z, U = X @ W.T, X[kept] @ W.T
            phi_z, phi_y = kernel(Z, U, sigma), kernel(Y, Y[kept], sigma)
            yy = integrals(Y[kept], sigma)
            G, G_held = (phi_z[s].T @ phi_z[s] / s.sum() * yy for s in (~held_out, held_out))
            h, h_held = ((phi_z[s] * phi_y[s]).mean(axis=0) for s in (~held_out, held_out))
            for k, penalty in enumerate(PENALTIES):
                alpha = np.linalg.solve(G + penalty * np.eye(len(U)), h)
                losses[i, k] += 0.5 * alpha @ G_held @ alpha - h_held @ alpha
    i, k = np.unravel_index(losses.argmin(), losses.shape)
    return losses[i, k] / N_FOLDS, BANDWIDTHS[i], PENALTIES[k]


def geodesic(W, direction, step):
    """The subspace at the end of a geodesic step from W."""
    left, angles, right = np.linalg.svd(direction, full_matrices=False)
    cos, sin = np.cos(step * angles), np.sin(step * angles)
    moved = W + left @ ((cos - 1)[:, None] * (left.T @ W) + sin[:, None] * right)
    return np.linalg.qr(moved.T)[0].T


def descend(fit, make, step):
    """A few natural-gradient steps; returns the last fit and the last step size."""
    for _ in range(STEPS_PER_ROUND):
        slope = fit.gradient()
        slope = slope - slope @ fit.W.T @ fit.W
        squared = (slope**2).sum()
        while step > 1e-10:
            new = make(geodesic(fit.W, -slope, step))
            if new.value <= fit.value - 1e-4 * step * squared:
                break
            step /= 2
        else:
            break
        fit, step = new, 2 * step
    return fit, step


def learn(W, X, Y, centers, folds):
    """The fit from one start: rounds of model selection and descent."""
    U, V, step = X[centers], Y[centers], 1.0
    for _ in range(MAX_STEPS // STEPS_PER_ROUND):
        _, sigma, penalty = cross_validate(W, X, Y, centers, folds)

        def make(W, sigma=sigma, penalty=penalty):
            return Fit(W, X, Y, U, V, sigma, penalty)

        first = make(W)
        fit, step = descend(first, make, step)
        moved = np.linalg.norm(fit.W.T @ fit.W - W.T @ W)
        W = fit.W
        if moved < 1e-3 or first.value - fit.value <= 1e-3 * abs(fit.value):
            break
    return make(W)


@dataclass(frozen=True)
class BestFit:
    """The best fit of all starts for one number of directions."""

    W: np.ndarray  # (dz, dx)
    score: float  # cross-validated loss, which selects the number of directions
    loss: Callable  # function of samples (X, y): Error_CDE of the clipped, normalised density


def fit(X, y, dz, seed, n_starts=N_STARTS):
    """The best fit of all starts, on standardised samples."""
    rng = np.random.default_rng(seed)
    x_mean, x_sd, y_mean, y_sd = X.mean(axis=0), X.std(axis=0), y.mean(), y.std()
    X, Y = (X - x_mean) / x_sd, ((y - y_mean) / y_sd)[:, None]
    dx = X.shape[1]
    centers = rng.permutation(len(X))[:N_CENTERS]
    folds = rng.permutation(len(X)) % N_FOLDS
    count = n_starts if dz < dx else 1  # the whole space is the only subspace
    starts = [np.linalg.qr(rng.standard_normal((dx, dz)))[0].T for _ in range(count)]
    best = min((learn(W, X, Y, centers, folds) for W in starts), key=lambda end: end.value)

    def loss(X_new, y_new):
        alpha, sigma = np.maximum(best.alpha, 0), best.sigma
        Z, Y = (X_new - x_mean) / x_sd @ best.W.T, ((y_new - y_mean) / y_sd)[:, None]
        weights = alpha * kernel(Z, best.U @ best.W.T, sigma) + 1e-300
        weights /= weights.sum(axis=1, keepdims=True) * np.sqrt(2 * np.pi) * sigma
        norm = np.einsum("ik,kl,il->i", weights, best.yy, weights, optimize=True)
        match = (weights * kernel(Y, best.V, sigma)).sum(axis=1)
        return float(np.mean(0.5 * norm - match)) / y_sd

    return BestFit(best.W, cross_validate(best.W, X, Y, centers, folds)[0], loss)


def fit_any(X, y, seed, n_starts=N_STARTS):
    """The best fit over all numbers of directions."""
    return min((fit(X, y, dz + 1, seed, n_starts) for dz in range(X.shape[1])), key=by_score)


def by_score(fit):
    return fit.score
