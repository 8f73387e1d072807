"""Bases of the estimators that reduce the inputs to ``z = W x``."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from condensity._typing import Array
from condensity._utils.dask_collections import is_dask, map_chunks
from condensity._utils.parameters import check_count
from condensity._utils.validation import check_inputs, check_reduced
from condensity.data.sample import Scaling
from condensity.distributions.base import Distribution
from condensity.distributions.chunked import in_chunks
from condensity.estimators.density_estimator import ConditionalDensityEstimator
from condensity.estimators.kernel_estimator import KernelEstimator
from condensity.fitting.density import KernelDensity
from condensity.members.averaged import Ensemble


class LinearReducerMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Mixin of the transformers ``z = W x`` with W in ``components_``.

    The matrix acts on inputs standardised by ``_x_scaling``, unless ``_standardise`` differs.
    """

    components_: Array
    _x_scaling: Scaling
    _n_features_out: int

    def transform(self, X: Any) -> Any:
        """Reduce the inputs to ``z = W x``.

        Parameters
        ----------
        X : array-like of shape (m, dx)
            Inputs.

        Returns
        -------
        ndarray of shape (m, dz)
            The reduced inputs.
        """
        return self._reduce(X)

    def _reduce(self, X: Any) -> Array:
        """The reduced inputs as an array, (m, dz)."""
        check_is_fitted(self)
        return np.asarray(self._standardise(check_inputs(self, X)) @ self.components_.T)

    def _standardise(self, X: Array) -> Array:
        """The inputs that ``components_`` acts on, (m, dx)."""
        return self._x_scaling.apply(X)

    def _set_directions(self, W: Array) -> None:
        """Set the directions ``W`` (dz, dx)."""
        self.components_, self._n_features_out = W, len(W)


class Reducer(LinearReducerMixin, KernelEstimator):
    """Base of the kernel estimators that learn the directions of ``z = W x``."""

    n_components: int | str
    n_components_: int

    def _dimensions(self, most: int) -> range:
        """The numbers of components to try, given ``most`` varying inputs."""
        if self._is_auto():
            return range(1, most + 1)
        why = ", the number of varying inputs, or 'auto'"
        only = check_count("n_components", self.n_components, low=1, high=most, why=why)
        return range(only, only + 1)

    def _is_auto(self) -> bool:
        return isinstance(self.n_components, str) and self.n_components == "auto"

    def _set_directions(self, W: Array) -> None:
        super()._set_directions(W)
        self.n_components_ = len(W)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class DensityReducer(Reducer, ConditionalDensityEstimator):
    """Base of the estimators that learn the directions of ``z = W x`` and the density p(y|z)."""

    _density: KernelDensity | Ensemble

    def transform(self, X: Any) -> Any:
        """Reduce the inputs to ``z = W x``.

        Parameters
        ----------
        X : array-like or Dask collection of shape (m, dx)
            Inputs.

        Returns
        -------
        ndarray or Dask array of shape (m, dz)
            The reduced inputs.

        See Also
        --------
        predict_dist_reduced : The densities for reduced inputs.
        """
        if is_dask(X):
            check_is_fitted(self)
            return map_chunks(self, "transform", X, (self.n_components_,))
        return self._reduce(X)

    def predict_dist_reduced(self, Z: Any) -> Distribution:
        """Predict the conditional densities for reduced inputs.

        They are the densities for inputs x with ``W x = z`` that are average in all other
        directions.  If y depends on x only through z, they are p(y|z).

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
        Z = check_reduced(Z, self.n_components_)
        return in_chunks(Z, self._density.at_reduced, self._width, self._n_outputs)

    def _standardise(self, X: Array) -> Array:
        return self._density.x_scaling.apply(X)
