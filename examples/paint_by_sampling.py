"""Paint strokes with a learned density: the brush moves by samples of p(s'|s, a).

    python examples/paint_by_sampling.py

The density is learned by LSCE from 150 moves.  The actions come from the same policy as in the
data.  The next state is sampled from the learned density instead of the simulator.  Left: the
simulated brush.  Middle: the mean of the density.  Right: a sample.  Needs condensity[brush,plots]
and the strokes in the folder CONDENSITY_DATA.
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Circle

from condensity import LSCE
from condensity.datasets import brush
from condensity.datasets.brush_simulation import LEAST_RADIUS, SPEED, act, paint
from condensity.datasets.strokes import strokes

SHOWN = ("永 2", "永 5", "女 1")
INK = "#222222"


def learn(n_samples, n_members, random_state=0):
    """Fit the density of five state variables; reverse driving follows from the first."""
    X, Y = brush(n_samples, random_state=random_state)
    model = LSCE(n_components=6, n_members=n_members, n_starts=2, random_state=random_state)
    return model.fit(X, Y[:, :5])


def imagine(model, stroke, next_state, rng, max_steps=400):
    """Footprints (t, 3), position and radius, of a stroke whose moves come from the model."""
    axis = stroke.axis
    s, radius = 0.0, max(axis.at(0.0).radius, LEAST_RADIUS)
    state = np.array([0.0, 0.0, 0.0, axis.at(0.0).curvature, axis.at(SPEED * radius).curvature, 0])
    prints = []
    while s < axis.length - SPEED * radius and len(prints) < max_steps:
        here = axis.at(s)
        prints.append([*(here.point + state[2] * radius * here.left), radius])
        action = act(state, axis, s, radius, reverse=False, rng=rng)
        drawn = next_state(model, np.concatenate([state, action])[None], rng)
        s = max(0.0, s + SPEED * radius * np.cos(drawn[0]))
        radius = max(radius * np.exp(action[1]), LEAST_RADIUS)
        # The curvatures come from the axis, the angles and the offset from the model.
        ahead = axis.at(s + SPEED * radius).curvature
        back = abs(drawn[0]) > np.pi / 2
        state = np.array([*drawn[:2], np.clip(drawn[2], -2, 2), axis.at(s).curvature, ahead, back])
    return np.array(prints)


def sampled(model, x, rng):
    return model.predict_dist(x).sample(1, random_state=rng)[0, 0]


def expected(model, x, rng):
    return model.predict(x)[0]


def ink(ax, stroke, prints):
    ax.fill(*stroke.outline.T, color="#eee6d8", lw=0)
    for x, y, radius in prints:
        ax.add_patch(Circle((x, y), radius, alpha=0.12, color=INK, lw=0))
        ax.add_patch(Circle((x, y), radius, fill=False, lw=0.3, color=INK))
    ax.set_aspect("equal")
    ax.margins(0.1)
    ax.set_axis_off()


def run(n_samples=150, n_members=1, shown=SHOWN):
    model, rng = learn(n_samples, n_members), np.random.default_rng(1)
    by_name = {stroke.name: stroke for stroke in strokes()}
    heads = ("simulated brush", "mean of the learned density", "sample of the learned density")
    figure, axes = plt.subplots(
        len(shown), 3, figsize=(9, 3.2 * len(shown)), layout="constrained", squeeze=False
    )
    for row, name in zip(axes, shown, strict=True):
        stroke = by_name[name]
        original = [[*f.place, f.radius] for f in paint(stroke, rng).footprints]
        ink(row[0], stroke, original)
        ink(row[1], stroke, imagine(model, stroke, expected, rng))
        ink(row[2], stroke, imagine(model, stroke, sampled, rng))
    for ax, head in zip(axes[0], heads, strict=True):
        ax.set_title(head, fontsize=10)
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--samples", type=int, default=150, help="number of transitions to learn from"
    )
    parser.add_argument("--members", type=int, default=1, help="number of models to average")
    path = Path(__file__).parents[1] / "docs" / "images" / "painting.png"
    parser.add_argument(
        "--out",
        type=Path,
        default=path,
        help=f"where to write the picture (default: {path.name} in docs/images)",
    )
    args = parser.parse_args()
    run(args.samples, args.members).savefig(args.out, dpi=110)
    print(f"picture: {args.out}")
