"""Small random problems for the tests."""

import numpy as np

from condensity.data.folds import FoldedSample, draw_centers, draw_folds
from condensity.data.sample import Sample


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
    centers = draw_centers(sample.weight, n_centers, rng)
    return FoldedSample.cut(
        sample, draw_folds(sample.weight, np.arange(n), n_folds, centers=centers, rng=rng), centers
    )


def random_subspace(seed, dz, dx):
    q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((dx, dz)))
    return q.T


def rotation(seed, d):
    return random_subspace(seed, d, d)


def fold_labels(plan):
    """The fold of every row of the plan's sample."""
    labels = np.empty(len(plan.sample), dtype=int)
    for j, rows in enumerate(plan.folds):
        labels[rows] = j
    return labels


def center_rows(plan):
    """The rows of the plan's sample that its centres are, in the order of the centres."""
    return [int(np.flatnonzero((x == plan.sample.X).all(axis=1))[0]) for x in plan.basis.X]
