"""Small cross-fits for the tests, and the same densities through the shipped code path."""

import numpy as np

from condensity.data.sample import Scaling
from condensity.fitting.scores import SCORES
from condensity.locations.location import constant_location
from condensity.members.averaged import AveragedMembers, Ensemble
from condensity.members.crossfit import Crossfit
from condensity.members.member import MemberView, OutputKernels
from condensity.members.settings import SearchSpace
from problems import random_sample

UNITS = Scaling(np.zeros(1), np.ones(1))
SEARCH = SearchSpace(None, None, None, least_sigma_y=0.0, n_starts=1, max_steps=10)
OPEN = np.ones(4, bool)


def deals(weight, n_folds=3, n_deals=2, seed=0):
    rng = np.random.default_rng(seed)
    labels = [rng.permutation(len(weight)) % n_folds for _ in range(n_deals)]
    return [np.where(fold == j, weight, 0.0) for fold in labels for j in range(n_folds)]


def crossfit(locator=constant_location, score="squared", n=45, seed=0):
    whole = random_sample(seed, n=n, dx=4)
    views = [
        MemberView.of(whole, mass, np.arange(0, n, 2), locator) for mass in deals(whole.weight)
    ]
    return Crossfit(locator.__name__, whole, OPEN, views, SCORES[score])


def density(view, W, setting, X):
    """The mixture of one member, through the shipped code path."""
    fit = OutputKernels.build(view, setting.sigma_y)
    part = AveragedMembers.of(
        view, fit.components, [fit.fit(W, setting.sigma_z, (setting.penalty,))]
    )
    return Ensemble([(1.0, part)], UNITS, view.scaling, W).at(X)


LOSSES = {
    "squared": lambda dist, y: 0.5 * dist.squared_norm() - dist.pdf(y),
    "log": lambda dist, y: -dist.log_pdf(y),
    "crps": lambda dist, y: dist.crps(y),
}
