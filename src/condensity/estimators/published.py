"""The procedure of the paper, setting by setting."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from condensity._parallel import spread
from condensity._parameters import check_count, check_rng, check_verbose
from condensity.core.kernels import Array
from condensity.core.selection import RAW_BANDWIDTHS
from condensity.estimators.base import Prepared, cv_table, reporter
from condensity.estimators.reducer import DensityReducer
from condensity.manifold.descent import Stop
from condensity.reduction.published import (
    Procedure,
    Progress,
    Solution,
    draw_starts,
    orient,
    search,
)


@dataclass(frozen=True, eq=False)
class Start:
    """How one start of the search went."""

    n_components: int
    values: Array  # SCE at the beginning and after every step of each round
    stop: str  # "converged" or "step limit"
    sce: float
    loss: float  # cross-validated, at the subspace where the start ended


class PublishedLSCE(DensityReducer):
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

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        n_starts: int = 20,
        n_centers: int | str = "auto",
        bandwidth: float | tuple[float, float] | None = None,
        penalty: float | None = None,
        cv: Any = 5,
        max_iter: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int | Callable[[Progress], None] = 0,
    ) -> None:
        self.n_components = n_components
        self.n_starts = n_starts
        self.n_centers = n_centers
        self.bandwidth = bandwidth
        self.penalty = penalty
        self.cv = cv
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the subspace and the density.

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
        max_steps = check_count("max_iter", self.max_iter, low=1)
        n_starts = check_count("n_starts", self.n_starts, low=1)
        report = reporter(check_verbose(self.verbose), _print_progress)
        candidates = self._candidates(RAW_BANDWIDTHS)
        scored = len(candidates) > 1 or self._is_auto()
        rng = check_rng(self.random_state)
        prepared = self._prepare(X, y, sample_weight, rng, scored=scored)
        active = prepared.x_scaling.varies
        draw = partial(draw_starts, rng, active=active, n_starts=n_starts)
        starts = [W for dz in self._dimensions(int(active.sum())) for W in draw(dz)]
        procedure = Procedure(candidates, scored, max_steps)
        solutions = search(
            prepared.plan, procedure, starts, spread=spread(self.n_jobs), report=report
        )
        self._keep_best(X, prepared, solutions)
        return self

    def _what_to_fix(self) -> str:
        return "bandwidth, penalty and n_components"

    def _keep_best(self, X: Any, prepared: Prepared, solutions: list[Solution]) -> None:
        """Set the fitted attributes from the best start of the best dimension."""
        by_dimension = groupby(solutions, key=lambda s: len(s.W))
        winners = [min(group, key=lambda s: s.sce) for _, group in by_dimension]
        best = min(winners, key=lambda s: s.choice.loss)
        if best.stop is not Stop.CONVERGED:
            warnings.warn(
                f"the best start was still moving after max_iter={self.max_iter} steps: "
                "raise max_iter",
                ConvergenceWarning,
                stacklevel=3,
            )
        W = orient(prepared.plan, best.W)
        density = prepared.density(W, best.alpha, best.choice)
        self._keep(X, prepared, density, best.choice)
        self.sce_ = best.sce
        self.components_ = W
        self.n_components_ = self._n_features_out = len(best.W)
        self.cv_results_ = cv_table([(len(s.W), s.choice) for s in winners])
        self.n_iter_ = max(1, best.n_steps)
        self.history_ = [
            Start(len(s.W), np.array(s.values), s.stop.value, s.sce, s.choice.loss)
            for s in solutions
        ]


def _print_progress(progress: Progress) -> None:
    print(
        f"[LSCE] start {progress.done} of {progress.total}: "
        f"n_components={progress.n_components}, SCE {progress.sce:.4f}",
        flush=True,
    )
