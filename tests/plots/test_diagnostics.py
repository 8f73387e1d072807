"""Summaries, loadings, calibration and paths, against what they are made of."""

from dataclasses import replace
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgba
from scipy.stats import binom
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from condensity import LSCDE, LSCE, LSMI, SAVE, SIR, FixedSubspace, Reduced
from condensity.datasets import toy_a
from condensity.distributions.block import Block
from condensity.distributions.mixture import Mixture
from condensity.plots import (
    CalibrationDisplay,
    LoadingsDisplay,
    PathDisplay,
    SufficientSummaryDisplay,
)
from mixtures import random_mixture

mpl.use("Agg")
import matplotlib.pyplot as plt

QUICK = LSCDE(bandwidth=0.5, penalty=0.1, random_state=0)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def problem(n=80):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4)) * [1, 10, 1, 1] + [0, 50, 0, 0]
    return X, X[:, 0] - X[:, 2] + 0.5 * rng.standard_normal(n)


def test_one_direction_is_drawn_against_y():
    X, y = problem()
    pipe = make_pipeline(StandardScaler(), SIR()).fit(X, y)
    display = SufficientSummaryDisplay.from_estimator(pipe, X, pd.Series(y, name="height"))
    (scatter,) = display.artists_
    expected = np.column_stack([pipe.transform(X)[:, 0], y])
    np.testing.assert_allclose(scatter.get_offsets(), expected)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("z", "height")


@pytest.mark.parametrize("dz", [2, 3])
def test_pairs_of_directions_are_coloured_by_y(dz):
    X, y = problem()
    model = SAVE(dz).fit(X, y)
    _, ax = plt.subplots()
    Y = np.column_stack([y, -y])
    display = SufficientSummaryDisplay.from_estimator(model, X, Y, output=1, ax=ax)
    Z = model.transform(X)
    pairs = [(i, j) for i in range(dz) for j in range(i + 1, dz)]
    axes = np.ravel(display.ax_)
    for scatter, panel, (i, j) in zip(display.artists_, axes, pairs, strict=True):
        assert scatter.axes is panel
        np.testing.assert_allclose(scatter.get_offsets(), Z[:, [i, j]])
        np.testing.assert_allclose(scatter.get_array(), -y)
        assert scatter.get_clim() == pytest.approx(tuple(np.quantile(-y, [0.01, 0.99])))
    assert axes[-1].get_xlabel() == f"z{dz - 1}"
    assert axes[0].get_ylabel() == "z2"
    assert display.figure_ is ax.figure
    assert display.figure_.axes[-1].get_ylabel() == "y2"  # of the bar of colours
    if dz == 3:  # the panel of no pair stays empty
        empty = [a for a in display.figure_.axes if not a.collections and not a.axison]
        assert len(empty) == 2


def test_a_summary_needs_directions_and_as_many_rows():
    X, y = problem()
    with pytest.raises(TypeError, match="LSCDE has no transform, so there is no z to draw"):
        SufficientSummaryDisplay.from_estimator(QUICK.fit(X, y), X, y)
    with pytest.raises(ValueError, match="X has 80 rows but y has 79"):
        SufficientSummaryDisplay.from_estimator(SIR().fit(X, y), X, y[1:])


def bars(display):
    """The weights that are drawn: (dz, shown)."""
    return np.array([[bar.get_width() for bar in container] for container in display.bars_])


def labels(display):
    return [label.get_text() for label in display.ax_.get_yticklabels()]


def test_loadings_are_the_components_largest_first():
    X, y = problem()
    named = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = SIR(2).fit(named, y)
    model.components_ *= [[-1.0], [1.0]]
    display = LoadingsDisplay.from_estimator(model)
    W = model.components_
    order = np.argsort(-(W**2).sum(axis=0))
    np.testing.assert_allclose(bars(display), W[:, order])
    assert labels(display) == [named.columns[j] for j in order]
    middles = [[bar.get_y() + bar.get_height() / 2 for bar in c] for c in display.bars_]
    np.testing.assert_allclose(np.mean(middles, axis=0), range(4))
    assert display.ax_.get_xlabel() == "weight per standard deviation"
    assert [t.get_text() for t in display.ax_.get_legend().get_texts()] == ["z1", "z2"]
    assert display.ax_.yaxis_inverted()


