"""
Planning with a transition density
==================================

A boat must stop at a quay.  In one move out of five, a wave carries it further than the thruster
did.  A planner that uses only the mean of the next position often hits the quay.  A planner that
uses the density stops at the right distance and lets the wave carry the boat in.
"""

import matplotlib.pyplot as plt
import numpy as np

from condensity import LSCE

# %%
# The boat
# --------
# The boat starts at 0, and each action moves it by 0 to 0.4.  The quay is at 1: beyond it the boat
# is wrecked; within 0.12 of it, the boat has arrived.  Every move costs time, and so does waiting.

n_samples = 500
QUAY, BERTH, COST, WRECK = 1.0, 0.88, 0.04, -2.0
actions = np.linspace(0, 0.4, 9)


def move(position, action, rng):
    wave = np.where(rng.random(np.shape(position)) < 0.2, 0.2, 0.0)
    return position + action + wave + 0.02 * rng.standard_normal(np.shape(position))


# %%
# The data are random moves of the boat, with the readings of three irrelevant instruments.  The
# model learns the density of y, the distance of one move.

rng = np.random.default_rng(0)
start, chosen = rng.uniform(0, 1, n_samples), rng.uniform(0, 0.45, n_samples)
X = np.column_stack([start, chosen, rng.standard_normal((n_samples, 3))])
model = LSCE(n_components=2, random_state=0).fit(X, move(start, chosen, rng) - start)

# %%
# From a density to a plan
# ------------------------
# Positions are divided into cells.  ``cdf`` gives the transition probabilities between cells for
# every action, in closed form and without sampling.  Dynamic programming computes the best
# actions.

edges = np.linspace(0, QUAY, 51)
cells = (edges[1:] + edges[:-1]) / 2
places, moves = np.meshgrid(cells, actions, indexing="ij")  # (50, 9)
inputs = np.column_stack([places.ravel(), moves.ravel(), np.zeros((places.size, 3))])
dist = model.predict_dist(inputs)


def plan(cdf):
    """The best action in each cell; ``cdf(v)`` gives P(next position <= v), (450,)."""
    below = np.column_stack([cdf(v) for v in edges[1:]]).reshape(50, 9, 50)
    to_cell = np.diff(below, axis=2, prepend=0.0)
    arrives = cells > BERTH
    value = np.where(arrives, 1.0, 0.0)
    for _ in range(60):
        gain = to_cell @ value + (1 - below[..., -1]) * WRECK - COST
        value = np.where(arrives, 1.0, gain.max(axis=1))
    return gain.argmax(axis=1)


policies = {
    "density": plan(lambda v: dist.cdf(v - inputs[:, 0])),
    "mean": plan(lambda v: (inputs[:, 0] + dist.mean() <= v).astype(float)),
}

# %%
# Results
# -------
# Both plans are executed in the simulator, five thousand times each.


def voyage(policy, n=5000, seed=1):
    rng, position, steps = np.random.default_rng(seed), np.zeros(n), np.zeros(n)
    for _ in range(60):
        under_way = position <= BERTH
        cell = np.clip(np.digitize(position, edges) - 1, 0, 49)
        position = np.where(under_way, move(position, actions[policy[cell]], rng), position)
        steps += under_way
    return position, steps


results = {name: voyage(policy) for name, policy in policies.items()}
for name, (ends, steps) in results.items():
    wrecked = ends > QUAY
    reward = np.where(wrecked, WRECK, 1.0) - COST * steps
    print(
        f"{name}: {wrecked.mean():.1%} wrecked, {steps.mean():.1f} moves, "
        f"reward {reward.mean():.2f}"
    )

# %%
# Left: the density of the next position for one action.  Right: the final positions.  A plan is
# only as good as its density.  If the distance between the two modes depended on the action, a few
# hundred moves might not be enough to learn it, and much of the advantage would be lost.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
grid, here = np.linspace(0.6, 1.2, 400), np.array([[0.5, 0.35, 0.0, 0.0, 0.0]])
simulated = move(np.full(20000, 0.5), 0.35, np.random.default_rng(2))
left.hist(simulated, 80, density=True, color="0.85", label="simulated")
left.plot(grid, model.predict_dist(here).pdf_on(grid - 0.5)[0], color="#0072b2", label="density")
left.axvline(0.5 + model.predict(here)[0], color="#d55e00", label="mean")
left.axvspan(QUAY, 1.2, color="#d9d0c0", alpha=0.6, lw=0)
left.text(1.02, 0.93, "quay", transform=left.get_xaxis_transform())
left.set(
    xlabel="next position", yticks=[], title="An action of 0.35 at position 0.5", xlim=(0.6, 1.2)
)
left.legend(frameon=False)
for name, color in (("density", "#0072b2"), ("mean", "#d55e00")):
    ends = results[name][0]
    right.hist(
        ends, np.linspace(0.85, 1.3, 61), color=color, alpha=0.55, label=f"planned with the {name}"
    )
right.axvspan(QUAY, 1.3, color="#d9d0c0", alpha=0.6, lw=0, zorder=0)
right.text(1.02, 0.93, "quay", transform=right.get_xaxis_transform())
right.set(
    xlabel="final position",
    ylabel="voyages",
    title="Five thousand voyages",
    xlim=(0.85, 1.3),
)
right.legend(frameon=False, loc="upper right")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
