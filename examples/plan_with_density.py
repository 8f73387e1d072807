"""Plan with a learned density: a robot arm reaches for a posture next to a wall, with noisy motors.

    python examples/plan_with_density.py --seeds 20

An arm with two joints must end within TOLERANCE of a target and never pass a wall close behind it.
The noise of its motors has two modes.  The same planner (cross-entropy method, with a new plan at
every step) predicts the future with

- the density: samples of p(s'|s, a), learned by LSCE from random transitions,
- its mean: the same model, but only its prediction,
- a Gaussian: ridge regression, and noise with the covariance of its residuals,
- the truth: the simulator itself.

All four have the same tasks and the same motor noise, so the differences are paired.  Needs
condensity[robot,plots].  Twenty tasks take about five minutes, mostly for the simulator.
"""

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import RidgeCV

from condensity import LSCE
from condensity.datasets import robot
from condensity.datasets.robot_simulation import TARGET_RANGE, Humanoid, disturb

TOLERANCE, WALL = 0.06, 0.05  # rad; the wall is this far behind the target
STEPS, HORIZON, ENDS = 5, 2, 100
PLANS, PARTICLES, ELITE, ROUNDS = 32, 12, 6, 3
COLORS = {"density": "#7b3294", "mean": "#e08214", "Gaussian": "#1f78b4", "truth": "#222222"}


@dataclass(frozen=True)
class Task:
    start: np.ndarray  # (4,) angles and velocities
    target: np.ndarray  # (2,) angles

    def beyond(self, angles):
        """Whether the shoulder, the first angle, is in the wall."""
        return angles[..., 0] > self.target[0] + WALL

    def distance(self, angles):
        return np.linalg.norm(angles - self.target, axis=-1)

    def reward(self, angles, hit):
        """1 at the target, decreasing with the distance, and -1 if the arm was in the wall."""
        return np.where(hit, -1.0, np.exp(-0.5 * (self.distance(angles) / TOLERANCE) ** 2))


def within_reach(targets, angles):
    """Targets limited to the range of the training data."""
    return np.clip(targets, angles - TARGET_RANGE, angles + TARGET_RANGE)


def imagine(model, task, state, plans, rng):
    """Mean reward of plans (p, h, 2) over PARTICLES simulated futures each."""
    states = np.tile(state, (len(plans) * PARTICLES, 1))
    hit = np.zeros(len(states), dtype=bool)
    for targets in np.repeat(plans, PARTICLES, axis=0).swapaxes(0, 1):
        states = model(states, within_reach(targets, states[:, :2]), rng)
        hit |= task.beyond(states[:, :2])
    return task.reward(states[:, :2], hit).reshape(len(plans), PARTICLES).mean(axis=1)


def choose(model, task, state, steps_left, rng):
    """The first action of the plan that the cross-entropy method selects."""
    shape = (min(HORIZON, steps_left), 2)
    toward = np.linspace(state[:2], task.target, shape[0] + 1)[1:]
    mean, sd = toward, np.full(shape, TARGET_RANGE)
    for _ in range(ROUNDS):
        plans = np.concatenate([mean[None], rng.normal(mean, sd, (PLANS - 1, *shape))])
        best = plans[np.argsort(-imagine(model, task, state, plans, rng))[:ELITE]]
        mean, sd = best.mean(axis=0), best.std(axis=0) + 0.005
    return within_reach(mean[0], state[:2])


def reach(world, model, task, seed):
    """Execute one task, with the same motor noise for every planner.

    Returns means over ENDS repetitions of the last step (distance, share in the wall, share near
    the target and never in the wall, reward), and the final postures relative to the target.
    """
    motors, rng = np.random.default_rng([seed, 1]), np.random.default_rng([seed, 2])
    state, hit = task.start, False
    for step in range(STEPS):
        hit |= bool(task.beyond(state[:2]))
        action = choose(model, task, state, STEPS - step, rng)
        before, state = state, world.step(state, disturb(action, motors))
    ends = np.array([world.step(before, disturb(action, motors))[:2] for _ in range(ENDS)])
    hits = hit | task.beyond(ends)
    near = (task.distance(ends) < TOLERANCE) & ~hits
    measures = (task.distance(ends), hits, near, task.reward(ends, hits))
    return np.mean(measures, axis=1), ends - task.target


