"""Least-squares conditional entropy: the density and its subspace in one fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np

from condensity._utils.dask_collections import is_dask
from condensity._utils.parallel import one_blas_thread, parallel_map
from condensity._utils.parameters import (
    check_bandwidth,
    check_count,
    check_least_bandwidth,
    check_option,
    check_penalty,
    check_rng,
    check_subsample,
)
from condensity.data.bounded_targets import is_automatic, pairs_of
from condensity.data.prepare import TrainingData
from condensity.data.resolution import RecordedValues
from condensity.estimators.automatic_bounds import prepare_with_best_bounds
from condensity.estimators.cv_results import configuration_table
from condensity.estimators.fit_messages import (
    print_configuration,
    progress_callback,
    warn_of_atoms,
    warn_of_outliers,
    warn_of_skipped_location,
)
from condensity.estimators.published_lsce import PublishedLSCE
from condensity.estimators.reducer import DensityReducer
from condensity.fitting.scores import SCORES
from condensity.locations.location_names import REDUCED, check_location
from condensity.lsce.configurations import Configuration
from condensity.lsce.fit import EnsembleFit, fit_ensemble
from condensity.members.averaged import Ensemble
from condensity.members.settings import EnsembleOptions, SearchSpace
from condensity.subspaces.grassmann import orient_signs


class LSCE(DensityReducer):
    """Conditional density estimation with dimension reduction, in one fit.

    LSCE finds a matrix W with orthonormal rows such that ``z = W x`` carries all information about
    y.  In the population, this W minimises the squared-loss conditional entropy ``-1/2 int
    p(y|z)^2 p(z) dz dy`` [1]_.  LSCE minimises the leave-one-out squared loss of a kernel density
    of y, and of a monotone function of y, given z.  The density ``p(y|x) = p(y|W x)`` is a
    least-squares fit at the minimum.

    The estimator averages several models, called members.  Each member is learned without one fold.
    Bandwidths, penalty, number of components and location are chosen by the loss of the members
    on held-out samples.  By default, the average may contain densities with a location that depends
    on all inputs.  Then p(y|x) depends on all of x, and W shows the directions that matter most.
    With ``n_members=1`` it is a function of z alone.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Dimension of z.  "auto" tries no reduction and 1, 2, ... components until more do not help,
        and weighs all of them in the average.  A fixed number is faster.  A linear location
        needs one direction for each output; it is not used if ``n_components`` is smaller.  The
        value of a "smooth", "trees" or "flexible" location or of a regressor is one of the
        components.
    n_members : int, default=5
        Number of models in the average for each dimension, rounded up to a multiple of the number
        of folds.  One more model is learned from all samples.  With 1, only this model is used,
        with the settings that cross-fitting has chosen.  Its density depends only on
        ``transform(X)``.  It takes about as long to fit and is less accurate.
    location : str or regressor, default="auto"
        The model of the mean that is subtracted from y before the density is fitted.  "none" is a
        constant.  "linear" is a ridge regression, whose directions are part of z.  "reduced" is a
        smooth function of z, the mean of a Gaussian process: y depends on x through z alone, also
        if its mean is curved.  "smooth" is a Gaussian process with a length scale for each input.
        "trees" are boosted trees.  "flexible" is the best weighted average of "linear", "smooth"
        and "trees".  The last three and a regressor may depend on all inputs.  Their value is one
        more input of the density, and ``components_`` then has as many rows as there are inputs
        that vary.  "auto" tries "none", "linear", "reduced" and "flexible" and weighs them by
        stacking.  With ``n_components`` given or ``n_members=1`` it tries all but "flexible", so
        that every model in the average depends on x through its directions alone.
    scoring : {"squared", "log", "crps"}, default="squared"
        The held-out loss for model selection, and that of ``cv_score_``.  ``score`` always uses
        "squared".
    n_starts : int, default=40
        Number of random subspaces from which every member starts, in addition to the subspace with
        fewer components.  After a few steps on a part of the samples, only the best starts
        continue.  With a second location, most starts are replaced by the subspaces of the first.
    n_centers : int or "auto", default="auto"
        Number of samples that carry a basis function, at most n.  "auto" takes all samples, but
        at most 500.
    bandwidth : None, float or (float, float), default=None
        The pair (sigma_z, sigma_y), or one number for both.  sigma_z is in standard deviations of
        the inputs, sigma_y in those of the residuals of the location; sigma_y = 1 is the Gaussian
        model.  None selects them.
    penalty : None or float, default=None
        Weight of ``|alpha|^2 / 2``, relative to the mean diagonal of G.  None selects it.
    min_bandwidth : None, float or array-like of shape (dy,), default=None
        Smallest width of a kernel, in the units of y.  None takes the resolution of y, so that the
        density does not concentrate on rounded or repeated values.
    bounds : "auto", None, (lower, upper) or one such pair for each output, default="auto"
        Bounds of y, which lies strictly between them; None or an infinity stands for no bound.
        The density is then fitted to ``log(y - lower)``, ``-log(upper - y)`` or ``log((y - lower) /
        (upper - y))``, and mapped back: it is zero outside the bounds, and skewed where y is.
        ``min_bandwidth``, and all losses with ``scoring="crps"``, are in the units of that
        coordinate; everything else is in the units of y.  "auto" uses ``(0, None)`` for a single
        output with positive values and a skewness above 0.5, if this lowers the held-out loss of a
        few simple densities by five per cent, and otherwise no bounds.  It also uses none for
        counts and other values that are coarse near zero, for Dask collections, if
        ``min_bandwidth`` is given, or if nothing is held out.
    outliers : {"omit", "keep"}, default="omit"
        "omit" leaves samples out of the fit that have a value of an input or an output very far
        from all others, at least 3.8 times the 90 % quantile of the distances from the median
        and more if there are many samples or heavy tails.  A warning names them.  "keep" uses all
        samples.
    cv : int, splitter or iterable of splits, default=5
        Number of random folds, or splits that hold out every sample exactly once.  For folds by
        group pass ``list(GroupKFold(5).split(X, y, groups))``.
    max_iter : int, default=50
        Maximum number of quasi-Newton steps of each search.
    subsample : None or int, default=2000
        Maximum number of samples with which the configurations are compared.  If there are more
        than twice as many, bandwidths, penalty and weights are then selected again with up to 15
        times as many additional samples, with locations and subspaces that are fitted to them.
        The coefficients are always fitted to all samples, chunk by chunk.  With folds given as
        ``cv``, these settings stay, and locations that are not linear are fitted only to the
        subsample.  None: no limit.
    random_state : None, int, RandomState or Generator, default=None
        Seed for the centres, the folds, the starts and the subsample.
    n_jobs : None or int, default=None
        Number of workers for the members.  The result does not depend on it.
    verbose : int or callable, default=0
        1 prints a line for each configuration; a callable is called with the ``Configuration``
        instead.

    Attributes
    ----------
    components_ : ndarray of shape (dz, dx)
        The directions, orthonormal rows that act on standardised inputs.  They are the consensus of
        all configurations with ``n_components_`` directions and a constant, linear or reduced
        location, and of outer products of gradients (``OPG``).  Each is weighted by how likely its
        directions are as good as the best ones, by the held-out loss of densities without location.
        If one of these locations is given, or ``n_members=1``, the directions are those of its own
        members and of a search in all samples.  If all locations depend on all inputs, the rows
        span all inputs, and the directions of the residuals come first.  Only their span has a
        meaning; the signs are such that z grows with the first output.
    n_components_ : int
        Number of directions that the samples support: the largest number on which the members
        agree, and whose held-out loss is not improved by more directions.  In detail, the loss is
        compared with that of the best configuration without location, or of one with another
        location that is better by two standard errors.  Up to its number of directions, all
        numbers are candidates whose loss is higher by at most one standard error or two per cent.
        The largest one is taken with an ``agreement`` in ``cv_results_`` of at least 0.7; if there
        is none, the smallest candidate.  The density is an average over several numbers.  With
        ``n_members=1`` it is the number of directions of the single model.
    subspace_agreement_ : ndarray of shape (dx,)
        Decreasing eigenvalues of the mean projector of the members of the best configuration with
        ``n_components_`` directions: 1 for a direction that all members have, 0 for a direction
        that none has.
    location_ : str
        Location with the largest weight in the average.
    location_weights_ : dict of str to float
        Weight of each location in the average.  Only with "none", "linear" and "reduced" does the
        density depend on x through linear directions alone; each of these names as ``location``
        ensures it.  With "reduced" as ``location``, "none" is the weight of the density that does
        not depend on x.
    bandwidth_ : (float, float)
        sigma_z and sigma_y of the best configuration with ``n_components_`` directions.  With
        many samples they are narrower than those in ``cv_results_``, which is about the subsample.
    penalty_ : float
        Penalty of this configuration.
    stretch_ : ndarray of shape (dy,)
        Factor by which the densities are stretched about their means, so that they are calibrated
        on held-out samples.  Kernels are wider than ``bandwidth_`` by this factor.  1 if a
        ``bandwidth`` is given.
    cv_score_ : float
        Score (minus the loss) to expect on new samples: the held-out score of the average before
        it is stretched, less the estimated optimism of model selection.  NaN if nothing was held
        out.
    n_members_ : int
        Number of members of a configuration in the average.
    n_centers_ : int
        Number of centres.
    n_iter_ : int
        Number of steps of the last search, on all samples; at least 1.
    cv_results_ : dict of ndarray
        The configurations: setting, weight in the average, whether it is the best, and held-out
        score (minus the loss) in the units of y (see ``bounds`` for "crps").
        If there are more than 200 centres, configurations with weight are evaluated with all of
        them.  ``score_difference`` and ``score_difference_se`` compare each configuration, with at
        most 200 centres, with the one from which ``n_components_`` was decided: mean difference at
        the same held-out samples, and its standard error.  ``agreement`` is the last of the
        eigenvalues in ``subspace_agreement_`` that belong to its directions.
    input_range_ : ndarray of shape (2, dx)
        Smallest and largest value of each input; see ``outside_range``.
    n_features_in_ : int
        Number of inputs seen in ``fit``.
    feature_names_in_ : ndarray of shape (dx,)
        Names of the inputs, if ``fit`` was given a data frame.

    See Also
    --------
    LSCE.as_published : The procedure of the paper.
    LSCDE : The density on all inputs, without reduction.
    Reduced : A density on inputs that another transformer reduces.
    WithAtoms : For targets with frequent values, such as zeros: their probabilities, and a density.
    condensity.targets.rounded : For counts and scores: the probabilities of their values.

    References
    ----------
    .. [1] V. Tangkaratt, N. Xie, M. Sugiyama, "Conditional density estimation with dimensionality
       reduction via squared-loss conditional entropy minimization," Neural Computation 27(1), 2015.

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
        n_starts: int = 40,
        n_centers: int | str = "auto",
        bandwidth: float | tuple[float, float] | None = None,
        penalty: float | None = None,
        min_bandwidth: Any = None,
        bounds: Any = "auto",
        outliers: str = "omit",
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
        self.outliers = outliers
        self.cv = cv
        self.max_iter = max_iter
        self.subsample = subsample
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def bounds_(self) -> list[tuple[float | None, float | None]] | None:
        """Bounds of each output that the density has; None if it has no bounds."""
        density: Any = self._density
        return pairs_of(density.bounds)

    @classmethod
    def as_published(
        cls,
        n_components: int | str = "auto",
        *,
        n_centers: int | str = "auto",
        scoring: str = "normalised",
        scaling: str = "variance",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int | Callable[[Any], None] = 0,
    ) -> PublishedLSCE:
        """Return the estimator with the procedure and the settings of the paper.

        Parameters
        ----------
        n_components : int or "auto", default="auto"
            Dimension of z.  "auto" tries all dimensions.
        n_centers : int or "auto", default="auto"
            Number of samples that carry a basis function.  "auto" takes all samples, but at most
            500.
        scoring : {"normalised", "raw"}, default="normalised"
            The held-out loss that selects the density and the number of components: of the density
            after or before it is clipped and normalised.
        scaling : {"variance", "range", "none"}, default="variance"
            The unit of length of inputs and outputs: their standard deviations, their ranges in the
            training sample, or the unit of the data.
        random_state : None, int, RandomState or Generator, default=None
            Seed for the centres, the folds and the starts.
        n_jobs : None or int, default=None
            Number of workers for the starts.  The result does not depend on it.
        verbose : int or callable, default=0
            1 prints a line after each start; a callable is called with a ``StartProgress`` instead.

        Returns
        -------
        PublishedLSCE
            The estimator, not fitted.  Its other parameters have the values of the paper;
            ``set_params`` changes them.

        Examples
        --------
        >>> from condensity import LSCE
        >>> LSCE.as_published(n_components=1)
        PublishedLSCE(n_components=1)
        """
        return PublishedLSCE(
            n_components,
            n_centers=n_centers,
            scoring=scoring,
            scaling=scaling,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the subspace and the density from samples.

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
        options = self._check_parameters()
        report = progress_callback(self.verbose, print_configuration)
        omit = check_option("outliers", self.outliers, ("omit", "keep")) == "omit"
        rng = check_rng(self.random_state)
        # A reduced location is a function of directions that members have learned.
        several = len(options.locators) > 1 or options.only_reduced
        selects = options.search.open or self._is_auto() or several
        prepare = partial(
            self._prepare,
            X,
            y,
            sample_weight,
            scored=selects or options.n_members > 1,
            n_members=options.n_members,
            subsample=check_subsample(self.subsample),
            omit_outliers=omit,
        )
        if self._tries_bounds(X, y, sample_weight):
            with one_blas_thread():
                data = prepare_with_best_bounds(prepare, rng, y, options)
        else:
            data = prepare(rng, bounds=None if is_automatic(self.bounds) else self.bounds)
        warn_of_outliers(data)
        options = self._check_against(data, options)
        with one_blas_thread():  # workers set the limit themselves, this process needs it too
            result = fit_ensemble(data, options, rng, parallel_map(self.n_jobs), report)
        if options.n_components is not None and not options.only_reduced:
            warn_of_skipped_location(
                options.n_components,
                min(data.n_outputs, int(data.active.sum())),
                options.locators,
                [c.location for c in result.configurations],
            )
        self._keep(data, options, result)
        return self

    def _tries_bounds(self, *samples: Any) -> bool:
        """Whether the samples may have their bounds chosen by the held-out loss."""
        # The folds of an iterator are lost once they are read.  A width in the units of y has no
        # meaning for log y.
        fixed = isinstance(self.cv, Iterator) or self.min_bandwidth is not None
        return is_automatic(self.bounds) and not fixed and not is_dask(*samples)

    def _check_parameters(self) -> EnsembleOptions:
        """The options of the algorithm that can be checked without data."""
        sigmas, penalty = check_bandwidth(self.bandwidth), check_penalty(self.penalty)
        sigma_z, sigma_y = (None, None) if sigmas is None else sigmas
        return EnsembleOptions(
            locators=check_location(
                self.location, strict=self.n_members == 1 or not self._is_auto()
            ),
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
            reduced=isinstance(self.location, str) and self.location in REDUCED,
            only_reduced=isinstance(self.location, str) and self.location == "reduced",
        )

    def _check_against(self, data: TrainingData, options: EnsembleOptions) -> EnsembleOptions:
        """The options completed by the parameters that depend on the data."""
        if options.score.name == "crps" and data.n_outputs > 1:
            raise ValueError(
                f"scoring='crps' is for one output, got {data.n_outputs}: "
                "use 'squared' or 'log', or fit the outputs one by one"
            )
        least = check_least_bandwidth(self.min_bandwidth, data.n_outputs)
        if least is None:
            recorded = [RecordedValues.of(column, data.sample.weight) for column in data.sample.Y.T]
            if self.bandwidth is None:
                warn_of_atoms(recorded, data.bounds)
            least = np.array([values.least_bandwidth for values in recorded])
        dz = None if self._is_auto() else self._dimensions(int(data.active.sum()))[0]
        return replace(options, n_components=dz, least_widths=least / data.y_scaling.sd)

    def _to_fix(self) -> str:
        return "bandwidth, penalty, n_components and location, with n_members=1"

    def _keep(self, data: TrainingData, options: EnsembleOptions, result: EnsembleFit) -> None:
        """Set all attributes, after everything that can fail."""
        W = orient_signs(result.W, data.standardised)
        scalings = data.y_scaling, data.x_scaling
        density = Ensemble(result.density.parts, *scalings, W, result.density.stretch, data.bounds)
        loss = options.score.in_units(np.array(result.density.loss), np.diag(data.y_scaling.sd))
        cv_results = configuration_table(data, options.score, result)
        n_members = max(len(average.members) for _, average in result.density.parts)
        self._set_density(data, density)
        self._set_kernels(data, result.setting)
        self._set_directions(W)
        self.subspace_agreement_ = result.agreement
        self.location_weights_ = result.location_weights
        self.location_ = max(
            result.location_weights, key=lambda name: result.location_weights[name]
        )
        self.stretch_ = result.density.stretch
        self.cv_score_ = -float(loss)
        self.n_iter_ = max(1, result.n_steps)
        self.n_members_ = n_members
        self.cv_results_ = cv_results
