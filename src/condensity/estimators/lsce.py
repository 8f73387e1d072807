"""Least-squares conditional entropy: the density and the subspace it depends on, in one fit."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any, Self, cast

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from condensity._parallel import spread
from condensity._parameters import check_count, check_option, check_rng, check_verbose
from condensity._validation import check_inputs, check_nested, check_reduced
from condensity.core.kernels import Array
from condensity.core.mixture import ConditionalMixture
from condensity.core.selection import (
    BANDWIDTHS,
    RAW_BANDWIDTHS,
    raw_losses,
    shipped_losses,
)
from condensity.estimators.base import (
    ConditionalDensityEstimator,
    Prepared,
    cv_table,
    dimension_table,
)
from condensity.manifold.descent import Stop
from condensity.reduction import (
    Procedure,
    Progress,
    Solution,
    crossfit_dimensions,
    draw_starts,
    orient,
    search,
)

SCORES = {"squared": shipped_losses, "sce": raw_losses}


@dataclass(frozen=True, eq=False)
class Start:
    """How one start of the search went."""

    n_components: int
    values: Array  # SCE at the beginning and after every step of each round
    stop: str  # "converged" or "step limit"
    sce: float
    loss: float  # cross-validated, at the subspace where the start ended


class LSCE(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ConditionalDensityEstimator):
    """Conditional density estimation with dimension reduction, in one fit.

    Finds the W with orthonormal rows for which ``z = W x`` carries all the information on y, by
    minimising the squared-loss conditional entropy ``-1/2 int p(y|z)^2 p(z) dz dy`` over
    subspaces; the least-squares fit at the minimum is the density p(y|x) = p(y|Wx).

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Dimension of z.  "auto" chooses it by cross-fitting: everything is learned without a fold
        and judged on that fold, for no reduction and for 1, 2, ... components until more do not
        help.  With ``scoring="sce"`` it tries all and compares ``cv_results_``, as published.
    n_starts : int, default=5
        Random subspaces to start from.
    scoring : {"squared", "sce"}, default="squared"
        What decides.  "squared": bandwidth, penalty, start and dimension are those with the
        smallest cross-validated squared loss of the clipped, normalised density.  "sce", as
        published: the cross-validated loss of the raw fit decides on bandwidth, penalty and
        dimension, the smallest SCE estimate on the start; that also decides with "squared" when
        bandwidth and penalty are given.
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
        Cross-validation scores of bandwidths and penalties at the subspace found (with "auto"
        and ``scoring="sce"``, at that of every dimension).  The subspace has seen all samples:
        these scores compare bandwidths, and flatter reduction.
    dimension_results_ : dict of arrays
        Cross-fitted scores of the dimensions tried, unbiased but for having chosen among them;
        only with ``n_components="auto"`` and ``scoring="squared"``.
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
    >>> model = LSCE(n_components=1, n_starts=2, random_state=0).fit(X, y)
    >>> abs(model.components_).round(1)
    array([[0., 1., 0., 0., 0.]])
    """

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        n_starts: int = 5,
        scoring: str = "squared",
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
        self.scoring = scoring
        self.n_centers = n_centers
        self.bandwidth = bandwidth
        self.penalty = penalty
        self.cv = cv
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def as_published(
        cls,
        n_components: int | str = "auto",
        *,
        n_centers: int | str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int | Callable[[Progress], None] = 0,
    ) -> LSCE:
        """The estimator with the settings of the paper.

        One bandwidth for z and y and a penalty on ``|alpha|^2``, both by five-fold
        cross-validation of the raw fit at every fifth step (for the first 50 steps, which few
        searches need); 20 random starts; the smallest SCE estimate wins.  Where the paper is
        silent, docs/choices.md says how it was read.
        """
        return cls(
            n_components,
            n_starts=20,
            scoring="sce",
            n_centers=n_centers,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )

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
        score = SCORES[check_option("scoring", self.scoring, tuple(SCORES))]
        max_steps = check_count("max_iter", self.max_iter, low=1)
        n_starts = check_count("n_starts", self.n_starts, low=1)
        report = _reporter(check_verbose(self.verbose))
        candidates = self._candidates(RAW_BANDWIDTHS if score is raw_losses else BANDWIDTHS)
        several, auto = len(candidates) > 1, self._is_auto()
        rng = check_rng(self.random_state)
        prepared = self._prepare(X, y, sample_weight, rng, scored=several or auto)
        active, plan = prepared.x_scaling.varies, prepared.plan
        dimensions: Sequence[int] = self._dimensions(int(active.sum()))
        starts = partial(draw_starts, rng, active=active, n_starts=n_starts)
        crossfitted = auto and score is not raw_losses
        procedure = Procedure(candidates, score, several or (auto and not crossfitted), max_steps)
        run: dict[str, Any] = {"spread": spread(self.n_jobs), "report": report}
        if crossfitted:
            check_nested(plan)
            losses = crossfit_dimensions(plan, procedure, starts, dimensions[-1], **run)
            dimensions = [min(losses, key=lambda dz: losses[dz].mean())]
        solutions = search(plan, procedure, [W for dz in dimensions for W in starts(dz)], **run)
        self._keep_best(X, prepared, procedure, solutions)
        if crossfitted:
            self.dimension_results_ = dimension_table(losses)
        elif hasattr(self, "dimension_results_"):
            del self.dimension_results_  # of an earlier fit
        return self

    def transform(self, X: Any) -> Array:
        """The reduced inputs ``z = W x``, (m, dz), of standardised x."""
        check_is_fitted(self)
        return self._density.reduce(check_inputs(self, X))

    def predict_dist_reduced(self, Z: Any) -> ConditionalMixture:
        """Conditional densities p(y|z) for reduced inputs ``Z`` (m, dz), as ``transform`` gives."""
        check_is_fitted(self)
        return self._density.at_reduced(check_reduced(Z, self.n_components_))

    def _dimensions(self, most: int) -> range:
        """The numbers of components to try, out of ``most`` inputs that vary."""
        if self._is_auto():
            return range(1, most + 1)
        why = ", the number of inputs that vary, or 'auto'"
        only = check_count("n_components", self.n_components, low=1, high=most, why=why)
        return range(only, only + 1)

    def _what_to_fix(self) -> str:
        return "bandwidth, penalty and n_components"

    def _is_auto(self) -> bool:
        return isinstance(self.n_components, str) and self.n_components == "auto"

    def _keep_best(
        self, X: Any, prepared: Prepared, procedure: Procedure, solutions: list[Solution]
    ) -> None:
        """Set the fitted attributes from the best start of the best dimension."""
        by_dimension = groupby(solutions, key=lambda s: len(s.W))
        winners = [procedure.best_start(list(group)) for _, group in by_dimension]
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
        self._keep(X, prepared, density, best.choice, best.sce)
        self.components_ = W
        self.n_components_ = self._n_features_out = len(best.W)
        self.cv_results_ = cv_table([(len(s.W), s.choice) for s in winners])
        self.n_iter_ = max(1, best.n_steps)
        self.history_ = [
            Start(len(s.W), np.array(s.values), s.stop.value, s.sce, s.choice.loss)
            for s in solutions
        ]


def _reporter(verbose: Any) -> Callable[[Progress], None]:
    """What hears of every finished start."""
    if callable(verbose):
        return cast(Callable[[Progress], None], verbose)
    return _print_progress if verbose else lambda progress: None


def _print_progress(progress: Progress) -> None:
    print(
        f"[LSCE] start {progress.done} of {progress.total}: "
        f"n_components={progress.n_components}, SCE {progress.sce:.4f}",
        flush=True,
    )
