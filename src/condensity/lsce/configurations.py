"""Configurations: a location and a number of components, learned by all members.

1. Every member learns the subspace of smallest SCE with wide kernels: quasi-Newton steps from a few
   starts; after a few steps only the best start continues.
2. The setting is chosen by the members' held-out loss.
3. With it, every member refines its subspace by the leave-one-out loss of the normalised density,
   and the setting is chosen again.  The refined subspaces are kept if they lower the held-out loss.

A configuration with more components also starts from the subspaces of the one with fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from condensity._typing import Array, Mask
from condensity._utils.parallel import Mapper
from condensity.fitting.leave_one_out import LeaveOneOutLoss
from condensity.lsce.crossfit import Crossfit, HeldOutEvaluation
from condensity.lsce.member import MemberView, OutputKernels
from condensity.lsce.settings import FIRST, SearchSpace, Setting, SettingSelector, first_setting
from condensity.subspaces.chart import Minimum, minimise
from condensity.subspaces.grassmann import orthonormal, random_point

#: Largest number of centres for learning subspaces, which need fewer than densities.
LEARNING_CENTERS = 150
#: Number of steps from every start before only the best continues.
RACE_STEPS = 5
#: Number of dimensions tried beyond the best one, and the relative improvement of the loss that is
#: required to prefer more components.
PATIENCE, WORTH = 2, 0.01


@dataclass(frozen=True, eq=False)
class Configuration:
    """A location and a number of components, with the setting and subspaces of its members."""

    location: str
    n_components: int
    setting: Setting
    Ws: Sequence[Array]  # the subspace of every view
    losses: Array  # (n,) of its members at held-out samples
    crossfit: Crossfit | None  # None without folds
    refined: bool = False  # whether the subspaces were refined

    def __repr__(self) -> str:
        s = self.setting
        return (
            f"Configuration(location={self.location!r}, n_components={self.n_components}, "
            f"loss={self.loss:.4g}, sigma_z={s.sigma_z:.3g}, sigma_y={s.sigma_y:.3g}, "
            f"penalty={s.penalty:g})"
        )

    @property
    def loss(self) -> float:
        """The mean held-out loss; NaN without folds."""
        return np.nan if self.crossfit is None else float(self.crossfit.whole.weight @ self.losses)

    def evaluate(self) -> HeldOutEvaluation:
        """The densities of its members at held-out samples."""
        assert self.crossfit is not None
        s = self.setting
        parts = self.crossfit.evaluate(self.Ws, s.sigma_z, s.sigma_y, (s.penalty,))
        return HeldOutEvaluation(self.crossfit, parts)


def configure(
    crossfit: Crossfit,
    dz: int,
    search: SearchSpace,
    rng: np.random.Generator,
    mapper: Mapper,
    smaller: Configuration | None = None,
) -> Configuration:
    """Learn ``dz`` directions for all members, also starting from a ``smaller`` configuration."""
    starts = [
        starting_points(view, crossfit.active, dz, search.n_starts, rng) for view in crossfit.views
    ]
    setting = first_setting(search, dz)
    if smaller is not None:
        for member_starts, W in zip(starts, smaller.Ws, strict=True):
            member_starts.append(_widen(W, dz, crossfit.active, rng))
    items = [(view, some, setting) for view, some in zip(crossfit.views, starts, strict=True)]
    Ws = [end.W for end in mapper(partial(learn_subspace, search.max_steps), items)]
    selector = SettingSelector(crossfit, Ws, search)
    setting = selector.choose(setting, coarse=True, strides=(2,))
    learned = _with_best_setting(selector, setting, refined=False)
    # In a table of cells, a sample shares its kernel with its cell: it cannot be left out alone.
    if dz >= crossfit.active.sum() or crossfit.by_cells:
        return learned
    learned_items = [(view, W, setting) for view, W in zip(crossfit.views, Ws, strict=True)]
    Ws = [end.W for end in mapper(partial(refine_subspace, search.max_steps), learned_items)]
    selector = SettingSelector(crossfit, Ws, search)
    refined = _with_best_setting(selector, setting, refined=True)
    return min(refined, learned, key=lambda c: c.loss)


def reselect_setting(c: Configuration, crossfit: Crossfit, search: SearchSpace) -> Configuration:
    """The same subspaces with the centres of ``crossfit``, and the best setting near theirs."""
    selector = SettingSelector(crossfit, c.Ws, search)
    return _with_best_setting(selector, c.setting, refined=c.refined)


def _with_best_setting(selector: SettingSelector, near: Setting, *, refined: bool) -> Configuration:
    """The configuration of given members with the best setting near ``near``."""
    crossfit, Ws = selector.crossfit, selector.Ws
    s = selector.choose(near, coarse=False, strides=(1,))
    losses = crossfit.losses(Ws, s.sigma_z, s.sigma_y, (s.penalty,))[0]
    return Configuration(crossfit.location, len(Ws[0]), s, Ws, losses, crossfit, refined)


def starting_points(
    view: MemberView, active: Mask, dz: int, n_starts: int, rng: np.random.Generator
) -> list[Array]:
    """Random subspaces that contain the directions of the view's location."""
    lead = view.location.directions[:dz]
    if dz >= active.sum():  # no reduction
        return [np.eye(len(active))[active]]
    starts = []
    for _ in range(n_starts if len(lead) < dz else 1):
        W = np.zeros((dz, len(active)))
        W[:, active] = random_point(rng, dz, int(active.sum()))
        starts.append(subspace_containing(lead, W))
    return starts


