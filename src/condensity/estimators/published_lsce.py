"""The procedure of the paper, setting by setting."""

from __future__ import annotations

from condensity.data.prepare import TrainingData
from condensity.estimators.base import kernel_density
from condensity.estimators.reducer import DensityReducer
from condensity.estimators.subspace_search import SubspaceSearch
from condensity.fitting.moments import Reference
from condensity.lsce.published import Solution


class PublishedLSCE(SubspaceSearch, DensityReducer):
    """LSCE as published: what ``LSCE.as_published()`` returns.

    One bandwidth for z and y and a penalty on ``|alpha|^2``, both by five-fold cross-validation
    of the raw fit at every fifth step (for the first 50 steps, which few searches need); 20 random
    starts, of which the smallest SCE estimate wins.  Where the paper is silent, docs/choices.md
    says how it was read.

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
        Number of random folds, or whatever holds every sample out exactly once; for folds by group
        pass ``list(GroupKFold(5).split(X, y, groups))``.
    max_iter : int, default=100
        Descent steps from each start, at most; in the first half of them bandwidth and penalty
        are selected anew before every fifth.
    random_state : None, int, RandomState or Generator, default=None
        Draws centres, folds and starts.
    n_jobs : None or int, default=None
        Workers for the starts; the answer does not depend on it.
    verbose : int or callable, default=0
        1 prints a line after each start; a callable is given a ``Progress`` instead.

    Attributes
    ----------
    components_ : (dz, dx)
        The directions, orthonormal rows, acting on standardised inputs.  Only their span means
        something; signs are such that z grows with the first output.
    n_components_ : int
    subspaces_ : list of (dz, dx)
        The best directions for every number of components that was tried.
    bandwidth_ : (float, float)
        sigma_z and sigma_y, in standardised units.
    penalty_ : float
    n_centers_ : int
    sce_ : float
        The squared-loss conditional entropy reached, in standardised units.
    cv_results_ : dict of arrays
        Cross-validation scores of bandwidths and penalties at the subspace found (with "auto",
        at that of every dimension).  The subspace has seen all samples: these scores compare
        bandwidths, and flatter reduction.
    n_iter_ : int
        Descent steps of the start that won, at least 1.
    history_ : list of Start
        SCE after each step and the reason to stop, for every start.
    n_features_in_, feature_names_in_
        Inputs seen in ``fit``.

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

    def _describe(self, value: float) -> str:
        return f"SCE {value:.4f}"

    def _finish(self, data: TrainingData, best: Solution) -> None:
        density = kernel_density(data, self.components_, best.alpha, best.choice)
        self.sce_ = best.value
        self._keep(data, density, best.choice)
