"""The simulated brush: axes lie in the middle, measurements are the paper's, noise is as said."""

import shutil
import sys

import numpy as np
import pytest

from condensity.datasets import brush

shapely = pytest.importorskip("shapely", reason="needs condensity[brush]")
from condensity.datasets.brush_simulation import (  # noqa: E402
    ARTIST_SD,
    BRUSH_SD,
    LAG,
    REVERSE,
    SPEED,
    Footprint,
    act,
    move,
    observe,
    paint,
    wrap,
)
from condensity.datasets.strokes import (  # noqa: E402
    EM,
    SPACING,
    Axis,
    medial_axis,
    outline,
    strokes,
)
from datafolder import FOLDER, needs_strokes  # noqa: E402


def arc_shape(radius=300.0, half_width=20.0, *, left):
    """A strip along a quarter of a circle that turns left or right, and a poor median of it."""
    t = np.linspace(0, np.pi / 2, 80)

    def circle(r):
        return np.column_stack([r * np.cos(t), r * np.sin(t)])

    edge = np.vstack([circle(radius + half_width), circle(radius - half_width)[::-1]])
    # Off the middle by nearly half the room, more so in the middle of the stroke.
    few = np.linspace(0, 79, 11).astype(int)
    median = circle(radius)[few] + (8.0 * np.sin(2 * t[few]))[:, None]
    if not left:
        edge, median = edge * [1, -1], median * [1, -1]
    return edge, median


def straight(length=200.0, radius=10.0):
    x = np.linspace(0, length, 51)
    flat = np.zeros(51)
    return Axis(np.column_stack([x, flat]), x, flat, flat, np.full(51, radius))


@pytest.fixture(scope="module")
def shapes():
    return strokes(folder=FOLDER)


@pytest.fixture(scope="module")
def table():
    return brush(random_state=0, folder=FOLDER)


def test_outlines_follow_their_curves():
    points = outline("M 0 0 L 4 0 Q 6 0 6 2 C 6 4 5 5 3 5 Z")
    assert len(points) == 2 + 12 + 12
    np.testing.assert_array_equal(points[:2], [[0, 0], [4, 0]])
    # The sixth of twelve pieces ends half way.
    square = (np.array([4, 0]) + 2 * np.array([6, 0]) + [6, 2]) / 4
    np.testing.assert_allclose(points[2 + 5], square)
    cube = (np.array([6, 2]) + 3 * np.array([6, 4]) + 3 * np.array([5, 5]) + [3, 5]) / 8
    np.testing.assert_allclose(points[14 + 5], cube)
    np.testing.assert_array_equal(points[-1], [3, 5])


@pytest.mark.parametrize("left", [True, False])
def test_the_axis_of_an_arc_is_its_middle_and_curves_to_the_right_side(left):
    axis = medial_axis(*arc_shape(left=left))
    inner = slice(8, -8)
    np.testing.assert_allclose(np.hypot(*axis.points.T)[inner], 300.0, atol=0.6)
    np.testing.assert_allclose(axis.radius[inner], 20.0, atol=0.6)
    expected = 2 / np.pi * np.arctan(0.05 / np.sqrt(300 / EM))
    middle = slice(30, -30)
    np.testing.assert_allclose(axis.curvature[middle], -expected if left else expected, rtol=0.03)
    turn = axis.direction[-20] - axis.direction[20]
    assert np.sign(turn) == (1 if left else -1)
    assert axis.length == pytest.approx(300 * np.pi / 2, rel=0.05)


def test_nearest_points_and_values_between_points():
    axis = medial_axis(*arc_shape(left=True))
    rng = np.random.default_rng(0)
    fine = np.linspace(0, axis.length, 20_001)
    points = np.column_stack([np.interp(fine, axis.arc, column) for column in axis.points.T])
    for place in rng.uniform(0, 400, (20, 2)):
        gap = np.linalg.norm(points - place, axis=1)
        assert np.linalg.norm(axis.at(axis.nearest(place)).point - place) <= gap.min() + 1e-9
    for s in (-5.0, 0.0, 100.3, axis.length, axis.length + 9):
        here = axis.at(s)
        found = [*here.point, here.direction, here.curvature, here.radius]
        columns = (*axis.points.T, axis.direction, axis.curvature, axis.radius)
        np.testing.assert_allclose(found, [np.interp(s, axis.arc, c) for c in columns], atol=1e-9)


