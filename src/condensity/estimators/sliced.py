"""Sufficient dimension reduction from slices of y: SIR and SAVE."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from condensity._utils.parameters import check_count
from condensity._utils.validation import (
    check_enough,
    check_sample,
    check_varies,
    column_names,
    remember_inputs,
)
from condensity.data.sample import Sample, Scaling, canonical
from condensity.estimators.reducer import LinearReducerMixin
from condensity.subspaces.slices import Kernel, save_kernel, sir_kernel, sliced_directions, slices


class SlicedReducer(LinearReducerMixin, BaseEstimator):
    """Base of the transformers that compare x between slices of y."""

    n_components: int
    n_slices: int | str

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the directions from samples.

        Parameters
        ----------
        X : array-like of shape (n, dx)
            Inputs.
        y : array-like of shape (n,) or (n, dy)
            Targets.
        sample_weight : array-like of shape (n,), default=None
            Weights; integer weights are equivalent to repeated samples.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        n_components = check_count("n_components", self.n_components, low=1)
        n_slices = self._count_slices(n_components)
        values, Y, weight, _ = check_sample(self, X, y, sample_weight)
        measure, origin, _ = canonical(values, Y, weight)
        check_enough(type(self).__name__, len(origin), len(measure), n_folds=None, fix="")
        x_scaling, y_scaling = (Scaling.of(a, measure.weight) for a in (measure.X, measure.Y))
        check_varies(x_scaling.sd, y_scaling.sd, column_names(X))
        active = x_scaling.varies
        labels = [slices(column, measure.weight, n_slices) for column in measure.Y.T]
        counts = [int(column.max()) + 1 for column in labels]
        self._check_components(n_components, int(active.sum()), counts)
        inputs, outputs = x_scaling.apply(measure.X)[:, active], y_scaling.apply(measure.Y)
        sample = Sample(inputs, outputs, measure.weight)
        eigenvalues, directions = sliced_directions(sample, labels, self._kernel())
        W = np.zeros((n_components, len(active)))
        W[:, active] = directions[:n_components]
        remember_inputs(self, X)
        self._set_directions(W)
        self._x_scaling = x_scaling
        self.eigenvalues_, self.n_slices_ = eigenvalues, counts
        return self

    def _count_slices(self, n_components: int) -> int:
        if isinstance(self.n_slices, str) and self.n_slices == "auto":
            return self._auto_slices(n_components)
        return check_count("n_slices", self.n_slices, low=2, why=" or 'auto'")

    def _check_components(self, n_components: int, n_active: int, n_slices: list[int]) -> None:
        """Check that the varying inputs and the slices allow this number of components."""
        most, why = n_active, ", the number of varying inputs"
        if self._most(n_slices) < most:
            most = int(self._most(n_slices))
            sizes = " and ".join(map(str, n_slices))
            why = (
                f", the number of directions that {sizes} slices of y determine (raise n_slices "
                "if y takes more values)"
            )
        check_count("n_components", n_components, low=1, high=most, why=why)

    @abstractmethod
    def _kernel(self) -> Kernel:
        """The matrix M whose leading eigenvectors are the directions."""

    @abstractmethod
    def _auto_slices(self, n_components: int) -> int:
        """The number of slices that ``n_slices="auto"`` stands for."""

    @abstractmethod
    def _most(self, n_slices: list[int]) -> float:
        """Largest number of directions that these slices of the outputs determine."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class SIR(SlicedReducer):
    """Sliced inverse regression: the directions in which the mean of x changes with y.

    They are the leading eigenvectors of ``M = sum_h p_h m_h m_h^T``, where m_h is the mean of
    whitened x in slice h of y, and p_h the share of the samples in it [1]_.  SIR is fast and needs
    no model.  It cannot find directions on which y depends symmetrically, as in ``y = x1^2``,
    because the mean of x does not change along them.

    Parameters
    ----------
    n_components : int, default=1
        Number of directions; must be smaller than the number of slices.
    n_slices : int or "auto", default="auto"
        Number of slices of y with about equal weight; equal values of y share a slice.  "auto"
        takes 10, or ``n_components + 1`` if that is more.  Several outputs are sliced one by one,
        and M is the mean over the outputs.  That needs no random projections and no common units,
        but does not use information that only the outputs together carry.

    Attributes
    ----------
    components_ : ndarray of shape (dz, dx)
        The directions by decreasing eigenvalue, acting on standardised inputs.  The entries of z
        have unit variance and are uncorrelated; z grows with the first output.
    eigenvalues_ : ndarray of shape (d,)
        Decreasing eigenvalues of M, one for each varying input; at most 1.
    n_slices_ : list of int
        Number of slices of each output.
    n_features_in_ : int
        Number of inputs seen in ``fit``.
    feature_names_in_ : ndarray of shape (dx,)
        Names of the inputs, if ``fit`` was given a data frame.

    See Also
    --------
    SAVE : Also finds directions of symmetric dependence.
    Reduced : A density on reduced inputs.
    LSCE : Directions and density in one fit.

    References
    ----------
    .. [1] K.-C. Li, "Sliced inverse regression for dimension reduction," Journal of the American
       Statistical Association 86(414), 1991.

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
        return sum(n_slices) - len(n_slices)  # the weighted means of all slices sum to zero


class SAVE(SlicedReducer):
    """Sliced average variance estimation: the directions in which the spread of x changes with y.

    They are the leading eigenvectors of ``M = sum_h p_h (I - C_h)^2``, where C_h is the covariance
    of whitened x in slice h of y, and p_h the share of the samples in it [1]_.  SAVE also finds
    directions on which y depends symmetrically.  For directions that ``SIR`` finds, it needs more
    samples.

    Parameters
    ----------
    n_components : int, default=1
        Number of directions.
    n_slices : int or "auto", default="auto"
        Number of slices of y with about equal weight; equal values of y share a slice.  "auto"
        takes 5, because a covariance needs more samples than a mean.  Several outputs are sliced
        one by one, and M is the mean over the outputs.

    Attributes
    ----------
    components_ : ndarray of shape (dz, dx)
        The directions by decreasing eigenvalue, acting on standardised inputs.  The entries of z
        have unit variance and are uncorrelated; z grows with the first output.
    eigenvalues_ : ndarray of shape (d,)
        Decreasing eigenvalues of M, one for each varying input.
    n_slices_ : list of int
        Number of slices of each output.
    n_features_in_ : int
        Number of inputs seen in ``fit``.
    feature_names_in_ : ndarray of shape (dx,)
        Names of the inputs, if ``fit`` was given a data frame.

    See Also
    --------
    SIR : Needs fewer samples, but does not find symmetric dependence.
    Reduced : A density on reduced inputs.
    LSCE : Directions and density in one fit.

    References
    ----------
    .. [1] R. D. Cook, S. Weisberg, discussion of "Sliced inverse regression for dimension
       reduction," Journal of the American Statistical Association 86(414), 1991.

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
