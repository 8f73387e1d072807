"""Shapes of real brush strokes: their outlines, and the medial axis that a brush follows.

Lengths are in the units of the data: 1024 units are one em.  The y axis points upwards.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter1d

from condensity._typing import Array
from condensity._utils.extras import require
from condensity.datasets.catalogue import STROKES, STROKES_LICENCE
from condensity.datasets.downloads import contents

EM = 1024.0
SPACING = 4.0  # distance of neighbouring points of an axis
SMOOTHING = 3.0  # standard deviation of the filter for points, in points
BEND = 6.0  # standard deviation of the filter for directions, which are differentiated
RECENTRED = 3  # number of times that an axis is moved to the middle
CURVE_PIECES = 12  # straight pieces of a Bezier curve
SHORTEST = 60.0  # shorter strokes are dots without a useful axis


class Spot(NamedTuple):
    """A point of an axis with its direction, curvature and radius."""

    point: Array  # (2,)
    direction: float
    curvature: float
    radius: float

    @property
    def left(self) -> Array:
        """Unit vector perpendicular to the axis, to the left of its direction."""
        return np.array([-np.sin(self.direction), np.cos(self.direction)])


@dataclass(frozen=True, eq=False)
class Axis:
    """A medial axis: equidistant points with direction, curvature and distance to the outline."""

    points: Array  # (m, 2)
    arc: Array  # (m,) length from the first point
    direction: Array  # (m,) angle of the tangent, continuous
    curvature: Array  # (m,) relative, within (-1, 1), positive for right curves
    radius: Array  # (m,) distance to the outline

    @property
    def length(self) -> float:
        """Length of the axis."""
        return float(self.arc[-1])

    def nearest(self, place: Array) -> float:
        """Arc length of the axis point nearest to a place (2,), interpolated between points."""
        starts, steps = self.points[:-1], np.diff(self.points, axis=0)
        along = np.clip(((place - starts) * steps).sum(1) / (steps**2).sum(1), 0.0, 1.0)
        gaps = ((starts + along[:, None] * steps - place) ** 2).sum(1)
        i = int(gaps.argmin())
        return float(self.arc[i] + along[i] * (self.arc[i + 1] - self.arc[i]))

    def at(self, s: float) -> Spot:
        """Interpolated spot at an arc length; beyond the ends, the end itself."""
        i = min(max(int(self.arc.searchsorted(s)), 1), len(self.arc) - 1)
        share = (s - self.arc[i - 1]) / (self.arc[i] - self.arc[i - 1])
        before, after = self._columns[i - 1 : i + 1]
        x, y, *rest = before + min(max(share, 0.0), 1.0) * (after - before)
        return Spot(np.array([x, y]), *map(float, rest))

    @cached_property
    def _columns(self) -> Array:
        return np.column_stack([self.points, self.direction, self.curvature, self.radius])


@dataclass(frozen=True, eq=False)
class Stroke:
    """A stroke of a character: its outline, a rough median, and the axis computed from both."""

    name: str  # character and number of the stroke
    index: int  # position in the file
    outline: Array  # (p, 2) closed polygon
    median: Array  # (q, 2) in the direction of drawing

    @cached_property
    def axis(self) -> Axis:
        """The medial axis, computed at the first access."""
        return medial_axis(self.outline, self.median)


def strokes(
    *, folder: str | os.PathLike[str] | None = None, base_url: str | None = None
) -> list[Stroke]:
    """Strokes of ``brush_strokes/hanzi_strokes.json`` that are long enough to have an axis.

    The file is located as ``load`` locates tables.  Its licence, ``ARPHICPL.TXT``, must be in the
    same folder, and is downloaded together with it.
    """
    characters = json.loads(contents(STROKES, folder=folder, base_url=base_url))
    contents(STROKES_LICENCE, folder=folder, base_url=base_url)
    shapes = (
        (f"{character} {i + 1}", outline(path), np.array(median, dtype=float))
        for character, parts in characters.items()
        if not character.startswith("_")
        for i, (path, median) in enumerate(zip(parts["strokes"], parts["medians"], strict=True))
    )
    return [
        Stroke(name, index, edge, median)
        for index, (name, edge, median) in enumerate(shapes)
        if _length(median) >= SHORTEST
    ]


def outline(path: str) -> Array:
    """Polygon (p, 2) of an SVG path with one closed line and the commands M, L, Q, C and Z."""
    points: list[Array] = []
    for command, *controls in _commands(path):
        if command in "ML":
            points.append(controls[0])
        elif command in "QC":
            points.extend(_bezier(np.array([points[-1], *controls])))
    return np.array(points)


def _commands(path: str) -> Iterator[tuple[Any, ...]]:
    for command, numbers in re.findall(r"([MLQCZ])([^MLQCZ]*)", path):
        yield (command, *np.array(numbers.split(), dtype=float).reshape(-1, 2))


def _bezier(controls: Array) -> Array:
    """Points of a Bezier curve without the first, by de Casteljau's rule."""
    t = np.linspace(0, 1, CURVE_PIECES + 1)[1:, None]
    curves = [np.broadcast_to(c, (len(t), 2)) for c in controls]
    while len(curves) > 1:
        curves = [(1 - t) * a + t * b for a, b in pairwise(curves)]
    return np.asarray(curves[0])


