"""Kernel density estimation among neighbours: the plainest estimate of p(y|x)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from condensity._typing import Array
from condensity._utils.parallel import parallel_map
from condensity._utils.parameters import check_epsilon, check_rng, check_width
from condensity.data.prepare import prepare
from condensity.estimators.base import ConditionalDensityEstimator, score_columns
from condensity.fitting.neighbors import (
    NeighborChoice,
    NeighborDensity,
    given_radius,
    radii,
    select_radius,
)
from condensity.fitting.scores import SCORES
from condensity.fitting.selection import BANDWIDTHS


class EpsilonKDE(ConditionalDensityEstimator):
    """ε-neighbour kernel density estimation: p(y|x) from the samples near x.

    ``p(y|x)`` is the mean of ``N(y; y_k, sigma_y^2)`` over the samples k with ``|x - x_k| <=
    epsilon``, or over the nearest where there is none.  Inputs and outputs are standardised first.
    Epsilon and the bandwidth are those with the smallest held-out squared loss, so that no sample
    explains itself; equal samples share a fold.  A baseline of the paper, and the first to suffer
    when inputs are many.

    Parameters
    ----------
    epsilon : None or float, default=None
        Radius of the neighbourhood, in standard deviations of the inputs; infinity takes all
        samples, 0 those nearest.  None selects it by cross-validation, from quantiles of the
        distances between samples and infinity.
    bandwidth : None or float, default=None
        sigma_y, in standard deviations of the outputs; None selects it by cross-validation.
    cv : int, splitter or iterable of splits, default=5
        Number of random folds, or whatever holds every sample out exactly once; for folds by group
        pass ``list(GroupKFold(5).split(X, y, groups))``.
    random_state : None, int, RandomState or Generator, default=None
        Draws the folds.
    n_jobs : None or int, default=None
        Workers for the cross-validation; the answer does not depend on it.

    Attributes
    ----------
    epsilon_ : float
        In standard deviations of the inputs.
    bandwidth_ : float
        In standard deviations of the outputs.
    cv_results_ : dict of arrays
        Held-out scores of all candidates, in the units of ``score``;
        ``pandas.DataFrame(cv_results_)`` shows them.
    n_features_in_, feature_names_in_
        Inputs seen in ``fit``.

    Examples
    --------
    >>> from condensity import EpsilonKDE
    >>> from condensity.datasets import toy_b
    >>> X, y = toy_b().sample(200, random_state=0)
    >>> model = EpsilonKDE(random_state=0).fit(X[:, 1:2], y)
    >>> dist = model.predict_dist([[0.5]])  # truth: N(0.875, 0.25^2)
    >>> dist.mean().round()
    array([1.])
    """

    def __init__(
        self,
        epsilon: float | None = None,
        bandwidth: float | None = None,
        cv: Any = 5,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.bandwidth = bandwidth
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Keep the samples, and choose how near and how wide.

        Parameters
        ----------
        X : array-like (n, dx)
        y : array-like (n,) or (n, dy)
        sample_weight : array-like (n,), optional
            Integer weights are repetitions.

        Returns
        -------
        self
        """
        epsilon, width = check_epsilon(self.epsilon), check_width(self.bandwidth)
        rng = check_rng(self.random_state)
        scored = epsilon is None or width is None
        data = prepare(
            self,
            X,
            y,
            sample_weight,
            rng,
            cv=(5 if self.cv is None else self.cv) if scored else None,
            to_fix="both epsilon and bandwidth",
        )
        sample = data.standardised
        if epsilon is not None and width is not None:
            choice = given_radius(epsilon, width)
        else:
            choice = select_radius(
                sample,
                data.folds,
                radii(sample) if epsilon is None else (epsilon,),
                BANDWIDTHS if width is None else (width,),
                parallel_map(self.n_jobs),
            )
        density = NeighborDensity(
            data.x_scaling, data.y_scaling, sample, choice.epsilon, choice.sigma_y
        )
        self._remember(data, density)
        self.epsilon_, self.bandwidth_ = choice.epsilon, choice.sigma_y
        self.cv_results_ = _table(choice, np.diag(data.y_scaling.sd))
        return self


def _table(choice: NeighborChoice, unit: Array) -> dict[str, Array]:
    """All candidates with their scores, in the units of y."""
    epsilon, sigma_y = np.meshgrid(choice.epsilons, choice.bandwidths, indexing="ij")
    losses = choice.losses.reshape(epsilon.size, -1)
    parameters = {"param_epsilon": epsilon.ravel(), "param_bandwidth": sigma_y.ravel()}
    return parameters | score_columns(-SCORES["squared"].in_units(losses, unit))
