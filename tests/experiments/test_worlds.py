"""The problems of the robot and the brush are those that were settled before any was solved."""

import numpy as np
import pytest

from condensity.experiments import problems
from condensity.experiments import published_results as paper
from condensity.experiments.studies import STUDIES
from datafolder import FOLDER, needs_strokes

#: Transitions of each world, by the first letter of its name.
N_ALL = {"2": 500, "4": 1000, "9": 1500, "S": 722}


@pytest.fixture(autouse=True)
def data_folder(monkeypatch):
    monkeypatch.setenv("CONDENSITY_DATA", str(FOLDER))


def needs_extra(name):
    module, extra = ("shapely", "brush") if "brush" in name else ("mujoco", "robot")
    pytest.importorskip(module, reason=f"needs condensity[{extra}]")
    if extra == "brush" and not (FOLDER / "brush_strokes").is_dir():
        pytest.skip(needs_strokes.kwargs["reason"])


def test_the_grid_is_the_paper_s_and_more():
    cells = STUDIES["worlds"].cells()
    rows = {(cell.problem, cell.n) for cell in cells}
    assert set(paper.WORLD_ERRORS) == set(paper.WORLD_DIMENSIONS)
    assert set(paper.WORLD_ERRORS) < rows
    assert len(rows) == 2 * (3 + 3 + 3)  # robots, brush, brush without reverse; and whole episodes
    assert len(cells) == len(rows) * 7 * 10
    assert [(c.problem, c.n) for c in STUDIES["worlds"].cells(quick=True)[:1]] == [
        ("2 Joints", 100)
    ]


@pytest.mark.parametrize(
    ("name", "dx", "dy"),
    [
        ("2 Joints", 6, 4),
        ("4 Joints", 12, 8),
        ("9 Joints", 27, 18),
        ("Simulated brush", 9, 6),
        ("Simulated brush without reverse", 9, 5),
    ],
)
def test_random_splits_part_all_of_one_sample(name, dx, dy):
    needs_extra(name)
    n = problems.WORLDS[name].sizes[-1]
    first, again, other = (problems.world_data(name, n, seed) for seed in (0, 0, 1))
    assert first.X.shape == (n, dx)
    assert first.Y.shape == (n, dy)
    assert len(first.X) + len(first.X_test) == N_ALL[name[0]]
    np.testing.assert_array_equal(first.Y, again.Y)
    assert not np.array_equal(first.X, other.X)

    def everything(data):
        rows = np.vstack([np.hstack([data.X, data.Y]), np.hstack([data.X_test, data.Y_test])])
        return rows[np.lexsort(rows.T)]

    np.testing.assert_array_equal(everything(first), everything(other))
    assert first.unit == 1.0
    np.testing.assert_allclose(everything(first)[:, dx:].min(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(everything(first)[:, dx:].max(axis=0), 1)


@pytest.mark.parametrize("name", ["2 Joints, whole episodes", "Simulated brush, whole strokes"])
def test_whole_episodes_are_new_to_the_model(name):
    needs_extra(name)
    table = problems._drawn(problems.WORLDS[name].make)
    of = dict(zip(map(tuple, table.X), table.episodes.tolist(), strict=True))
    for n in problems.WORLDS[name].sizes:
        data = table.split_episodes(2, n_train=n)
        scaled = problems.world_data(name, n, 2)
        np.testing.assert_allclose(scaled.X, (data.X - table.X.min(0)) / np.ptp(table.X, axis=0))
        assert len(data.X) == n
        known, new = ({of[tuple(x)] for x in X} for X in (data.X, data.X_test))
        assert not known & new
        if name.startswith("2 Joints"):  # an episode goes on where it was: no test does from a row
            states = {tuple(y) for y in data.Y}
            assert not states & {tuple(x[:4]) for x in data.X_test}
            assert states & {tuple(x[:4]) for x in data.X}
        assert len(data.X_test) >= 380


#: First sample, mean and range of the first four outputs, as they were when settings were frozen.
FROZEN = {
    "2 Joints": {
        "first": [-0.350964, -1.204925, -0.344232, -0.505403],
        "mean": [-0.487653, -1.067445, -0.102648, -0.050704],
        "range": [0.994581, 1.083225, 1.217195, 1.373167],
    },
    "4 Joints": {
        "first": [-0.264673, -1.096473, -0.776683, -0.180187],
        "mean": [-0.453422, -1.048656, -0.67667, -0.173183],
        "range": [1.191929, 0.927302, 1.198074, 1.288815],
    },
    "9 Joints": {
        "first": [-0.203926, -0.555892, -1.235646, -0.464759],
        "mean": [-0.480903, -0.637114, -1.109977, -0.456452],
        "range": [1.415988, 1.109395, 1.394974, 1.27084],
    },
    "Simulated brush": {
        "first": [0.087264, -0.096955, -0.019712, 0.080982],
        "mean": [0.141858, 0.006649, 0.059162, 0.019135],
        "range": [3.614106, 1.425041, 1.541741, 0.310698],
    },
}


@pytest.mark.parametrize("name", FROZEN)
def test_samples_are_those_that_were_frozen(name):
    needs_extra(name)
    table, frozen = problems._drawn(problems.WORLDS[name].make), FROZEN[name]
    # Not to the last bit: MuJoCo may add in another order elsewhere.
    np.testing.assert_allclose(table.Y[0, :4], frozen["first"], atol=1e-6)
    np.testing.assert_allclose(table.Y.mean(axis=0)[:4], frozen["mean"], atol=1e-5)
    np.testing.assert_allclose(np.ptp(table.Y, axis=0)[:4], frozen["range"], atol=1e-4)
