"""
Several outputs that depend on each other
=========================================

Two outputs.  The distribution of each output alone is the same for all x; only their dependence
changes with x.  A model for each output alone cannot represent that.  A joint density can.
"""

import matplotlib.pyplot as plt
import numpy as np

from condensity import LSCE
from condensity.metrics import log_loss

# %%
# Of six inputs, one direction matters, z = (x1 + x2)/√2.  The correlation of the two outputs is
# tanh(1.5 z), from -1 to 1.  Each output alone is standard normal for every x.

n_samples = 600
direction = np.array([1, 1, 0, 0, 0, 0]) / np.sqrt(2)


def sample(n, seed):
    rng = np.random.default_rng(seed)
    X, noise = rng.standard_normal((n, 6)), rng.standard_normal((n, 2))
    rho = np.tanh(1.5 * X @ direction)
    return X, np.column_stack([noise[:, 0], rho * noise[:, 0] + np.sqrt(1 - rho**2) * noise[:, 1]])


X, Y = sample(n_samples, 0)
X_test, Y_test = sample(2000, 1)
# The means do not depend on x: location="none" saves the two directions of a linear location.
joint = LSCE(n_components=1, location="none", scoring="log", random_state=0).fit(X, Y)
print("weights of the six inputs:", joint.components_[0].round(2))

# %%
# The log loss of the joint density, and that of the product of its marginals, which treats the
# outputs as independent given x.  The difference is the value of the dependence.

dist = joint.predict_dist(X_test)
independent = sum(log_loss(m, y) for m, y in zip(dist.marginals(), Y_test.T, strict=True))
print(f"log loss: joint {log_loss(dist, Y_test):.3f}, as if independent {independent:.3f}")

# %%
# A joint probability
# -------------------
# How likely is it that *both* outputs are above one?  Random draws from the joint density estimate
# such probabilities.

points = np.array([-1.2, 0.0, 1.2])[:, None] * direction
draws = joint.predict_dist(points).sample(4000, random_state=0)  # (3, 4000, 2)
print("P(both > 1):", (draws > 1).all(axis=2).mean(axis=1).round(3), "for z = -1.2, 0, 1.2")

# %%
# The joint density at these three points.  The contours enclose the highest-density regions of
# probability 50, 80 and 95 %; their heights are quantiles of the density at random draws.  Grey
# dots are draws from the true density.

grid = np.linspace(-3, 3, 90)
corners = np.column_stack([a.ravel() for a in np.meshgrid(grid, grid)])
figure, axes = plt.subplots(1, 3, figsize=(11, 4.3), sharey=True, layout="constrained")
rng = np.random.default_rng(2)
for ax, point, drawn in zip(axes, points, draws, strict=True):
    here = joint.predict_dist(point[None])
    heights = here.pdf_on(corners)[0].reshape(90, 90)
    at_draws = joint.predict_dist(np.repeat(point[None], 1000, axis=0)).pdf(drawn[:1000])
    levels = np.quantile(at_draws, [0.05, 0.2, 0.5])
    rho = np.tanh(1.5 * point @ direction)
    true = rng.multivariate_normal([0, 0], [[1, rho], [rho, 1]], 300)
    ax.plot(*true.T, ".", ms=3, color="0.6")
    ax.contour(grid, grid, heights, np.unique(levels), colors="#0072b2", linewidths=[0.9, 1.4, 2.0])
    ax.set(title=f"z = {point @ direction:g}, true correlation {rho:.2f}", xlabel="first output")
    ax.set(xlim=(-3, 3), ylim=(-3, 3), aspect="equal")
axes[0].set_ylabel("second output")
plt.show()
