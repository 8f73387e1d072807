"""
Two modes: elbow up or elbow down
=================================

Which angle of the elbow brings the hand of an arm to a given place?  There are two solutions: elbow
up and elbow down.  Their mean is not a solution, and a central interval that contains both consists
mostly of values that never occur.  A highest-density region can have several parts.
"""

import matplotlib.pyplot as plt
import numpy as np

from condensity import LSCE

# %%
# An arm has two links of length one.  In random postures, three cameras record the position of the
# hand, each along one line.  From the three measurements we estimate the angle of the elbow.  Both
# postures occur, and the cameras cannot distinguish them.

n_samples = 800
rng = np.random.default_rng(0)


def cameras(shoulder, elbow, noise):
    hand = np.column_stack(
        [np.cos(shoulder) + np.cos(shoulder + elbow), np.sin(shoulder) + np.sin(shoulder + elbow)]
    )
    lines = np.array([[1.0, 0.0], [0.5, 0.87], [-0.5, 0.87]])
    return hand @ lines.T + noise * rng.standard_normal((len(hand), 3))


bend = rng.uniform(0.4, 2.4, n_samples)
elbow = np.where(rng.random(n_samples) < 0.6, bend, -bend)
shoulder = rng.uniform(-0.4, 0.4, n_samples) - elbow / 2  # keeps the hand in front of the arm
X = cameras(shoulder, elbow, 0.08)
model = LSCE(n_components=2, location="none", random_state=0).fit(X, elbow)

# %%
# One position of the hand within reach.  The highest-density region of probability 0.9, which is
# the smallest region of this probability [1]_, has two parts.  The central interval of the same
# probability is a single wide interval, and y is hardly ever in its middle.
#
# .. [1] R. J. Hyndman, "Computing and graphing highest density regions," The American Statistician
#    50(2), 1996.

where = cameras(np.array([-0.7]), np.array([1.4]), 0.0)
dist = model.predict_dist(where)
print("modes:           ", np.sort(dist.modes()[0][:2]).round(2), " truth: +1.4 and -1.4")
print("mean:            ", dist.mean().round(2))
print("region, 0.9:     ", *dist.hdr(0.9)[0].round(2).tolist())
print("interval, 0.9:   ", dist.interval(0.9)[0].round(2).tolist())
print("elbow down:      ", dist.prob(-np.inf, 0.0).round(2), " truth: 0.4")

# %%
# When the hand moves away from the shoulder, the two solutions approach each other.  They meet
# where the arm is straight.

path = np.linspace(0.5, 2.4, 60)
reach = np.concatenate([cameras(np.array([-b / 2]), np.array([b]), 0.0) for b in path])
distance = 2 * np.cos(path / 2)
grid = np.linspace(-3, 3, 400)
regions = model.predict_dist(reach)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
left.plot(grid, dist.pdf_on(grid)[0], color="#0072b2")
for low, high in dist.hdr(0.9)[0]:
    inside = (grid >= low) & (grid <= high)
    left.fill_between(grid[inside], dist.pdf_on(grid[inside])[0], color="#0072b2", alpha=0.3, lw=0)
left.plot(
    dist.interval(0.9)[0], [-0.04, -0.04], "|-", color="#d55e00", label="central interval, 0.9"
)
left.plot(dist.mean(), [-0.04], "o", color="#d55e00", mfc="w", label="mean")
left.set(xlabel="angle of the elbow (rad)", ylabel="density", title="One position of the hand")
left.legend(frameon=False, fontsize=9, loc="upper center")
right.pcolormesh(distance, grid, regions.pdf_on(grid).T, cmap="BuPu", rasterized=True)
for sign in (-1, 1):
    label = "truth" if sign > 0 else None
    right.plot(distance, sign * path, "--", color="#d55e00", lw=1.2, label=label)
right.set(
    xlabel="distance of the hand",
    ylabel="angle of the elbow (rad)",
    title="Positions from near to far",
)
right.legend(frameon=False, fontsize=9)
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