def subspace_containing(lead: Array, W: Array) -> Array:
    """The subspace nearest to that of ``W`` (dz, dx) that contains the rows of ``lead``."""
    lead = lead[: len(W)]
    rest = W - (W @ lead.T) @ lead
    return np.vstack([lead, np.linalg.svd(rest, full_matrices=False)[2][: len(W) - len(lead)]])


def _widen(W: Array, dz: int, active: Mask, rng: np.random.Generator) -> Array:
    """``W`` with random directions of the inputs that vary added."""
    more = np.zeros((dz - len(W), len(active)))
    more[:, active] = random_point(rng, len(more), int(active.sum()))
    return np.vstack([W, orthonormal(more - (more @ W.T) @ W)])


def learn_subspace(max_steps: int, item: tuple[MemberView, Sequence[Array], Setting]) -> Minimum:
    """The subspace of smallest SCE: a few steps from all starts, then on from the best."""
    view, starts, setting = item[0].thinned(LEARNING_CENTERS), *item[1:]
    W, outputs = starts[0], OutputKernels.build(view, setting.sigma_y)
    n_fixed = min(len(view.location.directions), len(W))
    if len(starts) > 1:
        problem = outputs.problem(W, setting.sigma_z, setting.penalty)
        race = [minimise(problem, W, max_steps=RACE_STEPS, n_fixed=n_fixed) for W in starts]
        W = min(race, key=lambda end: end.value).W
    problem = outputs.problem(W, setting.sigma_z, setting.penalty)
    return minimise(problem, W, max_steps=max_steps, n_fixed=n_fixed)


def refine_subspace(
    max_steps: int, item: tuple[MemberView, Array, Setting], *, widening: float = 1.0
) -> Minimum:
    """The subspace of smallest leave-one-out loss, starting from W."""
    view, W, setting = item[0].thinned(LEARNING_CENTERS), *item[1:]
    n_fixed = min(len(view.location.directions), len(W))
    problem = leave_one_out_problem(view, W, setting, widening)
    return minimise(problem, W, max_steps=max_steps, n_fixed=n_fixed)


def leave_one_out_problem(
    view: MemberView, W: Array, setting: Setting, widening: float
) -> LeaveOneOutLoss:
    """The leave-one-out loss that refinement minimises.

    Kernels are wider in z than those of the setting by ``widening``, and not narrower in y than the
    first setting: the best width for the density of y is too narrow for finding the subspace.
    """
    sigma_y = max(setting.sigma_y, FIRST.sigma_y)
    return view.left_out(W, widening * setting.sigma_z, sigma_y)


def explore_dimensions(
    crossfit: Crossfit,
    dimension: int | None,
    search: SearchSpace,
    rng: np.random.Generator,
    mapper: Mapper,
    report: Callable[[Configuration], None],
) -> list[Configuration]:
    """Configurations with ``dimension`` components; None tries no reduction and 1, 2, ....

    The latter stops when more components do not lower the loss.  A subspace contains the directions
    of its location: a location with more directions than components is skipped.
    """
    most = int(crossfit.active.sum())
    least = max(1, *(len(view.location.directions) for view in crossfit.views))
    tries = [most, *range(least, most)] if dimension is None else [dimension]
    configurations: list[Configuration] = []
    smaller: Configuration | None = None
    best: Configuration | None = None
    for dz in tries:
        if dz < min(least, most):
            continue
        new = configure(crossfit, dz, search, rng, mapper, smaller if dz < most else None)
        report(new)
        configurations.append(new)
        if dz < most:
            smaller = new
            if best is None or new.loss < best.loss - crossfit.score.worth(best.loss, WORTH):
                best = new
            if dz >= best.n_components + PATIENCE:
                break
    return configurations


def fewest_components(configurations: Sequence[Configuration]) -> Configuration:
    """The configuration with the fewest components whose loss is within tolerance of the best."""
    top = min(configurations, key=lambda c: c.loss)
    if top.crossfit is None:
        return top
    worst = top.loss + top.crossfit.score.worth(top.loss, WORTH)
    return min(
        (c for c in configurations if c.loss <= worst), key=lambda c: (c.n_components, c.loss)
    )
