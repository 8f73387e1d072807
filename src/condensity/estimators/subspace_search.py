"""The search for a subspace as the paper does it: descent from many random starts."""

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
from condensity._utils.parameters import check_count, check_rng, check_verbose
from condensity.data.prepare import TrainingData
from condensity.estimators.base import cv_table, reporter
from condensity.estimators.reducer import Reducer
from condensity.fitting.moments import Reference
from condensity.fitting.selection import RAW_BANDWIDTHS
from condensity.lsce.published import (
    Procedure,
    Solution,
    StartProgress,
    draw_starts,
    search_from_starts,
)
from condensity.subspaces.descent import Stop
from condensity.subspaces.grassmann import orient_signs


@dataclass(frozen=True, eq=False)
class Start:
    """How one start of the search went."""

    n_components: int
    values: Array  # of what is minimised, at the beginning and after every step of each round
    stop: str  # "converged" or "step limit"
    value: float  # where it ended: the SCE, or -1/2 - SMI
    loss: float  # cross-validated, at the subspace where the start ended


class SubspaceSearch(Reducer):
    """Base of what minimises an estimate over subspaces, from many starts."""

    _reference: Reference

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
        verbose: int | Callable[[StartProgress], None] = 0,
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
        """Learn from samples.

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
        data, solutions = self._search(X, y, sample_weight)
        self._finish(data, self._keep_best(data, solutions))
        return self

    @abstractmethod
    def _finish(self, data: TrainingData, best: Solution) -> None:
        """Set what is fitted besides the subspace."""

    @abstractmethod
    def _describe(self, value: float) -> str:
        """What is minimised, for people to read."""

    def _search(self, X: Any, y: Any, sample_weight: Any) -> tuple[TrainingData, list[Solution]]:
        """Learn from every start."""
        max_steps = check_count("max_iter", self.max_iter, low=1)
        n_starts = check_count("n_starts", self.n_starts, low=1)
        report = reporter(check_verbose(self.verbose), self._print_progress)
        candidates = self._candidates(RAW_BANDWIDTHS)
        scored = len(candidates) > 1 or self._is_auto()
        rng = check_rng(self.random_state)
        data = self._prepare(X, y, sample_weight, rng, scored=scored)
        active = data.x_scaling.varies
        draw = partial(draw_starts, rng, active=active, n_starts=n_starts)
        starts = [W for dz in self._dimensions(int(active.sum())) for W in draw(dz)]
        procedure = Procedure(candidates, scored, max_steps, self._reference)
        mapper = parallel_map(self.n_jobs)
        return data, search_from_starts(data.plan, procedure, starts, mapper=mapper, report=report)

    def _print_progress(self, progress: StartProgress) -> None:
        name = type(self).__name__.removeprefix("Published")
        print(
            f"[{name}] start {progress.done} of {progress.total}: "
            f"n_components={progress.n_components}, {self._describe(progress.value)}",
            flush=True,
        )

    def _what_to_fix(self) -> str:
        return "bandwidth, penalty and n_components"

    def _keep_best(self, data: TrainingData, solutions: list[Solution]) -> Solution:
        """Set what the search found: the best start of the best dimension, which is returned."""
        by_dimension = groupby(solutions, key=lambda s: len(s.W))
        winners = [min(group, key=lambda s: s.value) for _, group in by_dimension]
        best = min(winners, key=lambda s: s.choice.loss)
        if best.stop is not Stop.CONVERGED:
            warnings.warn(
                f"the best start was still moving after max_iter={self.max_iter} steps: "
                "raise max_iter",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.components_ = orient_signs(best.W, data.plan.sample)
        self.n_components_ = self._n_features_out = len(best.W)
        self.subspaces_ = [orient_signs(winner.W, data.plan.sample) for winner in winners]
        self.cv_results_ = cv_table([(len(s.W), s.choice) for s in winners])
        self.n_iter_ = max(1, best.n_steps)
        self.history_ = [
            Start(len(s.W), np.array(s.values), s.stop.value, s.value, s.choice.loss)
            for s in solutions
        ]
        return best