@pytest.mark.parametrize("wrap", [lambda m: m, lambda m: Reduced(m, QUICK)])
def test_directions_in_units_of_the_inputs_are_brought_to_standard_deviations(wrap):
    X, y = problem()
    model = wrap(FixedSubspace([[0.0, -0.5, 2.0, 0.0]])).fit(X, y)
    plain = LoadingsDisplay.from_estimator(model)
    assert plain.ax_.get_xlabel() == "weight per unit of the input"
    np.testing.assert_allclose(plain.loadings, [[0, -0.5, 2, 0]])
    scaled = LoadingsDisplay.from_estimator(model, X)
    assert scaled.ax_.get_xlabel() == "weight per standard deviation"
    np.testing.assert_allclose(scaled.loadings, [[0, -0.5 * X[:, 1].std(), 2 * X[:, 2].std(), 0]])


def test_loadings_of_composites_have_the_names_of_what_comes_before():
    X, y = problem()
    named = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    search = GridSearchCV(make_pipeline(StandardScaler(), PCA(1)), {}, cv=2).fit(named, y)
    display = LoadingsDisplay.from_estimator(search, max_features=3)
    assert set(labels(display)) <= set(named.columns)
    assert display.ax_.get_xlabel().endswith("(1 smaller ones not shown)")
    unnamed = make_pipeline(FunctionTransformer(), SIR()).fit(named.to_numpy(), y)
    assert set(labels(LoadingsDisplay.from_estimator(unnamed))) == {"x1", "x2", "x3", "x4"}
    scaled = make_pipeline(StandardScaler(), SIR()).fit(X, y)
    assert set(labels(LoadingsDisplay.from_estimator(scaled))) == {"x1", "x2", "x3", "x4"}
    standardised = Reduced(SIR(), QUICK).fit(X, y)
    display = LoadingsDisplay.from_estimator(standardised, X)
    np.testing.assert_allclose(abs(display.loadings), abs(standardised.components_))


def test_loadings_need_directions_that_were_found():
    X, y = problem()
    with pytest.raises(TypeError, match="LSCDE has no components_ to draw"):
        LoadingsDisplay.from_estimator(QUICK.fit(X, y))
    with pytest.raises(NotFittedError):
        LoadingsDisplay.from_estimator(SIR())


def standard_normal(m):
    return Mixture([Block(np.zeros((m, 1)), np.zeros((1, 1)), np.eye(1))])


def test_calibration_counts_what_lies_where():
    rng = np.random.default_rng(0)
    y = rng.standard_normal(200) * 1.3
    dist = standard_normal(200)
    display = CalibrationDisplay.from_predictions(y, dist, n_bins=4, confidence=0.9)
    edges = dist[0].quantile([0, 0.25, 0.5, 0.75, 1])[0]
    counts = [np.sum((a < y) & (y <= b)) for a, b in pairwise(edges)]
    np.testing.assert_array_equal(display.counts, counts)
    drawn = [(bar.get_x(), bar.get_width(), bar.get_height()) for bar in display.bars_]
    expected = [(k / 4, 0.25, 4 * count / 200) for k, count in enumerate(counts)]
    np.testing.assert_allclose(drawn, expected)
    levels, coverage = display.coverage_.get_data()
    for level, share in zip(levels, coverage, strict=True):
        low, high = dist.interval(level).T
        assert share == pytest.approx(np.mean((low <= y) & (y <= high)))
    outline = display.band_.get_bbox()
    low, high = binom.ppf([0.05, 0.95], 200, 0.25) / 200 * 4
    assert (outline.y0, outline.y1) == pytest.approx((low, high))


