"""The equations of the paper as loops, also for complex arguments.

The loops use no code of the library, so a function that agrees with them agrees with the paper.
"""

import numpy as np
from scipy.linalg import expm


def basis_function(z, y, u, v, sigma_z, sigma_y):
    """Sec. 2.7, with separate bandwidths for z and y; no conjugates, so the complex step works."""
    dz, dy = z - u, y - v
    return np.exp(-np.sum(dz * dz) / (2 * sigma_z**2) - np.sum(dy * dy) / (2 * sigma_y**2))


def phi_bar(z, u, v, u2, v2, sigma_z, sigma_y):
    """The integral over y of the product of two basis functions, Sec. 2.7."""
    a, b, c = z - u, z - u2, v - v2
    in_z = (np.sum(a * a) + np.sum(b * b)) / (2 * sigma_z**2)
    in_y = np.sum(c * c) / (4 * sigma_y**2)
    return (np.sqrt(np.pi) * sigma_y) ** len(v) * np.exp(-in_z - in_y)


def G_and_h(W, X, Y, CX, CY, sigma_z, sigma_y, weight=None):
    """Ĝ and ĥ of Sec. 2.3 by loops over samples and pairs of centres."""
    weight = np.ones(len(X)) if weight is None else weight
    share = weight / weight.sum()
    b = len(CX)
    G = np.zeros((b, b), dtype=W.dtype)
    h = np.zeros(b, dtype=W.dtype)
    for x, y, s in zip(X, Y, share, strict=True):
        z = W @ x
        for k in range(b):
            h[k] += s * basis_function(z, y, W @ CX[k], CY[k], sigma_z, sigma_y)
            for j in range(b):
                G[k, j] += s * phi_bar(z, W @ CX[k], CY[k], W @ CX[j], CY[j], sigma_z, sigma_y)
    return G, h


def H_and_h(W, X, Y, CX, CY, sigma_z, sigma_y, weight=None):
    """The same with p(y) in place of dy, as in LSMI: also loops over pairs of samples."""
    weight = np.ones(len(X)) if weight is None else weight
    share = weight / weight.sum()
    b = len(CX)
    H = np.zeros((b, b), dtype=W.dtype)
    h = np.zeros(b, dtype=W.dtype)
    for x, y, s in zip(X, Y, share, strict=True):
        own = [basis_function(W @ x, y, W @ CX[k], CY[k], sigma_z, sigma_y) for k in range(b)]
        h += s * np.array(own)
        for other, t in zip(Y, share, strict=True):
            phi = [
                basis_function(W @ x, other, W @ CX[k], CY[k], sigma_z, sigma_y) for k in range(b)
            ]
            H += s * t * np.outer(phi, phi)
    return H, h


def sce(W, X, Y, CX, CY, sigma_z, sigma_y, penalty, weight=None, moments=G_and_h):
    """The SCE estimate of Sec. 2.3."""
    G, h = moments(W, X, Y, CX, CY, sigma_z, sigma_y, weight)
    alpha = np.linalg.solve(G + penalty * np.eye(len(h)), h)
    return alpha @ G @ alpha / 2 - h @ alpha


def sce_gradient(W, *args, **kwargs):
    """Gradient of the SCE by the complex step: exact to rounding, without a step size to choose."""
    gradient = np.zeros(W.shape)
    for i in range(W.shape[0]):
        for j in range(W.shape[1]):
            step = np.zeros(W.shape, dtype=complex)
            step[i, j] = 1e-30j
            gradient[i, j] = np.imag(sce(W + step, *args, **kwargs)) / 1e-30
    return gradient


def geodesic(W, W_perp, gradient, t):
    """The dx-by-dx matrix exponential of Sec. 2.5."""
    dz, dx = W.shape
    corner = gradient @ W_perp.T
    skew = np.block([[np.zeros((dz, dz)), corner], [-corner.T, np.zeros((dx - dz, dx - dz))]])
    return (expm(-t * skew) @ np.vstack([W, W_perp]))[:dz]


def complement(W):
    """Rows that complete W to an orthogonal matrix."""
    return np.linalg.svd(W)[2][len(W) :]


def conditional_density(y, z, U, V, alpha, sigma_z, sigma_y):
    """The clipped, normalised estimate of Sec. 2.6 at one point, term by term."""
    top = mass = 0.0
    for u, v, a in zip(U, V, np.maximum(alpha, 0), strict=True):
        top += a * basis_function(z, y, u, v, sigma_z, sigma_y)
        mass += a * basis_function(z, v, u, v, sigma_z, sigma_y)
    return top / (mass * (np.sqrt(2 * np.pi) * sigma_y) ** len(y))


