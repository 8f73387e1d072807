"""Heat maps, ridges and fans show the model's own numbers where they say they do."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from condensity import LSCDE, LSCE, SIR, FixedSubspace, Reduced
from condensity.plots import ConditionalDensityDisplay, FanDisplay
from mixtures import random_mixture

mpl.use("Agg")
import matplotlib.pyplot as plt

QUICK = LSCDE(bandwidth=0.5, penalty=0.1, random_state=0)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def problem(n=80, dy=1):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3)) * [1, 10, 1] + [0, 50, 0]
    Y = np.column_stack([(j + 1) * X[:, 0] + 0.5 * rng.standard_normal(n) for j in range(dy)])
    return X, Y[:, 0] if dy == 1 else Y


def heights(display):
    """What the heat map shows, (positions, values of y)."""
    return np.asarray(display.artists_.get_array()).reshape(len(display.grid), -1).T


def inputs_along(X, j, positions, **fixed):
    rows = np.tile(np.median(X, axis=0), (len(positions), 1))
    for column, value in fixed.items():
        rows[:, int(column[1:])] = value
    rows[:, j] = positions
    return rows


def test_a_feature_varies_while_the_others_stay_at_their_medians():
    X, y = problem()
    model = QUICK.fit(X, y)
    display = ConditionalDensityDisplay.from_estimator(model, X, y, feature=1, n_positions=30)
    ends = np.quantile(X[:, 1], [0.005, 0.995])
    np.testing.assert_allclose(display.positions, np.linspace(*ends, 30))
    dist = model.predict_dist(inputs_along(X, 1, display.positions))
    np.testing.assert_allclose(heights(display), dist.pdf_on(display.grid), rtol=1e-12)
    (points,) = display.ax_.lines
    np.testing.assert_array_equal(points.get_xydata(), np.column_stack([X[:, 1], y]))
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == (
        "x2 (others at their medians)",
        "y",
    )
    assert display.figure_ is display.ax_.figure


@pytest.mark.parametrize("at", [{0: 1.5}, {"a": 1.5}, [1.5, 50.0, 0.2]])
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_other_features_are_where_the_caller_wants_them(at, frame):
    X, y = problem()
    named = frame(dict(zip("abc", X.T, strict=True)))
    display = ConditionalDensityDisplay.from_estimator(
        QUICK.fit(named, y), named, pd.Series(y, name="height"), feature="b", at=at, n_positions=5
    )
    fixed = {"x0": 1.5} if isinstance(at, dict) else {"x0": 1.5, "x2": 0.2}
    rows = inputs_along(X, 1, display.positions, **fixed)
    own = QUICK.fit(X, y).predict_dist(rows)
    np.testing.assert_allclose(heights(display), own.pdf_on(display.grid), rtol=1e-9)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("b (others fixed)", "height")


def test_features_are_those_of_a_pipeline_s_own_inputs():
    X, y = problem()
    X[::7, 2] = np.nan
    pipe = make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), QUICK)
    search = GridSearchCV(pipe, {"lscde__penalty": [0.1]}, cv=2).fit(X, y)
    display = ConditionalDensityDisplay.from_estimator(search, X, feature=1, n_positions=4)
    rows = np.tile(np.nanmedian(X, axis=0), (4, 1))
    rows[:, 1] = display.positions
    best = search.best_estimator_
    own = best[-1].predict_dist(best[:-1].transform(rows))
    np.testing.assert_allclose(heights(display), own.pdf_on(display.grid))
    assert not display.ax_.lines  # no samples were given
    ends = own.quantile([0.005, 0.995])
    assert display.grid[0] < ends.min()
    assert display.grid[-1] > ends.max()


def test_one_direction_varies_while_the_others_stay_at_their_means():
    X, y = problem()
    off_centre = FixedSubspace([[1.0, 0.0, 0.0], [0.0, 0.2, 1.0]])
    pipe = make_pipeline(StandardScaler(with_mean=False), Reduced(off_centre, QUICK)).fit(X, y)
    display = ConditionalDensityDisplay.from_estimator(pipe, X, y, component=1, n_positions=6)
    Z = pipe[-1].transform(pipe[0].transform(X))
    points = np.column_stack([np.full(6, Z[:, 0].mean()), display.positions])
    own = pipe[-1].predict_dist_reduced(points)
    np.testing.assert_allclose(heights(display), own.pdf_on(display.grid), rtol=1e-9)
    assert display.ax_.get_xlabel() == "z2"  # the second
    np.testing.assert_allclose(display.ax_.lines[0].get_xdata(), Z[:, 1])


def test_without_a_choice_the_line_is_that_of_the_steepest_mean():
    X, y = problem()
    model = Reduced(FixedSubspace([[1.0, 0.0, 0.0], [0.0, 0.2, 1.0]]), QUICK).fit(X, y)
    display = ConditionalDensityDisplay.from_estimator(model, X, y, n_positions=5)
    Z, mean = model.transform(X), model.predict(X)
    design = np.column_stack([np.ones(len(Z)), Z])
    slope = np.linalg.solve(design.T @ design, design.T @ mean)[1:]
    unit = slope / np.linalg.norm(slope)
    np.testing.assert_allclose(display.along, Z @ unit, rtol=1e-9)
    # Across the line, points are where the samples are on average.
    across = np.array([-unit[1], unit[0]])
    points = np.outer(display.positions, unit) + across * (Z.mean(axis=0) @ across)
    own = model.predict_dist_reduced(points)
    np.testing.assert_allclose(heights(display), own.pdf_on(display.grid), rtol=1e-8)


@pytest.mark.parametrize("bounds", [None, (-50, None)])
def test_of_several_outputs_the_marginal_is_drawn(bounds):
    X, Y = problem(dy=2)
    named = pd.DataFrame(Y, columns=["left", "right"])
    settled = {"location": "none", "bandwidth": 0.5, "penalty": 0.1}
    model = LSCE(1, n_members=1, n_starts=1, random_state=0, bounds=bounds, **settled).fit(X, Y)
    display = ConditionalDensityDisplay.from_estimator(model, X, named, output=-1, n_positions=7)
    own = model.predict_dist_reduced(display.positions[:, None]).marginal(1)
    np.testing.assert_allclose(heights(display), own.pdf_on(display.grid))
    np.testing.assert_array_equal(display.ax_.lines[0].get_ydata(), Y[:, 1])
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("z", "right")
    unnamed = FanDisplay.from_estimator(model, X, output=1, n_positions=3)
    assert unnamed.ax_.get_ylabel() == "y2"


def test_ridges_stand_where_they_belong_and_are_as_high_as_the_density():
    X, y = problem()
    display = ConditionalDensityDisplay.from_estimator(
        QUICK.fit(X, y), X, y, feature=0, kind="ridgelines", n_ridges=5, n_positions=41
    )
    chosen = [0, 10, 20, 30, 40]
    room = 0.9 * np.ptp(display.positions) / 4
    for ridge, i in zip(display.artists_, chosen, strict=True):
        outline = ridge.get_paths()[0].vertices
        assert outline[:, 0].min() == pytest.approx(display.positions[i])
        height = display.density[i].max() / display.density[chosen].max()
        assert np.ptp(outline[:, 0]) == pytest.approx(room * height)
        top = outline[outline[:, 0].argmax(), 1]
        assert top == pytest.approx(display.grid[display.density[i].argmax()])


def test_predictions_are_put_in_order_and_twins_are_averaged():
    dist, x = random_mixture(0, m=4), pd.Series([2.0, 0.0, 2.0, 1.0], name="age")
    display = ConditionalDensityDisplay.from_predictions(None, dist, x=x, n_grid=50)
    p = dist.pdf_on(display.grid)
    np.testing.assert_array_equal(display.positions, [0, 1, 2])
    np.testing.assert_allclose(heights(display), [p[1], p[3], (p[0] + p[2]) / 2])
    assert display.ax_.get_xlabel() == "age"
    y = [5.0, 6.0, 7.0, 8.0]
    drawn = ConditionalDensityDisplay.from_predictions(y, dist, x=x.to_numpy(), x_name="years")
    np.testing.assert_array_equal(drawn.ax_.lines[0].get_ydata(), [6, 8, 5, 7])
    assert drawn.ax_.get_xlabel() == "years"


def test_a_display_draws_again_on_axes_it_is_given_with_options_for_matplotlib():
    grid, positions = np.linspace(0, 1, 4), np.arange(3.0)
    display = ConditionalDensityDisplay(positions, grid, np.ones((3, 4)))
    _, ax = plt.subplots()
    assert display.plot(ax=ax, cmap="cividis", vmax=7) is display
    assert display.ax_ is ax
    assert display.artists_.get_clim() == (0, 7)
    assert display.artists_.get_cmap().name == "cividis"


def test_the_bands_of_a_fan_are_quantiles():
    X, y = problem()
    model = QUICK.fit(X, y)
    display = FanDisplay.from_estimator(model, X, y, feature=0, levels=(0.9, 0.5), n_positions=9)
    dist = model.predict_dist(inputs_along(X, 0, display.positions))
    np.testing.assert_array_equal(display.levels, [0.5, 0.9])
    for level, band in zip(display.levels, display.bands, strict=True):
        np.testing.assert_allclose(band, dist.interval(level))
    np.testing.assert_allclose(display.median_.get_xydata()[:, 1], dist.quantile(0.5))
    for area, level in zip(display.bands_, (0.9, 0.5), strict=True):  # the widest first
        outline = area.get_paths()[0].vertices[:, 1]
        own = dist.interval(level)
        assert outline.min() == pytest.approx(own.min())
        assert outline.max() == pytest.approx(own.max())
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert names == ["0.9", "0.5", "median"]
    wide, narrow = display.ax_.get_legend().get_patches()
    light = display.bands_[0].get_alpha()
    assert wide.get_alpha() == pytest.approx(light)  # as they look: the narrow lies on the wide
    assert narrow.get_alpha() == pytest.approx(1 - (1 - light) ** 2)


def test_a_fan_over_rows_keeps_their_order():
    dist = random_mixture(1, m=5)
    y = np.arange(5.0)
    display = FanDisplay.from_predictions(y, dist, levels=[0.8], legend=False)
    np.testing.assert_array_equal(display.positions, range(5))
    np.testing.assert_allclose(display.bands[0], dist.interval(0.8))
    np.testing.assert_array_equal(display.ax_.lines[1].get_xydata(), np.column_stack([y, y]))
    assert display.ax_.get_xlabel() == "row"
    assert display.ax_.get_legend() is None
    backwards = FanDisplay.from_predictions(None, dist, x=[4, 3, 2, 1, 0])
    np.testing.assert_allclose(backwards.median, dist.quantile(0.5)[::-1])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"feature": 3}, "feature must be an integer from -3 to 2, got 3"),
        (
            {"feature": "b"},
            "feature 'b' is not a column of X: X has no column names, pass an index",
        ),
        ({"feature": 0, "component": 0}, "cannot be combined: pass one of them"),
        ({"at": {0: 1}}, "at was passed without feature: pass the feature that varies"),
        ({"feature": 0, "at": [1.0]}, "at must have 3 values, .* got 1 values"),
        ({"feature": 0, "output": 1}, "output must be an integer from -1 to 0, got 1"),
        ({"feature": 0, "n_positions": 1}, "n_positions must be an integer >= 2"),
    ],
)
@pytest.mark.parametrize("display", [ConditionalDensityDisplay, FanDisplay])
def test_what_cannot_be_drawn_is_named(display, options, words):
    X, y = problem()
    with pytest.raises(ValueError, match=words):
        display.from_estimator(QUICK.fit(X, y), X, y, **options)


def test_directions_kinds_lengths_and_levels_are_checked():
    X, y = problem()
    model = Reduced(SIR(1), QUICK).fit(X, y)
    draw = ConditionalDensityDisplay.from_estimator
    with pytest.raises(ValueError, match="component must be an integer from -1 to 0, got 1"):
        draw(model, X, y, component=1)
    with pytest.raises(TypeError, match="LSCDE has no directions z to draw over: pass a column"):
        draw(QUICK.fit(X, y), X, y)
    with pytest.raises(TypeError, match="SIR has no predict_dist"):
        draw(SIR().fit(X, y), X, y)
    with pytest.raises(ValueError, match="kind must be"):
        draw(model, X, y, kind="pie")
    with pytest.raises(ValueError, match="X has 80 rows but y has 79"):
        draw(model, X, y[1:])
    with pytest.raises(ValueError, match="feature 'd' is not a column of X: pass one of a, b"):
        draw(model, pd.DataFrame(X[:, :2], columns=["a", "b"]), y, feature="d")
    with pytest.raises(ValueError, match="level must lie strictly between 0 and 1, got 95"):
        FanDisplay.from_estimator(model, X, y, levels=[95])
    with pytest.raises(
        ValueError, match=r"x must have shape \(3,\), one value for each density, got \(2,\)"
    ):
        FanDisplay.from_predictions(None, random_mixture(0), x=[1, 2])
