"""What all conditional density estimators share: the way in, the way out, and their tags."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, Protocol, cast

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from condensity._typing import Array
from condensity._utils.dask_collections import delayed_chunks, is_dask, map_chunks, share
from condensity._utils.extras import require
from condensity._utils.parallel import thread_map
from condensity._utils.parameters import check_bandwidth, check_penalty
from condensity._utils.validation import (
    check_inputs,
    check_same_length,
    check_targets,
    check_weight,
    remember_inputs,
)
from condensity.data.prepare import TrainingData, prepare
from condensity.distributions.base import Distribution
from condensity.distributions.chunked import in_chunks
from condensity.distributions.lazy import LazyDistribution
from condensity.fitting.density import KernelDensity
from condensity.fitting.selection import BANDWIDTHS, PENALTIES, Candidates, Choice
from condensity.lsce.averaged import Ensemble
from condensity.lsce.settings import Setting
from condensity.metrics import squared_loss_by_row


class Answer(Protocol):
    """What a fitted estimator keeps in order to answer."""

    def at(self, X: Array) -> Distribution:
        """The densities p(y|x) for the rows of ``X`` (m, dx)."""

    @property
    def width(self) -> int:
        """Number of Gaussians in each answer."""


class KernelEstimator(BaseEstimator):
    """Base of all that learns with kernels on samples: the way in."""

    n_centers: int | str
    bandwidth: float | tuple[float, float] | None
    penalty: float | None
    cv: Any
    #: Centres that ``n_centers="auto"`` allows itself: the cost of a fit grows with their square.
    _auto_centers = 200

    def _prepare(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        rng: np.random.Generator,
        *,
        scored: bool,
        n_members: int = 1,
        subsample: int | None = None,
        bounds: Any = None,
    ) -> TrainingData:
        """Validate the samples, and draw centres and folds; without folds unless ``scored``."""
        return prepare(
            self,
            X,
            y,
            sample_weight,
            rng,
            cv=(5 if self.cv is None else self.cv) if scored else None,
            to_fix=self._what_to_fix(),
            n_centers=self.n_centers,
            auto_centers=self._auto_centers,
            n_members=n_members,
            subsample=subsample,
            bounds=bounds,
            mapper=thread_map(getattr(self, "n_jobs", None)),
        )

    def _what_to_fix(self) -> str:
        """The parameters that make cross-validation unnecessary once they are given."""
        return "both bandwidth and penalty"

    def _candidates(self, grid: tuple[float, ...] = BANDWIDTHS) -> Candidates:
        """The grid of the search, or the single point that the parameters fix."""
        sigmas = check_bandwidth(self.bandwidth)
        penalty = check_penalty(self.penalty)
        return Candidates(
            tuple((s, s) for s in grid) if sigmas is None else (sigmas,),
            PENALTIES if penalty is None else (penalty,),
        )


class ConditionalDensityEstimator(RegressorMixin, KernelEstimator):
    """Base of the estimators of p(y|x): subclasses learn, this class asks and answers."""

    _density: Answer
    _y_axes: int
    _n_outputs: int
    bandwidth_: float | tuple[float, float]

    def predict_dist(self, X: Any) -> Distribution:
        """Conditional densities p(y|x), one for each row of ``X``.

        Parameters
        ----------
        X : array-like (m, dx)

        Returns
        -------
        Distribution
            Densities that answer ``pdf``, ``cdf``, ``quantile``, ``mean``, ``sample`` and more.  It
            is a ``Mixture``, for outputs with bounds a ``BoundedMixture``, for very many rows a
            ``ChunkedDistribution``, and for Dask collections a ``LazyDistribution``.
        """
        if is_dask(X):
            check_is_fitted(self)
            return LazyDistribution(self, X, self._n_outputs)
        # A copy, so that densities stay what they were when the estimator is fitted once more.
        at = copy(self)._at
        return in_chunks(self._inputs(X), at, self._width, self._n_outputs)

    def predict(self, X: Any) -> Any:
        """Conditional mean E[y|x], (m,) or (m, dy) as y was given to ``fit``."""
        if is_dask(X):
            check_is_fitted(self)
            return map_chunks(self, "predict", X, () if self._y_axes == 1 else (self._n_outputs,))
        mean = self.predict_dist(X).mean()
        return mean if self._y_axes == 1 else mean.reshape(len(mean), -1)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Minus the paper's Error_CDE in the units of y: higher is better, no upper bound.

        See ``condensity.metrics.squared_loss``.
        """
        if is_dask(X, y):
            check_is_fitted(self)
            return mean_score(self, X, y, sample_weight)
        dist = self.predict_dist(X)
        Y, _ = check_targets(y, n_outputs=self._n_outputs)
        check_same_length(dist, Y)
        weight = check_weight(sample_weight, len(Y))
        return -float(np.average(squared_loss_by_row(dist, Y), weights=weight))

    def _inputs(self, X: Any) -> Array:
        """Inputs past the gate, in the coordinates that ``_at`` understands, (m, ...)."""
        check_is_fitted(self)
        return check_inputs(self, X)

    def _at(self, inputs: Array) -> Distribution:
        """The densities for inputs past the gate."""
        return self._density.at(inputs)

    @property
    def _width(self) -> int:
        """Number of Gaussians in each answer: what a row of them costs."""
        return self._density.width

    def _keep(
        self, data: TrainingData, density: KernelDensity | Ensemble, setting: Choice | Setting
    ) -> None:
        """Set what every fitted estimator shows: last of all, so that no fit is half done."""
        self._remember(data, density)
        self.bandwidth_ = (setting.sigma_z, setting.sigma_y)
        self.penalty_ = setting.penalty
        self.n_centers_ = len(data.centers)

    def _remember(self, data: TrainingData, density: Answer) -> None:
        """Set what every answer needs."""
        remember_inputs(self, data.header)
        self._density = density
        self._y_axes, self._n_outputs = data.y_axes, data.n_outputs

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_density")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        # The score is a density's: its scale is that of 1 / y, not that of R^2.
        tags.regressor_tags.poor_score = True
        return tags


