"""What estimators share that also reduce the inputs."""

from __future__ import annotations

from typing import Any

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from condensity._utils.dask_collections import is_dask, map_chunks
from condensity._utils.parameters import check_count
from condensity._utils.validation import check_inputs, check_reduced
from condensity.distributions.base import Distribution
from condensity.distributions.chunked import in_chunks
from condensity.estimators.base import ConditionalDensityEstimator, KernelEstimator
from condensity.fitting.density import KernelDensity
from condensity.lsce.averaged import Ensemble


class Reducer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):
    """Base of what finds the directions z = W x that y depends on."""

    n_components: int | str
    n_components_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _dimensions(self, most: int) -> range:
        """The numbers of components to try, out of ``most`` inputs that vary."""
        if self._is_auto():
            return range(1, most + 1)
        why = ", the number of inputs that vary, or 'auto'"
        only = check_count("n_components", self.n_components, low=1, high=most, why=why)
        return range(only, only + 1)

    def _is_auto(self) -> bool:
        return isinstance(self.n_components, str) and self.n_components == "auto"


class DensityReducer(Reducer, ConditionalDensityEstimator):
    """Base of the estimators of p(y|x) that find the directions z = W x on the way."""

    _density: KernelDensity | Ensemble

    def transform(self, X: Any) -> Any:
        """The reduced inputs ``z = W x``, (m, dz), of standardised x."""
        check_is_fitted(self)
        if is_dask(X):
            return map_chunks(self, "transform", X, (self.n_components_,))
        return self._density.reduce(check_inputs(self, X))

    def predict_dist_reduced(self, Z: Any) -> Distribution:
        """Conditional densities for reduced inputs ``Z`` (m, dz), as ``transform`` gives.

        They are those of the inputs that have this z and are average in all other directions.
        Where y depends on x through z alone, that is p(y|z).
        """
        check_is_fitted(self)
        Z = check_reduced(Z, self.n_components_)
        return in_chunks(Z, self._density.at_reduced, self._width, self._n_outputs)
