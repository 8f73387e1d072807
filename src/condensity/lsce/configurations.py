"""Configurations: a location and a number of directions, learned by all members in turn.

Every member learns the subspace of least SCE with wide kernels (quasi-Newton from a few starts, of
which the best after a few steps goes on).  A setting is chosen by the members' loss on samples that
are new to them; with it every member refines its subspace by the loss of the normalised density at
samples left out, and the setting is chosen once more; if that lowers their loss, it is kept.  More
directions start from the fewer found before.
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

#: Centres that subspaces are learned with, at most: they need fewer than densities do.
LEARNING_CENTERS = 150
#: Steps of every start before all but the best are given up.
RACE_STEPS = 5
#: Dimensions tried beyond the best so far before the search for more is given up, and by how
#: much of its loss a dimension must beat the best to be it.
PATIENCE, WORTH = 2, 0.01


@dataclass(frozen=True, eq=False)
class Configuration:
    """A location and a number of directions, with what its members learned."""

    location: str
    n_components: int
    setting: Setting
    Ws: Sequence[Array]  # a subspace for every view
    losses: Array  # (n,) of its members, at samples new to them
    crossfit: Crossfit | None  # None: nothing was held out
    refined: bool = False  # whether the subspaces are better for having been refined

    def __repr__(self) -> str:
        s = self.setting
        return (
            f"Configuration(location={self.location!r}, n_components={self.n_components}, "
            f"loss={self.loss:.4g}, sigma_z={s.sigma_z:.3g}, sigma_y={s.sigma_y:.3g}, "
            f"penalty={s.penalty:g})"
        )

    @property
    def loss(self) -> float:
        """The mean loss over the samples; NaN when nothing was held out."""
        return np.nan if self.crossfit is None else float(self.crossfit.whole.weight @ self.losses)

    def judge(self) -> HeldOutEvaluation:
        """What its members make of the samples that they have not seen."""
        assert self.crossfit is not None
        s = self.setting
        parts = self.crossfit.judge(self.Ws, s.sigma_z, s.sigma_y, (s.penalty,))
        return HeldOutEvaluation(self.crossfit, parts)


def configure(
    crossfit: Crossfit,
    dz: int,
    search: SearchSpace,
    rng: np.random.Generator,
    mapper: Mapper,
    smaller: Configuration | None = None,
) -> Configuration:
    """Let all members learn ``dz`` directions, from those of a ``smaller`` configuration if any."""
    starts = [
        starting_points(view, crossfit.active, dz, search.n_starts, rng) for view in crossfit.views
    ]
    setting = first_setting(search, dz)
    if smaller is not None:
        for own, W in zip(starts, smaller.Ws, strict=True):
            own.append(_widen(W, dz, crossfit.active, rng))
    items = [(view, own, setting) for view, own in zip(crossfit.views, starts, strict=True)]
    Ws = [end.W for end in mapper(partial(learn_subspace, search.max_steps), items)]
    chooser = SettingSelector(crossfit, Ws, search)
    setting = chooser.choose(setting, coarse=True, strides=(2,))
    learned = _settle(chooser, setting, refined=False)
    # In a table of cells a sample's own kernel is that of its whole cell: none can be left out.
    if dz >= crossfit.active.sum() or crossfit.by_cells:
        return learned
    found = [(view, W, setting) for view, W in zip(crossfit.views, Ws, strict=True)]
    Ws = [end.W for end in mapper(partial(refine_subspace, search.max_steps), found)]
    chooser = SettingSelector(crossfit, Ws, search)
    refined = _settle(chooser, setting, refined=True)
    return min(refined, learned, key=lambda c: c.loss)


def reselect_setting(c: Configuration, crossfit: Crossfit, search: SearchSpace) -> Configuration:
    """The same members with other centres: the setting near theirs that is best for these."""
    chooser = SettingSelector(crossfit, c.Ws, search)
    return _settle(chooser, c.setting, refined=c.refined)


def _settle(chooser: SettingSelector, near: Setting, *, refined: bool) -> Configuration:
    """The configuration of given members, with the best setting near the one they learned with."""
    crossfit, Ws = chooser.crossfit, chooser.Ws
    s = chooser.choose(near, coarse=False, strides=(1,))
    losses = crossfit.losses(Ws, s.sigma_z, s.sigma_y, (s.penalty,))[0]
    return Configuration(crossfit.location, len(Ws[0]), s, Ws, losses, crossfit, refined)


def starting_points(
    view: MemberView, active: Mask, dz: int, n_starts: int, rng: np.random.Generator
) -> list[Array]:
    """Random subspaces that contain the directions of the view's location."""
    lead = view.location.directions[:dz]
    if dz >= active.sum():  # nothing to reduce
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
    """Race the starts, then go on from the best: a subspace of least SCE."""
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
    """Go on from W to the subspace in which samples left out are described best."""
    view, W, setting = item[0].thinned(LEARNING_CENTERS), *item[1:]
    n_fixed = min(len(view.location.directions), len(W))
    problem = leave_one_out_problem(view, W, setting, widening)
    return minimise(problem, W, max_steps=max_steps, n_fixed=n_fixed)


def leave_one_out_problem(
    view: MemberView, W: Array, setting: Setting, widening: float
) -> LeaveOneOutLoss:
    """What refining minimises.

    Kernels are ``widening`` times as wide in z as the setting's, and no narrower in y than at
    first: what shows the density of y best is too narrow for finding out what y depends on.
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
    """The given ``dimension``, or (None) no reduction and 1, 2, ... until more do not help.

    A subspace contains the directions of its location: a location that needs more of them than
    there are components is not tried.
    """
    most = int(crossfit.active.sum())
    least = max(1, *(len(view.location.directions) for view in crossfit.views))
    tries = [most, *range(least, most)] if dimension is None else [dimension]
    found: list[Configuration] = []
    smaller: Configuration | None = None
    best: Configuration | None = None
    for dz in tries:
        if dz < min(least, most):
            continue
        new = configure(crossfit, dz, search, rng, mapper, smaller if dz < most else None)
        report(new)
        found.append(new)
        if dz < most:
            smaller = new
            if best is None or new.loss < best.loss - crossfit.score.worth(best.loss, WORTH):
                best = new
            if dz >= best.n_components + PATIENCE:
                break
    return found


def fewest_components(configurations: Sequence[Configuration]) -> Configuration:
    """The fewest directions whose loss is as good as the best, but for what is not worth more."""
    top = min(configurations, key=lambda c: c.loss)
    if top.crossfit is None:
        return top
    worst = top.loss + top.crossfit.score.worth(top.loss, WORTH)
    return min(
        (c for c in configurations if c.loss <= worst), key=lambda c: (c.n_components, c.loss)
    )
