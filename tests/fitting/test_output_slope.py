"""Held-out losses of outputs with bounds against the same densities in the units of y."""

from dataclasses import replace

import numpy as np
import pytest

from condensity.data.sample import Scaling
from condensity.distributions import Block, BoundedMixture, Bounds, Mixture
from condensity.fitting.output_slope import FLAT, OutputSlope
from condensity.fitting.scores import SCORES, Gaussians
from condensity.locations.location import constant_location, linear_location
from condensity.lsce.calibration import HeldOutDensities
from condensity.lsce.configurations import Configuration
from condensity.lsce.stacking import loss_of_average
from condensity.members.averaged import AveragedMembers, Ensemble
from condensity.members.crossfit import Crossfit
from condensity.members.member import MemberView, OutputKernels
from condensity.members.settings import Setting
from crossfits import LOSSES, OPEN, deals
from problems import random_sample, random_subspace

INF = np.inf
BOUNDS = {
    "lower": Bounds(np.array([2.0]), np.array([INF])),
    "upper": Bounds(np.array([-INF]), np.array([5.0])),
    "both": Bounds(np.array([-1.0]), np.array([4.0])),
    "two outputs": Bounds(np.array([0.0, -2.0]), np.array([INF, 3.0])),
    "one of two outputs": Bounds(np.array([0.0, -INF]), np.array([INF, INF])),
}
SETTINGS = {"constant_location": Setting(0.8, 0.4, 0.1), "linear_location": Setting(0.6, 0.5, 0.01)}


def units(dy):
    """Means and standard deviations of the free coordinates."""
    return Scaling(np.array([0.4, -0.3])[:dy], np.array([0.8, 1.7])[:dy])


def crossfit(bounds, score, locator=constant_location):
    """A crossfit to standardised free coordinates."""
    dy, n = len(bounds.lower), 45
    first, more = random_sample(0, n=n, dx=4), random_sample(1, n=n, dx=4)
    whole = replace(first, Y=np.hstack([first.Y, more.Y])[:, :dy])
    views = [
        MemberView.of(whole, mass, np.arange(0, n, 2), locator) for mass in deals(whole.weight)
    ]
    slope = OutputSlope.of(bounds, units(dy), SCORES[score])
    return Crossfit(locator.__name__, whole, OPEN, views, SCORES[score], (), slope)


def density(bounds, view, W, setting, X):
    """The density of y of one member, by the code that predicts."""
    fit = OutputKernels.build(view, setting.sigma_y)
    coefficients = fit.fit(W, setting.sigma_z, (setting.penalty,))
    part = AveragedMembers.of(view, fit.components, [coefficients])
    scaling = units(len(bounds.lower))
    return Ensemble([(1.0, part)], scaling, view.scaling, W, bounds=bounds).at(X)


def targets(bounds, U):
    """Outputs for standardised free coordinates, (n,) or (n, dy)."""
    scaling = units(len(bounds.lower))
    Y = bounds.bounded(scaling.mean + scaling.sd * U)
    return Y[:, 0] if Y.shape[1] == 1 else Y


@pytest.mark.parametrize("score", ["squared", "log"])
@pytest.mark.parametrize("locator", [constant_location, linear_location])
@pytest.mark.parametrize("kind", BOUNDS)
def test_losses_are_those_of_the_densities_of_y(kind, locator, score):
    bounds = BOUNDS[kind]
    fit = crossfit(bounds, score, locator)
    Ws = [random_subspace(j, 2, 4) for j in range(6)]
    losses = fit.losses(Ws, 0.8, 0.4, (0.01, 0.1))[1]
    exact = np.zeros(45)
    for view, W in zip(fit.views, Ws, strict=True):
        dist = density(bounds, view, W, Setting(0.8, 0.4, 0.1), fit.whole.X[view.rows])
        exact[view.rows] += LOSSES[score](dist, targets(bounds, fit.whole.Y[view.rows])) / 2
    sd = np.diag(units(len(bounds.lower)).sd)
    np.testing.assert_allclose(SCORES[score].in_units(losses, sd), exact, rtol=1e-8)


