"""Learning a subspace together with a location that is a smooth function of z.

The kernels of the leave-one-out loss (module ``leave_one_out``) follow a curved mean only as far as
their width allows.  A Gaussian process follows it more closely, and so it tells more about the
directions of the mean.  It tells nothing about the directions of the spread.  The subspace
minimises the sum

    leave-one-out loss + ``SHARE`` times minus the log likelihood of a process on z

over W, and over the metric of z, the noise and the height of the process.
"""

from __future__ import annotations

import numpy as np

from condensity._typing import Array
from condensity.fitting.gaussian_process import fit_sparse_process
from condensity.fitting.process_likelihood import ProcessLikelihood
from condensity.lsce.learning import LEARNING_CENTERS, learning_problem
from condensity.lsce.member import MemberView
from condensity.lsce.reduced import CENTERS
from condensity.subspaces.chart import Minimum, minimise_jointly

#: Weight of the likelihood, relative to the leave-one-out loss.
SHARE = 0.5
#: Largest number of samples of the likelihood, which needs the inverse of a matrix of this size.
LIKELIHOOD_ROWS = 300
#: First length scale of all directions, and first noise of the process.
FIRST_LENGTH, FIRST_NOISE = 1.5, 0.3
#: Added to the squares of residuals, relative to their mean, before their logarithm is taken.
LEAST_SQUARE = 0.01


def learn_with_location(max_steps: int, item: tuple[MemberView, Array]) -> Minimum:
    """The subspace of smallest loss, starting from W, for a view and W (dz, dx)."""
    view, W = item
    n, dz = len(view.sample), len(W)
    if dz >= view.sample.X.shape[1]:
        return Minimum(W, np.nan, 0)
    problem = learning_problem(view.thinned(LEARNING_CENTERS), W)
    rows = np.linspace(0, n - 1, min(n, LIKELIHOOD_ROWS), dtype=int)
    scores = view.normal_scores(view.sample.Y)
    shape = noise_shape(view, W, scores) / view.sample.weight
    likelihood = ProcessLikelihood(
        view.sample.X[rows], scores[rows] - scores[rows].mean(axis=0), shape[rows] / shape.mean()
    )

    def loss(W: Array, parameters: Array) -> tuple[float, Array, Array]:
        metric, logs = parameters[:-2].reshape(dz, dz), parameters[-2:]
        point = problem.at(W)
        value, by_matrix, by_logs = likelihood.at(metric @ W, logs)
        by_metric = (by_matrix @ W.T).ravel()
        return (
            point.value + SHARE * value,
            point.gradient() + SHARE * metric.T @ by_matrix,
            SHARE * np.concatenate([by_metric, by_logs]),
        )

    first = np.append(np.eye(dz).ravel() / FIRST_LENGTH, [np.log(FIRST_NOISE), 0.0])
    return minimise_jointly(loss, W, first, max_steps=max_steps)


def noise_shape(view: MemberView, W: Array, Y: Array) -> Array:
    """Variances of outputs ``Y`` (n, dy) given z, up to a factor: (n,).

    They are a smooth function of z, fitted to the logarithms of squared residuals.
    """
    Z, weight, labels = view.sample.X @ W.T, view.sample.weight, view.labels
    _, residuals = fit_sparse_process(Z, Y, weight, labels, CENTERS)
    squares = np.mean(residuals**2, axis=1)
    logs = np.log(squares + LEAST_SQUARE * (weight @ squares))[:, None]
    logs -= weight @ logs
    _, left = fit_sparse_process(Z, logs, weight, labels, CENTERS)
    return np.asarray(np.exp((logs - left)[:, 0]))
