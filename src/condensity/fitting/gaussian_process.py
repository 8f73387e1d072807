"""Gaussian process regression with a length scale for each input.

The covariance of the function values at two inputs is, up to a factor that cancels,

    k(x, x') = exp(-1/2 sum_i (x_i - x'_i)^2 / l_i^2) + slope x^T x' + 1,

and that of sample i with itself is larger by ``noise / (n w_i)``, w the weights.  The mean mu of
the process is unknown; its estimate is the generalised least-squares mean.  With ``K`` the matrix
of these covariances and ``Q = K^-1 - K^-1 1 1^T K^-1 / (1^T K^-1 1)``, the mean of the process at x
is ``mu + k(x, X) A`` with ``A = Q Y``.  The residuals of samples F that are left out together, also
from the estimate of mu, are ``(Q_FF)^-1 A_F`` [1]_.

The length scales, the slope and the noise maximise the marginal likelihood.  The outputs have the
covariance K between samples and an unknown covariance between outputs.  With the latter at its
best value, minus the log likelihood is, up to a constant,

    dy / 2 log det K + n / 2 log det(Y^T K^-1 Y).

It does not depend on the basis in which the outputs are measured, and neither do the predictions:
a linear relation between outputs holds for the predictions too.

With few inputs, some samples C are enough to carry the function (``fit_sparse_process``).  It is
then ``mu + k(x, C) A`` with the A of smallest penalised squared error over all samples,

    sum_i n w_i / noise |y_i - mu - k(x_i, C) A|^2 + tr A^T k(C, C) A.

This is a ridge regression, so residuals of samples left out have a closed form.  With all samples
as C it is the mean of the process.

References
----------
.. [1] C. E. Rasmussen, C. K. I. Williams, "Gaussian Processes for Machine Learning," MIT Press,
   2006, Sec. 5.4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, lapack, solve_triangular
from scipy.optimize import minimize

from condensity._typing import Array, Indices
from condensity._utils.numerics import LOG2_E, row_blocks
from condensity.fitting.kernels import squared_distances

#: Largest number of samples with which the hyperparameters are chosen.
LIKELIHOOD_ROWS = 300
#: The same for a sparse process of at most ``FEW_INPUTS`` inputs: it has few hyperparameters.
FEW_ROWS, FEW_INPUTS = 200, 6
#: Maximum number of quasi-Newton steps for the hyperparameters.
MAX_STEPS = 40
#: Prior of the logarithm of a length scale: normal around that of ``PRIOR_LENGTH sqrt(dx)``.
PRIOR_LENGTH, PRIOR_SD = 2.0, 1.5
#: Bounds of the length scales, the slope and the noise.
LENGTHS, SLOPES, NOISES = (0.05, 1e3), (1e-6, 1e2), (1e-6, 1e2)
#: Added to the covariances of centres, relative to their mean: nearby centres are almost equal.
JITTER = 1e-8
#: First values of the slope and the noise.
FIRST_SLOPE, FIRST_NOISE = 0.1, 0.1


@dataclass(frozen=True, eq=False)
class Hyperparameters:
    """Length scales (dx,), slope and noise of a Gaussian process."""

    lengths: Array
    slope: float
    noise: float

    @classmethod
    def of_logs(cls, logs: Array) -> Hyperparameters:
        """From their logarithms, (dx + 2,)."""
        values = np.exp(logs)
        return cls(values[:-2], float(values[-2]), float(values[-1]))


def covariances(X: Array, centers: Array, lengths: Array, slope: float) -> Array:
    """Covariances ``k`` between the rows of ``X`` (m, dx) and of ``centers`` (b, dx)."""
    K = _bells(X, centers, lengths)
    K += slope * (X @ centers.T) + 1.0
    return K


def _bells(X: Array, centers: Array, lengths: Array) -> Array:
    K: Array = squared_distances(X / lengths, centers / lengths)
    K *= -0.5 * LOG2_E
    return np.exp2(K, out=K)


def negative_log_likelihood(
    logs: Array, X: Array, Y: Array, noise_shape: Array
) -> tuple[float, Array]:
    """Minus the log likelihood with the prior, and its gradient.

    Parameters
    ----------
    logs : ndarray of shape (dx + 2,)
        Logarithms of the length scales, the slope and the noise.
    X, Y : ndarray of shape (n, dx) and (n, dy)
        Samples; the outputs have the mean 0.
    noise_shape : ndarray of shape (n,)
        Variances of the noise, up to a factor.

    Returns
    -------
    float, ndarray of shape (dx + 2,)
        The value, and its derivative with respect to ``logs``.
    """
    parameters = Hyperparameters.of_logs(logs)
    n, dy = Y.shape
    bells, linear = _bells(X, X, parameters.lengths), parameters.slope * (X @ X.T)
    K = bells + linear + 1.0
    K[np.diag_indices(n)] += parameters.noise * noise_shape
    inverse, log_det = inverse_and_log_det(K)
    A = inverse @ Y
    S = Y.T @ A
    S[np.diag_indices(dy)] += 1e-10 * np.diagonal(S) + 1e-300
    S_factor = cho_factor(S, lower=True)
    prior = (logs[:-2] - np.log(PRIOR_LENGTH * np.sqrt(len(logs) - 2))) / PRIOR_SD
    value = 0.5 * dy * log_det + n * float(np.sum(np.log(np.diagonal(S_factor[0]))))
    # The derivative of the value with respect to K is M / 2.
    M = dy * inverse - n * (A @ cho_solve(S_factor, A.T))
    R = M * bells
    total = R.sum(axis=1)
    along = total @ X**2 - np.einsum("ij,ij->j", X, R @ X)
    gradient = np.concatenate(
        [
            along / parameters.lengths**2 + prior / PRIOR_SD,
            [0.5 * np.sum(M * linear), 0.5 * parameters.noise * (np.diagonal(M) @ noise_shape)],
        ]
    )
    return value + 0.5 * float(prior @ prior), gradient


def inverse_and_log_det(K: Array) -> tuple[Array, float]:
    """Inverse and log determinant of a positive definite matrix."""
    factor = cholesky(K, lower=True, check_finite=False)
    lower, _ = lapack.dpotri(factor, lower=True)  # the upper triangle stays zero
    inverse = lower + lower.T
    inverse[np.diag_indices(len(K))] *= 0.5
    return inverse, 2.0 * float(np.sum(np.log(np.diagonal(factor))))


def choose_hyperparameters(
    X: Array, Y: Array, weight: Array, most: int | None = None
) -> Hyperparameters:
    """The hyperparameters of largest likelihood, from at most ``most`` evenly spaced samples.

    None: ``LIKELIHOOD_ROWS``.
    """
    n, dx = X.shape
    rows = np.linspace(0, n - 1, min(n, most or LIKELIHOOD_ROWS), dtype=int)
    lengths = np.full(dx, np.log(PRIOR_LENGTH * np.sqrt(dx)))
    start = np.append(lengths, np.log([FIRST_SLOPE, FIRST_NOISE]))
    bounds = [tuple(np.log(limits)) for limits in (*[LENGTHS] * dx, SLOPES, NOISES)]
    share = weight[rows] / weight[rows].sum()
    end = minimize(
        negative_log_likelihood,
        start,
        args=(X[rows], Y[rows] - share @ Y[rows], 1.0 / (len(rows) * share)),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": MAX_STEPS},
    )
    return Hyperparameters.of_logs(end.x)


@dataclass(frozen=True, eq=False)
class SmoothFunction:
    """The mean of a Gaussian process given samples, as a function of x."""

    centers: Array  # (n, dx) the samples
    coefficients: Array  # (n, dy) A
    mean: Array  # (dy,)
    lengths: Array  # (dx,)
    slope: float

    def __call__(self, X: Array) -> Array:
        """For the rows of ``X`` (m, dx)."""
        K = covariances(X, self.centers, self.lengths, self.slope)
        return np.asarray(self.mean + K @ self.coefficients)


def fit_process(
    X: Array, Y: Array, weight: Array, labels: Indices | None
) -> tuple[SmoothFunction, Array]:
    """The smooth function fitted to all samples, and the residuals of samples left out.

    Parameters
    ----------
    X, Y : ndarray of shape (n, dx) and (n, dy)
        Samples.
    weight : ndarray of shape (n,)
        Weights that sum to one.
    labels : None or ndarray of shape (n,)
        Samples with the same label are left out together.  None: each alone.

    Returns
    -------
    SmoothFunction
        The mean of the process.
    ndarray of shape (n, dy)
        The residuals.
    """
    chosen = choose_hyperparameters(X, Y, weight)
    K = covariances(X, X, chosen.lengths, chosen.slope)
    K[np.diag_indices(len(K))] += chosen.noise / (len(weight) * weight)
    Q, _ = inverse_and_log_det(K)
    total = Q.sum(axis=1)
    mean = total @ Y / total.sum()
    Q -= np.outer(total, total / total.sum())
    A = Q @ Y
    function = SmoothFunction(X, A, mean, chosen.lengths, chosen.slope)
    if labels is None or len(np.unique(labels)) < 2:
        # A single sample leaves nothing to predict it from: its residual is 0.
        return function, A / np.maximum(np.diagonal(Q), 1e-300)[:, None]
    residuals = np.empty_like(A)
    for label in np.unique(labels):
        F = np.flatnonzero(labels == label)
        residuals[F] = np.linalg.solve(Q[np.ix_(F, F)], A[F])
    return function, residuals


def fit_sparse_process(
    X: Array, Y: Array, weight: Array, labels: Indices | None, n_centers: int
) -> tuple[SmoothFunction, Array]:
    """The smooth function with at most ``n_centers`` centres, fitted to all samples.

    Parameters and results are those of ``fit_process``.  The centres are evenly spaced in the order
    of the samples.
    """
    n, dx = X.shape
    chosen = choose_hyperparameters(X, Y, weight, FEW_ROWS if dx <= FEW_INPUTS else None)
    centers = X[np.linspace(0, n - 1, min(n, n_centers), dtype=int)]
    K = covariances(centers, centers, chosen.lengths, chosen.slope)
    K[np.diag_indices(len(K))] += JITTER * np.mean(np.diagonal(K))
    L = np.linalg.cholesky(K)
    # Rows of G are features of the samples with unit covariance, times the root of the precision.
    # The last one belongs to the mean, which has no penalty.
    root = np.sqrt(n * weight / chosen.noise)[:, None]
    G, S = np.empty((n, len(K) + 1)), np.diag(np.append(np.ones(len(K)), 0.0))
    for rows in row_blocks(n, 4 * len(K)):
        covariance = covariances(centers, X[rows], chosen.lengths, chosen.slope)
        G[rows, :-1] = solve_triangular(L, covariance, lower=True, overwrite_b=True).T
        G[rows, -1] = 1.0
        G[rows] *= root[rows]
        S += G[rows].T @ G[rows]
    # With the hat matrix H = half half^T, B = S^-1 G^T Y and the residuals are Y - G B.
    scaled = root * Y
    B = cho_solve(cho_factor(S, lower=True), G.T @ scaled)
    A = solve_triangular(L, B[:-1], lower=True, trans="T")
    function = SmoothFunction(centers, A, B[-1], chosen.lengths, chosen.slope)
    errors, S_factor = scaled - G @ B, np.linalg.cholesky(S)
    if labels is None or len(np.unique(labels)) < 2:
        for rows in row_blocks(n, 4 * len(K)):
            half = solve_triangular(S_factor, G[rows].T, lower=True)
            leverage = np.einsum("ij,ij->j", half, half)
            errors[rows] /= np.maximum(1.0 - leverage, 1e-12)[:, None]
    else:
        for label in np.unique(labels):
            F = np.flatnonzero(labels == label)
            half = solve_triangular(S_factor, G[F].T, lower=True)
            errors[F] = np.linalg.solve(np.eye(len(F)) - half.T @ half, errors[F])
    return function, errors / root
