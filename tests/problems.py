"""Small random problems for the tests."""

import numpy as np

from condensity.core.sample import Sample
from condensity.core.selection import Plan


def random_sample(seed=0, n=23, dx=4, dy=1):
    """A smooth problem with uneven weights."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, dx))
    signal = np.column_stack([np.sin(X[:, j % dx] + 0.5 * X[:, -1]) for j in range(dy)])
    Y = signal + 0.3 * rng.standard_normal((n, dy))
    weight = rng.uniform(0.2, 1.0, n)
    return Sample(X, Y, weight / weight.sum())


def random_plan(seed=0, n=23, dx=4, dy=1, n_centers=9, n_folds=3):
    rng = np.random.default_rng(seed + 1000)
    sample = random_sample(seed, n, dx, dy)
    return Plan.draw(sample, np.arange(n), n_centers=n_centers, folds=n_folds, rng=rng)


def random_subspace(seed, dz, dx):
    q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((dx, dz)))
    return q.T


def rotation(seed, d):
    return random_subspace(seed, d, d)
