"""The procedure and the settings of the paper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from condensity._typing import Array
from condensity._utils.parameters import check_option
from condensity.data.prepare import TrainingData
from condensity.estimators.kernel_estimator import density_unit, kernel_density
from condensity.estimators.reducer import DensityReducer
from condensity.estimators.subspace_search import SubspaceSearch
from condensity.fitting.moments import Reference
from condensity.fitting.selection import (
    BANDWIDTHS,
    FoldLoss,
    normalised_losses,
    raw_losses,
)
from condensity.lsce.published import Solution, StartProgress

#: The loss of cross-validation, and whether it also compares the starts, for each ``scoring``.
SELECTION: dict[str, tuple[FoldLoss, bool]] = {
    "normalised": (normalised_losses, True),
    "raw": (raw_losses, False),
}
#: Smallest candidate for the bandwidth in standard deviations.  It is about the smallest candidate
#: in ranges: the range of a uniform distribution is 3.5 standard deviations (docs/choices.md).
SMALLEST_IN_SD = 0.1


class PublishedLSCE(SubspaceSearch, DensityReducer):
    """LSCE as published; ``LSCE.as_published`` returns this estimator.

    It minimises the estimate of the squared-loss conditional entropy over subspaces [1]_ by natural
    gradient descent along geodesics [2]_.  There is one bandwidth for z and y, and a penalty on
    ``|alpha|^2``.  Five-fold cross-validation of the SCE estimate selects both again every fifth
    step, in the first half of the search.  At the end, cross-validation of the density selects
    those of the density.  Of 20 random starts, the one with the smallest held-out loss is used.
    With more than 100 centres, all starts are first searched with 100 of them, and the best three
    are then searched further with all.  Points that the paper leaves open are listed in
    docs/choices.md.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Dimension of z.  "auto" tries all dimensions and keeps the one with the best score in
        ``dimension_scores_``.
    n_starts : int, default=20
        Number of random subspaces from which the search starts.
    n_centers : int or "auto", default="auto"
        Number of samples that carry a basis function, at most n.  "auto" takes all samples, but
        at most 500, the largest sample of the paper.
    bandwidth : None, float or (float, float), default=None
        One sigma for z and y, or the pair (sigma_z, sigma_y), in the unit of ``scaling``.
        None selects it by cross-validation.
    penalty : None or float, default=None
        Weight of ``|alpha|^2 / 2``.  None selects it by cross-validation.
    scoring : {"normalised", "raw"}, default="normalised"
        The held-out loss that selects bandwidth and penalty of the density and the number of
        components.  "normalised" is the squared loss of the density that ``predict_dist`` returns,
        clipped and normalised; the paper's own figures agree with it.  "raw" is that of the fit
        before it is clipped and normalised, as Sec. 2.4 of the paper is written.  With "normalised"
        the starts are compared by this loss, with "raw" by the SCE estimate.
    cv : int, splitter or iterable of splits, default=5
        Number of random folds, or splits that hold out every sample exactly once.  For folds by
        group pass ``list(GroupKFold(5).split(X, y, groups))``.
    scaling : {"variance", "range", "none"}, default="variance"
        The unit of length of inputs and outputs: their standard deviations, their ranges in the
        training sample, or the unit of the data.  The paper's tables agree with "range", although
        its text says "variance".  An output with a few extreme values needs "variance".
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
        predict a fold are learned without it, from ``n_starts`` starts divided by the number of
        folds.  NaN if there was nothing to select.  In the units of ``score``, like
        ``cv_results_``.
    bandwidth_ : (float, float)
        sigma_z and sigma_y, in the unit of ``scaling``.
    penalty_ : float
        Weight of ``|alpha|^2 / 2``.
    n_centers_ : int
        Number of centres.
    sce_ : float
        Final estimate of the squared-loss conditional entropy, in the unit of ``scaling``.
    cv_results_ : dict of ndarray
        Cross-validation scores of bandwidths and penalties at the final subspace; with "auto", at
        the final subspace of every dimension.  The subspace was learned from all samples, so the
        scores compare bandwidths, and are too good for small dimensions.
    n_iter_ : int
        Number of descent steps of the best start, at least 1.
    history_ : list of Start
        The objective after each step and the reason to stop, for every start.
    input_range_ : ndarray of shape (2, dx)
        Smallest and largest value of each input; see ``outside_range``.
    n_features_in_ : int
        Number of inputs seen in ``fit``.
    feature_names_in_ : ndarray of shape (dx,)
        Names of the inputs, if ``fit`` was given a data frame.

    See Also
    --------
    LSCE : The default procedure, which averages several models.
    LSMI : Dimension reduction by mutual information with the same search.

    References
    ----------
    .. [1] V. Tangkaratt, N. Xie, M. Sugiyama, "Conditional density estimation with dimensionality
       reduction via squared-loss conditional entropy minimization," Neural Computation 27(1), 2015.
    .. [2] A. Edelman, T. A. Arias, S. T. Smith, "The geometry of algorithms with orthogonality
       constraints," SIAM Journal on Matrix Analysis and Applications 20(2), 1998.

    Examples
    --------
    >>> from condensity import LSCE
    >>> from condensity.datasets import toy_b
    >>> X, y = toy_b().sample(200, random_state=0)
    >>> model = LSCE.as_published(n_components=1, random_state=0).fit(X, y)
    >>> abs(model.components_).round(1)
    array([[0., 1., 0., 0., 0.]])
    """

    _reference = Reference.LEBESGUE
    _auto_centers = 500

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        n_starts: int = 20,
        n_centers: int | str = "auto",
        bandwidth: float | tuple[float, float] | None = None,
        penalty: float | None = None,
        scoring: str = "normalised",
        cv: Any = 5,
        scaling: str = "variance",
        max_iter: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int | Callable[[StartProgress], None] = 0,
    ) -> None:
        super().__init__(
            n_components,
            n_starts=n_starts,
            n_centers=n_centers,
            bandwidth=bandwidth,
            penalty=penalty,
            cv=cv,
            scaling=scaling,
            max_iter=max_iter,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.scoring = scoring

    def _selection(self) -> tuple[tuple[float, ...], FoldLoss, bool]:
        smallest = SMALLEST_IN_SD if self.scaling == "variance" else 0.0
        grid = tuple(sigma for sigma in BANDWIDTHS if sigma >= smallest)
        return grid, *SELECTION[check_option("scoring", self.scoring, tuple(SELECTION))]

    def _unit(self, data: TrainingData) -> float:
        return density_unit(data)

    def _describe(self, value: float) -> str:
        return f"SCE {value:.4f}"

    def _set_solution(self, data: TrainingData, W: Array, best: Solution) -> None:
        self._set_density(data, kernel_density(data, W, best.alpha, best.choice))
        self.sce_ = best.value
