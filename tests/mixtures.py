"""Random conditional mixtures for tests, and the same densities as plain loops."""

import numpy as np
from scipy import stats

from condensity.distributions.block import Block
from condensity.distributions.mixture import Mixture


def random_factor(rng, dy, size=1.0):
    A = rng.normal(size=(dy, dy))
    return np.linalg.cholesky(size**2 * (A @ A.T / dy + 0.3 * np.eye(dy)))


def random_block(rng, m, b, dy, *, shift=False, scale=False, spread=2.0):
    return Block(
        rng.normal(size=(m, b)),
        centers=spread * rng.normal(size=(b, dy)),
        factor=random_factor(rng, dy, 0.7),
        shift=rng.normal(size=(m, dy)) if shift else None,
        scale=rng.uniform(0.5, 2.0, m) if scale else None,
    )


def random_mixture(seed, m=3, dy=1, *, frames=((False, False), (True, True))):
    """One block for each (has shift, has scale), of different sizes."""
    rng = np.random.default_rng(seed)
    return Mixture(
        [
            random_block(rng, m, 3 + j, dy, shift=shift, scale=scale)
            for j, (shift, scale) in enumerate(frames)
        ]
    )


def gaussians(mixture, i):
    """Weight, mean and covariance of every component of row i, one after the other."""
    out = []
    for block in mixture.blocks:
        shift = np.zeros(block.centers.shape[1]) if block.shift is None else block.shift[i]
        scale = 1.0 if block.scale is None else block.scale[i]
        for k, center in enumerate(block.centers):
            cov = scale**2 * block.factor @ block.factor.T
            out.append((np.exp(block.log_weights[i, k]), shift + scale * center, cov))
    return out


def loop_pdf(mixture, i, y):
    """p(y | x_i) at points ``y`` (..., dy), component by component."""
    return sum(
        w * stats.multivariate_normal(mean, cov).pdf(y) for w, mean, cov in gaussians(mixture, i)
    )
