"""Two steps, one estimator: first reduce the inputs, then estimate the density of y given z."""

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
    check_enough,
    check_folds,
    check_inputs,
    check_reduced,
    check_sample,
    remember_inputs,
)
from condensity.data.folds import draw_fold_labels, is_contingency_table
from condensity.data.sample import Scaling, canonical
from condensity.distributions.base import Distribution
from condensity.estimators.base import ConditionalDensityEstimator, score_columns
from condensity.estimators.lscde import LSCDE
from condensity.estimators.sliced import SIR
from condensity.estimators.two_steps import TwoSteps, check_has_components, splits
from condensity.fitting.selection import first_minimum


class Reduced(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ConditionalDensityEstimator):
    """A density on reduced inputs: p(y|x) = p(y|z), with z found beforehand by a transformer.

    The way of the methods that ``LSCE`` is compared with: the first step knows nothing of the
    second.  The number of components can be chosen by how well both steps together describe
    samples that neither has seen.

    Parameters
    ----------
    reducer : None or transformer, default=None
        Anything with ``fit(X, y)`` and ``transform``, such as ``SIR``, ``LSCE``, ``FixedSubspace``
        or scikit-learn's ``PCA``; None is ``SIR()``.
    density : None or estimator of conditional densities, default=None
        Anything with ``fit(Z, y)`` and ``predict_dist``, such as ``EpsilonKDE``; None is
        ``LSCDE()``.
    n_components : None, int, "auto" or sequence of int, default=None
        Dimension of z.  None leaves the reducer as it is; "auto" chooses from 1, 2, ... up to the
        number of inputs, a sequence from what it holds: the one with the smallest squared loss at
        held-out samples, for which reducer and density are both fitted anew without the fold.
    cv : int, splitter or iterable of splits, default=5
        Number of random folds, or whatever holds every sample out exactly once.  Folds that are
        given also become the ``cv`` of reducer and density, in place of their own, so that samples
        they keep together stay together.
    random_state : None, int, RandomState or Generator, default=None
        Draws the folds, and seeds reducer and density where they have no ``random_state``.
    n_jobs : None or int, default=None
        Workers for the cross-validation; the answer does not depend on it.

    Attributes
    ----------
    reducer_, density_
        The two steps, fitted to all samples.
    n_components_ : int
    components_ : (dz, dx)
        Those of ``reducer_``, if it has any.
    cv_results_ : dict of arrays
        Held-out scores of the numbers of components that were tried, in the units of ``score``.
    n_features_in_, feature_names_in_
        Inputs seen in ``fit``.

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
        """Fit the reducer, then the density to what it makes of X.

        Parameters
        ----------
        X : array-like (n, dx)
        y : array-like (n,) or (n, dy)
        sample_weight : array-like (n,), optional
            Integer weights are repetitions.  Weights that differ need a reducer and a density
            that take them.

        Returns
        -------
        self
        """
        fold_rng, seed_rng = check_rng(self.random_state).spawn(2)
        reducer, density = self._parts(seed_rng)
        values, Y, weight, y_axes = check_sample(self, X, y, sample_weight)
        rows = np.flatnonzero(weight > 0)
        given = not (self.cv is None or isinstance(self.cv, Integral))
        choosing = not (self.n_components is None or isinstance(self.n_components, Integral))
        labels = self._labels(values, Y, weight, fold_rng) if given or choosing else None
        folds = [] if labels is None else splits(labels[rows])
        varying = int(Scaling.of(values[rows], weight[rows] / weight.sum()).varies.sum())
        # A fold must leave a sample for each component; inputs that do not vary are refused below.
        most = min([max(varying, 1), *(len(train) for train, _ in folds)])
        candidates = check_counts("n_components", self.n_components, most=most)
        if candidates != [None]:
            check_has_components(reducer)
        named = X if hasattr(X, "columns") else values
        target = Y[:, 0] if y_axes == 1 else Y
        steps = TwoSteps(reducer, density, named, values, target, weight, labels if given else None)
        losses = np.full((1, 1), np.nan)
        if len(candidates) > 1:
            trials = [(d, rows[train], rows[test]) for d in candidates for train, test in folds]
            found = list(parallel_map(self.n_jobs)(steps.loss, trials))
            losses = np.reshape(found, (len(candidates), len(folds)))
        best = candidates[first_minimum(losses.mean(axis=1))]
        with one_blas_thread():
            reducer, density = steps.fit(rows, best)
        remember_inputs(self, X)
        self.reducer_, self.density_ = reducer, density
        self.n_components_ = self._n_features_out = steps.reduce(reducer, rows[:1]).shape[1]
        self._y_axes, self._n_outputs = y_axes, Y.shape[1]
        tried = [self.n_components_ if d is None else d for d in candidates]
        self.cv_results_ = {"param_n_components": np.array(tried)} | score_columns(-losses)
        return self

    def transform(self, X: Any) -> Array:
        """The reduced inputs z, (m, dz)."""
        return self._inputs(X)

    def predict_dist_reduced(self, Z: Any) -> Distribution:
        """Conditional densities p(y|z) for reduced inputs ``Z`` (m, dz), as ``transform`` gives."""
        check_is_fitted(self)
        return self._at(check_reduced(Z, self.n_components_))

    @property
    def components_(self) -> Array:
        """The directions of the fitted reducer."""
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
        """Reducer and density, not fitted, with seeds."""
        reducer = SIR() if self.reducer is None else self.reducer
        density = LSCDE() if self.density is None else self.density
        check_part("reducer", reducer, "transform", "a transformer")
        check_part("density", density, "predict_dist", "an estimator of conditional densities")
        # The same seeds for all folds and all numbers of components.
        parts = [fill_seeds(clone(p), lambda: int(rng.integers(2**31))) for p in (reducer, density)]
        return parts[0], parts[1]

    def _labels(self, X: Array, Y: Array, weight: Array, rng: np.random.Generator) -> Indices:
        """The fold of each row, (n,)."""
        folds = check_folds(self.cv, X, Y, weight)
        if not isinstance(folds, int):
            return folds
        measure, origin, group = canonical(X, Y, weight)
        name, fix = type(self).__name__, "n_components"
        check_enough(name, len(origin), len(measure), n_folds=folds, fix=fix)
        labels = np.zeros(len(X), dtype=np.intp)
        none = np.arange(0)
        labels[origin] = draw_fold_labels(
            group, folds, table=is_contingency_table(measure), centers=none, rng=rng
        )
        return labels

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "density_")
