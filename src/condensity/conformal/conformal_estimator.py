"""Conformal prediction with conditional densities, in the shape scikit-learn expects."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from condensity._typing import Array, Indices
from condensity._utils.composites import last_step, predict_dist
from condensity._utils.parallel import parallel_map
from condensity._utils.parameters import check_count, check_option, check_part, check_rng
from condensity._utils.seeds import fill_seeds
from condensity._utils.validation import (
    check_inputs,
    check_same_length,
    check_sample,
    remember_inputs,
)
from condensity.conformal.calibration_rows import Splits, calibration_rows
from condensity.conformal.calibration_scores import CalibrationScores, warn_about_ties
from condensity.conformal.conformal_regions import ConformalRegions
from condensity.conformal.conformity import conformity_of
from condensity.distributions import _checks as checks
from condensity.distributions.base import Distribution
from condensity.distributions.chunked import mixture_of
from condensity.estimators.density_estimator import ConditionalDensityEstimator
from condensity.estimators.lsce import LSCE


class Conformal(ConditionalDensityEstimator):
    """Regions of y with guaranteed coverage, from any estimator of conditional densities.

    Each sample gets a score: the level of the smallest region of its density that contains y, by a
    model that has not seen the sample.  A region for new inputs contains all y whose score is not
    unusual among the scores of the samples.  If the samples and the new one are exchangeable (for
    instance independent and from one distribution), it contains the new y with at least the wanted
    probability, however wrong the model and however few the samples.  The better the density, the
    smaller the regions.

    Parameters
    ----------
    estimator : None or estimator, default=None
        Estimator with ``predict_dist``, or a pipeline that ends in one.  None is ``LSCE()``.
    method : {"hpd", "quantile"}, default="hpd"
        "hpd": highest-density regions [1]_, which may consist of several intervals, also for
        several outputs.  "quantile": central intervals [2]_, for one output.
    cv : "split", "prefit", int, splitter or iterable, default="split"
        "split" calibrates with a random part of the samples and fits to the others.  "prefit"
        calibrates a fitted estimator with all samples, which it must not have seen.  An integer is
        a number of random folds: one model is fitted without each fold, and every sample is used
        for the fit and for calibration [3]_.  Splits must hold out every sample exactly once.
    calibration_size : float or int, default=0.4
        Share or number of the samples for calibration; for ``cv="split"``.
    by : None, "z" or callable, default=None
        Groups that are calibrated by themselves, so that the guarantee holds in each of them [4]_.
        "z": bins of the first direction of the estimator.  A function of X gives labels.  Labels
        can also be passed to ``fit`` and ``predict_regions``.
    n_bins : int, default=4
        Number of bins for ``by="z"``, with equal numbers of training samples.
    likelihood_ratio : None or callable, default=None
        Function of X with the ratio of the densities of new and old inputs, up to a factor: weights
        for inputs whose distribution changes (covariate shift) [5]_.
    n_draws : int, default=1000
        Draws from each density that give the scores of several outputs.
    random_state : None, int, RandomState or Generator, default=None
        Seed for the split, the folds, the draws, and for the estimator if it has none.
    n_jobs : None or int, default=None
        Number of workers for the fits without each fold.  The result does not depend on it.

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted models: one, or one for each fold.
    calibration_ : list of CalibrationScores
        Scores of the samples that each model has not seen.
    n_calibration_ : int
        Number of calibration samples.
    n_features_in_ : int
        Number of inputs seen in ``fit``.
    feature_names_in_ : ndarray of shape (dx,)
        Names of the inputs, if ``fit`` was given a data frame.

    See Also
    --------
    ConformalRegions : The regions.
    calibrate : Recalibrated densities instead of regions.

    Notes
    -----
    ``guarantee(level)`` returns the coverage that is proved.  It is the level itself, except with
    folds: there it is ``1 - 2 alpha - 2 (1 - 1/K) / (n/K + 1)`` for ``level = 1 - alpha`` and K
    folds of n samples [3]_, although the coverage is usually near the level or above it.  With
    groups, n is the number of samples in the smallest group.  No guarantee is proved for folds with
    ``by="z"``, whose bins differ between folds, or with ``likelihood_ratio``.  Coverage is an
    average over samples, and over x: it may be lower for some x and higher for others.

    References
    ----------
    .. [1] R. Izbicki, G. Shimizu, R. B. Stern, "CD-split and HPD-split: efficient conformal regions
       in high dimensions," Journal of Machine Learning Research 23(87), 2022.
    .. [2] V. Chernozhukov, K. Wuethrich, Y. Zhu, "Distributional conformal prediction," Proceedings
       of the National Academy of Sciences 118(48), 2021.
    .. [3] V. Vovk, I. Nouretdinov, V. Manokhin, A. Gammerman, "Cross-conformal predictive
       distributions," Proceedings of Machine Learning Research 91, 2018.
    .. [4] V. Vovk, A. Gammerman, G. Shafer, "Algorithmic Learning in a Random World," Springer,
       2005.
    .. [5] R. J. Tibshirani, R. Foygel Barber, E. J. Candes, A. Ramdas, "Conformal prediction under
       covariate shift," Advances in Neural Information Processing Systems 32, 2019.

    Examples
    --------
    >>> from condensity import LSCDE
    >>> from condensity.conformal import Conformal
    >>> from condensity.datasets import toy_b
    >>> X, y = toy_b().sample(300, random_state=0)
    >>> model = Conformal(LSCDE(bandwidth=0.3, penalty=0.01), random_state=0).fit(X[:, 1:2], y)
    >>> model.n_calibration_
    120
    >>> X_new, y_new = toy_b().sample(2000, random_state=1)
    >>> regions = model.predict_regions(X_new[:, 1:2])
    >>> bool(regions.contains(y_new, level=0.8).mean() > 0.75)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        method: str = "hpd",
        cv: Any = "split",
        calibration_size: float = 0.4,
        by: Any = None,
        n_bins: int = 4,
        likelihood_ratio: Callable[[Any], Any] | None = None,
        n_draws: int = 1000,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.calibration_size = calibration_size
        self.by = by
        self.n_bins = n_bins
        self.likelihood_ratio = likelihood_ratio
        self.n_draws = n_draws
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Fit the models and calibrate them with samples that they have not seen.

        Parameters
        ----------
        X : array-like of shape (n, dx)
            Inputs.
        y : array-like of shape (n,) or (n, dy)
            Targets.
        groups : None or array-like of shape (n,), default=None
            Labels of groups that are calibrated by themselves.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        check_option("method", self.method, ("hpd", "quantile"))
        check_count("n_bins", self.n_bins, low=1)
        check_count("n_draws", self.n_draws, low=10)
        values, Y, _, axes = check_sample(self, X, y, None)
        if self.method == "quantile" and axes == 2:
            axes = _one_output(Y.shape[1])
        named, target = X if hasattr(X, "columns") else values, Y[:, 0] if axes == 1 else Y
        if groups is not None:
            groups = _labels(groups, len(Y), "groups")
        split_rng, seed_rng, draw_rng = check_rng(self.random_state).spawn(3)
        folds = calibration_rows(self.cv, self.calibration_size, named, target, groups, split_rng)
        models = self._models(named, target, folds, seed_rng)
        rngs = draw_rng.spawn(len(models) + 1)
        self._bins = [
            self._edges(m, named, train) for m, (train, _) in zip(models, folds, strict=True)
        ]
        self._given_groups = groups is not None
        weights = self._weights(named)
        parts = []
        for k, (model, (_, held_out)) in enumerate(zip(models, folds, strict=True)):
            own = _safe_indexing(named, held_out)
            labels = self._groups(k, model, own, None if groups is None else groups[held_out])
            part = conformity_of(self.method, predict_dist(model, own), self.n_draws, rngs[k])
            scores = part.score(Y[held_out])
            parts.append(CalibrationScores.of(scores, weights[held_out], labels))
        warn_about_ties(np.concatenate([part.scores for part in parts]), Y.shape[1])
        remember_inputs(self, X)
        self.estimators_, self.calibration_, self._seed = models, parts, rngs[-1]
        self.n_calibration_ = sum(len(part.scores) for part in parts)
        self._y_axes, self._n_outputs = axes, Y.shape[1]
        return self

    def predict_dist(self, X: Any) -> Distribution:
        """Predict the conditional densities of the model, or the average over the folds.

        They are not recalibrated; see ``calibrate``.

        Parameters
        ----------
        X : array-like of shape (m, dx)
            Inputs.

        Returns
        -------
        Distribution
            One density for each row.

        See Also
        --------
        predict_regions : Regions with guaranteed coverage.
        """
        named = self._checked(X)
        dists = [predict_dist(model, named) for model in self.estimators_]
        return dists[0] if len(dists) == 1 else mixture_of(dists)

    def predict_regions(self, X: Any, groups: Any = None) -> ConformalRegions:
        """Predict regions of y; the level is chosen when they are asked.

        Parameters
        ----------
        X : array-like of shape (m, dx)
            Inputs.
        groups : None or array-like of shape (m,), default=None
            Labels of the groups of the rows, if ``fit`` was given labels.

        Returns
        -------
        ConformalRegions
            With ``interval``, ``region``, ``contains``, ``p_value`` and ``size``.
        """
        named = self._checked(X)
        rows = len(named)
        if (groups is not None) != self._given_groups:
            raise ValueError(
                "groups must be given to both fit and predict_regions or to neither: fit was "
                f"called {'with' if self._given_groups else 'without'} groups"
            )
        labels = None if groups is None else _labels(groups, rows, "groups")
        # A copy, so that every call has the same draws.
        rngs = _copy_of(self._seed).spawn(len(self.estimators_))
        pairs = list(zip(self.estimators_, rngs, strict=True))
        dists = [predict_dist(model, named) for model, _ in pairs]
        return ConformalRegions(
            [
                conformity_of(self.method, dist, self.n_draws, rng)
                for dist, (_, rng) in zip(dists, pairs, strict=True)
            ],
            self.calibration_,
            [self._groups(k, model, named, labels) for k, (model, _) in enumerate(pairs)],
            self._weights(named),
        )

    def guarantee(self, level: float = 0.9) -> float:
        """Coverage that is proved for regions of a level.

        Parameters
        ----------
        level : float, default=0.9
            Level of the regions, strictly between 0 and 1.

        Returns
        -------
        float
            Lower bound of the probability that a region contains y, for exchangeable samples; with
            ``likelihood_ratio``, if the ratio is right.  With folds and groups it is the bound of
            the group with the fewest samples.  It is 0 with folds and ``by="z"`` or
            ``likelihood_ratio``, where no guarantee is proved.
        """
        check_is_fitted(self)
        alpha, folds = 1 - checks.probability(level), len(self.estimators_)
        if folds == 1:
            return level
        bins = isinstance(self.by, str) and not self._given_groups  # others in each fold
        if bins or self.likelihood_ratio is not None:
            return 0.0
        labels = np.concatenate([part.groups for part in self.calibration_])
        fewest = np.unique(labels, return_counts=True)[1].min()
        extra = 2 * (1 - 1 / folds) / (fewest / folds + 1)
        return max(0.0, float(1 - 2 * alpha - extra))

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        values = check_inputs(self, X)
        return X if hasattr(X, "columns") else values

    def _models(self, X: Any, y: Any, folds: Splits, rng: np.random.Generator) -> list[Any]:
        """One model for each split: the given one, or fitted to the training rows."""
        estimator = LSCE() if self.estimator is None else self.estimator
        check_part(
            "estimator", last_step_of(estimator), "predict_dist", "an estimator of densities"
        )
        if self.cv == "prefit":
            return [estimator]
        base = fill_seeds(clone(estimator), lambda: int(rng.integers(2**31)))
        fit = partial(_fitted, base, X, y)
        return list(parallel_map(self.n_jobs)(fit, [train for train, _ in folds]))

    def _edges(self, model: Any, X: Any, train: Indices) -> Array | None:
        """Inner edges of the bins of the first direction, from training samples only."""
        if not (isinstance(self.by, str) and self.by == "z"):
            return None
        if not len(train):
            raise ValueError(
                "by='z' needs training samples for its bins, and cv='prefit' has none: pass a "
                "function of X as by, or cv='split'"
            )
        levels = np.arange(1, self.n_bins) / self.n_bins
        return np.quantile(_first_direction(model, _safe_indexing(X, train)), levels)

    def _groups(self, k: int, model: Any, X: Any, labels: Any) -> Any:
        """Labels of the groups of the rows of ``X`` for model k."""
        if labels is not None:
            return labels
        if self.by is None:
            return np.zeros(len(X), dtype=int)
        if callable(self.by):
            return _labels(self.by(X), len(X), "the result of by")
        check_option("by", self.by, ("z",))
        edges: Any = self._bins[k]
        return np.searchsorted(edges, _first_direction(model, X))

    def _weights(self, X: Any) -> Array:
        """Weights of the rows of ``X``."""
        if self.likelihood_ratio is None:
            return np.ones(len(X))
        weights = np.asarray(self.likelihood_ratio(X), dtype=float)
        if weights.shape != (len(X),) or not (np.isfinite(weights) & (weights >= 0)).all():
            raise ValueError(
                f"likelihood_ratio must return {len(X)} finite numbers >= 0, one for each row, got "
                f"shape {weights.shape}"
            )
        return weights

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "calibration_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.method != "quantile"
        return tags


