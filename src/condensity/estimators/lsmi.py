"""Dimension reduction by least-squares mutual information."""

from __future__ import annotations

from condensity._typing import Array
from condensity._utils.validation import remember_inputs
from condensity.data.prepare import TrainingData
from condensity.estimators.subspace_search import SubspaceSearch
from condensity.fitting.moments import Reference
from condensity.fitting.selection import LSMI_BANDWIDTHS, FoldLoss, raw_losses
from condensity.lsce.informed import informed_starts
from condensity.lsce.published import Solution


class LSMI(SubspaceSearch):
    """The directions z = W x with the largest squared-loss mutual information with y.

    ``SMI = 1/2 int (p(z, y) / (p(z) p(y)) - 1)^2 p(z) p(y) dz dy`` is estimated by a least-squares
    fit of the density ratio [1]_.  The search over subspaces is that of ``LSCE.as_published()``;
    the measure of y is p(y) instead of dy ([2]_, Sec. 2.8).  It also starts from the subspaces of
    ``SAVE``, ``DirectionalRegression`` and ``OPG``, because random starts often miss the best one.
    Cross-validation uses the raw score and the candidates of the published LSMI code: bandwidths
    from 0.01 to 100, penalties from 0.001 to 10, at most 200 centres.  LSMI gives no density of y;
    ``Reduced(LSMI(), LSCDE())`` does.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Dimension of z.  "auto" tries all dimensions and keeps the one with the best score in
        ``dimension_scores_``.
    n_starts : int, default=20
        Number of random subspaces from which the search starts, besides four others.
    n_centers : int or "auto", default="auto"
        Number of samples that carry a basis function, at most n.  "auto" takes all samples, but
        at most 200.
    bandwidth : None, float or (float, float), default=None
        One sigma for z and y, or the pair (sigma_z, sigma_y), in the unit of ``scaling``.
        None selects it by cross-validation.
    penalty : None or float, default=None
        Weight of ``|alpha|^2 / 2``.  None selects it by cross-validation.
    cv : int, splitter or iterable of splits, default=5
        Number of random folds, or splits that hold out every sample exactly once.  For folds by
        group pass ``list(GroupKFold(5).split(X, y, groups))``.
    scaling : {"variance", "range", "none"}, default="variance"
        The unit of length of inputs and outputs: their standard deviations, their ranges in the
        training sample, or the unit of the data.
    max_iter : int, default=100
        Maximum number of descent steps from each start.  In the first half of them, bandwidth and
        penalty are selected again before every fifth step.
    random_state : None, int, RandomState or Generator, default=None
        Seed for the centres, the folds and the starts.
    n_jobs : None or int, default=None
        Number of workers for the starts.  The result does not depend on it.
    verbose : int or callable, default=0
        1 prints a line after each start; a callable is called with a ``StartProgress`` instead.

    Attributes
    ----------
    components_ : ndarray of shape (dz, dx)
        The directions, orthonormal rows that act on scaled inputs.  Only their span has a
        meaning; the signs are such that z grows with the first output.
    n_components_ : int
        Number of directions.
    subspaces_ : list of ndarray of shape (dz, dx)
        The best directions for every number of components that was tried.
    dimension_scores_ : ndarray of shape (n_dimensions,)
        Cross-validated score for every number of components that was tried; the directions that
        predict a fold are learned without it, from ``n_starts`` random starts divided by the number
        of folds.  NaN if there was nothing to select.
    bandwidth_ : (float, float)
        sigma_z and sigma_y, in the unit of ``scaling``.
    penalty_ : float
        Weight of ``|alpha|^2 / 2``.
    n_centers_ : int
        Number of centres.
    smi_ : float
        Final estimate of the squared-loss mutual information.
    cv_results_ : dict of ndarray
        Cross-validation scores of bandwidths and penalties at the final subspace; with "auto", at
        the final subspace of every dimension.  The subspace was learned from all samples, so the
        scores compare bandwidths, and are too good for small dimensions.
    n_iter_ : int
        Number of descent steps of the best start, at least 1.
    history_ : list of Start
        The objective after each step and the reason to stop, for every start.
    n_features_in_ : int
        Number of inputs seen in ``fit``.
    feature_names_in_ : ndarray of shape (dx,)
        Names of the inputs, if ``fit`` was given a data frame.

    See Also
    --------
    LSCE : Directions and density in one fit.
    Reduced : A density on reduced inputs.

    References
    ----------
    .. [1] T. Suzuki, M. Sugiyama, "Sufficient dimension reduction via squared-loss mutual
       information estimation," Neural Computation 25(3), 2013.
    .. [2] V. Tangkaratt, N. Xie, M. Sugiyama, "Conditional density estimation with dimensionality
       reduction via squared-loss conditional entropy minimization," Neural Computation 27(1), 2015.

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

    def _selection(self) -> tuple[tuple[float, ...], FoldLoss, bool]:
        return LSMI_BANDWIDTHS, raw_losses, False

    def _informed_starts(self, data: TrainingData, dz: int) -> list[Array]:
        return informed_starts(data.standardised, data.active, dz)

    def _describe(self, value: float) -> str:
        return f"SMI {-0.5 - value:.4f}"

    def _set_solution(self, data: TrainingData, W: Array, best: Solution) -> None:
        remember_inputs(self, data.header)
        self._x_scaling = data.x_scaling
        self.smi_ = -best.value - 0.5
