"""Fits to resampled data: intervals of loadings and of properties, and bands of densities."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from condensity._typing import Array, Indices
from condensity._utils.composites import predict_dist
from condensity._utils.parallel import parallel_map
from condensity._utils.parameters import check_count, check_rng
from condensity._utils.validation import check_same_length
from condensity.distributions._checks import grid_of, probability
from condensity.inspection.density_bands import DensityBand, quantiles_over_fits
from condensity.inspection.functionals import Property


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """A fitted model, and fits of the same estimator to resampled data.

    Parameters
    ----------
    model : estimator
        The fitted model.
    models : sequence of estimator
        The fits to resampled data.

    See Also
    --------
    bootstrap : Computes the fits.
    member_band : How far the members of a single fit differ.

    References
    ----------
    .. [1] B. Efron, R. J. Tibshirani, "An Introduction to the Bootstrap," Chapman and Hall, 1993.

    Examples
    --------
    >>> from condensity import SIR
    >>> from condensity.datasets import toy_b
    >>> from condensity.inspection import bootstrap
    >>> X, y = toy_b().sample(200, random_state=0)
    >>> fits = bootstrap(SIR().fit(X, y), X, y, n_resamples=40, random_state=0)
    >>> low, high = fits.loading_intervals(0.9)
    >>> bool(low[0, 1] > 0 or high[0, 1] < 0)  # the second input matters
    True
    """

    model: Any
    models: Sequence[Any]

    def loading_intervals(self, level: float = 0.9) -> tuple[Array, Array]:
        """Percentile intervals of ``components_``.

        Directions are determined up to a rotation in their span, so the directions of every fit are
        rotated to those of the model before the percentiles are taken.

        Parameters
        ----------
        level : float, default=0.9
            Share of the fits in every interval.

        Returns
        -------
        lower, upper : ndarray of shape (dz, dx)
            Ends of the intervals.
        """
        W = np.asarray(self.model.components_, dtype=float)
        rotated = np.array([aligned(np.asarray(fit.components_), W) for fit in self.models])
        return self._ends(rotated, level)

    def density_band(
        self, X: Any, grid: ArrayLike, *, level: float = 0.9, output: int = 0
    ) -> DensityBand:
        """Pointwise percentile bands of densities.

        Parameters
        ----------
        X : array-like of shape (m, dx)
            Inputs.
        grid : array-like of shape (G,)
            Values of y.
        level : float, default=0.9
            Share of the fits in the band, at every point.
        output : int, default=0
            Index of the output.

        Returns
        -------
        DensityBand
            The densities of the model and their bands.

        Notes
        -----
        The bands show the variation with the samples.  They do not contain the bias of smoothing: a
        narrow peak is too low in all fits.
        """
        points = grid_of(grid, 1)[:, 0]

        def curve(fit: Any) -> Array:
            return predict_dist(fit, X).marginal(output).pdf_on(points)  # type: ignore[no-any-return]

        ends = self._ends(np.array([curve(fit) for fit in self.models]), level)
        return DensityBand(points, curve(self.model), *ends, level, "bootstrap")

    def intervals(
        self, X: Any, of: Any = "mean", *, level: float = 0.9, output: int = 0
    ) -> tuple[Array, Array]:
        """Percentile intervals of a property of the densities.

        Parameters
        ----------
        X : array-like of shape (m, dx)
            Inputs.
        of : str or (str, float), default="mean"
            "mean", "spread", ("quantile", level) or ("above", threshold).
        level : float, default=0.9
            Share of the fits in every interval.
        output : int, default=0
            Index of the output.

        Returns
        -------
        lower, upper : ndarray of shape (m,)
            Ends of the intervals.  They are intervals of the property, not of new values of y.
        """
        asked = Property.of_number(of)
        answers = [asked.of_rows(predict_dist(fit, X).marginal(output)) for fit in self.models]
        return self._ends(np.array(answers), level)

    def _ends(self, values: Array, level: float) -> tuple[Array, Array]:
        equal = np.full(len(values), 1.0 / len(values))
        return quantiles_over_fits(values, equal, probability(level))


def bootstrap(
    model: Any,
    X: Any,
    y: Any,
    *,
    n_resamples: int = 40,
    groups: ArrayLike | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Bootstrap:
    """Fit clones of a fitted model to samples drawn with replacement.

    Each fit takes as long as that of the model.  To save time, fix what was selected, for instance
    ``LSCE(n_components=model.n_components_, location=model.location_, n_members=1)``; the fits then
    do not show the variation of these choices.

    Parameters
    ----------
    model : estimator
        Fitted estimator.
    X : array-like of shape (n, dx)
        The inputs that it was fitted to.
    y : array-like of shape (n,) or (n, dy)
        The outputs that it was fitted to.
    n_resamples : int, default=40
        Number of fits.
    groups : array-like of shape (n,), default=None
        Labels of samples that belong together: whole groups are drawn.
    random_state : None, int, RandomState or Generator, default=None
        Seed of the draws.
    n_jobs : None or int, default=None
        Number of workers.  The result does not depend on it.

    Returns
    -------
    Bootstrap
        The fits, with intervals and bands.

    See Also
    --------
    member_band : Bands from the members of a single fit.

    Examples
    --------
    >>> from condensity import LSCDE
    >>> from condensity.datasets import toy_b
    >>> from condensity.inspection import bootstrap
    >>> X, y = toy_b().sample(100, random_state=0)
    >>> model = LSCDE(bandwidth=0.3, penalty=0.01, random_state=0).fit(X, y)
    >>> low, high = bootstrap(model, X, y, n_resamples=20, random_state=0).intervals(X[:3])
    >>> bool((low < high).all())
    True
    """
    check_is_fitted(model)
    check_same_length(X, y)
    count = check_count("n_resamples", n_resamples, low=2)
    labels = np.arange(len(y)) if groups is None else np.unique(groups, return_inverse=True)[1]
    check_same_length(X, labels)
    rng, size = check_rng(random_state), int(labels.max()) + 1
    draws = [
        np.bincount(rng.integers(size, size=size), minlength=size)[labels] for _ in range(count)
    ]
    return Bootstrap(model, list(parallel_map(n_jobs)(partial(_fit, model, X, y), draws)))


def _fit(model: Any, X: Any, y: Any, counts: Indices) -> Any:
    """A clone of the model, fitted to every sample as often as it was drawn."""
    fresh = clone(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit of the model has given the same warnings
        if has_fit_parameter(fresh, "sample_weight"):
            drawn = np.flatnonzero(counts)
            weight = counts[drawn].astype(float)
            return fresh.fit(
                _safe_indexing(X, drawn), _safe_indexing(y, drawn), sample_weight=weight
            )
        rows = np.repeat(np.arange(len(counts)), counts)
        return fresh.fit(_safe_indexing(X, rows), _safe_indexing(y, rows))


def aligned(W: Array, target: Array) -> Array:
    """Directions ``W`` (e, dx) rotated as close to ``target`` (d, dx) as possible: (d, dx)."""
    left, _, right = np.linalg.svd(target @ W.T, full_matrices=False)
    return np.asarray(left @ right @ W)
