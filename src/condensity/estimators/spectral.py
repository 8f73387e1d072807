"""Sufficient dimension reduction by eigenvectors: SIR, SAVE, directional regression and OPG."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from condensity._typing import Array, Indices
from condensity._utils.parameters import check_count, check_option
from condensity._utils.validation import (
    check_enough,
    check_sample,
    check_varies,
    column_names,
    remember_inputs,
)
from condensity.data.sample import Sample, Scaling, canonical
from condensity.estimators.reducer import LinearReducerMixin
from condensity.fitting.monotone_maps import NormalScores
from condensity.subspaces.gradients import cosines_and_sines, gradient_directions
from condensity.subspaces.slices import (
    directional_kernel,
    save_kernel,
    sir_kernel,
    sliced_directions,
    slices,
)

#: The limit of the number of directions, for error messages.
VARYING = ", the number of varying inputs"


class SpectralReducer(LinearReducerMixin, BaseEstimator):
    """Base of the transformers whose directions are the leading eigenvectors of a matrix."""

    n_components: int
    eigenvalues_: Array

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
        self._check_parameters(n_components)
        values, Y, weight, _ = check_sample(self, X, y, sample_weight)
        measure, origin, _ = canonical(values, Y, weight)
        check_enough(type(self).__name__, len(origin), len(measure), n_folds=None, fix="")
        x_scaling, y_scaling = (Scaling.of(a, measure.weight) for a in (measure.X, measure.Y))
        check_varies(x_scaling.sd, y_scaling.sd, column_names(X))
        active = x_scaling.varies
        inputs, outputs = x_scaling.apply(measure.X)[:, active], y_scaling.apply(measure.Y)
        sample = Sample(inputs, outputs, measure.weight)
        eigenvalues, directions, others = self._eigenvectors(sample, n_components)
        W = np.zeros((n_components, len(active)))
        W[:, active] = directions[:n_components]
        remember_inputs(self, X)
        self._set_directions(W)
        self._x_scaling = x_scaling
        self.eigenvalues_ = eigenvalues
        for name, value in others.items():
            setattr(self, name, value)
        return self

    @abstractmethod
    def _check_parameters(self, n_components: int) -> None:
        """Raise an error for an invalid parameter, before the samples are looked at."""

    @abstractmethod
    def _eigenvectors(
        self, sample: Sample, n_components: int
    ) -> tuple[Array, Array, dict[str, Any]]:
        """Eigenvalues, directions, and further attributes, from standardised samples."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class SlicedReducer(SpectralReducer):
    """Base of the transformers that compare x between slices of y."""

    n_slices: int | str

    def __init__(self, n_components: int = 1, n_slices: int | str = "auto") -> None:
        self.n_components = n_components
        self.n_slices = n_slices

    def _check_parameters(self, n_components: int) -> None:
        self._count_slices(n_components)

    def _eigenvectors(
        self, sample: Sample, n_components: int
    ) -> tuple[Array, Array, dict[str, Any]]:
        n_slices = self._count_slices(n_components)
        labels = [slices(column, sample.weight, n_slices) for column in sample.Y.T]
        counts = [int(column.max()) + 1 for column in labels]
        self._check_components(n_components, sample.X.shape[1], counts)
        values, directions = sliced_directions(sample, labels, self._kernel)
        return values, directions, {"n_slices_": counts}

    def _count_slices(self, n_components: int) -> int:
        if isinstance(self.n_slices, str) and self.n_slices == "auto":
            return self._auto_slices(n_components)
        return check_count("n_slices", self.n_slices, low=2, why=" or 'auto'")

    def _check_components(self, n_components: int, n_active: int, n_slices: list[int]) -> None:
        """Check that the varying inputs and the slices allow this number of components."""
        most, why = n_active, VARYING
        if self._most(n_slices) < most:
            most = int(self._most(n_slices))
            sizes = " and ".join(map(str, n_slices))
            why = (
                f", the number of directions that {sizes} slices of y determine (raise n_slices "
                "if y takes more values)"
            )
        check_count("n_components", n_components, low=1, high=most, why=why)

    @staticmethod
    @abstractmethod
    def _kernel(Z: Array, weight: Array, labels: Indices) -> Array:
        """The matrix M whose leading eigenvectors are the directions; a ``Kernel``."""

    def _auto_slices(self, n_components: int) -> int:
        """The number of slices that ``n_slices="auto"`` stands for."""
        return 5

    def _most(self, n_slices: list[int]) -> float:
        """Largest number of directions that these slices of the outputs determine."""
        return np.inf


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

    _kernel = staticmethod(sir_kernel)

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

    _kernel = staticmethod(save_kernel)


