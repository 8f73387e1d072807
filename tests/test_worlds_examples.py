"""The examples of the robot and the brush: they run, and their parts do what they say."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

import condensity
from datafolder import FOLDER, needs_strokes

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture(autouse=True)
def surroundings(monkeypatch):
    monkeypatch.setenv("CONDENSITY_DATA", str(FOLDER))
    yield
    plt.close("all")


def example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def is_drawn(figure):
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba()).std() > 5


def test_the_robot_is_rendered_without_a_screen(tmp_path):
    pytest.importorskip("mujoco", reason="needs condensity[robot]")
    env = {"MUJOCO_GL": "egl", "MPLBACKEND": "Agg"} | dict(os.environ)
    probe = "import mujoco; mujoco.Renderer(mujoco.MjModel.from_xml_string('<mujoco/>'), 8, 8)"
    if subprocess.run([sys.executable, "-c", probe], env=env, capture_output=True).returncode:
        pytest.skip("MuJoCo cannot render here: install EGL or OSMesa and set MUJOCO_GL")
    code = (
        "import robot_picture as r, numpy as np; w = r.Humanoid(9); "
        "s = np.concatenate([w.home, np.zeros(9)]); a = r.rendered(w, s, 200); "
        "s[2] -= 1.2; b = r.rendered(w, s, 200); r.run(40).savefig('robot.png'); "
        "print(a.shape, (a != b).any(axis=2).mean())"
    )
    library = Path(condensity.__file__).parents[1]
    env["PYTHONPATH"] = os.pathsep.join([str(EXAMPLES), str(library)])
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("(200, 200, 3)")
    changed = float(done.stdout.split()[-1])
    assert 0.005 < changed < 0.3  # the forearm and its shadow, and no more
    assert (tmp_path / "robot.png").stat().st_size > 20_000


@needs_strokes
def test_strokes_are_drawn_with_footprints():
    pytest.importorskip("shapely", reason="needs condensity[brush]")
    figure = example("brush_picture").run(n_samples=1)
    assert len(figure.axes[0].patches) > 40  # the outline, and two circles for each footprint
    assert is_drawn(figure)


@pytest.fixture
def planning(monkeypatch):
    pytest.importorskip("mujoco", reason="needs condensity[robot]")
    return example("plan_with_density")


def follows(states, targets, rng):
    """Motors that do as they are told."""
    return np.hstack([targets, np.zeros_like(targets)])


def test_imagined_rewards_are_those_of_the_task(planning):
    task = planning.Task(np.zeros(4), np.array([0.1, 0.05]))
    plans = np.array(
        [
            [[0.05, 0.0], [0.1, 0.05]],  # there
            [[0.05, 0.0], [0.1, 0.05 - planning.TOLERANCE]],  # a tolerance away
            [[0.08, 0.0], [0.16, 0.05]],  # in the wall, at last
            [[0.5, 0.0], [0.5, 0.05]],  # cut to what is in reach: in the wall, too
        ]
    )
    rewards = planning.imagine(follows, task, task.start, plans, None)
    np.testing.assert_allclose(rewards, [1.0, np.exp(-0.5), -1.0, -1.0])


def test_a_perfect_model_of_perfect_motors_reaches_the_target(planning):
    task = planning.Task(np.zeros(4), np.array([0.2, -0.15]))
    rng, state = np.random.default_rng(0), task.start
    for step in range(planning.STEPS):
        action = planning.choose(follows, task, state, planning.STEPS - step, rng)
        assert np.abs(action - state[:2]).max() <= planning.TARGET_RANGE + 1e-12
        state = follows(state[None], action[None], rng)[0]
        assert not task.beyond(state[:2])
    assert task.distance(state[:2]) < 0.03


def test_planning_compares_four_models(planning, monkeypatch):
    for name, value in {"PLANS": 6, "PARTICLES": 2, "ELITE": 2, "ENDS": 6, "STEPS": 2}.items():
        monkeypatch.setattr(planning, name, value)
    told = []
    text, figure = planning.run(n_samples=50, seeds=2, report=told.append)
    rows = [line.split("|")[1].strip() for line in text.splitlines()[2:]]
    others = ["mean", "Gaussian", "truth"]
    assert rows == ["density", *others, *(f"{name} minus density" for name in others)]
    assert len(told) == 4
    assert is_drawn(figure)


@needs_strokes
def test_painting_follows_what_the_model_says(monkeypatch):
    pytest.importorskip("shapely", reason="needs condensity[brush]")
    painting = example("paint_by_sampling")
    stroke = painting.strokes()[0]

    def straight_on(model, x, rng):
        return np.array([0.0, 0.0, 0.5, 0.0, 0.0])  # half a radius to the left, always

    prints = painting.imagine(None, stroke, straight_on, np.random.default_rng(0))
    ends = [stroke.axis.nearest(place) for place in prints[[0, -1], :2]]
    assert ends[0] < 1
    assert ends[1] > 0.8 * stroke.axis.length
    for x, y, radius in prints[3:-3]:
        here = stroke.axis.at(stroke.axis.nearest(np.array([x, y])))
        assert np.hypot(*(here.point - [x, y])) == pytest.approx(radius / 2, rel=0.1)


@needs_strokes
def test_strokes_are_painted_by_sampling():
    pytest.importorskip("shapely", reason="needs condensity[brush]")
    figure = example("paint_by_sampling").run(n_samples=60, n_members=1, shown=("永 1",))
    assert [len(ax.patches) > 10 for ax in figure.axes] == [True] * 3
    assert is_drawn(figure)