def last_step_of(estimator: Any) -> Any:
    """The last step of a pipeline or a search that need not be fitted yet."""
    if hasattr(estimator, "steps"):
        return last_step_of(estimator.steps[-1][1])
    return getattr(estimator, "estimator", estimator) if hasattr(estimator, "refit") else estimator


def _one_output(count: int) -> int:
    """Number of axes of y, for a method with one output; y was given as a table."""
    if count > 1:
        raise ValueError(
            f"method='quantile' is for one output, but y has {count}: use method='hpd', or fit one "
            "output at a time"
        )
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected: pass y.ravel()",
        DataConversionWarning,
        stacklevel=3,
    )
    return 1


def _fitted(estimator: Any, X: Any, y: Any, rows: Indices) -> Any:
    return clone(estimator).fit(_safe_indexing(X, rows), y[rows])


def _first_direction(model: Any, X: Any) -> Array:
    """First component of the reduced inputs, (m,)."""
    last, inputs = last_step(model, X)
    if not hasattr(last, "transform"):
        raise ValueError(
            f"by='z' needs an estimator with directions, such as LSCE, and {type(last).__name__} "
            "has none: pass a function of X as by"
        )
    return np.asarray(last.transform(inputs), dtype=float)[:, 0]


def _labels(labels: Any, n: int, name: str) -> Any:
    out = np.asarray(labels)
    check_same_length(range(n), out)
    if out.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, one label a row, got {out.shape}")
    return out


def _copy_of(rng: np.random.Generator) -> np.random.Generator:
    from copy import deepcopy

    return deepcopy(rng)