def models(world, n_samples):
    """Functions that draw next states (m, 4) for states (m, 4) and targets (m, 2)."""
    X, Y = robot(2, n_samples, random_state=1)
    lsce = LSCE(n_components=4, n_members=5, n_starts=2, random_state=0).fit(X, Y)
    ridge = RidgeCV(np.logspace(-6, 1, 8)).fit(X, Y)
    spread = np.cov((Y - ridge.predict(X)).T)

    def gaussian(states, targets, rng):
        noise = rng.multivariate_normal(np.zeros(4), spread, len(states))
        return ridge.predict(np.hstack([states, targets])) + noise

    def truth(states, targets, rng):
        sent = disturb(targets, rng)
        return np.array([world.step(s, a) for s, a in zip(states, sent, strict=True)])

    return lsce, {
        "density": lambda s, a, rng: lsce.predict_dist(np.hstack([s, a])).sample(
            1, random_state=rng
        )[:, 0],
        "mean": lambda s, a, rng: lsce.predict(np.hstack([s, a])),
        "Gaussian": gaussian,
        "truth": truth,
    }


def draw_task(world, seed):
    rng = np.random.default_rng([seed, 0])
    start = world.start(rng)
    return Task(start, start[:2] + rng.uniform([0.10, -0.20], [0.20, 0.10]))


def table(outcomes):
    """Means and standard errors over tasks, of each planner and of paired differences."""
    heads = ("planned with", "reaching error (rad)", "in the wall", "near, never in it", "reward")
    values = {name: np.array([mean for mean, _ in results]) for name, results in outcomes.items()}
    rows = values | {
        f"{name} minus density": value - values["density"]
        for name, value in values.items()
        if name != "density"
    }
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for name, value in rows.items():
        error = value.std(axis=0, ddof=1) / len(value) ** 0.5
        cells = (f"{m:.3f} ({e:.3f})" for m, e in zip(value.mean(axis=0), error, strict=True))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def picture(lsce, draw, task, outcomes):
    """Draw the final postures, and the predictions of the planners for one action."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    for name in ("mean", "Gaussian", "density"):
        ends = np.vstack([ends[:10] for _, ends in outcomes[name]])
        left.plot(*ends.T, "o", ms=4, alpha=0.6, color=COLORS[name], label=name, mew=0)
    left.axvspan(WALL, WALL + 0.1, color="#d9d0c0", lw=0)
    left.text(WALL + 0.01, 0.95, "wall", transform=left.get_xaxis_transform(), va="top")
    left.add_patch(plt.Circle((0, 0), TOLERANCE, fill=False, color="k", lw=0.8))
    left.set(xlabel="shoulder pitch from the target (rad)", ylabel="elbow pitch from it (rad)")
    left.set(aspect="equal", title="Final postures")
    left.legend(frameon=False, fontsize=9)

    state, action = task.start[None], task.start[None, :2]
    rng, many = np.random.default_rng(0), 1500
    simulated = draw["truth"](np.repeat(state, many, 0), np.repeat(action, many, 0), rng)[:, 0]
    grid = np.linspace(simulated.min() - 0.03, simulated.max() + 0.03, 300)
    right.hist(simulated, 40, density=True, color="0.88", label="simulated")
    dist = lsce.predict_dist(np.hstack([state, action])).marginal(0)
    right.plot(grid, dist.pdf_on(grid)[0], color=COLORS["density"], label="density")
    samples = draw["Gaussian"](np.repeat(state, many, 0), np.repeat(action, many, 0), rng)[:, 0]
    shape = np.exp(-0.5 * ((grid - samples.mean()) / samples.std()) ** 2)
    scale = samples.std() * np.sqrt(2 * np.pi)
    right.plot(grid, shape / scale, "--", color=COLORS["Gaussian"], label="Gaussian")
    right.axvline(float(dist.mean()[0]), color=COLORS["mean"], label="mean")
    right.set(xlabel="shoulder pitch, next (rad)", yticks=[], title="Predictions for one action")
    right.legend(frameon=False, fontsize=9)
    return figure


def run(n_samples=300, seeds=20, report=lambda text: None):
    world = Humanoid(2)
    lsce, draw = models(world, n_samples)
    tasks = [draw_task(world, seed) for seed in range(seeds)]
    outcomes = {}
    for name, model in draw.items():
        started = time.perf_counter()
        outcomes[name] = [reach(world, model, task, seed) for seed, task in enumerate(tasks)]
        report(f"planned {seeds} tasks with the {name}: {time.perf_counter() - started:.0f} s")
    return table(outcomes), picture(lsce, draw, tasks[0], outcomes)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20, help="number of tasks")
    parser.add_argument(
        "--samples", type=int, default=300, help="number of transitions to learn from"
    )
    path = Path(__file__).parents[1] / "docs" / "images" / "planning.png"
    parser.add_argument(
        "--out",
        type=Path,
        default=path,
        help=f"where to write the picture (default: {path.name} in docs/images)",
    )
    args = parser.parse_args()
    text, figure = run(args.samples, args.seeds, report=print)
    print(text)
    figure.savefig(args.out, dpi=110)
    print(f"picture: {args.out}")
