"""Likelihood of a Gaussian process on ``A x``, as a function of the matrix A.

The covariance of the function values at two inputs is ``a exp(-|A (x - x')|^2 / 2) + 1``, and that
of sample i with itself is larger by ``b d_i``, with given shapes d of the noise.  With the
covariance K of the samples, and the covariance between outputs at its best value, minus the log
likelihood divided by n is, up to a constant,

    dy / (2 n) log det K + 1/2 log det(Y^T K^-1 Y).

If y depends on x through ``W x`` alone, the rows of the best A lie in the row space of W.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from condensity._typing import Array
from condensity.fitting.gaussian_process import inverse_and_log_det
from condensity.fitting.kernels import gaussian, squared_distances

#: Limits of the logarithms of b and a; beyond them the value is constant.
LIMITS = np.log([[1e-5, 1e3], [1e-4, 1e4]])
#: Added to the diagonal, relative to a: nearby inputs have almost the same covariances.
JITTER = 1e-6


@dataclass(frozen=True, eq=False)
class ProcessLikelihood:
    """Minus the log likelihood, divided by the number of samples."""

    X: Array  # (n, dx)
    Y: Array  # (n, dy) with the mean 0
    noise_shape: Array  # (n,)

    def at(self, A: Array, logs: Array) -> tuple[float, Array, Array]:
        """The value and its derivatives.

        Parameters
        ----------
        A : ndarray of shape (dz, dx)
            The matrix.
        logs : ndarray of shape (2,)
            Logarithms of b and a.

        Returns
        -------
        float, ndarray of shape (dz, dx), ndarray of shape (2,)
            The value, and its derivatives with respect to ``A`` and ``logs``.
        """
        inside = (logs > LIMITS[:, 0]) & (logs < LIMITS[:, 1])
        (n, dy), (noise, height) = self.Y.shape, np.exp(np.clip(logs, *LIMITS.T))
        Z = self.X @ A.T
        bells = height * gaussian(squared_distances(Z, Z), 1.0)
        bells[np.diag_indices(n)] *= 1.0 + JITTER
        K = bells + 1.0
        K[np.diag_indices(n)] += noise * self.noise_shape
        inverse, log_det = inverse_and_log_det(K)
        B = inverse @ self.Y
        S = self.Y.T @ B
        S[np.diag_indices(dy)] += 1e-10 * np.diagonal(S) + 1e-300
        S_factor = cho_factor(S, lower=True)
        value = 0.5 * dy * log_det / n + float(np.sum(np.log(np.diagonal(S_factor[0]))))
        # The derivative of the value with respect to K is M / 2.
        M = dy / n * inverse - B @ cho_solve(S_factor, B.T)
        R = M * bells
        by_matrix = (R @ Z - R.sum(axis=1)[:, None] * Z).T @ self.X
        by_noise = 0.5 * noise * (np.diagonal(M) @ self.noise_shape)
        return value, by_matrix, inside * np.array([by_noise, 0.5 * R.sum()])
