"""Draw the simulated robot, and the density of its next posture, which has several modes.

The same action is executed thousands of times from the same posture.  The noise of each of two
motors has two modes, so the next posture has several.  Rendering needs no screen: set MUJOCO_GL to
egl or osmesa.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import mujoco
import numpy as np
from scipy.stats import gaussian_kde

from condensity.datasets.robot_simulation import Humanoid, disturb

INK = "#6a3d9a"


def rendered(world, state, size=900):
    """Image of the robot in a state, (size, size, 3)."""
    world.show(state)
    with mujoco.Renderer(world.model, size, size) as renderer:
        renderer.update_scene(world.data, camera="front")
        return renderer.render()


def run(n_samples=3000):
    whole, arm = Humanoid(9), Humanoid(2)
    rng = np.random.default_rng(0)
    state = np.concatenate([arm.home, np.zeros(2)])
    action = arm.home + np.array([0.03, 0.02])
    next_states = np.array([arm.step(state, disturb(action, rng)) for _ in range(n_samples)])

    figure = plt.figure(figsize=(11, 5), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.1))
    left.imshow(rendered(whole, np.concatenate([whole.home, np.zeros(9)])))
    left.set_axis_off()
    left.set_title("Nine joints, forty-five kilograms, in MuJoCo", fontsize=10)
    right.plot(*next_states[:, :2].T, ".", ms=2, alpha=0.35, color=INK, mew=0)
    grids = np.meshgrid(
        *(np.linspace(*np.quantile(q, [0.001, 0.999]), 80) for q in next_states.T[:2])
    )
    heights = gaussian_kde(next_states.T[:2], 0.25)(np.reshape(grids, (2, -1))).reshape(80, 80)
    right.contour(*grids, heights, levels=7, cmap="Purples", linewidths=1.3)
    right.plot(*action, "x", color="#e66101", ms=9, mew=2, label="commanded posture")
    right.plot(
        *next_states[:, :2].mean(axis=0), "o", color="k", mfc="w", label="mean of the next postures"
    )
    right.set(xlabel="shoulder pitch, next (rad)", ylabel="elbow pitch, next (rad)")
    right.set_title("One action from one posture, repeated", fontsize=10)
    right.legend(frameon=False, fontsize=9)
    right.spines[["top", "right"]].set_visible(False)
    return figure


if __name__ == "__main__":
    path = Path(__file__).parents[1] / "docs" / "images" / "robot.png"
    run().savefig(path, dpi=110)
    print(f"picture: {path}")