def test_the_tables_are_integrals_over_y():
    bounds, scaling, factor = BOUNDS["lower"], units(1), np.array([[0.6]])
    left = Gaussians(np.array([[0.5], [-0.7], [0.0]]), np.array([0.4, 0.4, 1.0]))
    right = Gaussians(np.array([[0.1], [0.9]]), np.array([0.3, 1.0]))
    slope, shift = OutputSlope.of(bounds, scaling, SCORES["squared"]), 0.35
    (table,) = slope.tables(SCORES["squared"], factor, left, right)
    v = np.linspace(-12, 12, 40001)
    y = targets(bounds, (shift + factor[0, 0] * v)[:, None])
    dv_dy = 1 / (0.8 * 0.6 * (y - 2.0))  # y = 2 + exp(0.4 + 0.8 (shift + 0.6 v))

    def curve(components, k):
        c, s = components.centers[k, 0], components.widths[k]
        return np.exp(-0.5 * ((v - c) / s) ** 2) / (s * np.sqrt(2 * np.pi))

    rate = slope.rates(np.array([[shift]]))[0, 0] / scaling.sd[0]
    for k in range(3):
        for j in range(2):
            exact = np.trapezoid(curve(left, k) * curve(right, j) * dv_dy, v)
            assert rate * table[k, j] == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("score", ["squared", "log"])
@pytest.mark.parametrize("kind", ["lower", "both", "two outputs"])
def test_the_loss_of_an_average_over_two_locations_is_in_the_units_of_y(kind, score):
    bounds, w = BOUNDS[kind], np.array([0.3, 0.7])
    fits = [crossfit(bounds, score, f) for f in (constant_location, linear_location)]
    Ws = [random_subspace(j, 2, 4) for j in range(6)]
    evaluations = [
        Configuration(fit.location, 2, SETTINGS[fit.location], Ws, np.empty(0), fit).evaluate()
        for fit in fits
    ]
    found = loss_of_average(evaluations)(w)[0]
    whole, exact = fits[0].whole, 0.0
    if score == "squared":
        for view, other, W in zip(fits[0].views, fits[1].views, Ws, strict=True):
            X, U = whole.X[view.rows], whole.Y[view.rows]
            parts = [
                density(bounds, v, W, SETTINGS[fit.location], X).free
                for v, fit in zip((view, other), fits, strict=True)
            ]
            dist = BoundedMixture(Mixture.average(parts, w), bounds)
            exact += whole.weight[view.rows] @ LOSSES[score](dist, targets(bounds, U)) / 2
    else:  # the density of a sample is the mean over the members that have not seen it
        total = np.zeros(len(whole))
        for share, fit in zip(w, fits, strict=True):
            for view, W in zip(fit.views, Ws, strict=True):
                dist = density(bounds, view, W, SETTINGS[fit.location], whole.X[view.rows])
                y = targets(bounds, whole.Y[view.rows])
                total[view.rows] += share * np.exp(dist.log_pdf(y)) / 2
        exact = -whole.weight @ np.log(total)
    sd = np.diag(units(len(bounds.lower)).sd)
    assert SCORES[score].in_units(np.array(found), sd) == pytest.approx(exact, rel=1e-8)


@pytest.mark.parametrize("kind", ["lower", "both", "two outputs"])
def test_the_loss_of_stretched_densities_is_that_of_the_densities_of_y(kind):
    bounds, rng = BOUNDS[kind], np.random.default_rng(0)
    scaling, dy = units(len(bounds.lower)), len(bounds.lower)
    blocks = [
        Block(np.log(share) + np.zeros((30, 1)), np.full((1, dy), c), s * np.eye(dy))
        for share, c, s in ((0.4, -0.8, 0.4), (0.6, 0.3, 0.7))
    ]
    dist, weight = Mixture(blocks), rng.uniform(0.5, 1, 30)
    U = dist.sample(1, random_state=rng).reshape(30, dy)
    slope = OutputSlope.of(bounds, scaling, SCORES["squared"])
    held_out = HeldOutDensities(dist, U, weight, slope)
    for factor in (0.7, 1.0, 1.3):
        wider = dist.stretch(np.full(dy, factor))
        scaled = [
            replace(b, centers=scaling.sd * b.centers, factor=np.diag(scaling.sd) @ b.factor)
            for b in wider.blocks
        ]
        moved = [
            replace(b, shift=scaling.mean + scaling.sd * (0.0 if b.shift is None else b.shift))
            for b in scaled
        ]
        exact = weight @ LOSSES["squared"](
            BoundedMixture(Mixture(moved), bounds), targets(bounds, U)
        )
        found = held_out.loss(SCORES["squared"], factor) / np.prod(scaling.sd)
        assert found == pytest.approx(exact, rel=1e-9)


def test_the_slope_is_one_without_bounds_and_for_the_crps():
    assert OutputSlope.of(None, units(2), SCORES["squared"]) is FLAT
    assert OutputSlope.of(BOUNDS["lower"], units(1), SCORES["crps"]) is FLAT
    assert not OutputSlope.of(BOUNDS["lower"], units(1), SCORES["log"]).flat
    np.testing.assert_array_equal(FLAT.at(np.ones((3, 2))), np.ones(3))
