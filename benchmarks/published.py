"""The procedure of the paper in plain NumPy, the reference for the speed of the library.

It starts from twenty random subspaces.  From each start it takes natural-gradient steps along
geodesics with a backtracking line search until the subspace converges.  Before every fifth step it
selects bandwidth and penalty of the SCE estimate by five-fold cross-validation over the whole grid.
At the end it selects those of the clipped, normalised density in the same way, and the start with
the smallest cross-validated loss wins.  The number of directions is selected by cross-validation of
all this, with four starts in each fold.  All samples are centres, but at most 500.  The code is
vectorised NumPy with the gradient in matrix products, as a
careful reader of the paper would write it.  It does not downdate folds, does not reuse
factorisations or distances, and does not restrict the grid search to the neighbourhood of the last
choice.  It shares no code with the library.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

N_STARTS, N_CENTERS, N_FOLDS, MAX_STEPS, STEPS_PER_ROUND = 20, 500, 5, 100, 5
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


def raw_loss(alpha, phi_z, phi_y, yy):
    """Loss of the fit before it is clipped and normalised."""
    G, h = phi_z.T @ phi_z / len(phi_z) * yy, (phi_z * phi_y).mean(axis=0)
    return 0.5 * alpha @ G @ alpha - h @ alpha


def density_loss(alpha, phi_z, phi_y, yy, mass):
    """Loss of the clipped, normalised density; ``mass`` is the integral of a kernel over y."""
    weights = np.maximum(alpha, 0) * phi_z + 1e-300
    weights /= weights.sum(axis=1, keepdims=True) * mass
    return np.mean(0.5 * ((weights @ yy) * weights).sum(axis=1) - (weights * phi_y).sum(axis=1))


def cross_validate(W, X, Y, centers, folds, *, normalised):
    """The least held-out loss on the whole grid, and its bandwidth and penalty."""
    losses = np.zeros((len(BANDWIDTHS), len(PENALTIES)))
    for i, sigma in enumerate(BANDWIDTHS):
        for j in range(N_FOLDS):
            held_out, kept = folds == j, centers[folds[centers] != j]
            Z, U = X @ W.T, X[kept] @ W.T
            phi_z, phi_y = kernel(Z, U, sigma), kernel(Y, Y[kept], sigma)
            yy, mass = integrals(Y[kept], sigma), (np.sqrt(2 * np.pi) * sigma) ** Y.shape[1]
            G = phi_z[~held_out].T @ phi_z[~held_out] / (~held_out).sum() * yy
            h = (phi_z[~held_out] * phi_y[~held_out]).mean(axis=0)
            new = phi_z[held_out], phi_y[held_out], yy
            for k, penalty in enumerate(PENALTIES):
                alpha = np.linalg.solve(G + penalty * np.eye(len(U)), h)
                losses[i, k] += (
                    density_loss(alpha, *new, mass) if normalised else raw_loss(alpha, *new)
                )
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
    """The loss and the fit from one start: rounds of model selection and descent."""
    U, V, step = X[centers], Y[centers], 1.0
    for _ in range(MAX_STEPS // STEPS_PER_ROUND):
        _, sigma, penalty = cross_validate(W, X, Y, centers, folds, normalised=False)

        def make(W, sigma=sigma, penalty=penalty):
            return Fit(W, X, Y, U, V, sigma, penalty)

        first = make(W)
        fit, step = descend(first, make, step)
        moved = np.linalg.norm(fit.W.T @ fit.W - W.T @ W)
        W = fit.W
        if moved < 1e-3 or first.value - fit.value <= 1e-3 * abs(fit.value):
            break
    loss, sigma, penalty = cross_validate(W, X, Y, centers, folds, normalised=True)
    return loss, Fit(W, X, Y, U, V, sigma, penalty)


@dataclass(frozen=True)
class BestFit:
    """The best fit of all starts for one number of directions."""

    W: np.ndarray  # (dz, dx)
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
    _, best = min((learn(W, X, Y, centers, folds) for W in starts), key=lambda end: end[0])

    def loss(X_new, y_new):
        Z, Y = (X_new - x_mean) / x_sd @ best.W.T, ((y_new - y_mean) / y_sd)[:, None]
        phi_z, phi_y = kernel(Z, best.U @ best.W.T, best.sigma), kernel(Y, best.V, best.sigma)
        mass = np.sqrt(2 * np.pi) * best.sigma
        return float(density_loss(best.alpha, phi_z, phi_y, best.yy, mass)) / y_sd

    return BestFit(best.W, loss)


def held_out_loss(X, y, dz, seed, n_starts=N_STARTS // N_FOLDS):
    """Cross-validated loss of the whole search, which selects the number of directions."""
    folds = np.random.default_rng(seed).permutation(len(X)) % N_FOLDS
    losses = []
    for j in range(N_FOLDS):
        train = folds != j
        best = fit(X[train], y[train], dz, seed, n_starts)
        losses.append(best.loss(X[~train], y[~train]))
    return np.mean(losses)