@needs_strokes
def test_outlines_are_valid_and_axes_lie_inside_in_the_middle(shapes):
    assert len(shapes) == 205
    assert all(shapely.Polygon(stroke.outline).is_valid for stroke in shapes)
    gains = []
    for stroke in shapes:
        # The whole line, with no holes where points were dropped for lying outside.
        assert shapely.Polygon(stroke.outline).covers(shapely.LineString(stroke.axis.points))
        assert np.diff(stroke.axis.arc).max() < 1.5 * SPACING
    for stroke in shapes[::8]:
        shape, axis = shapely.Polygon(stroke.outline), stroke.axis
        inner = np.arange(len(axis.points))[len(axis.points) // 6 : -len(axis.points) // 6]
        left = np.array([axis.at(s).left for s in axis.arc[inner]])
        rooms = [
            shapely.distance(shapely.points(axis.points[inner] + step * left), shape.exterior)
            for step in (-3.0, 0.0, 3.0)
        ]
        gains.append(np.maximum(rooms[0], rooms[2]) - rooms[1])
    # Across the axis there is nowhere more room: a point one unit off would gain one by moving.
    assert np.quantile(np.concatenate(gains), 0.9) < 0.6


def test_measurements_of_a_footprint_beside_a_straight_axis():
    footprint = Footprint(np.array([50.0, 6.0]), radius=12.0, heading=0.3, moved=-0.2)
    axis = straight()
    np.testing.assert_allclose(observe(footprint, axis, 50.0), [-0.2, 0.3, 0.5, 0, 0, 0])
    back = Footprint(np.array([50.0, -60.0]), radius=12.0, heading=7.0, moved=2.5)
    np.testing.assert_allclose(
        observe(back, axis, 50.0), [2.5, 7.0 - 2 * np.pi, -2.0, 0, 0, 1], atol=1e-12
    )


def test_curvatures_are_those_here_and_a_step_ahead():
    axis = straight()
    bent = Axis(axis.points, axis.arc, axis.direction, axis.arc / 1000, axis.radius)
    footprint = Footprint(np.array([50.0, 0.0]), radius=12.0, heading=0.0, moved=0.0)
    np.testing.assert_allclose(observe(footprint, bent, 50.0)[3:5], [0.050, 0.050 + SPEED * 0.012])


def test_the_artist_steers_back_fills_and_aligns():
    rng, axis = np.random.default_rng(0), straight()
    state = np.array([0.1, 0.4, 0.8, 0, 0, 0])
    draws = np.array([act(state, axis, 50.0, 12.0, reverse=False, rng=rng) for _ in range(4000)])
    expected = [-0.5 * 0.8, 0.6 * np.log(10 / 12), -0.5 * 0.4]
    np.testing.assert_allclose(draws.mean(axis=0), expected, atol=0.012)
    np.testing.assert_allclose(draws.std(axis=0), ARTIST_SD, rtol=0.05)
    back = [act(state, axis, 50.0, 12.0, reverse=True, rng=rng)[0] for _ in range(4000)]
    assert np.mean(back) == pytest.approx(REVERSE, abs=0.012)


def test_the_brush_lags_and_takes_a_third_of_its_radius():
    rng = np.random.default_rng(0)
    before = Footprint(np.array([50.0, 0.0]), radius=12.0, heading=0.3, moved=1.5)
    after = [move(before, 0.2, np.array([0.4, 0.1, -0.2]), rng) for _ in range(4000)]
    steps = np.array([f.place for f in after]) - before.place
    np.testing.assert_allclose(np.hypot(*steps.T), 4.0)
    lean = (1 - LAG) * np.array([np.cos(0.6), np.sin(0.6)]) + LAG * np.array(
        [np.cos(1.5), np.sin(1.5)]
    )
    moved = np.arctan2(*steps.T[::-1])
    assert moved.mean() == pytest.approx(np.arctan2(lean[1], lean[0]), abs=0.004)
    np.testing.assert_allclose(
        np.std([moved, [np.log(f.radius) for f in after], [f.heading for f in after]], axis=1),
        BRUSH_SD,
        rtol=0.05,
    )
    assert np.mean([np.log(f.radius / 12.0) for f in after]) == pytest.approx(0.1, abs=0.003)
    assert np.mean([f.heading for f in after]) == pytest.approx(0.1, abs=0.004)


@needs_strokes
def test_paintings_cover_their_strokes_and_reverse_only_at_the_ends(shapes):
    rng, reversed_at = np.random.default_rng(0), []
    for stroke in shapes[:30]:
        painting = paint(stroke, rng)
        t = len(painting.actions)
        assert len(painting.footprints) == len(painting.states) == t + 1
        assert t < 400
        ink = shapely.union_all(
            [shapely.Point(f.place).buffer(f.radius) for f in painting.footprints]
        )
        shape = shapely.Polygon(stroke.outline)
        assert shapely.intersection(ink, shape).area > 0.65 * shape.area
        assert ink.area < 1.6 * shape.area
        back = np.flatnonzero(painting.actions[:, 0] > 1.8)
        assert ((back < 4) | (back >= t - 4)).all()
        reversed_at += [(back < 4).any(), (back >= t - 4).any()]
    assert np.mean(reversed_at) == pytest.approx(0.6, abs=0.2)


@needs_strokes
def test_samples_are_as_many_and_as_large_as_specified(table):
    assert table.X.shape == (722, 9)
    assert table.Y.shape == (722, 6)
    assert np.isfinite(np.hstack([table.X, table.Y])).all()
    assert len(np.unique(table.episodes)) >= 60
    assert np.unique(table.episodes, return_counts=True)[1].max() <= 10
    for states in (table.X[:, :6], table.Y):
        assert (np.abs(states[:, :2]) <= np.pi).all()
        assert (np.abs(states[:, 2]) <= 2).all()
        assert (np.abs(states[:, 3:5]) < 1).all()
        np.testing.assert_array_equal(states[:, 5], np.abs(states[:, 0]) > np.pi / 2)
    assert 0.03 < table.Y[:, 5].mean() < 0.12  # some reverse driving, and not much
    assert table.name == "Simulated brush"


@needs_strokes
def test_rows_are_told_to_be_of_the_stroke_whose_curvatures_they_have(shapes, table):
    by_index = {stroke.index: stroke.axis.curvature for stroke in shapes}
    ends = np.array([[by_index[i].min(), by_index[i].max()] for i in table.episodes])

    def fitting(ends):
        curvatures = table.X[:, 3:5]
        low, high = ends[:, :1] - 1e-9, ends[:, 1:] + 1e-9
        return ((curvatures >= low) & (curvatures <= high)).all(axis=1)

    assert fitting(ends).all()
    assert not fitting(ends[::-1]).all()  # of other strokes they would not be


@needs_strokes
def test_what_comes_next_follows_from_what_was_done(table):
    """On nearly straight stretches: the lag, the rotation and the offset are the brush's."""
    X, Y = table.X, table.Y
    flat = (np.abs(X[:, 3:5]).max(axis=1) < 0.02) & (np.abs(Y[:, 4]) < 0.02)
    assert flat.sum() > 50
    X, Y = X[flat], Y[flat]
    lean = (1 - LAG) * np.exp(1j * X[:, 6]) + LAG * np.exp(1j * X[:, 0])
    assert np.median(np.abs(np.angle(np.exp(1j * Y[:, 0]) / lean))) < 0.05
    assert np.median(np.abs(Y[:, 1] - X[:, 1] - X[:, 8])) < 0.06
    offset = (X[:, 2] + SPEED * np.sin(Y[:, 0])) / np.exp(X[:, 7])
    assert np.median(np.abs(Y[:, 2] - offset)) < 0.02


@needs_strokes
def test_the_seed_decides():
    first, again, other = (brush(25, random_state=s, folder=FOLDER) for s in (3, 3, 4))
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.Y, again.Y)
    assert not np.array_equal(first.X, other.X)


@needs_strokes
def test_the_licence_must_lie_beside_the_strokes(tmp_path, monkeypatch):
    monkeypatch.delenv("CONDENSITY_DATA_URL", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "brush_strokes").mkdir()
    shutil.copy(FOLDER / "brush_strokes" / "hanzi_strokes.json", tmp_path / "brush_strokes")
    with pytest.raises(FileNotFoundError, match=r"ARPHICPL.TXT is neither in CONDENSITY_DATA"):
        brush(5, folder=tmp_path)


@needs_strokes
def test_a_missing_shapely_is_named_with_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "shapely", None)
    with pytest.raises(ModuleNotFoundError, match="pip install 'shapely>="):
        brush(5, folder=FOLDER)


def test_angles_are_wrapped_once_around():
    assert wrap(3.5) == pytest.approx(3.5 - 2 * np.pi)
    assert wrap(-np.pi) == -np.pi
