"""Draw simulated brush strokes: outline, medial axis and footprints, one painting for each stroke.

Needs condensity[brush] and the strokes in the folder CONDENSITY_DATA.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Circle

from condensity.datasets.brush_simulation import paint
from condensity.datasets.strokes import strokes

SHOWN = ("永 2", "永 5", "大 3", "心 2", "女 1", "口 2", "子 1", "永 1")
INK, REVERSE = "#222222", "#e66101"


def draw(ax, painting):
    """Draw the footprints over the outline of the stroke."""
    stroke = painting.stroke
    ax.fill(*stroke.outline.T, color="#eee6d8", lw=0)
    ax.plot(*stroke.outline[[*range(len(stroke.outline)), 0]].T, color="#b9a888", lw=0.8)
    ax.plot(*stroke.axis.points.T, color="#7b3294", lw=1.4, zorder=3)
    for footprint, state in zip(painting.footprints, painting.states, strict=True):
        color = REVERSE if state[5] else INK
        ax.add_patch(Circle(footprint.place, footprint.radius, alpha=0.12, color=color, lw=0))
        ax.add_patch(Circle(footprint.place, footprint.radius, fill=False, lw=0.3, color=color))
    ax.set_aspect("equal")
    ax.margins(0.1)
    ax.set_axis_off()


def run(n_samples=8):
    by_name = {stroke.name: stroke for stroke in strokes()}
    rng = np.random.default_rng(4)
    figure, axes = plt.subplots(2, 4, figsize=(11, 6), layout="constrained")
    for ax, name in zip(axes.flat, SHOWN[:n_samples], strict=False):
        draw(ax, paint(by_name[name], rng))
    figure.suptitle(
        "Simulated brush: footprints (orange: reverse driving) along the medial axes of real "
        "strokes",
        fontsize=11,
    )
    return figure


if __name__ == "__main__":
    path = Path(__file__).parents[1] / "docs" / "images" / "brush.png"
    run().savefig(path, dpi=110)
    print(f"picture: {path}")
