"""A first look: a road that forks, seen through six inputs of which only a mixture matters.

``y = s max(z, 0) + 0.25 e`` with s = +1 or -1 at random and ``z = (x1 - x2 + x3) / sqrt(3)``: for
z > 0 the mean is the one value that never happens.  LSCE finds z and both branches.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from condensity import LSCDE, LSCE
from condensity.metrics import subspace_error
from condensity.plots import plot_density

DIRECTION = np.array([1, -1, 1, 0, 0, 0]) / np.sqrt(3)
SLICES = (-1.0, 0.8, 1.6)


def sample(n_samples, rng):
    X = rng.standard_normal((n_samples, 6))
    side = rng.choice([-1, 1], n_samples)
    return X, side * np.maximum(X @ DIRECTION, 0) + 0.25 * rng.standard_normal(n_samples)


def truth(z, grid):
    branches = [np.exp(-8 * (grid - side * max(z, 0)) ** 2) for side in (-1, 1)]
    return np.mean(branches, axis=0) / (0.25 * np.sqrt(2 * np.pi))


def run(n_samples=600):
    X, y = sample(n_samples, np.random.default_rng(0))
    model = LSCE(n_components=1, random_state=0).fit(X, y)
    without = LSCDE(random_state=0).fit(X, y)

    figure = plt.figure(figsize=(11, 4.4), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1.1, 1))
    ax = plot_density(model, X, y, ax=left.subplots())
    error = subspace_error(model.components_ / X.std(axis=0), DIRECTION)
    ax.set_title(f"p(y|z), z found among 6 inputs (subspace error {error:.2f})", fontsize=10)

    grid = np.linspace(-2.6, 2.6, 400)
    axes = right.subplots(len(SLICES), 1, sharex=True)
    for ax, z in zip(axes, SLICES, strict=True):
        point = z * DIRECTION[None] + [[0.5, 0.5, 0.0, 1.0, -1.0, 0.5]]  # z unchanged by the rest
        ax.fill_between(grid, truth(z, grid), color="0.88", label="truth")
        ax.plot(grid, model.predict_dist(point).pdf_on(grid)[0], color="#6a3d9a", label="LSCE")
        plain = without.predict_dist(point).pdf_on(grid)[0]
        ax.plot(grid, plain, color="#e08214", ls="--", label="LSCDE, no reduction")
        ax.set(ylabel=f"z = {z:g}", yticks=[], ylim=(0, None))
        ax.spines[["top", "right", "left"]].set_visible(False)
    axes[0].legend(frameon=False, fontsize=9, loc="upper right")
    axes[-1].set_xlabel("y")
    return figure


if __name__ == "__main__":
    path = Path(__file__).parents[1] / "docs" / "images" / "first_look.png"
    run().savefig(path, dpi=120)
    print(f"picture: {path}")
