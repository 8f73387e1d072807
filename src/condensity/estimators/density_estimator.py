"""Base of the estimators of p(y|x): prediction, scoring and scikit-learn's tags."""

from __future__ import annotations

from copy import copy
from typing import Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from condensity._typing import Array
from condensity._utils.dask_collections import delayed_chunks, is_dask, map_chunks, share
from condensity._utils.extras import require
from condensity._utils.validation import (
    check_inputs,
    check_same_length,
    check_targets,
    check_weight,
    remember_inputs,
)
from condensity.data.prepare import TrainingData
from condensity.distributions.base import Distribution
from condensity.distributions.chunked import in_chunks
from condensity.distributions.lazy import LazyDistribution
from condensity.metrics import squared_loss_by_row


class FittedDensity(Protocol):
    """The density that a fitted estimator keeps."""

    def at(self, X: Array) -> Distribution:
        """The densities p(y|x) for the rows of ``X`` (m, dx)."""

    @property
    def width(self) -> int:
        """Number of Gaussians in each density."""


class ConditionalDensityEstimator(RegressorMixin, BaseEstimator):
    """Base of the estimators of p(y|x); a subclass has ``fit``."""

    _density: FittedDensity
    _y_axes: int
    _n_outputs: int
    input_range_: Array

    def predict_dist(self, X: Any) -> Distribution:
        """Predict the conditional densities p(y|x).

        Parameters
        ----------
        X : array-like or Dask collection of shape (m, dx)
            Inputs.

        Returns
        -------
        Distribution
            One density for each row, with ``pdf``, ``cdf``, ``quantile``, ``mean``, ``sample`` and
            more.  It is a ``Mixture``; a ``BoundedMixture`` if the outputs have bounds, a
            ``ChunkedDistribution`` for very many rows, a ``LazyDistribution`` for a Dask
            collection.

        See Also
        --------
        predict : The conditional means.
        """
        # A copy, so that the densities do not change when the estimator is fitted again.
        model = copy(self)
        if is_dask(X):
            check_is_fitted(self)
            return LazyDistribution(model, X, self._n_outputs)
        return in_chunks(self._inputs(X), model._at, self._width, self._n_outputs)

    def predict(self, X: Any) -> Any:
        """Predict the conditional mean E[y|x].

        Parameters
        ----------
        X : array-like or Dask collection of shape (m, dx)
            Inputs.

        Returns
        -------
        ndarray or Dask array of shape (m,) or (m, dy)
            The means; their number of axes is that of y in ``fit``.

        See Also
        --------
        predict_dist : The conditional densities.
        """
        if is_dask(X):
            check_is_fitted(self)
            return map_chunks(self, "predict", X, () if self._y_axes == 1 else (self._n_outputs,))
        mean = self.predict_dist(X).mean()
        return mean if self._y_axes == 1 else mean.reshape(len(mean), -1)

    def outside_range(self, X: Any) -> Any:
        """Tell which inputs are outside their range in the training samples.

        Densities for such rows are extrapolations: their widths are those of the samples nearby, so
        they do not contain the error of an extrapolated mean.

        Parameters
        ----------
        X : array-like or Dask collection of shape (m, dx)
            Inputs.

        Returns
        -------
        ndarray or Dask array of bool, of shape (m, dx)
            Whether each value is below ``input_range_[0]`` or above ``input_range_[1]``.

        See Also
        --------
        predict_dist : The densities.

        Examples
        --------
        >>> from condensity import LSCDE
        >>> from condensity.datasets import toy_b
        >>> X, y = toy_b().sample(200, random_state=0)
        >>> model = LSCDE(random_state=0).fit(X[:, 1:3], y)
        >>> model.outside_range([[0.5, 0.5], [0.5, 99.0]]).any(axis=1)
        array([False,  True])
        """
        check_is_fitted(self)
        if not hasattr(self, "input_range_"):
            raise AttributeError(
                "this model was fitted by an older version, which did not keep the ranges of its "
                "inputs: fit it again"
            )
        if is_dask(X):
            return map_chunks(self, "outside_range", X, (len(self.input_range_[0]),))
        low, high = self.input_range_
        values = check_inputs(self, X)
        return (values < low) | (values > high)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute minus the mean squared loss of the densities, Error_CDE of the paper.

        The loss is ``1/2 int p(y'|x)^2 dy' - p(y|x)``, in the units of 1 / y.  Higher scores are
        better; there is no upper bound.

        Parameters
        ----------
        X : array-like or Dask collection of shape (m, dx)
            Inputs.
        y : array-like or Dask collection of shape (m,) or (m, dy)
            Targets.
        sample_weight : array-like or Dask collection of shape (m,), default=None
            Weights of the samples in the mean; None weighs all alike.

        Returns
        -------
        float
            The score.

        See Also
        --------
        condensity.metrics.squared_loss : The loss itself.
        """
        if is_dask(X, y):
            check_is_fitted(self)
            return _mean_score(self, X, y, sample_weight)
        dist = self.predict_dist(X)
        Y, _ = check_targets(y, n_outputs=self._n_outputs)
        check_same_length(dist, Y)
        weight = check_weight(sample_weight, len(Y))
        return -float(np.average(squared_loss_by_row(dist, Y), weights=weight))

    def _inputs(self, X: Any) -> Array:
        """Validated inputs in the coordinates that ``_at`` expects, (m, ...)."""
        check_is_fitted(self)
        return check_inputs(self, X)

    def _at(self, inputs: Array) -> Distribution:
        """The densities for validated inputs."""
        return self._density.at(inputs)

    @property
    def _width(self) -> int:
        """Number of Gaussians in each density."""
        return self._density.width

    def _set_density(self, data: TrainingData, density: FittedDensity) -> None:
        """Set the attributes that predictions need."""
        input_range = data.input_range()
        remember_inputs(self, data.header)
        self._density, self.input_range_ = density, input_range
        self._y_axes, self._n_outputs = data.y_axes, data.n_outputs

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_density")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        # The score has the scale of 1 / y, not that of R^2.
        tags.regressor_tags.poor_score = True
        return tags


def _mean_score(model: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """The score over all chunks of Dask collections; only sums are collected."""
    dask = require("dask", "dask")
    shared = share(model)
    chunks = delayed_chunks(X, y, sample_weight)
    sums = [dask.delayed(_chunk_score)(shared, *chunk) for chunk in chunks]
    total, weight = np.sum(dask.compute(sums)[0], axis=0)
    check_weight([weight], 1)
    return float(total / weight)


def _chunk_score(
    model: Any, number: int, X: Any, y: Any, sample_weight: Any
) -> tuple[float, float]:
    """The score of one chunk times its weight, and its weight."""
    weight = check_weight(sample_weight, len(X), empty=True) if len(X) else np.zeros(0)
    total = float(weight.sum())
    return (total * model.score(X, y, weight), total) if total else (0.0, 0.0)