def test_the_bands_hold_what_chance_does_and_no_more():
    levels = np.array([0.1, 0.5, 0.9])
    display = CalibrationDisplay(np.full(10, 10.0), levels, levels)
    for level, (low, high) in zip(levels, display.band(levels, 0.95), strict=True):
        inside = sum(
            binom.pmf(k, 100, level) for k in range(round(100 * low), round(100 * high) + 1)
        )
        assert inside >= 0.95
        assert binom.cdf(round(100 * low) - 1, 100, level) < 0.025
        assert binom.sf(round(100 * high), 100, level) < 0.025


def test_calibration_is_that_of_one_output_s_marginal():
    dist = random_mixture(0, m=30, dy=2)
    Y = dist.sample(1, random_state=0)[:, 0]
    named = pd.DataFrame(Y, columns=["left", "right"])
    _, axes = plt.subplots(1, 2)
    display = CalibrationDisplay.from_predictions(named, dist, output=1, ax=axes)
    alone = CalibrationDisplay.from_predictions(Y[:, 1], dist.marginal(1))
    np.testing.assert_array_equal(display.counts, alone.counts)
    np.testing.assert_array_equal(display.coverage, alone.coverage)
    assert display.ax_[0] is axes[0]
    assert display.ax_[0].get_xlabel() == "F(right | x)"


def test_calibration_asks_estimators_and_takes_the_place_of_axes():
    X, y = problem()
    pipe = make_pipeline(StandardScaler(), QUICK).fit(X, y)
    figure, ax = plt.subplots()
    display = CalibrationDisplay.from_estimator(pipe, X, y, ax=ax)
    own = CalibrationDisplay.from_predictions(y, pipe[-1].predict_dist(pipe[0].transform(X)))
    np.testing.assert_array_equal(display.counts, own.counts)
    assert display.figure_ is figure
    with pytest.raises(ValueError, match="X has 80 rows but y has 79"):
        CalibrationDisplay.from_estimator(pipe, X, y[1:])


@pytest.mark.parametrize(
    ("make", "compared", "count"),
    [(LSCE.as_published, "loss", 3), (LSMI, "value", 3 + 4)],  # LSMI has four more starts
    ids=["LSCE", "LSMI"],
)
def test_paths_of_starts_are_their_history_and_the_best_is_marked(make, compared, count):
    X, y = problem(40)
    settings = {"n_starts": 3, "bandwidth": 0.7, "penalty": 0.1, "random_state": 0}
    model = make().set_params(**settings).fit(X[:, :2], y)  # tries one direction and two
    display = PathDisplay.from_estimator(model, n_components=1)
    starts = [start for start in model.history_ if start.n_components == 1]
    assert len(starts) == count
    for line, start in zip(display.lines_, starts, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), start.values)
    best = min(starts, key=lambda start: getattr(start, compared))
    (x,), (y_best,) = display.chosen_.get_data()
    assert (x, y_best) == (len(best.values) - 1, best.values[-1])
    name = "SCE" if hasattr(model, "sce_") else "−1/2 − SMI"
    assert display.ax_.get_ylabel() == name
    own = PathDisplay.from_estimator(model)
    assert len(own.paths) == sum(s.n_components == model.n_components_ for s in model.history_)
    with pytest.raises(ValueError, match="n_components must be an integer between 1 and 2"):
        PathDisplay.from_estimator(model, n_components=3)


@pytest.mark.parametrize(("n", "seed"), [(40, 2), (120, 4)], ids=["one stage", "two stages"])
def test_the_marked_start_is_the_one_of_the_model(n, seed):
    """Published starts are compared by held-out loss: another one may have the smallest SCE."""
    X, y = toy_a().sample(n, random_state=seed)
    model = LSCE.as_published(1, random_state=0).set_params(n_starts=4).fit(X, y)
    display = PathDisplay.from_estimator(model)
    assert display.chosen_.get_ydata()[0] == model.sce_
    assert min(start.value for start in model.history_) < model.sce_
    assert sum(start.chosen for start in model.history_) == 1


