"""
A first look: a density with two branches
=========================================

Six inputs, but y depends on a single weighted sum z of them.  For z > 0 the density of y has two
branches, and the mean lies between them, where y hardly ever is.  ``LSCE`` finds the weighted sum
and both branches.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from condensity import LSCDE, LSCE
from condensity.metrics import subspace_error
from condensity.plots import plot_density

# %%
# The data
# --------
# ``y = s max(z, 0) + 0.25 e`` with a random sign s and ``z = (x1 - x2 + x3) / sqrt(3)``.  The
# density of y given z is a mixture of two Gaussians, so the true density is known.

n_samples = 2000
direction = np.array([1, -1, 1, 0, 0, 0]) / np.sqrt(3)
rng = np.random.default_rng(0)
X = rng.standard_normal((n_samples, 6))
side = rng.choice([-1, 1], n_samples)
y = side * np.maximum(X @ direction, 0) + 0.25 * rng.standard_normal(n_samples)


def truth(z, grid):
    branches = [np.exp(-8 * (grid - side * max(z, 0)) ** 2) for side in (-1, 1)]
    return np.mean(branches, axis=0) / (0.25 * np.sqrt(2 * np.pi))


# %%
# The fit
# -------
# ``n_components=1`` requests one direction.  For comparison, ``LSCDE`` estimates the density given
# all six inputs, without a reduction.

model = LSCE(n_components=1, random_state=0).fit(X, y)
without = LSCDE(random_state=0).fit(X, y)

# %%
# The result
# ----------
# Left: the density p(y|z) and 500 of the samples.  Right: three slices of it and the true
# densities.  In six dimensions each point has too few neighbours for ``LSCDE``, so its densities
# are far from the truth.

figure = plt.figure(figsize=(11, 4.4), layout="constrained")
left, right = figure.subfigures(1, 2, width_ratios=(1.1, 1))
ax = plot_density(model, X[:500], y[:500], ax=left.subplots())
error = subspace_error(model.components_ / X.std(axis=0), direction)
ax.set_title(f"p(y|z), one direction of 6 inputs (subspace error {error:.2f})", fontsize=10)
ax.set_xlim(-2.1, 2.1)

grid, slices = np.linspace(-2.6, 2.6, 400), (-1.0, 0.8, 1.6)
axes = right.subplots(len(slices), 1, sharex=True)
for ax, z in zip(axes, slices, strict=True):
    point = z * direction[None] + [[0.5, 0.5, 0.0, 1.0, -1.0, 0.5]]  # the shift does not change z
    ax.fill_between(grid, truth(z, grid), color="0.88", label="truth")
    ax.plot(grid, model.predict_dist(point).pdf_on(grid)[0], color="#6a3d9a", label="LSCE")
    plain = without.predict_dist(point).pdf_on(grid)[0]
    ax.plot(grid, plain, color="#e08214", ls="--", label="LSCDE, no reduction")
    ax.set(ylabel=f"z = {z:g}", yticks=[], ylim=(0, None))
    ax.spines[["top", "right", "left"]].set_visible(False)
axes[0].legend(frameon=False, fontsize=9, loc="upper right")
axes[-1].set_xlabel("y")
if len(sys.argv) > 1:  # python examples/plot_first_look.py docs/images/first_look.png
    figure.savefig(sys.argv[1], dpi=120)
plt.show()