class DirectionalRegression(SlicedReducer):
    """Directional regression: the directions in which the mean or the spread of x changes with y.

    They are the leading eigenvectors of ``M = sum_hl p_h p_l (2 I - E_hl)^2``.  Here p_h is the
    share of the samples in slice h of y, and E_hl the mean of ``(x - x')(x - x')^T`` for whitened
    x in slice h and an independent x' in slice l [1]_.  It combines ``SIR`` and ``SAVE``: it finds
    monotone and symmetric dependence, each about as well as the method that is made for it.

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
    SAVE : Uses the covariances within slices alone.
    LSCE : Directions and density in one fit.

    References
    ----------
    .. [1] B. Li, S. Wang, "On directional regression for dimension reduction," Journal of the
       American Statistical Association 102(479), 2007.

    Examples
    --------
    >>> from condensity import DirectionalRegression
    >>> from condensity.datasets import toy_a
    >>> X, y = toy_a().sample(400, random_state=0)
    >>> W = DirectionalRegression(n_components=2).fit(X, y).components_
    >>> (W**2).sum(axis=0).round()  # y = x1^2 + x2^2 and noise
    array([1., 1., 0., 0., 0.])
    """

    _kernel = staticmethod(directional_kernel)


class OPG(SpectralReducer):
    """Outer products of gradients: the directions along which the distribution of y changes.

    They are the leading eigenvectors of ``M = mean_j sum_t g_jt g_jt^T``.  Here g_jt is the slope
    at sample j of a local linear regression of f_t(y) on whitened x.  Kernels are wide at first,
    and then adapt to the directions that were found [1]_.  Cosines and sines of the normal scores
    of y take the place of y, so that directions of the spread and of the shape are found too [2]_.
    OPG needs no assumption on the distribution of x.  It takes longer than ``SIR`` and ``SAVE``,
    and is much faster than ``LSCE``.

    Parameters
    ----------
    n_components : int, default=1
        Number of directions; the kernels adapt to them.
    functions : {"distribution", "mean"}, default="distribution"
        The functions f_t of y: cosines and sines, for all directions on which y depends, or y
        itself, for those on which its mean depends.  The latter needs fewer samples if the noise
        does not depend on x, and is less robust to heavy tails.

    Attributes
    ----------
    components_ : ndarray of shape (dz, dx)
        The directions by decreasing eigenvalue, acting on standardised inputs.  The entries of z
        have unit variance and are uncorrelated; z grows with the first output.
    eigenvalues_ : ndarray of shape (d,)
        Decreasing eigenvalues of M, one for each varying input.
    n_features_in_ : int
        Number of inputs seen in ``fit``.
    feature_names_in_ : ndarray of shape (dx,)
        Names of the inputs, if ``fit`` was given a data frame.

    See Also
    --------
    SIR : Faster, but does not find symmetric dependence.
    DirectionalRegression : Uses means and covariances of x in slices of y.
    LSCE : Directions and density in one fit.

    References
    ----------
    .. [1] Y. Xia, H. Tong, W. K. Li, L.-X. Zhu, "An adaptive estimation of dimension reduction
       space," Journal of the Royal Statistical Society B 64(3), 2002.
    .. [2] X. Yin, B. Li, "Sufficient dimension reduction based on an ensemble of minimum average
       variance estimators," Annals of Statistics 39(6), 2011.

    Examples
    --------
    >>> from condensity import OPG
    >>> from condensity.datasets import toy_a
    >>> X, y = toy_a().sample(400, random_state=0)
    >>> W = OPG(n_components=2).fit(X, y).components_
    >>> (W**2).sum(axis=0).round(1)  # y = x1^2 + x2^2 and noise
    array([1., 1., 0., 0., 0.])
    """

    def __init__(self, n_components: int = 1, functions: str = "distribution") -> None:
        self.n_components = n_components
        self.functions = functions

    def _check_parameters(self, n_components: int) -> None:
        check_option("functions", self.functions, ("distribution", "mean"))

    def _eigenvectors(
        self, sample: Sample, n_components: int
    ) -> tuple[Array, Array, dict[str, Any]]:
        d = sample.X.shape[1]
        check_count("n_components", n_components, low=1, high=d, why=VARYING)
        functions = sample.Y
        if self.functions == "distribution":
            scores = NormalScores.of(sample.Y, sample.weight)
            functions = cosines_and_sines(scores(sample.Y))
        return *gradient_directions(sample, functions, n_components), {}
