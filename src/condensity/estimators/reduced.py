"""Two steps, one estimator: reduce the inputs, then estimate the density of y given z."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from condensity._typing import Array, Indices
from condensity._utils.parallel import one_blas_thread, parallel_map
from condensity._utils.parameters import check_counts, check_part, check_rng
from condensity._utils.seeds import fill_seeds
from condensity._utils.validation import (
    check_inputs,
    check_reduced,
    check_sample,
    remember_inputs,
)
from condensity.data.folds import label_rows
from condensity.data.sample import Scaling
from condensity.distributions.base import Distribution
from condensity.estimators.cv_results import score_columns
from condensity.estimators.density_estimator import ConditionalDensityEstimator
from condensity.estimators.lscde import LSCDE
from condensity.estimators.spectral import SIR
from condensity.estimators.two_steps import TwoSteps, check_has_components, splits
from condensity.fitting.selection import first_minimum


class Reduced(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ConditionalDensityEstimator):
    """A density on reduced inputs: p(y|x) = p(y|z), where a transformer gives z.

    The paper [1]_ compares ``LSCE`` with methods of this kind: the first step does not use the
    second.  The number of components can be chosen by the loss of both steps together on held-out
    samples.

    Parameters
    ----------
    reducer : None or transformer, default=None
        A transformer with ``fit(X, y)`` and ``transform``, such as ``SIR``, ``LSMI``, ``LSCE``,
        ``FixedSubspace`` or scikit-learn's ``PCA``.  None is ``SIR()``.
    density : None or estimator of conditional densities, default=None
        An estimator with ``fit(Z, y)`` and ``predict_dist``, such as ``EpsilonKDE``.  None is
        ``LSCDE()``.
    n_components : None, int, "auto" or sequence of int, default=None
        Dimension of z.  None uses the reducer as it is.  "auto" chooses from 1, 2, ... up to the
        number of inputs, a sequence from its entries.  The choice has the smallest squared loss on
        held-out samples; reducer and density are both fitted again without each fold.
    cv : int, splitter or iterable of splits, default=5
        Number of random folds, or splits that hold out every sample exactly once.  Given splits
        also replace the ``cv`` of reducer and density, so that samples that belong together stay
        together.
    random_state : None, int, RandomState or Generator, default=None
        Seed for the folds, and for reducer and density if they have ``random_state=None``.
    n_jobs : None or int, default=None
        Number of workers for the cross-validation.  The result does not depend on it.

    Attributes
    ----------
    reducer_ : transformer
        The reducer, fitted to all samples.
    density_ : estimator
        The density estimator, fitted to all samples.
    n_components_ : int
        Dimension of z.
    components_ : ndarray of shape (dz, dx)
        The directions of ``reducer_``, if it has any.
    cv_results_ : dict of ndarray
        Held-out scores of the numbers of components that were tried, in the units of ``score``.
    input_range_ : ndarray of shape (2, dx)
        Smallest and largest value of each input; see ``outside_range``.
    n_features_in_ : int
        Number of inputs seen in ``fit``.
    feature_names_in_ : ndarray of shape (dx,)
        Names of the inputs, if ``fit`` was given a data frame.

    See Also
    --------
    LSCE : Directions and density in one fit.
    SIR : Directions from slices of y.
    LSCDE : The density on all inputs.

    References
    ----------
    .. [1] V. Tangkaratt, N. Xie, M. Sugiyama, "Conditional density estimation with dimensionality
       reduction via squared-loss conditional entropy minimization," Neural Computation 27(1), 2015.

    Examples
    --------
    >>> from condensity import SIR, EpsilonKDE, Reduced
    >>> from condensity.datasets import toy_b
    >>> X, y = toy_b().sample(200, random_state=0)
    >>> model = Reduced(SIR(), EpsilonKDE(), n_components="auto", random_state=0).fit(X, y)
    >>> model.n_components_
    1
    >>> model.predict_dist([[0.0, 0.5, 0.0, 0.0, 0.0]]).mean().round()  # truth: 0.875
    array([1.])
    """

    def __init__(
        self,
        reducer: Any = None,
        density: Any = None,
        n_components: int | str | Sequence[int] | None = None,
        cv: Any = 5,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.reducer = reducer
        self.density = density
        self.n_components = n_components
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the reducer, then the density to the reduced inputs.

        Parameters
        ----------
        X : array-like of shape (n, dx)
            Inputs.
        y : array-like of shape (n,) or (n, dy)
            Targets.
        sample_weight : array-like of shape (n,), default=None
            Weights; integer weights are equivalent to repeated samples.  Unequal weights need a
            reducer and a density that accept them.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        fold_rng, seed_rng = check_rng(self.random_state).spawn(2)
        reducer, density = self._parts(seed_rng)
        values, Y, weight, y_axes = check_sample(self, X, y, sample_weight)
        rows = np.flatnonzero(weight > 0)
        given = not (self.cv is None or isinstance(self.cv, Integral))
        labels = self._fold_labels(values, Y, weight, fold_rng) if given or self._tries() else None
        folds = [] if labels is None else splits(labels[rows])
        candidates = self._candidates(reducer, values[rows], weight[rows], folds)
        named = X if hasattr(X, "columns") else values
        target = Y[:, 0] if y_axes == 1 else Y
        steps = TwoSteps(reducer, density, named, values, target, weight, labels if given else None)
        losses = self._losses(steps, rows, folds, candidates)
        best = candidates[first_minimum(losses.mean(axis=1))]
        with one_blas_thread():
            reducer, density = steps.fit(rows, best)
        n_components = steps.reduce(reducer, rows[:1]).shape[1]
        tried = np.array([n_components if d is None else d for d in candidates])
        cv_results = {"param_n_components": tried} | score_columns(-losses)
        input_range = np.stack([values[rows].min(axis=0), values[rows].max(axis=0)])
        remember_inputs(self, X)
        self.input_range_ = input_range
        self.reducer_, self.density_ = reducer, density
        self.n_components_ = self._n_features_out = n_components
        self._y_axes, self._n_outputs = y_axes, Y.shape[1]
        self.cv_results_ = cv_results
        return self

    def transform(self, X: Any) -> Array:
        """Reduce the inputs with the fitted reducer.

        Parameters
        ----------
        X : array-like of shape (m, dx)
            Inputs.

        Returns
        -------
        ndarray of shape (m, dz)
            The reduced inputs.
        """
        return self._inputs(X)

    def predict_dist_reduced(self, Z: Any) -> Distribution:
        """Predict the conditional densities p(y|z) for reduced inputs.

        Parameters
        ----------
        Z : array-like of shape (m, dz)
            Reduced inputs, as ``transform`` returns them.

        Returns
        -------
        Distribution
            One density for each row of Z.

        See Also
        --------
        transform : The reduced inputs.
        predict_dist : The densities for inputs that are not reduced.
        """
        check_is_fitted(self)
        return self._at(check_reduced(Z, self.n_components_))

    @property
    def components_(self) -> Array:
        """The directions of the fitted reducer, (dz, dx)."""
        return np.asarray(self.reducer_.components_)

    def _inputs(self, X: Any) -> Array:
        check_is_fitted(self)
        values = check_inputs(self, X)
        return np.asarray(self.reducer_.transform(X if hasattr(X, "columns") else values))

    def _at(self, inputs: Array) -> Distribution:
        dist: Distribution = self.density_.predict_dist(inputs)
        return dist

    @property
    def _width(self) -> int:
        return int(getattr(self.density_, "_width", 1))

    def _parts(self, rng: np.random.Generator) -> tuple[Any, Any]:
        """Copies of reducer and density, not fitted, with seeds."""
        reducer = SIR() if self.reducer is None else self.reducer
        density = LSCDE() if self.density is None else self.density
        check_part("reducer", reducer, "transform", "a transformer")
        check_part("density", density, "predict_dist", "an estimator of conditional densities")

        def draw() -> int:
            return int(rng.integers(2**31))

        # The seeds are the same for all folds and all numbers of components.
        return fill_seeds(clone(reducer), draw), fill_seeds(clone(density), draw)

    def _tries(self) -> bool:
        """Whether several numbers of components are tried."""
        return not (self.n_components is None or isinstance(self.n_components, Integral))

    def _fold_labels(self, X: Array, Y: Array, weight: Array, rng: np.random.Generator) -> Indices:
        """The fold of each sample, (n,)."""
        return label_rows(self.cv, X, Y, weight, rng, name=type(self).__name__, fix="n_components")

    def _candidates(
        self, reducer: Any, X: Array, weight: Array, folds: Sequence[tuple[Indices, Indices]]
    ) -> list[int | None]:
        """The numbers of components to try; None leaves the reducer as it is."""
        varying = int(Scaling.of(X, weight / weight.sum()).varies.sum())
        # A training part needs a sample for each component.  The reducer refuses constant inputs.
        most = min([max(varying, 1), *(len(train) for train, _ in folds)])
        candidates = check_counts("n_components", self.n_components, most=most)
        if candidates != [None]:
            check_has_components(reducer)
        return candidates

    def _losses(
        self,
        steps: TwoSteps,
        rows: Indices,
        folds: Sequence[tuple[Indices, Indices]],
        candidates: Sequence[int | None],
    ) -> Array:
        """Held-out losses of all candidates, (candidates, folds); NaN if there is only one."""
        if len(candidates) == 1:
            return np.full((1, 1), np.nan)
        trials = [(d, rows[train], rows[test]) for d in candidates for train, test in folds]
        by_trial = list(parallel_map(self.n_jobs)(steps.loss, trials))
        return np.reshape(by_trial, (len(candidates), len(folds)))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "density_")
