"""Kernel density estimation among neighbours."""

from __future__ import annotations

from typing import Any, Self

from condensity._utils.parallel import parallel_map
from condensity._utils.parameters import check_epsilon, check_rng, check_width
from condensity.data.prepare import prepare
from condensity.estimators.cv_results import neighbor_table
from condensity.estimators.density_estimator import ConditionalDensityEstimator
from condensity.fitting.neighbors import NeighborDensity, given_radius, radii, select_radius
from condensity.fitting.selection import BANDWIDTHS


class EpsilonKDE(ConditionalDensityEstimator):
    """Kernel density estimation among ε-neighbours: p(y|x) from the samples near x.

    ``p(y|x)`` is the mean of ``N(y; y_k, sigma_y^2)`` over the samples k with ``|x - x_k| <=
    epsilon``, or over the nearest samples if there are none.  Inputs and outputs are scaled
    first.  Epsilon and the bandwidth are those with the smallest held-out squared loss.  Equal
    samples share a fold, so that no sample is predicted from its copy.  It is a baseline of the
    paper [1]_.  Its accuracy drops most when there are many inputs.

    Parameters
    ----------
    epsilon : None or float, default=None
        Radius of the neighbourhood, in the unit of ``scaling``.  Infinity takes all
        samples, 0 the nearest.  None selects it by cross-validation, from quantiles of the
        distances between samples and infinity.
    bandwidth : None or float, default=None
        Width sigma_y of the kernels, in the unit of ``scaling``.  None selects it by
        cross-validation.
    cv : int, splitter or iterable of splits, default=5
        Number of random folds, or splits that hold out every sample exactly once.  For folds by
        group pass ``list(GroupKFold(5).split(X, y, groups))``.
    scaling : {"variance", "range", "none"}, default="variance"
        The unit of length of inputs and outputs: their standard deviations, their ranges in the
        training sample, or the unit of the data.
    random_state : None, int, RandomState or Generator, default=None
        Seed for the folds.
    n_jobs : None or int, default=None
        Number of workers for the cross-validation.  The result does not depend on it.

    Attributes
    ----------
    epsilon_ : float
        Radius, in the unit of ``scaling``.
    bandwidth_ : float
        sigma_y, in the unit of ``scaling``.
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
    LSCDE : A least-squares estimate of p(y|x).
    Reduced : A density on reduced inputs.

    References
    ----------
    .. [1] V. Tangkaratt, N. Xie, M. Sugiyama, "Conditional density estimation with dimensionality
       reduction via squared-loss conditional entropy minimization," Neural Computation 27(1), 2015.

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
        scaling: str = "variance",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.bandwidth = bandwidth
        self.cv = cv
        self.scaling = scaling
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Store the samples, and choose the radius and the bandwidth.

        Parameters
        ----------
        X : array-like of shape (n, dx)
            Inputs.
        y : array-like of shape (n,) or (n, dy)
            Targets.
        sample_weight : array-like of shape (n,), default=None
            Weights; integer weights are equivalent to repeated samples.

        Returns
        -------
        self : object
            The fitted estimator.
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
            scaling=self.scaling,
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
        cv_results = neighbor_table(choice, data.y_scaling.sd)
        self._set_density(data, density)
        self.epsilon_, self.bandwidth_ = choice.epsilon, choice.sigma_y
        self.cv_results_ = cv_results
        return self
