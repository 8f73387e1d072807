"""Classical sufficient dimension reduction: directions of x from slices of y."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from condensity._typing import Array
from condensity._utils.parameters import check_count
from condensity._utils.validation import (
    check_enough,
    check_inputs,
    check_sample,
    check_varies,
    column_names,
    remember_inputs,
)
from condensity.data.sample import Sample, Scaling, canonical
from condensity.subspaces.slices import Kernel, save_kernel, sir_kernel, sliced_directions, slices


class SlicedReducer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of the transformers that look at x within slices of y."""

    n_components: int
    n_slices: int | str

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the directions.

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
        n_components = check_count("n_components", self.n_components, low=1)
        n_slices = self._count_slices(n_components)
        values, Y, weight, _ = check_sample(self, X, y, sample_weight)
        measure, origin, _ = canonical(values, Y, weight)
        check_enough(type(self).__name__, len(origin), len(measure), n_folds=None, fix="")
        x_scaling, y_scaling = (Scaling.of(a, measure.weight) for a in (measure.X, measure.Y))
        check_varies(x_scaling.sd, y_scaling.sd, column_names(X))
        varies = x_scaling.varies
        labels = [slices(column, measure.weight, n_slices) for column in measure.Y.T]
        found = [int(own.max()) + 1 for own in labels]
        self._check_told(n_components, int(varies.sum()), found)
        inputs, outputs = x_scaling.apply(measure.X)[:, varies], y_scaling.apply(measure.Y)
        sample = Sample(inputs, outputs, measure.weight)
        eigenvalues, directions = sliced_directions(sample, labels, self._kernel())
        remember_inputs(self, X)
        self._scaling = x_scaling
        self.components_ = np.zeros((n_components, len(varies)))
        self.components_[:, varies] = directions[:n_components]
        self.eigenvalues_, self.n_slices_ = eigenvalues, found
        self._n_features_out = n_components
        return self

    def transform(self, X: Any) -> Array:
        """The reduced inputs ``z = W x``, (m, dz), of standardised x."""
        check_is_fitted(self)
        return self._scaling.apply(check_inputs(self, X)) @ self.components_.T

    def _count_slices(self, n_components: int) -> int:
        if isinstance(self.n_slices, str) and self.n_slices == "auto":
            return self._auto_slices(n_components)
        return check_count("n_slices", self.n_slices, low=2, why=" or 'auto'")

    def _check_told(self, n_components: int, most: int, n_slices: list[int]) -> None:
        """Refuse more components than inputs or slices can tell."""
        why = ", the number of inputs that vary"
        if self._most(n_slices) < most:
            most = int(self._most(n_slices))
            sizes = " and ".join(map(str, n_slices))
            why = (
                f", as many as {sizes} slices of y tell (raise n_slices where y takes more values)"
            )
        check_count("n_components", n_components, low=1, high=most, why=why)

    @abstractmethod
    def _kernel(self) -> Kernel:
        """What is asked of the slices."""

    @abstractmethod
    def _auto_slices(self, n_components: int) -> int:
        """How many slices to take where no one says."""

    @abstractmethod
    def _most(self, n_slices: list[int]) -> float:
        """As many directions as these slices of the outputs can tell."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class SIR(SlicedReducer):
    """Sliced inverse regression: the directions in which the mean of x moves with y.

    Leading eigenvectors of ``M = sum_h p_h m_h m_h^T``, m_h the mean of whitened x in slice h of y
    (Li, 1991).  Fast and without a model; blind to directions on which y depends symmetrically, as
    in ``y = x1^2``: there the mean of x stays where it is.

    Parameters
    ----------
    n_components : int, default=1
        Number of directions, fewer than slices.
    n_slices : int or "auto", default="auto"
        Slices of y, of about the same weight; equal values of y share one.  "auto" takes 10, or
        one more than ``n_components``.  Several outputs are sliced one by one and M is the mean
        of theirs: no randomness and no units, but what only the outputs together tell is not seen.

    Attributes
    ----------
    components_ : (dz, dx)
        The directions, the most telling first, acting on standardised inputs: z has unit variance
        and no correlation.  Signs are such that z grows with the first output.
    eigenvalues_ : (d,)
        Of M, the largest first, one for each input that varies: 1 at most.
    n_slices_ : list of int
        Slices of each output.
    n_features_in_, feature_names_in_
        Inputs seen in ``fit``.

    Examples
    --------
    >>> from condensity import SIR
    >>> from condensity.datasets import toy_b
    >>> X, y = toy_b().sample(400, random_state=0)
    >>> abs(SIR(n_components=1).fit(X, y).components_).round()
    array([[0., 1., 0., 0., 0.]])
    """

    def __init__(self, n_components: int = 1, n_slices: int | str = "auto") -> None:
        self.n_components = n_components
        self.n_slices = n_slices

    def _kernel(self) -> Kernel:
        return sir_kernel

    def _auto_slices(self, n_components: int) -> int:
        return max(10, n_components + 1)

    def _most(self, n_slices: list[int]) -> float:
        return sum(n_slices) - len(n_slices)  # the means of a partition sum to zero


class SAVE(SlicedReducer):
    """Sliced average variance estimation: the directions in which the spread of x moves with y.

    Leading eigenvectors of ``M = sum_h p_h (I - C_h)^2``, C_h the covariance of whitened x in slice
    h of y (Cook and Weisberg, 1991).  It also sees directions on which y depends symmetrically, and
    needs more samples than ``SIR`` where both see.

    Parameters
    ----------
    n_components : int, default=1
        Number of directions.
    n_slices : int or "auto", default="auto"
        Slices of y, of about the same weight; equal values of y share one.  "auto" takes 5: a
        covariance needs more samples than a mean.  Several outputs are sliced one by one and M is
        the mean of theirs.

    Attributes
    ----------
    components_ : (dz, dx)
        The directions, the most telling first, acting on standardised inputs: z has unit variance
        and no correlation.  Signs are such that z grows with the first output.
    eigenvalues_ : (d,)
        Of M, the largest first, one for each input that varies.
    n_slices_ : list of int
        Slices of each output.
    n_features_in_, feature_names_in_
        Inputs seen in ``fit``.

    Examples
    --------
    >>> from condensity import SAVE
    >>> from condensity.datasets import toy_a
    >>> X, y = toy_a().sample(400, random_state=0)
    >>> W = SAVE(n_components=2).fit(X, y).components_
    >>> (W**2).sum(axis=0).round()  # y = x1^2 + x2^2 and noise
    array([1., 1., 0., 0., 0.])
    """

    def __init__(self, n_components: int = 1, n_slices: int | str = "auto") -> None:
        self.n_components = n_components
        self.n_slices = n_slices

    def _kernel(self) -> Kernel:
        return save_kernel

    def _auto_slices(self, n_components: int) -> int:
        return 5

    def _most(self, n_slices: list[int]) -> float:
        return np.inf