def raw_cv_loss(W, X, Y, fold, centers, sigma_z, sigma_y, penalty, weight, moments=G_and_h):
    """CV(M) of Sec. 2.4, with a separate fit for each fold from all other samples."""
    losses = []
    for j in np.unique(fold):
        train, test = fold != j, fold == j
        c = [k for k in centers if train[k]]
        args = (X[c], Y[c], sigma_z, sigma_y)
        G, h = moments(W, X[train], Y[train], *args, weight[train])
        alpha = np.linalg.solve(G + penalty * np.eye(len(c)), h)
        G_test, h_test = moments(W, X[test], Y[test], *args, weight[test])
        losses.append(alpha @ G_test @ alpha / 2 - h_test @ alpha)
    return np.mean(losses)


def neighbor_density(y, x, X, V, weight, epsilon, sigma_y):
    """The ε-neighbour estimate at one point: kernels of all samples near x, or of the nearest."""
    distances = [np.sqrt(np.sum((x - other) ** 2)) for other in X]
    reach = max(epsilon, min(distances)) * (1 + 1e-9)
    top = mass = 0.0
    for d, v, w in zip(distances, V, weight, strict=True):
        if d <= reach:
            top += w * np.exp(-np.sum((y - v) ** 2) / (2 * sigma_y**2))
            mass += w
    return top / (mass * (np.sqrt(2 * np.pi) * sigma_y) ** len(y))


def slice_moments(Z, y, weight, n_slices):
    """Share, mean and covariance of Z in each slice of y; the shares sum to one."""
    share, order = weight / weight.sum(), np.argsort(y, kind="stable")
    slices, below = {}, 0.0
    for value in np.unique(y):
        own = [i for i in order if y[i] == value]
        mass = sum(share[i] for i in own)
        slices.setdefault(int((below + mass / 2) * n_slices), []).extend(own)
        below += mass
    out = []
    for own in slices.values():
        p = sum(share[i] for i in own)
        mean = sum(share[i] * Z[i] for i in own) / p
        spread = sum(share[i] * np.outer(Z[i] - mean, Z[i] - mean) for i in own) / p
        out.append((p, mean, spread))
    return out


def _normal(squared, variance, dy):
    return np.exp(-squared / (2 * variance)) / (2 * np.pi * variance) ** (dy / 2)


def left_out_loss(W, view, background, sigma_z, sigma_y, labels=None):
    """Mean loss of normalised densities, each without the centre of its own sample.

    The squared loss plus a fifth of the loss of mean and variance.  W may be complex.
    """
    X, V, weight, total = view.sample.X, view.sample.Y, view.sample.weight, 0.0
    dy = V.shape[1]
    centers = np.sqrt(1 - sigma_y**2) * V[view.basis]
    for i in range(len(X)):
        terms, moments = [], []  # (mass, centre, width), (mass, value, square)
        for k, row in enumerate(view.basis):
            if row == i or (labels is not None and labels[row] == labels[i]):
                continue
            d = W @ (X[i] - X[row])
            kernel = np.exp(-np.sum(d * d) / (2 * sigma_z**2))
            terms.append((weight[row] * kernel, centers[k], sigma_y))
            moments.append((weight[row] * kernel, V[row], V[row] ** 2))
        terms.append((background, np.zeros(dy), 1.0))
        moments.append((background, np.zeros(dy), np.ones(dy)))
        mass = sum(m for m, _, _ in terms)
        p = sum(m / mass * _normal(np.sum((V[i] - c) ** 2), s**2, dy) for m, c, s in terms)
        norm = sum(
            m / mass * m2 / mass * _normal(np.sum((c - c2) ** 2), s**2 + s2**2, dy)
            for m, c, s in terms
            for m2, c2, s2 in terms
        )
        total += weight[i] * (norm / 2 - p)
        for j in range(dy):
            mean = sum(m / mass * value[j] for m, value, _ in moments)
            variance = sum(m / mass * square[j] for m, _, square in moments) - mean**2 + 0.05
            normal = np.log(variance) / 2 + (V[i, j] - mean) ** 2 / (2 * variance)
            total += weight[i] * 0.2 * normal / dy
    return total
