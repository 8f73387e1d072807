"""The search for a subspace as in the paper: descent from many random starts."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from condensity._typing import Array
from condensity._utils.parallel import parallel_map
from condensity._utils.parameters import check_count, check_rng
from condensity._utils.validation import check_pairs_of_folds
from condensity.data.prepare import TrainingData
from condensity.estimators.cv_results import candidate_table
from condensity.estimators.fit_messages import progress_callback
from condensity.estimators.reducer import Reducer
from condensity.fitting.moments import Reference
from condensity.fitting.selection import FoldLoss
from condensity.lsce.published import (
    Procedure,
    Solution,
    StartProgress,
    cross_validate_search,
    draw_starts,
    search_from_starts,
)
from condensity.subspaces.descent import Stop
from condensity.subspaces.grassmann import orient_signs


@dataclass(frozen=True, eq=False)
class Start:
    """The course of the search from one start."""

    n_components: int
    values: Array  # of the objective, before and after every step of each round
    stop: str  # "converged" or "step limit"
    value: float  # of the objective at the end: the SCE, or -1/2 - SMI
    loss: float  # cross-validated, at the final subspace
    n_centers: int = 0  # the first of two stages has fewer centres; 0 in files of older versions
    chosen: bool = False  # best of its number of components; False in files of older versions

    @classmethod
    def of(cls, s: Solution, *, chosen: bool) -> Start:
        """The course of the search that ended at the solution ``s``."""
        dz, b, values = len(s.W), len(s.alpha), np.array(s.values)
        return cls(dz, values, s.stop.value, s.value, s.choice.loss, b, chosen)


class SubspaceSearch(Reducer):
    """Base of the estimators that minimise an objective over subspaces from many starts."""

    _reference: Reference
    #: False: search for all numbers of components, but select none of them.
    _selects_dimension = True
    scaling: str

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        n_starts: int = 20,
        n_centers: int | str = "auto",
        bandwidth: float | tuple[float, float] | None = None,
        penalty: float | None = None,
        cv: Any = 5,
        scaling: str = "variance",
        max_iter: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int | Callable[[StartProgress], None] = 0,
    ) -> None:
        self.n_components = n_components
        self.n_starts = n_starts
        self.n_centers = n_centers
        self.bandwidth = bandwidth
        self.penalty = penalty
        self.cv = cv
        self.scaling = scaling
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the subspace from samples.

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
            The fitted estimator.
        """
        max_steps = check_count("max_iter", self.max_iter, low=1)
        n_starts = check_count("n_starts", self.n_starts, low=1)
        report = progress_callback(self.verbose, self._print_progress)
        grid, score, by_score = self._selection()
        candidates = self._candidates(grid)
        scored = len(candidates) > 1 or self._is_auto()
        rng = check_rng(self.random_state)
        data = self._prepare(X, y, sample_weight, rng, scored=scored, scaling=self.scaling)
        dimensions = self._dimensions(int(data.active.sum()))
        selects = len(dimensions) > 1 and self._selects_dimension
        if selects:
            check_pairs_of_folds(data.folded.known)
        draw = partial(draw_starts, rng, active=data.active)
        starts = [
            W
            for dz in dimensions
            for W in (*draw(dz, n_starts=n_starts), *self._informed_starts(data, dz))
        ]
        procedure = Procedure(candidates, scored, score, by_score, max_steps, self._reference)
        mapper = parallel_map(self.n_jobs)
        stages = search_from_starts(data.folded, procedure, starts, mapper=mapper, report=report)
        losses = np.full((1, 1), np.nan)
        if selects:
            # As many starts in all folds together as in the search with all samples.
            few = max(1, n_starts // len(data.folded.folds))
            groups = [draw(dz, n_starts=few) for dz in dimensions]
            losses = cross_validate_search(
                data.folded, procedure, groups, mapper=mapper, report=report
            )
        self._keep(data, stages, procedure.loss, losses.mean(axis=1))
        return self

    def _keep(
        self,
        data: TrainingData,
        stages: list[list[Solution]],
        loss: Callable[[Solution], float],
        dimension_losses: Array,
    ) -> None:
        """Set all attributes from the best start of the best number of components."""
        by_dimension = groupby(stages[-1], key=lambda s: len(s.W))
        winners = [min(group, key=loss) for _, group in by_dimension]
        best = winners[int(np.argmin(dimension_losses))]
        if best.stop is not Stop.CONVERGED:
            warnings.warn(
                f"the best start has not converged after max_iter={self.max_iter} steps: "
                "raise max_iter",
                ConvergenceWarning,
                stacklevel=3,
            )
        W = orient_signs(best.W, data.folded.sample)
        subspaces = [orient_signs(winner.W, data.folded.sample) for winner in winners]
        cv_results = candidate_table([(len(s.W), s.choice) for s in winners], self._unit(data))
        history = [
            Start.of(s, chosen=any(s is winner for winner in winners))
            for stage in stages
            for s in stage
        ]
        self._set_solution(data, W, best)
        self._set_kernels(data, best.choice)
        self._set_directions(W)
        self.subspaces_ = subspaces
        self.dimension_scores_ = -self._unit(data) * dimension_losses
        self.cv_results_ = cv_results
        self.n_iter_ = max(1, best.n_steps)
        self.history_ = history

    @abstractmethod
    def _selection(self) -> tuple[tuple[float, ...], FoldLoss, bool]:
        """Candidates for the bandwidth, the loss of the final fit, and its use for starts."""

    def _informed_starts(self, data: TrainingData, dz: int) -> list[Array]:
        """Starts that are not random."""
        return []

    @abstractmethod
    def _set_solution(self, data: TrainingData, W: Array, best: Solution) -> None:
        """Set the attributes of the subclass; the first step of a fit that sets any."""

    def _unit(self, data: TrainingData) -> float:
        """The unit of a score in the units of the data; 1 if it has no unit."""
        return 1.0

    @abstractmethod
    def _describe(self, value: float) -> str:
        """The value of the objective as text."""

    def _print_progress(self, progress: StartProgress) -> None:
        name = type(self).__name__.removeprefix("Published")
        count = f"{progress.done} of {progress.total}"
        if progress.fold is None:
            step = f"start {count}, {progress.n_centers} centres"
            value = self._describe(progress.value)
        else:
            step, value = f"held-out fold {count}", f"loss {progress.value:.4f}"
        print(f"[{name}] {step}: n_components={progress.n_components}, {value}", flush=True)

    def _to_fix(self) -> str:
        return "bandwidth, penalty and n_components"
