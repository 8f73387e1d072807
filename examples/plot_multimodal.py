"""
Two answers to one question
===========================

Which angles put the hand of an arm where we want it?  There are two: elbow up and elbow down.  The
mean of the two is neither, and an interval that is to hold both holds mostly what never happens.
Highest-density regions come in as many pieces as the truth does.
"""

import matplotlib.pyplot as plt
import numpy as np

from condensity import LSCE

# %%
# An arm of two links, each of length one, is moved about at random.  We record where its hand was,
# seen by three cameras that each measure along a line of their own, and want the angle of the elbow
# back.  Both postures occur, and the cameras cannot tell which.

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
shoulder = (
    rng.uniform(-0.4, 0.4, n_samples) - elbow / 2
)  # the hand is ahead, whatever the elbow does
X = cameras(shoulder, elbow, 0.08)
model = LSCE(n_components=2, location="none", random_state=0).fit(X, elbow)

# %%
# Ask for a hand that is well within reach.  The smallest region of probability 0.9 has two pieces;
# the central interval of the same probability is one, most of it empty.

where = cameras(np.array([-0.7]), np.array([1.4]), 0.0)
dist = model.predict_dist(where)
print("modes:           ", np.sort(dist.modes()[0][:2]).round(2), " truth: +1.4 and -1.4")
print("mean:            ", dist.mean().round(2))
print("region, 0.9:     ", *dist.hdr(0.9)[0].round(2).tolist())
print("interval, 0.9:   ", dist.interval(0.9)[0].round(2).tolist())
print("elbow down:      ", dist.prob(-np.inf, 0.0).round(2), " truth: 0.4")

# %%
# Along a path of the hand from near to far the two answers approach each other, and meet where the
# arm is nearly straight.

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
left.set(xlabel="angle of the elbow (rad)", ylabel="density", title="One hand, two elbows")
left.legend(frameon=False, fontsize=9, loc="upper center")
right.pcolormesh(distance, grid, regions.pdf_on(grid).T, cmap="BuPu", rasterized=True)
for sign in (-1, 1):
    label = "truth" if sign > 0 else None
    right.plot(distance, sign * path, "--", color="#d55e00", lw=1.2, label=label)
right.set(
    xlabel="distance of the hand", ylabel="angle of the elbow (rad)", title="From near to far"
)
right.legend(frameon=False, fontsize=9)
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
