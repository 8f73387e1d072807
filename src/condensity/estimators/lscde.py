"""Least-squares conditional density estimation without dimension reduction."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from condensity._utils.parallel import one_blas_thread, parallel_map
from condensity._utils.parameters import check_rng, check_subsample
from condensity.estimators.cv_results import candidate_table
from condensity.estimators.density_estimator import ConditionalDensityEstimator
from condensity.estimators.kernel_estimator import KernelEstimator, density_unit, kernel_density
from condensity.fitting.selection import normalised_losses, only_candidate, select
from condensity.lsce.full_data import fit_least_squares
from condensity.lsce.published import sce_problem


class LSCDE(ConditionalDensityEstimator, KernelEstimator):
    """Least-squares conditional density estimation: p(y|x) on all inputs.

    The density is modelled as ``sum_k alpha_k exp(-|x - c_k|^2 / (2 sigma_z^2)) exp(-|y - v_k|^2 /
    (2 sigma_y^2))``.  The coefficients minimise the squared error ``1/2 int (p_hat - p)^2 p(x) dx
    dy``, which is a linear system [1]_.  Then negative coefficients are clipped and the density is
    normalised.  Inputs and outputs are scaled first.  Bandwidth and penalty are those with
    the smallest held-out squared loss of the clipped, normalised density.

    Parameters
    ----------
    n_centers : int or "auto", default="auto"
        Number of samples that carry a basis function, at most n.  "auto" takes all samples, but
        at most 200.
    bandwidth : None, float or (float, float), default=None
        One sigma for x and y, or the pair (sigma_z, sigma_y), in the unit of ``scaling``.
        None selects it by cross-validation.
    penalty : None or float, default=None
        Weight of ``|alpha|^2 / 2``.  None selects it by cross-validation.
    cv : int, splitter or iterable of splits, default=5
        Number of random folds, or splits that hold out every sample exactly once.  For folds by
        group pass ``list(GroupKFold(5).split(X, y, groups))``.
    scaling : {"variance", "range", "none"}, default="variance"
        The unit of length of inputs and outputs: their standard deviations, their ranges in the
        training sample, or the unit of the data.
    subsample : None or int, default=2000
        Maximum number of samples used for model selection; the final fit always uses all of them.
        None: no limit.
    random_state : None, int, RandomState or Generator, default=None
        Seed for the centres, the folds and the subsample.
    n_jobs : None or int, default=None
        Number of workers for the cross-validation.  The result does not depend on it.

    Attributes
    ----------
    bandwidth_ : (float, float)
        sigma_z and sigma_y, in the unit of ``scaling``.
    penalty_ : float
        Weight of ``|alpha|^2 / 2``.
    n_centers_ : int
        Number of centres.
    sce_ : float
        Estimate of the squared-loss conditional entropy, in the unit of ``scaling``.
    cv_results_ : dict of ndarray
        Held-out scores of all candidates, in the units of ``score``;
        ``pandas.DataFrame(cv_results_)`` shows them.
    input_range_ : ndarray of shape (2, dx)
        Smallest and largest value of each input; see ``outside_range``.
    n_features_in_ : int
        Number of inputs seen in ``fit``.
    feature_names_in_ : ndarray of shape (dx,)
        Names of the inputs, if ``fit`` was given a data frame.

    See Also
    --------
    LSCE : The density together with a reduction of the inputs.
    Reduced : A density on inputs reduced beforehand.
    EpsilonKDE : A kernel density estimate among neighbours.

    References
    ----------
    .. [1] M. Sugiyama, I. Takeuchi, T. Suzuki, T. Kanamori, H. Hachiya, D. Okanohara,
       "Least-squares conditional density estimation," IEICE Transactions on Information and
       Systems E93-D(3), 2010.

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
        scaling: str = "variance",
        subsample: int | None = 2000,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_centers = n_centers
        self.bandwidth = bandwidth
        self.penalty = penalty
        self.cv = cv
        self.scaling = scaling
        self.subsample = subsample
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Estimate p(y|x) from samples.

        Parameters
        ----------
        X : array-like or Dask collection of shape (n, dx)
            Inputs.
        y : array-like or Dask collection of shape (n,) or (n, dy)
            Targets.
        sample_weight : array-like or Dask collection of shape (n,), default=None
            Weights; integer weights are equivalent to repeated samples.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        rng = check_rng(self.random_state)
        candidates = self._candidates()
        scored = len(candidates) > 1
        subsample = check_subsample(self.subsample)
        data = self._prepare(
            X,
            y,
            sample_weight,
            rng,
            scored=scored,
            subsample=subsample,
            scaling=self.scaling,
        )
        W, mapper = np.eye(len(data.active)), parallel_map(self.n_jobs)
        choice = (
            select(data.folded, W, candidates, normalised_losses, mapper)
            if scored
            else only_candidate(candidates)
        )
        problem = sce_problem(data.folded, choice)
        with one_blas_thread():
            alpha, sce = fit_least_squares(
                problem, choice.sigma_y, data.remaining, data.x_scaling, W
            )
        density = kernel_density(data, W, alpha, choice)
        cv_results = candidate_table([(len(W), choice)], density_unit(data))
        self._set_density(data, density)
        self._set_kernels(data, choice)
        self.sce_, self.cv_results_ = sce, cv_results
        return self
