"""A simulated brush after the paper's Sec. 3.5: real stroke shapes, a simulated artist.

The paper's 722 transitions come from a video of an artist and are not public.  Here the strokes are
those of a typeface in the Kai style.  The artist, the brush, the noise and all numbers below are
invented.  Angles are in radians, lengths relative to the radius of the footprint.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from condensity._typing import Array
from condensity._utils.parameters import check_count, check_rng
from condensity.datasets.strokes import Axis, Stroke, strokes
from condensity.datasets.transitions import Transitions

BRUSH_SAMPLES = 722  # number of transitions in the paper
BRUSH_TRAIN = 200  # smallest of the paper's three training sizes
PER_STROKE = 10  # random transitions of each stroke, so that 722 transitions need 73 strokes

#: The artist.
BACK_TO_AXIS = 0.5  # turn towards the axis for an offset of one radius
FILL = 0.6  # share of the missing width that one step corrects
ALIGN = 0.5  # share of the heading error that one step corrects
REVERSE = 2.5  # direction of reverse driving; not pi, where angles wrap
REVERSE_STEPS = (2, 5)  # two to four steps at each end
P_REVERSE = 0.6  # probability at each end
ARTIST_SD = (0.15, 0.10, 0.15)  # noise of direction, log scale and rotation
#: The brush.
SPEED = 1 / 3  # radii per step
LAG = 0.2  # weight of the previous direction
BRUSH_SD = (0.05, 0.03, 0.05)  # noise of direction, log radius and heading
#: The start of a stroke: noise of offset, log radius, heading, and direction of the previous move.
START_SD = (0.15, 0.10, 0.20, 0.15)
LEAST_RADIUS = 4.0  # radius of the tip of the brush, in units of 1/1024 em

MAX_OFFSET = 2.0
MAX_BRUSH_STEPS = 500  # of one stroke
STATE = ("velocity angle", "heading", "offset", "curvature", "next curvature", "reverse")
ACTION = ("direction", "log scale", "rotation")


@dataclass(frozen=True, eq=False)
class Footprint:
    """Contact area of the brush with the paper at one time."""

    place: Array  # (2,) centre
    radius: float
    heading: float  # angle on the paper
    moved: float  # direction of the previous move, an angle on the paper


@dataclass(frozen=True, eq=False)
class Painting:
    """A painted stroke: t transitions between t + 1 footprints."""

    stroke: Stroke
    footprints: list[Footprint]
    states: Array  # (t + 1, 6)
    actions: Array  # (t, 3)


def observe(footprint: Footprint, axis: Axis, s: float) -> Array:
    """The paper's six measurements (6,) of a footprint; s is the arc length of its axis point."""
    here, ahead = axis.at(s), axis.at(s + SPEED * footprint.radius)
    angle = wrap(footprint.moved - here.direction)
    offset = float((footprint.place - here.point) @ here.left) / footprint.radius
    return np.array(
        [
            angle,
            wrap(footprint.heading - here.direction),
            min(max(offset, -MAX_OFFSET), MAX_OFFSET),
            here.curvature,
            ahead.curvature,
            float(abs(angle) > np.pi / 2),
        ]
    )


def act(
    state: Array, axis: Axis, s: float, radius: float, *, reverse: bool, rng: np.random.Generator
) -> Array:
    """Action of the artist in a state at arc length s: direction, log scale and rotation, (3,)."""
    here, ahead = axis.at(s), axis.at(s + SPEED * radius)
    turn = ahead.direction - here.direction
    aims = (
        REVERSE if reverse else turn - BACK_TO_AXIS * state[2],
        FILL * np.log(max(here.radius, LEAST_RADIUS) / radius),
        ALIGN * wrap(turn - state[1]),
    )
    return np.asarray(rng.normal(aims, ARTIST_SD))


def move(footprint: Footprint, along: float, action: Array, rng: np.random.Generator) -> Footprint:
    """Next footprint after an action, where the axis has the direction ``along``.

    The direction is a weighted mean of the new and the previous one, because the hairs of the brush
    lag behind.
    """
    turn, widen, rotate = rng.normal(0.0, BRUSH_SD)
    lean = (1 - LAG) * np.exp(1j * (along + action[0])) + LAG * np.exp(1j * footprint.moved)
    moved = float(np.angle(lean)) + turn
    step = SPEED * footprint.radius * np.array([np.cos(moved), np.sin(moved)])
    return Footprint(
        footprint.place + step,
        radius=footprint.radius * float(np.exp(action[1] + widen)),
        heading=wrap(footprint.heading + action[2] + rotate),
        moved=moved,
    )


