"""A simulated brush after the paper's Sec. 3.5: real shapes of strokes, a simulated artist.

The paper's 722 transitions were taken from a video of an artist and are not public.  Here the
strokes are those of a typeface in the Kai style; the artist, the brush and all noise are made up,
and so is every number below.  Angles are in radians, lengths relative to the footprint's radius.
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

N_SAMPLES = 722  # as many as the paper has
N_TRAIN = 200  # the least of the paper's three sizes
PER_STROKE = 10  # transitions of each at random, so that 722 are of 73 strokes

#: The artist.
BACK_TO_AXIS = 0.5  # turn of the direction against an offset of one radius
FILL = 0.6  # share of the lacking width that a step makes good
ALIGN = 0.5  # share of the heading's error that a step makes good
REVERSE = 2.5  # direction of reverse driving; pi would be the place where angles wrap
REVERSE_STEPS = (2, 5)  # at either end, from two to four
P_REVERSE = 0.6  # at either end
ARTIST_SD = (0.15, 0.10, 0.15)  # of direction, log scale and rotation
#: The brush.
SPEED = 1 / 3  # radii per step
LAG = 0.2  # weight of the old direction
BRUSH_SD = (0.05, 0.03, 0.05)  # of direction, log radius and heading
#: The start of a stroke: offset, log radius, heading, direction of an imagined last move.
START_SD = (0.15, 0.10, 0.20, 0.15)
LEAST_RADIUS = 4.0  # units, of 1024 to an em: the tip of the brush

MAX_OFFSET = 2.0
MAX_STEPS = 500
STATE = ("velocity angle", "heading", "offset", "curvature", "next curvature", "reverse")
ACTION = ("direction", "log scale", "rotation")


@dataclass(frozen=True, eq=False)
class Footprint:
    """What the brush leaves on the paper at one moment."""

    place: Array  # (2,) its centre
    radius: float
    heading: float  # an angle on the paper
    moved: float  # direction of the move that led here, an angle on the paper


@dataclass(frozen=True, eq=False)
class Painting:
    """One stroke as it was painted: t transitions between t + 1 footprints."""

    stroke: Stroke
    footprints: list[Footprint]
    states: Array  # (t + 1, 6)
    actions: Array  # (t, 3)


def observe(footprint: Footprint, axis: Axis, s: float) -> Array:
    """The paper's six measurements (6,) of a footprint whose nearest point of the axis is at s."""
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
    """What the artist does in a state at s: direction, log scale and rotation, (3,)."""
    here, ahead = axis.at(s), axis.at(s + SPEED * radius)
    turn = ahead.direction - here.direction
    aims = (
        REVERSE if reverse else turn - BACK_TO_AXIS * state[2],
        FILL * np.log(max(here.radius, LEAST_RADIUS) / radius),
        ALIGN * wrap(turn - state[1]),
    )
    return np.asarray(rng.normal(aims, ARTIST_SD))


def move(footprint: Footprint, along: float, action: Array, rng: np.random.Generator) -> Footprint:
    """What the brush makes of an action where the axis points ``along``.

    Its hairs still lean to where they came from.
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
    """Follow a stroke from its beginning to its end, with reverse driving at some ends."""
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
        if (finishing and not backwards) or len(actions) == MAX_STEPS:
            return Painting(stroke, footprints, np.array(states), np.array(actions))
        reverse = backwards > 0
        backwards -= reverse
        actions.append(act(states[-1], axis, s, footprint.radius, reverse=reverse, rng=rng))
        footprints.append(move(footprint, axis.at(s).direction, actions[-1], rng))


def _start(axis: Axis, backwards: int, rng: np.random.Generator) -> Footprint:
    """The first footprint, as far into the stroke as it will be driven back."""
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
    n_samples: int = N_SAMPLES,
    random_state: Any = None,
    *,
    folder: str | os.PathLike[str] | None = None,
    base_url: str | None = None,
) -> Transitions:
    """Transitions of a simulated brush: six measurements and three actions in, six out.

    The state is the angle of the velocity and the heading of the footprint, both relative to the
    medial axis of the stroke, the offset from the axis over the radius of the footprint, the
    relative curvature of the axis here and a step ahead, and whether the brush is driven in
    reverse (0 or 1).  The action is the direction relative to the axis, the log scale (push or
    lift) and the rotation.

    Parameters
    ----------
    n_samples : int, default 722
        Number of transitions; ten of each stroke, all strokes before any is painted again.
    random_state : int, RandomState, Generator or None
        What decides strokes, artist and noise.
    folder, base_url : optional
        Where the strokes are, as for ``load``.

    Returns
    -------
    Transitions
        ``X`` (n, 9), ``Y`` (n, 6), and ``episodes``, the number of the stroke in the file.

    Notes
    -----
    Needs ``condensity[brush]`` and ``brush_strokes/hanzi_strokes.json`` in the data folder.  Its
    outlines are under the Arphic Public License, ``brush_strokes/ARPHICPL.TXT`` beside it.  The
    shapes are real; the artist, the lag of the brush and the noise are simulated.

    The last output is binary and its density has no upper bound but what the least bandwidth
    sets: leave it out (``Y[:, :5]``), or state that bandwidth with every loss.
    """
    n, rng = check_count("n_samples", n_samples, low=1), check_rng(random_state)
    rows: list[Array] = []
    owners: list[int] = []
    for painting in _paintings(strokes(folder=folder, base_url=base_url), rng):
        most = min(PER_STROKE, n - len(rows), len(painting.actions))
        for t in np.sort(rng.choice(len(painting.actions), most, replace=False)):
            here, action, there = painting.states[t], painting.actions[t], painting.states[t + 1]
            rows.append(np.concatenate([here, action, there]))
        owners += [painting.stroke.index] * most
        if len(rows) == n:
            break
    X, Y = np.split(np.array(rows), [len(STATE) + len(ACTION)], axis=1)
    return Transitions(
        "Simulated brush",
        X.copy(),
        Y.copy(),
        feature_names=STATE + ACTION,
        target_names=tuple(f"next {name}" for name in STATE),
        n_train=N_TRAIN,
        source="simulated after Tangkaratt, Xie, Sugiyama, Sec. 3.5, on strokes of Make Me a "
        "Hanzi (Arphic Public License)",
        episodes=np.array(owners),
    )


def _paintings(shapes: list[Stroke], rng: np.random.Generator) -> Iterator[Painting]:
    """Every stroke once in a random order, and so on."""
    while True:
        for i in rng.permutation(len(shapes)):
            yield paint(shapes[i], rng)


def wrap(angle: float) -> float:
    """The same angle within [-pi, pi)."""
    return float((angle + np.pi) % (2 * np.pi) - np.pi)