def medial_axis(edge: Array, median: Array) -> Axis:
    """Medial axis of a shape, computed from its outline and a rough median.

    The median is alternately moved to the middle of the chords across the outline and smoothed.
    """
    shapely = require("shapely", "brush")
    shape = shapely.Polygon(edge)
    points = _smooth(_resampled(median))
    for _ in range(RECENTRED):
        points = _resampled(_smooth(_recentred(points, shape)))
    points = points[
        shapely.contains(shape, shapely.points(points))
    ]  # some medians begin outside the shape
    arc = _arc(points)
    direction = _smooth(np.unwrap(np.arctan2(*np.gradient(points, axis=0).T[::-1])), BEND)
    bend = np.gradient(direction, arc) * EM  # change of the angle per em, one over the radius
    curvature = -np.sign(bend) * 2 / np.pi * np.arctan(0.05 * np.sqrt(np.abs(bend)))
    radius = shapely.distance(shapely.points(points), shape.exterior)
    return Axis(points, arc, direction, curvature, radius)


def _recentred(points: Array, shape: Any) -> Array:
    """Points moved to the middle of the chord through them, unless it is beyond the outline."""
    shapely = require("shapely", "brush")
    tangent = np.gradient(points, axis=0)
    normal = np.column_stack([-tangent[:, 1], tangent[:, 0]])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    reach = np.hypot(*np.ptp(shape.exterior.coords, axis=0))
    lines = shapely.linestrings(np.stack([points - reach * normal, points + reach * normal], 1))
    chords, owner = shapely.get_parts(shapely.intersection(lines, shape), return_index=True)
    places = shapely.points(points)
    apart = shapely.distance(chords, places[owner])
    # A point may have several chords.  The nearest is written last, so it overwrites the others.
    far_first = np.lexsort((-apart, owner))
    moved = points.copy()
    moved[owner[far_first]] = shapely.get_coordinates(shapely.centroid(chords[far_first]))
    # Near the ends, chords run along the stroke, and their middle is far from the point.
    too_far = np.linalg.norm(moved - points, axis=1) > shapely.distance(places, shape.exterior)
    moved[too_far] = points[too_far]
    return moved


def _smooth(values: Array, width: float = SMOOTHING) -> Array:
    """Smoothed values; straight lines, and therefore the ends, do not move."""
    last = len(values) - 1
    share = np.linspace(0, 1, last + 1).reshape(-1, *[1] * (values.ndim - 1))
    line = (1 - share) * values[0] + share * values[last]
    padded = np.concatenate([-(values - line)[:0:-1], values - line, -(values - line)[-2::-1]])
    smooth = gaussian_filter1d(padded, width, axis=0, mode="nearest")
    return np.asarray(line + smooth[last : 2 * last + 1])


def _resampled(points: Array) -> Array:
    """Equidistant points on the same line."""
    arc = _arc(points)
    steps = np.linspace(0, arc[-1], max(3, round(arc[-1] / SPACING) + 1))
    return np.column_stack([np.interp(steps, arc, column) for column in points.T])


def _arc(points: Array) -> Array:
    """Arc length from the first point to each point."""
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])


def _length(points: Array) -> float:
    return float(_arc(points)[-1])
