"""Least-squares conditional density estimation without dimension reduction."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np

from condensity._utils.parallel import one_blas_thread, parallel_map
from condensity._utils.parameters import check_rng, check_subsample
from condensity.estimators.base import ConditionalDensityEstimator, cv_table, kernel_density
from condensity.fitting.selection import normalised_losses, only_candidate, select
from condensity.lsce.full_data import fit_least_squares
from condensity.lsce.published import sce_problem


class LSCDE(ConditionalDensityEstimator):
    """Least-squares conditional density estimation: p(y|x) on all inputs.

    ``p(y|x)`` is fitted as ``sum_k alpha_k exp(-|x - c_k|^2 / 2 sigma_z^2 - |y - v_k|^2 / 2
    sigma_y^2)`` by minimising the squared error ``1/2 int (p_hat - p)^2 p(x) dx dy``, whose
    minimiser is a linear system; it is then clipped and normalised.  Inputs and outputs are
    standardised first.  Bandwidth and penalty are those with the smallest held-out squared loss of
    the clipped, normalised density.

    Parameters
    ----------
    n_centers : int or "auto", default="auto"
        Number of samples that carry a basis function, at most n; "auto" takes all up to 200.
    bandwidth : None, float or (float, float), default=None
        None selects it by cross-validation; else one sigma for x and y, or the pair, in units of
        the standard deviations of the training sample.
    penalty : None or float, default=None
        Weight of ``|alpha|^2 / 2``; None selects it by cross-validation.
    cv : int, splitter or iterable of splits, default=5
        Number of random folds, or whatever holds every sample out exactly once; for folds by group
        pass ``list(GroupKFold(5).split(X, y, groups))``.
    subsample : None or int, default=2000
        Samples, drawn at random, that bandwidth and penalty are chosen with; coefficients are
        fitted to all of them.
    random_state : None, int, RandomState or Generator, default=None
        Draws centres and folds.
    n_jobs : None or int, default=None
        Workers for the cross-validation; the answer does not depend on it.

    Attributes
    ----------
    bandwidth_ : (float, float)
        sigma_z and sigma_y, in standardised units.
    penalty_ : float
    n_centers_ : int
    sce_ : float
        Estimate of the squared-loss conditional entropy, in standardised units.
    cv_results_ : dict of arrays
        Held-out scores of all candidates; ``pandas.DataFrame(cv_results_)`` shows them.
    n_features_in_, feature_names_in_
        Inputs seen in ``fit``.

    Examples
    --------
    >>> from condensity import LSCDE
    >>> from condensity.datasets import toy_b
    >>> X, y = toy_b().sample(200, random_state=0)
    >>> model = LSCDE(random_state=0).fit(X[:, 1:2], y)
    >>> dist = model.predict_dist([[0.5]])  # truth: N(0.875, 0.25^2)
    >>> dist.mean().round()
    array([1.])
    """

    def __init__(
        self,
        n_centers: int | str = "auto",
        bandwidth: float | tuple[float, float] | None = None,
        penalty: float | None = None,
        cv: Any = 5,
        subsample: int | None = 2000,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_centers = n_centers
        self.bandwidth = bandwidth
        self.penalty = penalty
        self.cv = cv
        self.subsample = subsample
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Estimate p(y|x) from samples.

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
        rng = check_rng(self.random_state)
        candidates = self._candidates()
        scored = len(candidates) > 1
        subsample = check_subsample(self.subsample)
        data = self._prepare(X, y, sample_weight, rng, scored=scored, subsample=subsample)
        plan = data.plan
        W = np.eye(plan.sample.X.shape[1])
        workers = parallel_map(self.n_jobs)
        choice = (
            select(plan, W, candidates, normalised_losses, workers)
            if scored
            else only_candidate(candidates)
        )
        fit = partial(fit_least_squares, sce_problem(plan, choice), choice.sigma_y, data.remaining)
        with one_blas_thread():
            alpha, sce = fit(data.x_scaling, W)
        self._keep(data, kernel_density(data, W, alpha, choice), choice)
        self.sce_ = sce
        self.cv_results_ = cv_table([(len(W), choice)])
        return self
