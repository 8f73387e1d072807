"""Learning a subspace from the samples of one member.

The subspace minimises the leave-one-out loss of a normalised kernel density (module
``leave_one_out``).  This loss has many local minima, so a race comes first: a few quasi-Newton
steps from many random starts on small parts of the sample, then more steps from the best of them
on larger parts.  Only the winner goes on with all samples.
The kernels of the loss follow a curved mean and a changing variance only as far as their width
allows.  Gaussian processes follow them more closely, and so they tell more about the directions.
So for a location that is a smooth function of z, the subspace minimises the sum

    leave-one-out loss + ``LIKELIHOOD_SHARE`` times minus the log likelihood of a mean and a
    variance that are processes on z (module ``process_likelihood``)

over W and over the parameters of the likelihood.  Its best minimum may be far from that of the
leave-one-out loss, so this search also starts from the best ends of the first round of the race.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from condensity._typing import Array, Mask
from condensity.fitting.leave_one_out import LeaveOneOutLoss
from condensity.fitting.monotone_maps import Clipped
from condensity.fitting.process_likelihood import ProcessLikelihood, first_parameters
from condensity.locations.location import on_grid
from condensity.members.member import MemberView
from condensity.members.settings import Setting
from condensity.subspaces.chart import JointFunction, Minimum, minimise, minimise_jointly
from condensity.subspaces.grassmann import orthonormal, random_point, standard_basis
from condensity.subspaces.lockstep import minimise_all

#: Largest number of centres for learning subspaces, which need fewer than densities.
LEARNING_CENTERS = 150


@dataclass(frozen=True)
class Round:
    """A round of the race of starts."""

    rows: int  # largest number of samples at which the loss is evaluated
    centers: int  # largest number of centres
    evaluations: int  # of the loss, for each start
    kept: int  # number of starts that go on


@dataclass(frozen=True)
class JointRound:
    """A round of the search with the likelihood."""

    rows: int  # largest number of samples
    steps: int  # for each start
    kept: int  # number of starts that go on


RACE = (
    Round(rows=160, centers=80, evaluations=6, kept=12),
    Round(rows=400, centers=150, evaluations=10, kept=3),
)
#: A search that also starts from subspaces of a similar search has fewer random starts, by this
#: factor.
FEWER_STARTS = 4
#: Kernels for learning: sigma_z is ``WIDTH sqrt(dz) n^(-1/(dz + 4))``.
WIDTH, SIGMA_Y = 0.9, 0.5
#: Refining uses kernels of y at least this wide: the best width for the density is too narrow for
#: finding the subspace.
REFINING_SIGMA_Y = 0.35
#: The widest kernels of z for refining, in units of those for learning.
WIDEST = float(np.sqrt(2.0))

#: Weight of the likelihood, relative to the leave-one-out loss.
LIKELIHOOD_SHARE = 0.5
#: Values of y in the likelihood are clipped at this distance from the median, in robust standard
#: deviations.  If the kurtosis of the residuals shows that the noise is heavy-tailed, the search is
#: repeated with the second limit: the mean and the variance of a normal distribution would follow
#: extreme values.
NORMAL_LIMITS, HEAVY = (25.0, 4.0), 4.5
#: Number of rivals that a search with the likelihood also starts from.
N_RIVALS = 8
#: Steps of such a search from all starts, and from the best of them.  The best end of the second
#: round goes on with all samples.
FIRST_ROUND = JointRound(rows=200, steps=15, kept=2)
SECOND_ROUND = JointRound(rows=400, steps=50, kept=1)


def starting_points(
    view: MemberView, active: Mask, dz: int, n_starts: int, rng: np.random.Generator
) -> list[Array]:
    """Random subspaces that contain the directions of the view's location."""
    lead = view.location.directions[:dz]
    if dz == 0:
        return [np.empty((0, len(active)))]
    if dz >= active.sum():  # no reduction
        return [np.eye(len(active))[active]]
    starts = []
    for _ in range(n_starts if len(lead) < dz else 1):
        W = np.zeros((dz, len(active)))
        W[:, active] = random_point(rng, dz, int(active.sum()))
        starts.append(subspace_containing(lead, W))
    return starts


def subspace_containing(lead: Array, W: Array, dz: int | None = None) -> Array:
    """The subspace nearest to that of ``W`` that contains the rows of ``lead``.

    It has ``dz`` dimensions.  None: as many as ``W``.
    """
    dz = len(W) if dz is None else dz
    lead = lead[:dz]
    rest = W - (W @ lead.T) @ lead
    return np.vstack([lead, np.linalg.svd(rest, full_matrices=False)[2][: dz - len(lead)]])


def subspace_without(lead: Array, W: Array) -> Array:
    """The part of the subspace of ``W`` (dz, dx) that is orthogonal to the rows of ``lead``.

    The subspace contains these rows.
    """
    rest = W - (W @ lead.T) @ lead
    return np.linalg.svd(rest, full_matrices=False)[2][: max(0, len(W) - len(lead))]


def widen(W: Array, dz: int, active: Mask, rng: np.random.Generator) -> Array:
    """``W`` with random directions of the inputs that vary added."""
    more = np.zeros((dz - len(W), len(active)))
    more[:, active] = random_point(rng, len(more), int(active.sum()))
    return np.vstack([W, orthonormal(more - (more @ W.T) @ W)])


def learning_width(view: MemberView, dz: int) -> float:
    """The bandwidth of z for learning ``dz`` directions; it decreases with the sample size."""
    n: float = len(view.sample)
    return float(WIDTH * np.sqrt(dz) * n ** (-1.0 / (dz + 4)))


