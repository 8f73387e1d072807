"""Settings that follow the number of samples.

The configurations are ranked on the subsample.  With many more samples, the best kernels are
narrower, more centres pay, and a location can be fitted more closely.  So the configurations in the
average are fitted again to samples outside the subsample, with more centres.  The samples of the
subsample, which are held out from these fits, select the setting of each configuration, the weights
of the average, and its stretch.  The final fit is to all samples.

The subspaces start from those that were learned with the subsample.  They are refined with the
other samples alone, which takes the influence of the held-out samples away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from condensity._typing import Array
from condensity.data.growth import LargeSample, enlarge
from condensity.data.prepare import TrainingData
from condensity.locations.location import Locator, ReducedLocator
from condensity.lsce.configurations import Configuration, reselect_setting
from condensity.lsce.consensus import LARGE_SHARE, LearnedSubspaces, rescaled_subspace
from condensity.lsce.final_density import FinalDensity, average_of, stretch_of
from condensity.lsce.learning import learning_width, subspace_containing
from condensity.lsce.stacking import weigh
from condensity.members.crossfit import Crossfit
from condensity.members.member import MemberView
from condensity.members.settings import EnsembleOptions
from condensity.members.views import cross_fit, with_all_centers
from condensity.subspaces.chart import minimise

#: Largest number of additional samples, in units of the size of the subsample.
GROWTH = 15
#: Largest number of centres, unless the caller has given their number.
CENTERS = 1000
#: The search on the larger sample: number of steps, largest number of samples at which the loss is
#: evaluated, and width of the kernels of y, which may be narrower with many centres.
STEPS, REFINING_ROWS, REFINING_SIGMA_Y = 15, 4000, 0.25


def follows_sample_size(data: TrainingData) -> bool:
    """Whether there are so many samples outside the subsample that settings are selected again.

    Folds of the caller say which samples must not be used to evaluate each other, so all settings
    are then selected with them.
    """
    if data.remaining is None or not data.partitions or data.by_cells:
        return False
    return data.labels is None and data.remaining.share < LARGE_SHARE


def enlarge_for_settings(data: TrainingData, rng: np.random.Generator) -> LargeSample:
    """The subsample with many more samples."""
    n_centers = CENTERS if data.auto_centers else len(data.centers)
    return enlarge(data, GROWTH * len(data.sample), n_centers, rng)


@dataclass(frozen=True, eq=False)
class Learned:
    """A configuration, and its subspace in the coordinates of a view."""

    configuration: Configuration
    view: MemberView
    W: Array  # (dz, dx)

    @classmethod
    def of(
        cls, c: Configuration, subspaces: LearnedSubspaces, views: dict[str, MemberView]
    ) -> Learned:
        """The subspace that was learned from all samples of the subsample."""
        return cls(c, views[c.key if c.start is None else "none"], subspaces.final.W)

    def in_view(self, view: MemberView) -> Learned:
        """The same for another view; the subspace contains the directions of its location."""
        W, lead = rescaled_subspace(view.units, self.view.units, self.W), view.location.directions
        if len(W) < np.count_nonzero(view.units):
            W = subspace_containing(lead, W)
        return replace(self, view=view, W=W)

    def refined(self) -> Learned:
        """The subspace that describes the samples of the view best, starting from this one."""
        view = self.view
        if not 0 < len(self.W) < np.count_nonzero(view.units):
            return self
        width = learning_width(view, len(self.W))
        problem = view.left_out(self.W, width, REFINING_SIGMA_Y, scores=True, rows=REFINING_ROWS)
        n_fixed = min(len(view.location.directions), len(self.W))
        return replace(self, W=minimise(problem, self.W, max_steps=STEPS, n_fixed=n_fixed).W)


def settle(
    larger: LargeSample,
    options: EnsembleOptions,
    configurations: Sequence[Configuration],
    subspaces: Sequence[LearnedSubspaces],
    views: dict[str, MemberView],
) -> tuple[FinalDensity, list[LearnedSubspaces]]:
    """The density with settings for all samples.

    Parameters
    ----------
    larger : LargeSample
        The samples.
    options : EnsembleOptions
        The options.
    configurations : sequence of Configuration
        The configurations to be weighed.
    subspaces : sequence of LearnedSubspaces
        Their subspaces.
    views : dict
        The views in whose coordinates these subspaces are.

    Returns
    -------
    FinalDensity
        The average.
    list of LearnedSubspaces
        The subspaces of the configurations, in the same coordinates.
    """
    held, data = larger.held, larger.data
    pairs = zip(configurations, subspaces, strict=True)
    learned = [Learned.of(c, own, views) for c, own in pairs]
    train = LocationViews(data, options, held)
    refined = [one.in_view(train.plain(one.configuration)).refined() for one in learned]
    tuned = [_tuned(options, train.crossfit(one), one) for one in refined]
    weights, loss = weigh(options, tuned)
    used = np.flatnonzero(weights).tolist()
    own = [tuned[i] for i in used]
    own_views = [train.crossfit(refined[i]).views[0] for i in used]
    stretch = stretch_of(options, own, own_views, weights[used], data.n_outputs)
    whole = LocationViews(data, options, np.zeros_like(held))
    final = list(refined)
    for i in used:
        final[i] = refined[i].in_view(whole.plain(refined[i].configuration))
    final_views = [whole.crossfit(final[i]).views[0] for i in used]
    averages = average_of(options, own, final_views, [[final[i].W] for i in used], data.remaining)
    parts = list(zip(weights[used].tolist(), averages, strict=True))
    density = FinalDensity(weights, [c.setting for c in tuned], parts, stretch, loss)
    back = [
        known.with_final(rescaled_subspace(before.view.units, now.view.units, now.W))
        for known, before, now in zip(subspaces, learned, final, strict=True)
    ]
    return density, back


@dataclass(frozen=True, eq=False)
class LocationViews:
    """The views of all locations, without the weights ``held`` (n,)."""

    data: TrainingData
    options: EnsembleOptions
    held: Array
    crossfits: dict[str, Crossfit] = field(default_factory=dict, init=False, repr=False)

    def plain(self, c: Configuration) -> MemberView:
        """The view in which the subspace of a configuration is learned."""
        name = c.location if c.start is None else "none"
        return self._crossfit(name, name, self.options.locators[name]).views[0]

    def crossfit(self, learned: Learned) -> Crossfit:
        """The view of a configuration; a location that is a function of z follows its subspace."""
        c = learned.configuration
        if c.start is None:
            return self._crossfit(c.location, c.location, self.options.locators[c.location])
        return self._crossfit(c.key, c.location, ReducedLocator(learned.W))

    def _crossfit(self, key: str, location: str, locator: Locator) -> Crossfit:
        if key not in self.crossfits:
            crossfit = cross_fit(self.data, self.options, location, [self.held], [locator])
            self.crossfits[key] = with_all_centers(crossfit)
        return self.crossfits[key]


def _tuned(options: EnsembleOptions, crossfit: Crossfit, learned: Learned) -> Configuration:
    """The configuration with the setting for the samples of the view."""
    c, (view,) = learned.configuration, crossfit.views
    assert c.crossfit is not None
    ratio = len(view.sample) / len(c.crossfit.views[0].sample)
    narrower = ratio ** (-1.0 / (c.n_components + view.sample.Y.shape[1] + 4))
    setting = replace(
        c.setting, sigma_z=narrower * c.setting.sigma_z, sigma_y=narrower * c.setting.sigma_y
    )
    start = replace(c, Ws=[learned.W], setting=setting, optimism=0.0)
    tuned = reselect_setting(start, crossfit, options.search_space(view))
    crossfit.clear()
    return tuned
