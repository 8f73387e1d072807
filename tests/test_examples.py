"""The examples of the gallery: each runs on few samples, draws, and fits on a screen."""

import io
import re
import sys
import tokenize
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("plot_*.py"))
#: The one line in each example that says how much data there is, and what it is here.
SIZE, FEW = re.compile(r"^n_samples(, \w+)? = (\d+)", re.MULTILINE), 90
#: With 90 samples a boat sees 18 waves, and whether its plan is good is a matter of chance.
MORE = {"plot_control": 200}


@pytest.fixture(autouse=True)
def close_figures(monkeypatch):
    monkeypatch.setattr(plt, "show", lambda: None)
    yield
    plt.close("all")


def run(path, monkeypatch):
    """What an example leaves behind, with few samples."""
    n = MORE.get(path.stem, FEW)
    source, found = SIZE.subn(rf"n_samples\1 = {n}", path.read_text())
    assert found == 1
    monkeypatch.setattr(sys, "argv", [str(path)])
    names = {"__name__": "__main__"}
    exec(compile(source, str(path), "exec"), names)
    return names


def lines_of_code(path):
    beside = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER}
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text()).readline)
    told = [token for token in tokens if token.type not in beside][1:]  # without the docstring
    return len({line for token in told for line in range(token.start[0], token.end[0] + 1)})


def a_density_wrecks_fewer_boats(names):
    wrecked = {name: np.mean(ends > names["QUAY"]) for name, (ends, _) in names["results"].items()}
    assert wrecked["density"] < 0.5 * wrecked["mean"]


def the_truth_is_one(names):
    """A density, and one that no estimate of it beats."""
    density = names["truth"](names["X_test"])
    step = names["redshifts"][1] - names["redshifts"][0]
    np.testing.assert_allclose(density.sum(axis=1) * step, 1.0)
    at = [
        np.interp(v, names["redshifts"], own)
        for v, own in zip(names["y_test"], density, strict=True)
    ]
    assert np.log(at).mean() > names["dist"].log_pdf(names["y_test"]).mean() + 0.1


def sir_is_blind(names):
    assert names["angles"]["SIR"][-1] > 60
    assert names["angles"]["SAVE"].max() < names["angles"]["SIR"].max()


def the_warning_names_the_value(names):
    assert any("y equals 0" in str(w.message) for w in names["caught"])
    assert names["raw"].predict_dist(names["X_test"]).prob(-np.inf, -0.01).mean() > 0.05
    assert np.all(names["dist"].prob(-np.inf, -1e-300) == 0)
    assert names["gain"].mean() > 3 * names["gain"].std() / np.sqrt(len(names["gain"]))


def traffic_drives_the_spread_alone(names):
    X, y, model = names["X_test"], names["y_test"], names["model"]
    found = {of: names["importance"](model, X, y, of, random_state=1) for of in ("mean", "spread")}
    assert found["mean"].ranking()[:2] == ["distance", "rain"]
    assert found["spread"].ranking()[0] == "traffic"
    z1, z2, rest = names["by_direction"].increase
    assert min(z1, z2) > 10 * abs(rest)


CLAIMS = {
    "plot_control": a_density_wrecks_fewer_boats,
    "plot_half_zero": the_warning_names_the_value,
    "plot_photoz": the_truth_is_one,
    "plot_subspaces": sir_is_blind,
    "plot_what_drives": traffic_drives_the_spread_alone,
}


def test_there_is_a_gallery():
    assert len(EXAMPLES) >= 10


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_examples_begin_with_a_title_and_fit_on_a_screen(path):
    opening = path.read_text().splitlines()
    assert opening[0] == '"""'
    assert set(opening[2]) == {"="}
    assert len(opening[2]) == len(opening[1])
    assert lines_of_code(path) <= 95


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_examples_run_and_draw(path, monkeypatch):
    names = run(path, monkeypatch)
    CLAIMS.get(path.stem, lambda names: None)(names)
    assert plt.get_fignums()
    for number in plt.get_fignums():
        figure = plt.figure(number)
        figure.canvas.draw()
        assert np.asarray(figure.canvas.buffer_rgba()).std() > 5
