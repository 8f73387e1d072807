"""Configurations: a location and a number of components, learned by all members.

1. Every member learns a subspace (module ``learning``).
2. The setting is chosen by the members' held-out loss.
3. With it, every member refines its subspace, and the setting is chosen again.  The refined
   subspaces are kept if they lower the held-out loss.

A configuration with more components also starts from the subspaces of the one with fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from condensity._typing import Array
from condensity._utils.parallel import Mapper
from condensity.lsce.learning import (
    FEWER_STARTS,
    learn_subspace,
    refine_subspace,
    starting_points,
    subspace_containing,
    widen,
)
from condensity.members.crossfit import Crossfit, HeldOutEvaluation
from condensity.members.settings import SearchSpace, Setting, SettingSelector, first_setting

#: Number of dimensions tried beyond the best one: with the first location, and with the others, for
#: which the first one has shown how the loss depends on the dimension.
PATIENCE, PATIENCE_WITH_OTHERS = 2, 1
#: Relative improvement of the loss that is required to prefer more components.
WORTH = 0.01
#: With more samples than this, the loss of a configuration is less optimistic than its folds say.
FEW = 60


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
    optimism: float = 0.0  # by which its loss is too low, because it was chosen
    start: Configuration | None = None  # of the search, if the location is a function of z
    rivals: Sequence[Sequence[Array]] = ()  # other subspaces of every view, from its race

    def __repr__(self) -> str:
        s = self.setting
        return (
            f"Configuration(location={self.location!r}, n_components={self.n_components}, "
            f"loss={self.loss:.4g}, sigma_z={s.sigma_z:.3g}, sigma_y={s.sigma_y:.3g}, "
            f"penalty={s.penalty:g})"
        )

    @property
    def key(self) -> str:
        """A name for the view of the configuration; those with the same location share it."""
        return self.location if self.start is None else f"{self.location} {self.n_components}"

    @property
    def loss(self) -> float:
        """The mean held-out loss; NaN without folds."""
        return np.nan if self.crossfit is None else float(self.crossfit.weight @ self.losses)

    def setting_for(self, dz: int) -> Setting:
        """Its setting, with the same sigma_z in units of ``sqrt(dz)`` for another ``dz``."""
        return replace(self.setting, sigma_z=self.setting.sigma_z * np.sqrt(dz / self.n_components))

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
    similar: Configuration | None = None,
) -> Configuration:
    """Learn ``dz`` directions for all members.

    The search also starts from the subspaces of a ``smaller`` configuration, and of a ``similar``
    one with another location.  The latter replaces most random starts.
    """
    if dz == 0:
        nothing = [np.empty((0, len(crossfit.active)))] * len(crossfit.views)
        selector = SettingSelector(crossfit, nothing, search)
        return _with_best_setting(selector, first_setting(search, 0), refined=False, coarse=True)
    n_starts = search.n_starts if similar is None else max(1, search.n_starts // FEWER_STARTS)
    starts = [starting_points(view, crossfit.active, dz, n_starts, rng) for view in crossfit.views]
    if similar is not None:
        for view, member_starts, W in zip(crossfit.views, starts, similar.Ws, strict=True):
            more = view.sample.X.shape[1] - W.shape[1]  # the predicted value, if it is an input
            padded = np.pad(W, ((0, 0), (0, more)))
            member_starts.append(subspace_containing(view.location.directions, padded, dz))
    if smaller is not None:
        for member_starts, W in zip(starts, smaller.Ws, strict=True):
            member_starts.append(widen(W, dz, crossfit.active, rng))
    items = list(zip(crossfit.views, starts, strict=True))
    ends = list(mapper(partial(learn_subspace, search.max_steps), items))
    Ws, rivals = [end.W for end in ends], [end.rivals for end in ends]
    selector = SettingSelector(crossfit, Ws, search)
    if smaller is None:
        setting = selector.choose(first_setting(search, dz), coarse=True, strides=(2,))
    else:
        setting = selector.choose(smaller.setting_for(dz), coarse=False, strides=(1,))
    learned = _with_best_setting(selector, setting, refined=False)
    # In a table of cells, a sample shares its kernel with its cell: it cannot be left out alone.
    if dz >= crossfit.active.sum() or crossfit.by_cells:
        return replace(learned, rivals=rivals)
    learned_items = [(view, [W], setting) for view, W in zip(crossfit.views, Ws, strict=True)]
    Ws = [end.W for end in mapper(partial(refine_subspace, search.max_steps), learned_items)]
    selector = SettingSelector(crossfit, Ws, search)
    refined = _with_best_setting(selector, setting, refined=True)
    # Only the first selection had a coarse grid of candidates.
    best = min(refined, learned, key=lambda c: c.loss)
    optimism = max(refined.optimism, learned.optimism)
    return replace(best, optimism=optimism, rivals=rivals)


def configure_reduced(
    start: Configuration, crossfit: Crossfit, Ws: Sequence[Array], search: SearchSpace
) -> Configuration:
    """Subspaces ``Ws`` that were learned from ``start`` with a location that is a function of z."""
    selector = SettingSelector(crossfit, Ws, search)
    setting = selector.choose(first_setting(search, start.n_components), coarse=True, strides=(2,))
    new = _with_best_setting(selector, setting, refined=False, coarse=False)
    return replace(new, start=start)


def complete(
    c: Configuration,
    crossfit: Crossfit,
    search: SearchSpace,
    rng: np.random.Generator,
    mapper: Mapper,
) -> Configuration:
    """The configuration for all members of ``crossfit``; its own are the first of them.

    Its setting stays: that of a configuration with weight is selected again later, with all
    centres.
    """
    dz, views = c.n_components, crossfit.views[len(c.Ws) :]
    starts = [starting_points(view, crossfit.active, dz, search.n_starts, rng) for view in views]
    Ws, rivals = [member_starts[0] for member_starts in starts], list(c.rivals)
    if 0 < dz < crossfit.active.sum():
        items = list(zip(views, starts, strict=True))
        ends = list(mapper(partial(learn_subspace, search.max_steps), items))
        Ws, rivals = [end.W for end in ends], [*rivals, *(end.rivals for end in ends)]
    if c.refined:
        learned = [(view, [W], c.setting) for view, W in zip(views, Ws, strict=True)]
        Ws = [end.W for end in mapper(partial(refine_subspace, search.max_steps), learned)]
    return replace(with_members(c, crossfit, [*c.Ws, *Ws]), rivals=rivals)


def with_members(c: Configuration, crossfit: Crossfit, Ws: Sequence[Array]) -> Configuration:
    """The configuration with the same setting, and the subspaces ``Ws`` of other members."""
    s = c.setting
    losses = crossfit.losses(Ws, s.sigma_z, s.sigma_y, (s.penalty,))[0]
    return replace(c, Ws=Ws, losses=losses, crossfit=crossfit)


def reselect_setting(c: Configuration, crossfit: Crossfit, search: SearchSpace) -> Configuration:
    """The same subspaces with the centres of ``crossfit``, and the best setting near theirs."""
    selector = SettingSelector(crossfit, c.Ws, search)
    new = _with_best_setting(selector, c.setting, refined=c.refined)
    return replace(new, optimism=max(c.optimism, new.optimism), start=c.start)


def _with_best_setting(
    selector: SettingSelector, near: Setting, *, refined: bool, coarse: bool = False
) -> Configuration:
    """The configuration of given members with the best setting near ``near``."""
    crossfit, Ws = selector.crossfit, selector.Ws
    s = selector.choose(near, coarse=coarse, strides=(1,))
    losses = crossfit.losses(Ws, s.sigma_z, s.sigma_y, (s.penalty,))[0]
    optimism = selector.optimism(s)
    return Configuration(crossfit.location, len(Ws[0]), s, Ws, losses, crossfit, refined, optimism)


def explore_dimensions(
    crossfit: Crossfit,
    dimension: int | None,
    search: SearchSpace,
    rng: np.random.Generator,
    mapper: Mapper,
    report: Callable[[Configuration], None],
    others: Sequence[Configuration] = (),
    *,
    simple: bool = True,
) -> list[Configuration]:
    """Configurations with ``dimension`` components; None tries no reduction and 1, 2, ....

    The latter stops when more components do not lower the loss.  A subspace contains the directions
    of its location: a location with more directions than components is skipped.  ``others`` are
    configurations with other locations.  With ``simple``, the first one has no components.
    """
    most = int(crossfit.active.sum())
    least = max(1, *(len(view.location.directions) for view in crossfit.views))
    if dimension is not None and dimension < min(least, most):
        return []
    tries = [most, *range(least, most)] if dimension is None else [dimension]
    if simple:
        tries = [0, *tries]
    configurations: list[Configuration] = []
    smaller: Configuration | None = None
    best: Configuration | None = None
    for dz in tries:
        n_others = dz - (crossfit.views[0].location.predicted is not None)
        similar = next((c for c in others if c.n_components == n_others), None)
        if dz in (0, most):
            new = configure(crossfit, dz, search, rng, mapper)
        else:
            new = configure(crossfit, dz, search, rng, mapper, smaller, similar)
        report(new)
        configurations.append(new)
        if 0 < dz < most:
            smaller = new
            if best is None or new.loss < best.loss - crossfit.score.worth(best.loss, WORTH):
                best = new
            if dz >= best.n_components + (PATIENCE_WITH_OTHERS if others else PATIENCE):
                break
    return configurations


def fewest_components(configurations: Sequence[Configuration]) -> Configuration:
    """The configuration with the fewest components whose loss is within tolerance of the best."""
    configurations = [c for c in configurations if c.n_components]
    top = min(configurations, key=lambda c: c.loss)
    if top.crossfit is None:
        return top
    worst = top.loss + top.crossfit.score.worth(top.loss, WORTH)
    return min(
        (c for c in configurations if c.loss <= worst), key=lambda c: (c.n_components, c.loss)
    )


def expected_optimism(configurations: Sequence[Configuration]) -> Array:
    """By how much the loss to expect from each configuration is above its held-out loss, (C,).

    With few samples this is what its folds say.  With more than ``FEW`` samples it is smaller, in
    inverse proportion to their number.
    """
    crossfit = configurations[0].crossfit
    assert crossfit is not None
    return _share(crossfit) * np.array([c.optimism for c in configurations])


def stacking_excess(configurations: Sequence[Configuration]) -> Array:
    """What stacking adds to the held-out losses of the configurations, (C,).

    This is the optimism, and one standard error of the difference from the best configuration whose
    shape does not depend on x.  So a density that depends on x more closely gets its weight only if
    it is clearly better.  With many samples this is small too.
    """
    simple = [c for c in configurations if c.n_components == 0] or configurations
    reference = min(simple, key=lambda c: c.loss + c.optimism)
    assert reference.crossfit is not None
    errors = np.array([loss_difference(c, reference)[1] for c in configurations])
    return expected_optimism(configurations) + _share(reference.crossfit) * errors


def _share(crossfit: Crossfit) -> float:
    """``FEW`` divided by the effective number of samples, but at most 1."""
    return min(1.0, FEW * float(np.sum(crossfit.weight**2)))


def loss_difference(c: Configuration, other: Configuration) -> tuple[float, float]:
    """Mean difference of the losses at held-out samples, and its standard error."""
    assert c.crossfit is not None
    weight, difference = c.crossfit.weight, c.losses - other.losses
    mean = weight @ difference
    return float(mean), float(np.linalg.norm(weight * (difference - mean)))