def test_without_a_chosen_start_the_smallest_value_is_marked():
    """Files of older versions do not say which start was chosen."""
    model = LSMI(1, n_starts=4, bandwidth=0.7, penalty=0.1, random_state=0).fit(*problem(40))
    starts = sorted(model.history_, key=lambda start: -start.value)
    assert starts[0].value > starts[-1].value
    model.history_ = [replace(start, chosen=False) for start in starts]
    display = PathDisplay.from_estimator(model)
    assert display.chosen_.get_ydata()[0] == starts[-1].value


@pytest.mark.filterwarnings("ignore:the best start has not converged")
def test_an_end_that_was_still_moving_is_hollow():
    X, y = problem(40)
    model = LSMI(1, n_starts=2, bandwidth=0.7, penalty=0.1, max_iter=1, random_state=0).fit(X, y)
    display = PathDisplay.from_estimator(model)
    for start, mark in zip(model.history_, display.ax_.collections, strict=True):
        hollow = tuple(mark.get_facecolor()[0]) == to_rgba("white")
        assert hollow == (start.stop != "converged")
    assert any(start.stop != "converged" for start in model.history_)


def test_a_single_number_of_directions_has_a_single_tick():
    X, y = problem(40)
    model = LSCE(2, n_members=1, n_starts=1, bandwidth=0.7, penalty=0.1, random_state=0)
    display = PathDisplay.from_estimator(model.fit(X, y))
    assert display.ax_.get_xticks().tolist() == [2]


def test_paths_of_dimensions_are_losses_by_location_and_the_chosen_is_marked():
    X, y = problem(50)
    model = LSCE(n_members=1, n_starts=1, bandwidth=0.7, penalty=0.1, random_state=0)
    model.fit(X[:, :3], y)
    display, table = PathDisplay.from_estimator(model), model.cv_results_
    assert table["is_best"].sum() == 1
    best = table["is_best"].argmax()
    assert table["param_location"][best] == model.location_
    assert table["param_n_components"][best] == model.n_components_
    names = ["none", "linear", "reduced"]
    assert [line.get_label() for line in display.lines_] == [f"location {name}" for name in names]
    for line, name in zip(display.lines_, names, strict=True):
        drawn = dict(zip(*line.get_data(), strict=True))
        rows = np.flatnonzero(table["param_location"] == name)
        kept = {table["param_n_components"][i]: -table["mean_test_score"][i] for i in rows}
        assert drawn == kept
        assert list(drawn) == sorted(drawn)
    (x,), (loss,) = display.chosen_.get_data()
    assert (x, loss) == (model.n_components_, -table["mean_test_score"][best])
    solid = [
        tuple(c) != to_rgba("white") for m in display.ax_.collections for c in m.get_facecolor()
    ]
    assert sum(solid) == np.sum(table["weight"] > 0)
    with pytest.raises(ValueError, match="LSCE does not store its starts, so n_components=1"):
        PathDisplay.from_estimator(model, n_components=1)


def test_paths_of_two_steps_are_their_losses():
    X, y = problem(50)
    model = Reduced(SIR(), QUICK, n_components=[1, 3], random_state=0).fit(X, y)
    display = PathDisplay.from_estimator(model, lw=3)
    (line,) = display.lines_
    np.testing.assert_allclose(line.get_ydata(), -model.cv_results_["mean_test_score"])
    assert line.get_linewidth() == 3
    assert display.chosen_.get_xdata()[0] == model.n_components_


def test_what_keeps_nothing_of_a_search_is_named():
    X, y = problem(50)
    with pytest.raises(ValueError, match="Reduced was fitted with a single candidate"):
        PathDisplay.from_estimator(Reduced(SIR(), QUICK).fit(X, y))
    with pytest.raises(TypeError, match="LinearRegression stores no search to draw"):
        PathDisplay.from_estimator(LinearRegression().fit(X, y))
