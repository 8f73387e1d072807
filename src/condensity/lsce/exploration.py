"""The configurations: locations and numbers of components, learned by all members.

For every location, configurations with more and more components are cross-fitted.  For the best of
them, a location that is a function of their components is cross-fitted.  If there are many samples,
only some of the folds are left out here.  The configurations that are not clearly worse are then
completed with the other folds (module ``shortlist``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter

import numpy as np

from condensity._typing import Array
from condensity._utils.parallel import Mapper
from condensity.data.prepare import TrainingData
from condensity.locations.location import ReducedLocator
from condensity.lsce.configurations import (
    Configuration,
    complete,
    configure_reduced,
    explore_dimensions,
    with_members,
)
from condensity.lsce.consensus import consensus, member_subspaces
from condensity.lsce.learning import learn_with_location
from condensity.lsce.shortlist import shortlist
from condensity.members.crossfit import Crossfit
from condensity.members.member import MemberView
from condensity.members.settings import EnsembleOptions, first_setting
from condensity.members.views import cross_fit, reduced_view

#: Largest number of components with which a location that is a function of z is tried.
REDUCED_COMPONENTS = 6


def explore(
    data: TrainingData,
    options: EnsembleOptions,
    views: dict[str, MemberView],
    held: Sequence[Array],
    rng: np.random.Generator,
    mapper: Mapper,
    report: Callable[[Configuration], None],
) -> list[Configuration]:
    """The configurations of all locations that fit into the number of components."""
    configurations: list[Configuration] = []
    dz = options.n_components
    for name, view in views.items():
        search = options.search_space(view)
        if data.partitions:
            crossfit = cross_fit(data, options, name, held)
            configurations += explore_dimensions(
                crossfit,
                dz,
                search,
                rng,
                mapper,
                report,
                others=tuple(configurations),
                simple=options.n_members > 1,
            )
            crossfit.clear()
        elif dz is not None and len(view.location.directions) <= dz:
            unknown = np.full(len(data.sample), np.nan)
            only = Configuration(name, dz, first_setting(search, dz), [], unknown, None)
            configurations.append(only)
    return configurations


def add_reduced(
    data: TrainingData,
    options: EnsembleOptions,
    views: dict[str, MemberView],
    configurations: Sequence[Configuration],
    held: Sequence[Array],
    mapper: Mapper,
    report: Callable[[Configuration], None],
) -> list[Configuration]:
    """The configurations, and some with a location that is a smooth function of z.

    Their subspaces are learned together with the location.  The search starts from the best
    configuration with the same number of components; more are tried while the loss improves.
    The views of the new ones are added to ``views``.
    """
    strict = [c for c in configurations if not views[c.key].location.anywhere]
    plain = next(c.crossfit for c in strict if c.location == "none")
    assert plain is not None
    most = min(max(REDUCED_COMPONENTS, options.n_components or 0), int(data.active.sum()) - 1)
    added: list[Configuration] = []
    for dz in range(1, 0 if plain.by_cells else most + 1):
        start = min(
            (c for c in strict if c.n_components == dz), key=attrgetter("loss"), default=None
        )
        if start is None:
            continue
        # Subspaces with a linear location contain its slope: their rivals are too similar.
        free = next((c for c in strict if (c.location, c.n_components) == ("none", dz)), start)
        new = _reduced(data, options, views, start, free.rivals, plain, held, mapper)
        report(new)
        added.append(new)
        if new.n_components > min(added, key=attrgetter("loss")).n_components:
            break
    if options.only_reduced and added:
        configurations = [c for c in configurations if not c.n_components]
    return [*configurations, *added]


def _reduced(
    data: TrainingData,
    options: EnsembleOptions,
    views: dict[str, MemberView],
    start: Configuration,
    rivals: Sequence[Sequence[Array]],
    plain: Crossfit,
    held: Sequence[Array],
    mapper: Mapper,
    known: Configuration | None = None,
) -> Configuration:
    """The configuration whose directions are learned with a location on z, from those of ``start``.

    ``rivals`` are further starts of every view.  ``plain`` has the views without location.  The
    first members are those of ``known``.  The view of all samples is added to ``views``.
    """
    learn = partial(learn_with_location, options.search.max_steps)
    Ws = [] if known is None else list(known.Ws)
    starts = [[W, *others] for W, others in zip(start.Ws, rivals, strict=True)]
    items = list(zip(plain.views, starts, strict=True))[len(Ws) :]
    Ws += [end.W for end in mapper(learn, items)]
    members = member_subspaces(replace(start, Ws=Ws, crossfit=plain), views["none"])
    view = reduced_view(data, options, consensus(members)[0])
    search, locators = options.search_space(view), [ReducedLocator(W) for W in Ws]
    if known is None:
        crossfit = cross_fit(data, options, "reduced", held, locators)
        new = configure_reduced(start, crossfit, Ws, search)
    else:
        crossfit = cross_fit(data, options, "reduced", held, locators, known.crossfit)
        new = with_members(replace(known, start=start), crossfit, Ws)
    crossfit.clear()
    views[new.key] = view
    return new


def complete_all(
    data: TrainingData,
    options: EnsembleOptions,
    views: dict[str, MemberView],
    configurations: Sequence[Configuration],
    held: Sequence[Array],
    rng: np.random.Generator,
    mapper: Mapper,
) -> list[Configuration]:
    """The configurations on the short list, and those they start from, for all members."""
    crossfits: dict[str, Crossfit] = {}
    completed: dict[int, Configuration] = {}

    def crossfit_of(c: Configuration) -> Crossfit:
        if c.key not in crossfits:
            crossfits[c.key] = cross_fit(data, options, c.location, held, known=c.crossfit)
        return crossfits[c.key]

    def add(c: Configuration) -> Configuration:
        if id(c) not in completed:
            if c.start is None:
                search = options.search_space(views[c.key])
                new = complete(c, crossfit_of(c), search, rng, mapper)
            else:
                plain = crossfit_of(next(o for o in configurations if o.location == "none"))
                first = add(c.start)
                rivals = first.rivals
                new = _reduced(data, options, views, first, rivals, plain, held, mapper, c)
            completed[id(c)] = new
        return completed[id(c)]

    for c in shortlist(options, views, configurations):
        add(c)
    for crossfit in crossfits.values():
        crossfit.clear()
    return [completed[id(c)] for c in configurations if id(c) in completed]
