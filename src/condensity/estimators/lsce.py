"""Least-squares conditional entropy: the density and the subspace it depends on, in one fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np

from condensity._utils.parallel import one_blas_thread, parallel_map
from condensity._utils.parameters import (
    check_bandwidth,
    check_count,
    check_least_bandwidth,
    check_option,
    check_penalty,
    check_rng,
    check_subsample,
    check_verbose,
)
from condensity.data.prepare import TrainingData
from condensity.estimators.base import reporter
from condensity.estimators.lsce_summary import (
    configuration_table,
    least_widths,
    print_configuration,
    warn_of_no_room,
)
from condensity.estimators.published_lsce import PublishedLSCE
from condensity.estimators.reducer import DensityReducer
from condensity.fitting.scores import SCORES, Score
from condensity.lsce.averaged import Ensemble
from condensity.lsce.configurations import Configuration
from condensity.lsce.fit import EnsembleFit, fit_ensemble
from condensity.lsce.location import check_location
from condensity.lsce.settings import EnsembleOptions, SearchSpace
from condensity.subspaces.grassmann import orient_signs


class LSCE(DensityReducer):
    """Conditional density estimation with dimension reduction, in one fit.

    Finds the W with orthonormal rows for which ``z = W x`` carries all the information on y, by
    minimising the squared-loss conditional entropy ``-1/2 int p(y|z)^2 p(z) dz dy`` over
    subspaces; the least-squares fit at the minimum is the density p(y|x) = p(y|Wx).

    It does so several times, each time without some of the samples, chooses what is to be chosen
    (bandwidths, penalty, number of directions, location) by how well these members describe the
    samples they have not seen, and answers with their average.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Dimension of z.  "auto" tries no reduction and 1, 2, ... components until more do not help,
        and weighs all of them in the average.  A number is quicker, and leaves out a linear
        location that has more directions: one for each output.
    n_members : int, default=5
        Models to average for each dimension, each learned without a fold: rounded up to a multiple
        of the folds, with one more that is learned from all samples.  1 keeps that one alone, with
        what cross-fitting has chosen: an exact function of ``transform(X)``, about as quick, and
        less accurate.
    location : {"auto", "none", "linear"} or regressor, default="auto"
        What is taken off y before its density is fitted: nothing, a ridge regression (whose
        directions are part of z), or the prediction of a regressor (which may depend on all
        inputs, so that z then has all of them).  "auto" weighs the first two by their merits.
    scoring : {"squared", "log", "crps"}, default="squared"
        The loss at new samples by which everything is chosen, and which ``cv_score_`` tells; that
        of ``score`` is always "squared".
    n_starts : int, default=5
        Random subspaces that every member starts from, besides that of fewer components.
    n_centers : int or "auto", default="auto"
        Number of samples that carry a basis function, at most n; "auto" takes all up to 500.
    bandwidth : None, float or (float, float), default=None
        sigma_z in standard deviations of the inputs and sigma_y in those of what the location
        leaves, where 1 is the Gaussian model; None selects them.
    penalty : None or float, default=None
        Weight of ``|alpha|^2 / 2``, relative to the mean diagonal of G; None selects it.
    min_bandwidth : None, float or array-like (dy,), default=None
        No kernel is narrower than this, in the units of y.  None takes the resolution of y, so
        that the density does not lock on to rounded or repeated values.
    bounds : None, (lower, upper) or one such pair for each output, default=None
        What y lies strictly between; None or an infinity stands for no bound.  The density is then
        that of ``log(y - lower)``, ``-log(upper - y)`` or ``log((y - lower) / (upper - y))``, seen
        through the map: nothing beyond the bounds, skewed where y is.  ``min_bandwidth``, the loss
        by which things are chosen, ``cv_results_`` and ``cv_score_`` are in the units of that
        coordinate; ``score`` and all else are in those of y.
    cv : int, splitter or iterable of splits, default=5
        Number of random folds, or whatever holds every sample out exactly once; for folds by group
        pass ``list(GroupKFold(5).split(X, y, groups))``.
    max_iter : int, default=50
        Quasi-Newton steps of each search, at most.
    subsample : None or int, default=2000
        Samples, drawn at random, that all is chosen with.  A linear location, the subspaces of what
        counts and all coefficients are then fitted to all samples, part by part; a regressor as
        location sees these alone.  None: all is chosen with all.
    random_state : None, int, RandomState or Generator, default=None
        Draws centres, folds and starts.
    n_jobs : None or int, default=None
        Workers for the members; the answer does not depend on it.
    verbose : int or callable, default=0
        1 prints a line for each configuration; a callable is given the ``Configuration`` instead.

    Attributes
    ----------
    components_ : (dz, dx)
        The directions, orthonormal rows, acting on standardised inputs: those of the best
        configuration, learned from where its members agree.  Only their span means something;
        signs are such that z grows with the first output.
    n_components_ : int
        Number of directions of the best configuration.
    subspace_agreement_ : (dx,)
        Eigenvalues of the mean of its members' projectors, decreasing: 1 where all members have
        a direction in common, 0 where none has it.
    location_ : str
        Location of the best configuration.
    bandwidth_ : (float, float)
        Its sigma_z and sigma_y.
    penalty_ : float
    stretch_ : (dy,)
        What the densities are stretched by, about their means, so that samples new to the members
        find them calibrated; kernels are that much wider than ``bandwidth_`` says.  1 where a
        ``bandwidth`` is given.
    cv_score_ : float
        Cross-fitted score (minus the loss) of the average before it is stretched.  Everything was
        chosen by it, so expect a little less at new samples.  Not a number where nothing was held
        out.
    n_members_, n_centers_ : int
    n_iter_ : int
        Steps of the last search, from all samples, at least 1.
    cv_results_ : dict of arrays
        The configurations: setting, weight in the average, which is the best, and cross-fitted
        score: minus the loss, in the units of y, or with ``bounds`` in those of its coordinate.
        Where there are more than 200 centres, those with weight are judged with all of them.
    n_features_in_, feature_names_in_
        Inputs seen in ``fit``.

    Examples
    --------
    >>> from condensity import LSCE
    >>> from condensity.datasets import toy_b
    >>> X, y = toy_b().sample(200, random_state=0)
    >>> model = LSCE(n_components=1, random_state=0).fit(X, y)
    >>> abs(model.components_).round(1)
    array([[0., 1., 0., 0., 0.]])
    """

    _auto_centers = 500

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        n_members: int = 5,
        location: Any = "auto",
        scoring: str = "squared",
        n_starts: int = 5,
        n_centers: int | str = "auto",
        bandwidth: float | tuple[float, float] | None = None,
        penalty: float | None = None,
        min_bandwidth: Any = None,
        bounds: Any = None,
        cv: Any = 5,
        max_iter: int = 50,
        subsample: int | None = 2000,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int | Callable[[Configuration], None] = 0,
    ) -> None:
        self.n_components = n_components
        self.n_members = n_members
        self.location = location
        self.scoring = scoring
        self.n_starts = n_starts
        self.n_centers = n_centers
        self.bandwidth = bandwidth
        self.penalty = penalty
        self.min_bandwidth = min_bandwidth
        self.bounds = bounds
        self.cv = cv
        self.max_iter = max_iter
        self.subsample = subsample
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def as_published(
        cls,
        n_components: int | str = "auto",
        *,
        n_centers: int | str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int | Callable[[Any], None] = 0,
    ) -> PublishedLSCE:
        """The estimator with the procedure and the settings of the paper."""
        return PublishedLSCE(
            n_components,
            n_centers=n_centers,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the subspace and the density.

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
        options = self._check_parameters()
        report = reporter(check_verbose(self.verbose), print_configuration)
        rng = check_rng(self.random_state)
        search = options.search.open or self._is_auto() or len(options.locators) > 1
        data = self._prepare(
            X,
            y,
            sample_weight,
            rng,
            scored=search or options.n_members > 1,
            n_members=options.n_members,
            subsample=check_subsample(self.subsample),
            bounds=self.bounds,
        )
        options = self._check_against(data, options)
        with one_blas_thread():  # for the computations between those of the workers
            result = fit_ensemble(data, options, rng, parallel_map(self.n_jobs), report)
        warn_of_no_room(self.n_components, data.n_outputs, options.locators, result.configurations)
        self._keep_result(data, options.score, result)
        return self

    def _check_parameters(self) -> EnsembleOptions:
        """The parameters, checked as far as that is possible without data."""
        sigmas, penalty = check_bandwidth(self.bandwidth), check_penalty(self.penalty)
        sigma_z, sigma_y = (None, None) if sigmas is None else sigmas
        return EnsembleOptions(
            locators=check_location(self.location),
            score=SCORES[check_option("scoring", self.scoring, tuple(SCORES))],
            search=SearchSpace(
                sigma_z,
                sigma_y,
                penalty,
                least_sigma_y=0.0,
                n_starts=check_count("n_starts", self.n_starts, low=1),
                max_steps=check_count("max_iter", self.max_iter, low=1),
            ),
            n_members=check_count("n_members", self.n_members, low=1),
        )

    def _check_against(self, data: TrainingData, options: EnsembleOptions) -> EnsembleOptions:
        """The options completed by the parameters whose check needs the data."""
        if options.score.name == "crps" and data.n_outputs > 1:
            raise ValueError(
                f"scoring='crps' is for one output, got {data.n_outputs}: "
                "use 'squared' or 'log', or fit the outputs one by one"
            )
        least = check_least_bandwidth(self.min_bandwidth, data.n_outputs)
        if least is None:
            least = least_widths(data.sample, data.bounds, heard=self.bandwidth is None)
        (dz, *_) = (None,) if self._is_auto() else self._dimensions(int(data.active.sum()))
        return replace(options, n_components=dz, least_widths=least / data.y_scaling.sd)

    def _what_to_fix(self) -> str:
        return "bandwidth, penalty, n_components and location, with n_members=1"

    def _keep_result(self, data: TrainingData, score: Score, result: EnsembleFit) -> None:
        W = orient_signs(result.W, data.standardised)
        scalings = data.y_scaling, data.x_scaling
        density = Ensemble(result.parts, *scalings, W, result.stretch, data.bounds)
        best = result.best
        self._keep(data, density, best.setting)
        self.components_ = W
        self.n_components_ = self._n_features_out = len(W)
        self.subspace_agreement_ = result.agreement
        self.location_ = best.location
        self.stretch_ = result.stretch
        loss = score.in_units(np.array(result.loss), np.diag(data.y_scaling.sd))
        self.cv_score_ = -float(loss)
        self.n_iter_ = max(1, result.n_steps)
        self.n_members_ = max(len(part.members) for _, part in result.parts)
        self.cv_results_ = configuration_table(data, score, result)
