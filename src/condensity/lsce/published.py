"""The algorithm of the paper: model selection and descent in turn, from many starts.

From each start W: select bandwidths and penalty of the SCE estimate by its cross-validated value
(Sec. 2.4 of the paper), take five natural-gradient steps on this estimate, and repeat until the
subspace converges (Sec. 2.5).  Where the search ends, bandwidths and penalty of the density are
selected by the density's own held-out loss.

With many centres this is done in two stages.  All starts are first searched with few centres.  The
best of them are then searched further with all centres.

The number of directions is selected by cross-validation of the whole search: the subspace that
predicts a fold is learned without this fold.  docs/choices.md explains these readings of the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

import numpy as np

from condensity._typing import Array, Mask
from condensity._utils.parallel import Mapper
from condensity.data.folds import FoldedSample
from condensity.fitting.moments import Reference
from condensity.fitting.sce import SCE, SCEPoint
from condensity.fitting.selection import (
    Candidates,
    Choice,
    FoldLoss,
    held_out_loss,
    only_candidate,
    raw_losses,
    select,
    select_near,
)
from condensity.subspaces.descent import Descent, Stop, descend
from condensity.subspaces.grassmann import orthonormal, projector_gap, random_point

STEPS_PER_ROUND = 5
#: Tolerances of convergence: of the gradient (relative to the value), of the motion of the subspace
#: in a round, and of the relative gain of a round.
GRADIENT_TOL, SUBSPACE_TOL, GAIN_TOL = 1e-6, 1e-3, 1e-3
#: Number of centres of the first stage.
FIRST_CENTERS = 100
#: Largest number of starts of each dimension in the second stage, and the distance of projectors
#: below which two of them are the same.
FINALISTS, SAME_SUBSPACE = 3, 0.1


@dataclass(frozen=True, eq=False)
class Solution:
    """The end of the search from one start."""

    W: Array  # (dz, dx) orthonormal rows
    alpha: Array  # (b,) coefficients of the fit at W
    value: float  # the SCE, or -1/2 - SMI
    choice: Choice
    values: tuple[float, ...]  # SCE before and after every step of each round, and at the end
    n_steps: int
    stop: Stop


@dataclass(frozen=True, eq=False)
class Procedure:
    """The candidates and limits of a search."""

    candidates: Candidates
    scored: bool  # False: a single candidate, without cross-validation
    score: FoldLoss  # of the final fit
    by_score: bool  # compare starts by their cross-validated losses, not by their objectives
    max_steps: int
    reference: Reference = Reference.LEBESGUE

    def choose(self, plan: FoldedSample, W: Array, last: Choice | None = None) -> Choice:
        """Bandwidths and penalty of the objective, from all candidates or near the last choice.

        The objective is the raw fit's value, so its raw held-out value selects them.
        """
        if not self.scored:
            return only_candidate(self.candidates)
        if last is not None:
            return select_near(plan, W, raw_losses, last, self.reference)
        return select(plan, W, self.candidates, raw_losses, reference=self.reference)

    def choose_final(self, plan: FoldedSample, W: Array) -> Choice:
        """Bandwidths and penalty of the fit that is returned."""
        if not self.scored:
            return only_candidate(self.candidates)
        return select(plan, W, self.candidates, self.score, reference=self.reference)

    def loss(self, solution: Solution) -> float:
        """The loss by which starts are compared."""
        return solution.choice.loss if self.scored and self.by_score else solution.value

    def problem(self, plan: FoldedSample, choice: Choice) -> SCE:
        """The SCE estimate as a function of W, with the chosen bandwidths and penalty.

        With the empirical reference it is ``-1/2 - SMI``, with LSMI's estimate of SMI.
        """
        return sce_problem(plan, choice, self.reference)


@dataclass(frozen=True, eq=False)
class StartProgress:
    """Progress of a search: one more start of a stage is finished, or one more fold."""

    done: int
    total: int
    n_centers: int
    n_components: int
    value: float  # the SCE, or -1/2 - SMI; for a fold, the held-out loss
    fold: int | None = None  # the fold that was held out to select n_components


#: Called after every finished start, and after every fold that was held out.
Report = Callable[[StartProgress], None]


def sce_problem(
    plan: FoldedSample, choice: Choice, reference: Reference = Reference.LEBESGUE
) -> SCE:
    """The SCE estimate as a function of W, with the chosen bandwidths and penalty."""
    return SCE.build(
        plan.sample,
        plan.basis,
        sigma_z=choice.sigma_z,
        sigma_y=choice.sigma_y,
        penalty=choice.penalty,
        reference=reference,
    )


def descend_from(plan: FoldedSample, procedure: Procedure, W: Array) -> Solution:
    """Model selection and descent in turn, from one start ``W`` (dz, dx).

    In the second half of the steps the bandwidths and the penalty are fixed.  A search that
    alternated between two models then stays with one of them.  The last selection is made where
    the search ends, so that model, loss and coefficients belong to the W that is returned.
    """
    values: list[float] = []
    choice, step, stop, n_steps = None, None, Stop.STEP_LIMIT, 0
    while stop is not Stop.CONVERGED and n_steps < procedure.max_steps:
        if n_steps <= procedure.max_steps // 2:
            choice = procedure.choose(plan, W, choice)
            problem = procedure.problem(plan, choice)
        steps = min(STEPS_PER_ROUND, procedure.max_steps - n_steps)
        descent = descend(problem, W, max_steps=steps, tol=GRADIENT_TOL, step=step)
        values += descent.values
        n_steps += len(descent.values) - 1
        if _converged(W, descent):
            stop = Stop.CONVERGED
        W, step = orthonormal(descent.point.W), descent.step
    choice = procedure.choose_final(plan, W)
    end = procedure.problem(plan, choice).at(W)
    return Solution(W, end.alpha, end.value, choice, (*values, end.value), n_steps, stop)


def _converged(W: Array, descent: Descent[SCEPoint]) -> bool:
    """Whether a round moved the subspace, or lowered the value, by less than the tolerance."""
    gained = descent.values[0] - descent.point.value
    still = projector_gap(W, descent.point.W) < SUBSPACE_TOL
    return still or gained <= GAIN_TOL * abs(descent.point.value)


def draw_starts(rng: np.random.Generator, dz: int, *, active: Mask, n_starts: int) -> list[Array]:
    """Random subspaces of dimension ``dz`` of the varying inputs (mask ``active`` (dx,)).

    Inputs that never vary get no weight, and descent leaves it so: their gradient is zero.
    """
    dx = int(active.sum())
    # The whole space is a single subspace, so one start is enough.
    count = n_starts if dz < dx else 1
    starts = np.zeros((count, dz, len(active)))
    for start in starts:
        start[:, active] = random_point(rng, dz, dx)
    return list(starts)


def search_from_starts(
    plan: FoldedSample,
    procedure: Procedure,
    starts: Sequence[Array],
    *,
    mapper: Mapper,
    report: Report,
) -> list[list[Solution]]:
    """Search from every start, in one or two stages.

    Parameters
    ----------
    plan : FoldedSample
        The sample, its folds and its centres.
    procedure : Procedure
        Candidates and limits.
    starts : sequence of ndarray of shape (dz, dx)
        The starts, in the order of their dimensions.
    mapper : callable
        Maps over the starts of a stage.
    report : callable
        Called after every finished start.

    Returns
    -------
    list of list of Solution
        The solutions of each stage, in the order of their starts.  The last stage has all centres.
    """
    thinned = plan.thinned(FIRST_CENTERS)
    stages = [_search_stage(thinned, procedure, starts, mapper, report)]
    if thinned is not plan:
        finalists = [solution.W for solution in _finalists(stages[0], procedure.loss)]
        stages.append(_search_stage(plan, procedure, finalists, mapper, report))
    return stages


def cross_validate_search(
    plan: FoldedSample,
    procedure: Procedure,
    starts: Sequence[Sequence[Array]],
    *,
    mapper: Mapper,
    report: Report,
) -> Array:
    """Losses on each fold of a search in all other folds, (dimensions, folds).

    ``starts`` has the starts for each number of directions; they are the same in all folds.
    """
    n_folds = len(plan.folds)
    tasks = [(fold, group) for group in starts for fold in range(n_folds)]
    losses: list[float] = []
    for (fold, group), loss in zip(
        tasks, mapper(partial(_search_without, plan, procedure), tasks), strict=True
    ):
        losses.append(loss)
        counts = len(losses), len(tasks), len(plan.basis)
        report(StartProgress(*counts, len(group[0]), loss, fold))
    return np.reshape(losses, (len(starts), n_folds))


def _search_without(
    plan: FoldedSample, procedure: Procedure, task: tuple[int, Sequence[Array]]
) -> float:
    """Loss on a fold of the best solution of a search in all other folds."""
    fold, starts = task
    others = plan.without(fold)
    stages = search_from_starts(others, procedure, starts, mapper=map, report=lambda _: None)
    best = min(stages[-1], key=procedure.loss)
    return held_out_loss(plan, fold, best.W, best.choice, procedure.score, procedure.reference)


def _search_stage(
    plan: FoldedSample,
    procedure: Procedure,
    starts: Sequence[Array],
    mapper: Mapper,
    report: Report,
) -> list[Solution]:
    """Solutions from all starts, in their order."""
    solutions: list[Solution] = []
    for solution in mapper(partial(descend_from, plan, procedure), starts):
        solutions.append(solution)
        counts = len(solutions), len(starts), len(plan.basis)
        report(StartProgress(*counts, len(solution.W), solution.value))
    return solutions


def _finalists(solutions: Sequence[Solution], loss: Callable[[Solution], float]) -> list[Solution]:
    """The best solutions of each dimension, without those that are close to a better one."""
    chosen: list[Solution] = []
    for _, group in groupby(solutions, key=lambda s: len(s.W)):
        best: list[Solution] = []
        for solution in sorted(group, key=loss):
            if all(projector_gap(solution.W, other.W) > SAME_SUBSPACE for other in best):
                best.append(solution)
        chosen += best[:FINALISTS]
    return chosen