def learning_problem(view: MemberView, W: Array, *, rows: int | None = None) -> LeaveOneOutLoss:
    """The leave-one-out loss that a search minimises, at no more than ``rows`` samples."""
    return view.left_out(W, learning_width(view, len(W)), SIGMA_Y, scores=True, rows=rows)


@dataclass(frozen=True, eq=False)
class LearnedSubspace(Minimum):
    """The subspace of smallest loss, and the best ends of the first round of the race."""

    rivals: Sequence[Array] = ()


def learn_subspace(max_steps: int, item: tuple[MemberView, Sequence[Array]]) -> LearnedSubspace:
    """The subspace of smallest leave-one-out loss: a race of all starts, then on from the best."""
    view, starts = item[0].thinned(LEARNING_CENTERS), item[1]
    n_fixed = min(len(view.location.directions), len(starts[0]))
    rivals: Sequence[Array] = ()
    for part in RACE:
        if len(starts) > 1:
            problem = learning_problem(view.thinned(part.centers), starts[0], rows=part.rows)
            problem = problem.compressed(rough=True)
            ends = minimise_all(problem, starts, evaluations=part.evaluations, n_fixed=n_fixed)
            ranked = [end.W for end in sorted(ends, key=lambda end: end.value)]
            rivals, starts = rivals or ranked[:N_RIVALS], ranked[: part.kept]
    problem = learning_problem(view, starts[0]).compressed()
    W = min(starts, key=lambda W: problem.at(W).value)
    end = minimise(problem, W, max_steps=max_steps, n_fixed=n_fixed)
    return LearnedSubspace(end.W, end.value, end.n_steps, rivals)


def refine_subspace(
    max_steps: int, item: tuple[MemberView, Sequence[Array], Setting], *, widening: float = 1.0
) -> Minimum:
    """The subspace of smallest leave-one-out loss with the kernels of a setting."""
    view, starts, setting = item[0].thinned(LEARNING_CENTERS), *item[1:]
    n_fixed = min(len(view.location.directions), len(starts[0]))
    problem = refinement_problem(view, starts[0], setting, widening).compressed()
    ends = [minimise(problem, W, max_steps=max_steps, n_fixed=n_fixed) for W in starts]
    return min(ends, key=lambda end: end.value)


def refinement_problem(
    view: MemberView, W: Array, setting: Setting, widening: float
) -> LeaveOneOutLoss:
    """The leave-one-out loss that refinement minimises.

    Kernels are wider in z than those of the setting by ``widening``, but not much wider than those
    for learning: if the members disagree, their best setting is too wide for any subspace.
    """
    sigma_z = min(widening * setting.sigma_z, WIDEST * learning_width(view, len(W)))
    return view.left_out(W, sigma_z, max(setting.sigma_y, REFINING_SIGMA_Y))


def learn_with_location(max_steps: int, item: tuple[MemberView, Sequence[Array]]) -> Minimum:
    """The subspace of smallest loss together with a smooth mean and a smooth variance.

    The first steps are made from all starts, with few samples; then the best ones go on with more.
    """
    view, starts = item
    if len(starts[0]) >= view.sample.X.shape[1]:
        return Minimum(starts[0], np.nan, 0)
    rounds = [FIRST_ROUND] if len(starts) > 1 else []
    rounds.append(SECOND_ROUND)
    if len(view.sample) > SECOND_ROUND.rows:
        rounds.append(replace(SECOND_ROUND, rows=len(view.sample)))
    for limit in NORMAL_LIMITS:
        ends = [(Minimum(standard_basis(W), np.inf, 0), first_parameters()) for W in starts]
        for part in rounds:
            loss = JointLoss.of(view, starts[0], part.rows, limit)
            ends = best_ends(loss, ends, replace(part, steps=min(part.steps, max_steps)))
        best, parameters = ends[0]
        if loss.likelihood.kurtosis(best.W, parameters) < HEAVY:
            break
    return replace(best, W=orthonormal(on_grid(best.W)))


def best_ends(
    loss: JointFunction, starts: Sequence[tuple[Minimum, Array]], part: JointRound
) -> list[tuple[Minimum, Array]]:
    """The best ends of a round, and their parameters."""
    ends = [
        minimise_jointly(loss, start.W, parameters, max_steps=part.steps, unit=1.0)
        for start, parameters in starts
    ]
    return sorted(ends, key=lambda end: end[0].value)[: part.kept]


@dataclass(frozen=True, eq=False)
class JointLoss:
    """The loss as a function of the subspace and of the parameters of the likelihood."""

    problem: LeaveOneOutLoss
    likelihood: ProcessLikelihood

    @classmethod
    def of(cls, view: MemberView, W: Array, rows: int, limit: float) -> JointLoss:
        """The loss at no more than ``rows`` samples.

        In the likelihood, values of y beyond the ``limit`` are clipped, and samples that belong
        together count as independent.
        """
        problem = learning_problem(view.thinned(LEARNING_CENTERS), W, rows=rows).compressed()
        whole, n = view.sample, len(view.sample)
        sample = whole[np.linspace(0, n - 1, min(n, rows), dtype=int)]
        share = sample.weight / sample.weight.sum()
        Y = Clipped.of(whole.Y, whole.weight, limit)(sample.Y)
        return cls(problem, ProcessLikelihood(sample.X, Y - share @ Y, len(sample) * share))

    def __call__(self, W: Array, parameters: Array) -> tuple[float, Array, Array]:
        """The value, and its derivatives with respect to W and the parameters."""
        point = self.problem.at(W)
        value, by_W, by_parameters = self.likelihood.at(W, parameters)
        return (
            point.value + LIKELIHOOD_SHARE * value,
            point.gradient() + LIKELIHOOD_SHARE * by_W,
            LIKELIHOOD_SHARE * by_parameters,
        )
