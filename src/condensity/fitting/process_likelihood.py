"""Likelihood of a mean and a variance that are smooth functions of ``z = W x``.

Given z, the outputs have the normal distribution with the mean ``m(z)`` and the covariance
``v(z) S``.  Both m and the logarithm of v are Gaussian processes, each with a length scale and a
height of its own.  A process is a sum of random Fourier features [1]_,

    height sqrt(2 / J) cos(omega_j^T z / length)  and  height sqrt(2 / J) sin(omega_j^T z / length)

for J / 2 normal frequencies omega_j, with independent normal coefficients.  With many features the
covariance would be Gaussian; these few are a set of smooth functions.  They are not the same in
every basis of z, so the value depends a little on the basis W and not only on its row space.  The
features of m also contain a constant, and its coefficients have the covariance S between outputs.

The coefficients of m are integrated out, and S is at its best value.  With the features P of m and
``D = diag(n_i / v_i)``, n_i the number of equal samples and N their sum, minus the log likelihood
is, up to a constant,

    1/2 sum_i n_i dy log v_i + dy / 2 log det B + N / 2 log det ((Y - P A)^T D (Y - P A) + A^T A)

where ``B = P^T D P + I`` and ``A = B^-1 P^T D Y``.  The coefficients c of the logarithm of v are
variables of the minimisation.  An approximation of Laplace's kind integrates them out: with the
features R of log v it adds ``|c|^2 / 2 + 1/2 log det(dy / 2 R^T diag(n_i) R + I)``.

References
----------
.. [1] A. Rahimi, B. Recht, "Random features for large-scale kernel machines," NIPS 2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from condensity._typing import Array
from condensity.fitting.gaussian_process import inverse_and_log_det

#: Number of features of each process, an even number.
N_FEATURES = 40
#: Standard deviation of the constant in the mean, in units of the noise.
CONSTANT = 3.0
#: Added to the variance v, whose process has the mean 1: the density of a sample that lies on the
#: mean by chance must not grow without limit.
FLOOR = 0.01
#: Limits of the logarithm of v, and of those of lengths and heights; beyond them the value does not
#: depend on them, except for the prior.
LIMIT, LOG_LIMIT = 20.0, 5.0
#: Prior of the logarithms of both lengths, of the height of m and of the height of log v: means
#: and standard deviations.
PRIOR_MEANS = np.array([np.log(1.5), np.log(1.5), 1.0, 0.0])
PRIOR_SDS = np.array([1.0, 1.0, 2.0, 1.0])


@cache
def random_frequencies(dz: int) -> Array:
    """The frequencies of m and log v, (2, J / 2, dz): the same in every fit."""
    return np.random.default_rng(0).standard_normal((2, N_FEATURES // 2, dz))


def first_parameters() -> Array:
    """Parameters to start from: logarithms of lengths and heights, then c."""
    return np.concatenate([PRIOR_MEANS, np.zeros(N_FEATURES)])


@dataclass(frozen=True, eq=False)
class Features:
    """The features of one process at the samples: first the cosines, then the sines."""

    values: Array  # (n, J)
    angles: Array  # (n, J / 2)
    frequencies: Array  # (J / 2, dz), divided by the length

    @classmethod
    def of(cls, Z: Array, omega: Array, length: float, height: float) -> Features:
        """The features at ``Z`` (n, dz)."""
        frequencies = omega / length
        angles = Z @ frequencies.T
        values = np.hstack([np.cos(angles), np.sin(angles)])
        values *= height / np.sqrt(len(omega))
        return cls(values, angles, frequencies)

    def pull(self, by_values: Array) -> tuple[Array, float, float]:
        """Derivatives from those by the values (n, J): by Z, by log length and by log height."""
        half = len(self.frequencies)
        cosines, sines = self.values[:, :half], self.values[:, half:]
        by_angles = by_values[:, half:] * cosines - by_values[:, :half] * sines
        by_length = -float(np.vdot(by_angles, self.angles))
        return by_angles @ self.frequencies, by_length, float(np.vdot(by_values, self.values))


@dataclass(frozen=True, eq=False)
class MeanGivenVariance:
    """The mean of the outputs for given precisions of the samples."""

    P: Array  # (n, J + 1) the features and the constant
    spread: Array  # (n, J + 1) D P B^-1
    log_det: float  # of B
    coefficients: Array  # (J + 1, dy) A
    residuals: Array  # (n, dy)

    @classmethod
    def of(cls, features: Array, Y: Array, precision: Array) -> MeanGivenVariance:
        """The mean for features (n, J), outputs (n, dy) and precisions (n,)."""
        P = np.column_stack([features, np.full(len(features), CONSTANT)])
        PD = P * precision[:, None]
        B = PD.T @ P
        B[np.diag_indices_from(B)] += 1.0
        inverse, log_det = inverse_and_log_det(B)
        A = inverse @ (PD.T @ Y)
        return cls(P, PD @ inverse, log_det, A, Y - P @ A)


@dataclass(frozen=True, eq=False)
class ProcessLikelihood:
    """Minus the log likelihood, divided by N, as a function of W."""

    X: Array  # (n, dx)
    Y: Array  # (n, dy)
    counts: Array  # (n,) how many samples each row stands for

    def at(self, W: Array, parameters: Array) -> tuple[float, Array, Array]:
        """The value and its derivatives.

        Parameters
        ----------
        W : ndarray of shape (dz, dx)
            The directions.
        parameters : ndarray of shape (4 + J,)
            Logarithms of the lengths of m and log v and of their heights, and the coefficients c.

        Returns
        -------
        float, ndarray of shape (dz, dx), ndarray of shape (4 + J,)
            The value, and its derivatives with respect to ``W`` and ``parameters``.
        """
        logs, c = parameters[:4], parameters[4:]
        mean, scale, bare = self._processes(W, parameters)
        inside = abs(scale.values @ c) < LIMIT
        value, by_mean, by_v = self._given_variance(mean.values, bare + FLOOR)
        excess, by_scale = self._laplace(scale.values)
        by_log_v = by_v * bare * inside
        standard = (logs - PRIOR_MEANS) / PRIOR_SDS
        value += excess + 0.5 * float(c @ c + standard @ standard)
        by_Z, *by_logs = mean.pull(by_mean)
        more_Z, *more_logs = scale.pull(by_scale + np.outer(by_log_v, c))
        by_own = np.array([by_logs[0], more_logs[0], by_logs[1], more_logs[1]])
        by_own = by_own * (abs(logs) < LOG_LIMIT) + standard / PRIOR_SDS
        by_c = scale.values.T @ by_log_v + c
        n = float(self.counts.sum())
        return value / n, (by_Z + more_Z).T @ self.X / n, np.append(by_own, by_c) / n

    def kurtosis(self, W: Array, parameters: Array) -> float:
        """The kurtosis of the standardised residuals, the largest of all outputs.

        It is about 3 if the noise is normal.
        """
        mean, _, bare = self._processes(W, parameters)
        v = bare + FLOOR
        residuals = MeanGivenVariance.of(mean.values, self.Y, self.counts / v).residuals
        squares = residuals**2 / v[:, None]
        fourth, second = (self.counts @ squares**k / self.counts.sum() for k in (2, 1))
        return float(np.max(fourth / np.maximum(second, 1e-150) ** 2))

    def _processes(self, W: Array, parameters: Array) -> tuple[Features, Features, Array]:
        """The features of m and log v, and v without its floor."""
        logs, c = parameters[:4], parameters[4:]
        lengths, heights = np.exp(np.clip(logs, -LOG_LIMIT, LOG_LIMIT)).reshape(2, 2)
        Z, omega = self.X @ W.T, random_frequencies(len(W))
        mean, scale = (Features.of(Z, *own) for own in zip(omega, lengths, heights, strict=True))
        return mean, scale, np.exp(np.clip(scale.values @ c, -LIMIT, LIMIT))

    def _given_variance(self, features: Array, v: Array) -> tuple[float, Array, Array]:
        """The terms of the mean, with derivatives by its features (n, J) and by v (n,)."""
        dy, n = self.Y.shape[1], float(self.counts.sum())
        precision = self.counts / v
        fit = MeanGivenVariance.of(features, self.Y, precision)
        residuals, A = fit.residuals, fit.coefficients
        # This form has no negative eigenvalues, also where outputs are related.
        S = ((residuals * precision[:, None]).T @ residuals + A.T @ A) / n
        S[np.diag_indices(dy)] += 1e-10 * np.diagonal(S) + 1e-300
        S_factor = cho_factor(S, lower=True)
        half_log_det_S = float(np.sum(np.log(np.diagonal(S_factor[0]))))
        value = 0.5 * dy * (float(self.counts @ np.log(v)) + fit.log_det) + n * half_log_det_S
        whitened = cho_solve(S_factor, residuals.T).T
        by_features = fit.spread * dy - precision[:, None] * (whitened @ A.T)
        squares = np.sum(whitened * residuals, axis=1)
        used = dy * np.sum(fit.spread * fit.P, axis=1)
        by_v = 0.5 * (dy * self.counts - used - precision * squares) / v
        return value, by_features[:, :-1], by_v

    def _laplace(self, features: Array) -> tuple[float, Array]:
        """The log determinant of the Hessian of c, with its derivative by the features (n, J)."""
        information = 0.5 * self.Y.shape[1] * self.counts[:, None] * features
        H = information.T @ features
        H[np.diag_indices_from(H)] += 1.0
        inverse, log_det = inverse_and_log_det(H)
        return 0.5 * log_det, information @ inverse
