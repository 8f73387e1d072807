"""Dimension reduction by least-squares mutual information, which LSCE is compared with."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from condensity._typing import Array
from condensity._utils.validation import check_inputs, remember_inputs
from condensity.data.prepare import TrainingData
from condensity.estimators.subspace_search import SubspaceSearch
from condensity.fitting.moments import Reference
from condensity.lsce.published import Solution


class LSMI(SubspaceSearch):
    """The directions z = W x with the largest squared-loss mutual information with y.

    ``SMI = 1/2 int (p(z, y) / (p(z) p(y)) - 1)^2 p(z) p(y) dz dy`` is estimated by a least-squares
    fit of the density ratio, with the kernels, the cross-validation and the search over subspaces
    of ``LSCE.as_published()``: the two differ only in what y is measured by, p(y) or dy (paper,
    Sec. 2.8).  It gives no density of y: ``Reduced(LSMI(), LSCDE())`` does.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Dimension of z.  "auto" tries all and keeps the one with the best score in ``cv_results_``.
    n_starts : int, default=20
        Random subspaces to start from.
    n_centers : int or "auto", default="auto"
        Number of samples that carry a basis function, at most n; "auto" takes all up to 200.
    bandwidth : None, float or (float, float), default=None
        None selects it by cross-validation; else one sigma for z and y, or the pair, in units of
        the standard deviations of the training sample.
    penalty : None or float, default=None
        Weight of ``|alpha|^2 / 2``; None selects it by cross-validation.
    cv : int, splitter or iterable of splits, default=5
        Number of random folds, or whatever holds every sample out exactly once.
    max_iter : int, default=100
        Descent steps from each start, at most.
    random_state : None, int, RandomState or Generator, default=None
        Draws centres, folds and starts.
    n_jobs : None or int, default=None
        Workers for the starts; the answer does not depend on it.
    verbose : int or callable, default=0
        1 prints a line after each start; a callable is given a ``Progress`` instead.

    Attributes
    ----------
    components_ : (dz, dx)
        The directions, orthonormal rows, acting on standardised inputs.
    n_components_ : int
    subspaces_ : list of (dz, dx)
        The best directions for every number of components that was tried.
    smi_ : float
        The mutual information reached.
    bandwidth_ : (float, float)
    penalty_ : float
    n_centers_ : int
    cv_results_ : dict of arrays
    n_iter_ : int
    history_ : list of Start
    n_features_in_, feature_names_in_
        As in ``LSCE.as_published()``.

    Examples
    --------
    >>> from condensity import LSMI
    >>> from condensity.datasets import toy_b
    >>> X, y = toy_b().sample(100, random_state=0)
    >>> model = LSMI(n_components=1, n_starts=2, random_state=0).fit(X, y)
    >>> model.transform(X).shape
    (100, 1)
    """

    _reference = Reference.EMPIRICAL

    def _describe(self, value: float) -> str:
        return f"SMI {-0.5 - value:.4f}"

    def _finish(self, data: TrainingData, best: Solution) -> None:
        self.smi_ = -best.value - 0.5
        self.bandwidth_ = (best.choice.sigma_z, best.choice.sigma_y)
        self.penalty_ = best.choice.penalty
        self.n_centers_ = len(data.centers)
        self._x_scaling = data.x_scaling
        remember_inputs(self, data.header)

    def transform(self, X: Any) -> Array:
        """The reduced inputs ``z = W x``, (m, dz), of standardised x."""
        check_is_fitted(self)
        return self._x_scaling.apply(check_inputs(self, X)) @ self.components_.T