def kernel_density(data: TrainingData, W: Array, alpha: Array, choice: Choice) -> KernelDensity:
    """The density with coefficients ``alpha`` (b,) at ``W`` (dz, dx), in the units of the data."""
    return KernelDensity.build(
        data.x_scaling,
        data.y_scaling,
        data.plan.basis,
        W=W,
        alpha=alpha,
        sigma_z=choice.sigma_z,
        sigma_y=choice.sigma_y,
    )


def cv_table(choices: list[tuple[int, Choice]]) -> dict[str, Array]:
    """Cross-validation results in scikit-learn's form; scores are minus losses.

    ``choices`` pairs each number of components tried with the choice made there.
    """
    rows = [
        (dz, *choice.candidates.bandwidths[i], penalty, choice.losses[i, j])
        for dz, choice in choices
        for i in range(len(choice.candidates.bandwidths))
        for j, penalty in enumerate(choice.candidates.penalties)
    ]
    dz, sigma_z, sigma_y, penalties, losses = zip(*rows, strict=True)
    parameters = {
        "param_n_components": np.array(dz),
        "param_sigma_z": np.array(sigma_z),
        "param_sigma_y": np.array(sigma_y),
        "param_penalty": np.array(penalties),
    }
    return parameters | score_columns(-np.array(losses))


def reporter(verbose: Any, show: Callable[[Any], None]) -> Callable[[Any], None]:
    """What hears of the progress: a callable given by the user, ``show``, or no one."""
    if callable(verbose):
        return cast(Callable[[Any], None], verbose)
    return show if verbose else lambda progress: None


def score_columns(scores: Array) -> dict[str, Array]:
    """Columns for scores (candidates, folds)."""
    mean = scores.mean(axis=1)
    summary: dict[str, Any] = {
        "mean_test_score": mean,
        "std_test_score": scores.std(axis=1),
        "rank_test_score": np.argsort(np.argsort(-mean, kind="stable")) + 1,
    }
    return summary | {f"split{k}_test_score": column for k, column in enumerate(scores.T)}


def mean_score(model: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """The score of a model over all parts: only sums come back."""
    dask = require("dask", "dask")
    shared = share(model)
    sums = [dask.delayed(_score)(shared, *block) for block in delayed_chunks(X, y, sample_weight)]
    total, weight = np.sum(dask.compute(sums)[0], axis=0)
    check_weight([weight], 1)
    return float(total / weight)


def _score(model: Any, place: int, X: Any, y: Any, sample_weight: Any) -> tuple[float, float]:
    """The score of one part times its weight, and its weight."""
    weight = check_weight(sample_weight, len(X), empty=True) if len(X) else np.zeros(0)
    total = float(weight.sum())
    return (total * model.score(X, y, weight), total) if total else (0.0, 0.0)
