"""The demonstration, the plot and the examples: they run, and show what they say."""

import re
import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from commands import run
from condensity import LSCDE, LSCE
from condensity._utils.extras import packages_of, require
from condensity.plots import plot_density

mpl.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def ring(n=120):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4)) * [1, 10, 1, 1] + [0, 5, 0, 0]
    return X, np.hypot(X[:, 0], (X[:, 1] - 5) / 10) + 0.1 * rng.standard_normal(n)


@pytest.mark.parametrize("n_components", [1, 2])
def test_plot_density_shows_the_model_s_own_numbers(n_components):
    X, y = ring()
    model = LSCE(
        n_components, n_starts=1, n_members=1, bandwidth=0.4, penalty=0.01, random_state=0
    ).fit(X, y)
    ax = plot_density(model, X, y)
    (mesh,) = ax.collections
    (points,) = ax.lines
    np.testing.assert_array_equal(points.get_ydata(), y)
    heights = np.asarray(mesh.get_array()).reshape(300, 200)  # rows of y, columns of z
    dy = np.diff(ax.get_ylim())[0] / 299
    assert np.all(heights.sum(axis=0) * dy < 1.01)
    assert np.median(heights.sum(axis=0) * dy) > 0.9
    if n_components == 1:
        np.testing.assert_allclose(points.get_xdata(), model.transform(X)[:, 0])
        z, grid = np.linspace(*ax.get_xlim(), 200), np.linspace(*ax.get_ylim(), 300)
        dist = model.predict_dist_reduced(z[:, None])
        np.testing.assert_allclose(heights, dist.pdf_on(grid).T)


def test_plot_density_takes_frames_and_needs_directions():
    X, y = ring()
    frame = pd.DataFrame(X, columns=list("abcd"))
    settled = {"location": "none", "bandwidth": 0.4, "penalty": 0.01}
    quick = LSCE(1, n_starts=1, n_members=1, random_state=0, **settled)
    assert plot_density(quick.fit(frame, y), frame, y).collections
    with pytest.raises(ValueError, match="y has 1 columns but the density has 2 outputs"):
        plot_density(quick.fit(X, np.column_stack([y, y**2])), X, y)
    with pytest.raises(ValueError, match="X has 120 rows but y has 119"):
        plot_density(quick.fit(X, y), X, y[1:])
    with pytest.raises(TypeError, match="LSCDE has no directions z to draw over"):
        plot_density(LSCDE(), X, y)


def test_plot_density_uses_the_axes_it_is_given():
    X, y = ring()
    model = LSCE(1, n_starts=1, n_members=1, bandwidth=0.4, penalty=0.01, random_state=0).fit(X, y)
    _, ax = plt.subplots()
    assert plot_density(model, X, y, ax=ax) is ax
    assert ax.get_xlabel() == "z"


def test_the_demo_says_what_it_found_and_leaves_a_picture_and_a_page(tmp_path):
    path = tmp_path / "demo.png"
    said = run("demo", "--out", path, "--rows", 60).stdout
    assert re.search(r"diabetes: \d+ directions? found among 10 inputs", said)
    assert re.search(r"z1 = [+-]\d\.\d\d \w+ ", said)
    assert len(re.findall(r"held-out error -\d\.\d+, without reduction -\d\.\d+", said)) == 2
    assert str(path) in said
    page = path.with_suffix(".html")
    assert said.rstrip().endswith(str(page))
    assert "disease progression given 10 inputs" in page.read_text()
    pixels = plt.imread(path)
    assert pixels.shape[1] > 1000
    assert pixels.std() > 0.05  # something is drawn


def test_a_missing_package_is_named_with_a_command_that_works_anywhere(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ModuleNotFoundError, match=r"run pip install 'matplotlib>=\d[\d.]*'$"):
        require("matplotlib.pyplot", "plots")
    assert re.fullmatch(r"'rich>=\S+' 'typer>=\S+'", packages_of("cli", "typer"))
    assert packages_of("no such extra", "package") == "'package'"