def paint(stroke: Stroke, rng: np.random.Generator) -> Painting:
    """Simulated painting of a stroke from start to end, with reverse driving at some ends."""
    axis = stroke.axis
    first, last = (int(rng.integers(*REVERSE_STEPS)) * (rng.random() < P_REVERSE) for _ in "ab")
    footprints = [_start(axis, first, rng)]
    states: list[Array] = []
    actions: list[Array] = []
    backwards, finishing = first, False
    while True:
        footprint = footprints[-1]
        s = axis.nearest(footprint.place)
        states.append(observe(footprint, axis, s))
        if not backwards and not finishing and s > axis.length - SPEED * footprint.radius:
            backwards, finishing = last, True
        if (finishing and not backwards) or len(actions) == MAX_BRUSH_STEPS:
            return Painting(stroke, footprints, np.array(states), np.array(actions))
        reverse = backwards > 0
        backwards -= reverse
        actions.append(act(states[-1], axis, s, footprint.radius, reverse=reverse, rng=rng))
        footprints.append(move(footprint, axis.at(s).direction, actions[-1], rng))


def _start(axis: Axis, backwards: int, rng: np.random.Generator) -> Footprint:
    """First footprint; it lies inside the stroke by the length of the reverse drive."""
    pace = SPEED * float(np.median(axis.radius))
    here = axis.at(backwards * pace)
    offset, widen, turn, drift = rng.normal(0.0, START_SD)
    radius = max(here.radius, LEAST_RADIUS) * float(np.exp(widen))
    return Footprint(
        here.point + offset * radius * here.left,
        radius=radius,
        heading=wrap(here.direction + turn),
        moved=here.direction + (REVERSE if backwards else 0.0) + drift,
    )


def brush(
    n_samples: int = BRUSH_SAMPLES,
    random_state: Any = None,
    *,
    folder: str | os.PathLike[str] | None = None,
    base_url: str | None = None,
) -> Transitions:
    """Transitions of a simulated brush, with nine inputs and six outputs.

    The inputs are the six measurements of a state and the three numbers of an action.  The outputs
    are the six measurements of the next state.

    The measurements are: the angle of the velocity and the heading of the footprint, both relative
    to the medial axis of the stroke; the offset from the axis divided by the radius of the
    footprint; the relative curvature of the axis at the footprint and one step ahead; and whether
    the brush is driven in reverse (0 or 1).  The action is the direction relative to the axis, the
    log scale (push or lift) and the rotation.

    Parameters
    ----------
    n_samples : int, default=722
        Number of transitions.  Each stroke contributes ten.  No stroke is painted twice before all
        strokes are painted once.
    random_state : None, int, RandomState or Generator, default=None
        Source of randomness for the strokes, the artist and the noise.
    folder : str or path-like, default=None
        Folder with the files of the strokes, as for ``load``.
    base_url : str, default=None
        Address to download these files from, as for ``load``.

    Returns
    -------
    Transitions
        ``X`` (n, 9), ``Y`` (n, 6), and ``episodes``, the number of the stroke in the file.

    See Also
    --------
    robot : Transitions of a simulated robot.
    load : Tables, and the search for files.

    Notes
    -----
    It needs ``condensity[brush]`` and ``brush_strokes/hanzi_strokes.json`` in the data folder.  The
    outlines are under the Arphic Public License, ``brush_strokes/ARPHICPL.TXT`` in the same folder.
    The shapes are real.  The artist, the lag of the brush and the noise are simulated.

    The last output is binary, so only the least bandwidth limits its density.  Drop this output
    (``Y[:, :5]``), or report that bandwidth with every loss.

    References
    ----------
    .. [1] V. Tangkaratt, N. Xie, M. Sugiyama, "Conditional density estimation with dimensionality
       reduction via squared-loss conditional entropy minimization," Neural Computation 27(1), 2015.

    Examples
    --------
    >>> from condensity.datasets import brush
    >>> brush(random_state=0)  # doctest: +SKIP
    <Transitions 'Simulated brush': X (722, 9), Y (722, 6), 73 episodes>
    """
    n, rng = check_count("n_samples", n_samples, low=1), check_rng(random_state)
    rows: list[Array] = []
    stroke_of_row: list[int] = []
    for painting in _paintings(strokes(folder=folder, base_url=base_url), rng):
        count = min(PER_STROKE, n - len(rows), len(painting.actions))
        for t in np.sort(rng.choice(len(painting.actions), count, replace=False)):
            state, action, after = painting.states[t], painting.actions[t], painting.states[t + 1]
            rows.append(np.concatenate([state, action, after]))
        stroke_of_row += [painting.stroke.index] * count
        if len(rows) == n:
            break
    X, Y = np.split(np.array(rows), [len(STATE) + len(ACTION)], axis=1)
    return Transitions(
        "Simulated brush",
        X.copy(),
        Y.copy(),
        feature_names=STATE + ACTION,
        target_names=tuple(f"next {name}" for name in STATE),
        n_train=BRUSH_TRAIN,
        source="simulated after Tangkaratt, Xie, Sugiyama, Sec. 3.5, on strokes of Make Me a "
        "Hanzi (Arphic Public License)",
        episodes=np.array(stroke_of_row),
    )


def _paintings(shapes: list[Stroke], rng: np.random.Generator) -> Iterator[Painting]:
    """Endless paintings: all strokes in a random order, then all again in another order."""
    while True:
        for i in rng.permutation(len(shapes)):
            yield paint(shapes[i], rng)


def wrap(angle: float) -> float:
    """The same angle in [-pi, pi)."""
    return float((angle + np.pi) % (2 * np.pi) - np.pi)
