"""Displays of importances, slopes and bands show the numbers that they were given."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from condensity import LSCDE, LSCE
from condensity.datasets import toy_b
from condensity.inspection import DensityBand, Importance, Slopes, bootstrap, importance
from condensity.plots import (
    DensityBandDisplay,
    ImportanceDisplay,
    LoadingsDisplay,
    SlopesDisplay,
)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def fitted():
    X, y = toy_b().sample(120, random_state=0)
    return LSCDE(bandwidth=0.5, penalty=0.1, random_state=0).fit(X, y), X, y


def test_bars_have_the_order_of_the_first_property_and_the_length_of_the_increase():
    first = Importance(list("abc"), np.array([1.0, 3.0, 2.0]), np.full(3, 0.1), 1.0, "mean", "y^2")
    second = Importance(list("abc"), np.array([5.0, 4.0, 3.0]), np.ones(3), 1.0, "spread", "nats")
    display = ImportanceDisplay([first, second]).plot(max_features=2)
    assert [t.get_text() for t in display.ax_[0].get_yticklabels()] == ["b", "c"]
    assert [bar.get_width() for bar in display.bars_[0]] == [3.0, 2.0]
    assert [bar.get_width() for bar in display.bars_[1]] == [4.0, 3.0]
    assert display.ax_[1].get_xlabel() == "increase of the loss (nats)"
    segments = display.bars_[0].errorbar.lines[2][0].get_segments()
    np.testing.assert_allclose(segments[0][:, 0], [2.8, 3.2])


@pytest.mark.parametrize("of", ["mean", ("quantile", 0.9), ("mean", "spread"), [("above", 0.5)]])
def test_importances_are_computed_for_one_or_several_properties(of):
    model, X, y = fitted()
    display = ImportanceDisplay.from_estimator(model, X, y, of=of, n_repeats=1, random_state=0)
    single = isinstance(of, str) or of == ("quantile", 0.9)
    for found, asked in zip(display.importances, [of] if single else of, strict=True):
        expected = importance(model, X, y, asked, n_repeats=1, random_state=0)
        np.testing.assert_array_equal(found.increase, expected.increase)


def test_dots_are_slopes_per_standard_deviation():
    found = Slopes(np.array([[1.0, -2.0], [3.0, 4.0]]), ["a", "b"], "mean", "difference")
    X = np.array([[0.0, 1.0], [1.0, 0.0]])
    display = SlopesDisplay(found, X, scale=np.array([2.0, 10.0])).plot()
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == ["b", "a"]
    np.testing.assert_allclose(display.dots_[0].get_offsets()[:, 0], [-20, 40])
    np.testing.assert_allclose(display.dots_[1].get_offsets()[:, 0], [2, 6])
    np.testing.assert_allclose(display.dots_[0].get_array(), [1, 0])
    assert "differences" in display.ax_.get_xlabel()


def test_slopes_of_a_model():
    model, X, _ = fitted()
    display = SlopesDisplay.from_estimator(model, X, ("quantile", 0.5), max_features=2)
    assert len(display.dots_) == 2
    assert "differences" not in display.ax_.get_xlabel()
    rows = display.dots_[0].get_offsets()[:, 1]
    assert np.ptp(rows) > 0
    assert np.all(np.abs(rows) < 0.5)


def test_bands_lie_between_their_ends():
    pdf = np.array([[0.1, 0.3, 0.1], [0.2, 0.2, 0.2]])
    band = DensityBand(np.array([0.0, 2.0, 1.0]), pdf, pdf - 0.05, pdf + 0.05, 0.9, "members")
    display = DensityBandDisplay(band, names=["low", "high"], output_name="rain").plot()
    np.testing.assert_allclose(display.lines_[0].get_xdata(), [0, 1, 2])
    np.testing.assert_allclose(display.lines_[0].get_ydata(), [0.1, 0.1, 0.3])
    heights = display.bands_[0].get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (pytest.approx(0.05), pytest.approx(0.35))
    assert display.ax_.get_title() == "90% of the members"
    assert display.ax_.get_ylabel() == "p(rain | x)"
    assert [t.get_text() for t in display.ax_.get_legend().get_texts()] == ["low", "high"]


def test_bands_of_members_and_of_bootstrap_fits():
    X, y = toy_b().sample(80, random_state=0)
    model = LSCE(1, n_starts=1, max_iter=3, random_state=0).fit(X, y)
    grid = np.linspace(-1, 1, 5)
    assert DensityBandDisplay.from_estimator(model, X[:2], grid).band.source == "members"
    dense, X, y = fitted()
    fits = bootstrap(dense, X, y, n_resamples=3, random_state=0)
    assert DensityBandDisplay.from_estimator(fits, X[:2], grid).band.source == "bootstrap"
    with pytest.raises(ValueError, match="at most 7"):
        DensityBandDisplay.from_estimator(fits, X[:8], grid)


def test_loadings_have_intervals():
    X, y = toy_b().sample(80, random_state=0)
    model = LSCE(1, n_starts=1, max_iter=3, random_state=0).fit(X, y)
    W = model.components_
    display = LoadingsDisplay.from_estimator(model, intervals=(W - 0.1, W + 0.2))
    lines = display.bars_[0].errorbar.lines[2][0].get_segments()
    order = np.argsort(-np.abs(W[0]), kind="stable")
    np.testing.assert_allclose([line[:, 0] for line in lines], W[0, order][:, None] + [-0.1, 0.2])
