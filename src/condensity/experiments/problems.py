"""The problems of the experiments: training and test samples by name, size and seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from condensity._typing import Array
from condensity.datasets import Transitions, brush, illustrative, load, robot, toy_a, toy_b

#: Test samples of artificial problems (paper, Sec. 3.2).
N_TEST = 1000
#: Inputs of noise beside the one that counts (paper, Sec. 3.1).
N_NOISE = 4
#: Test samples are drawn with seeds beyond those of any training sample.
TEST_SEEDS = 10_000
TOYS = {toy().name: toy for toy in (toy_a, toy_b)}
SHOWN = ("Illustrative data", "Bone Mineral Density", "Old Faithful")
#: The paper draws transitions once and splits them ten times; this seed draws ours.
WORLD_SEED = 0


@dataclass(frozen=True, eq=False)
class Data:
    """Samples to learn from and to be judged on."""

    X: Array  # (n, dx)
    Y: Array  # (n, dy)
    X_test: Array  # (m, dx)
    Y_test: Array  # (m, dy)
    unit: float = 1.0  # what losses are multiplied by to be those of outputs in [0, 1]
    W: Array | None = None  # (dz, dx) the true subspace, where it is known


@dataclass(frozen=True)
class World:
    """Transitions as a problem: how they are made, split, and which outputs count."""

    make: Callable[[], Transitions]
    sizes: tuple[int, ...]  # samples to learn from
    whole: bool = False  # whether episodes are kept together; the paper does not
    outputs: int | None = None  # the first so many, or all


def _worlds() -> dict[str, World]:
    """The paper's rows, then the same with episodes kept together and without the binary output."""
    painted = World(partial(brush, random_state=WORLD_SEED), (200, 250, 300))
    paper = {
        f"{k} Joints": World(partial(robot, k, random_state=WORLD_SEED), (n,))
        for k, n in ((2, 100), (4, 200), (9, 500))
    } | {"Simulated brush": painted}
    told = paper | {"Simulated brush without reverse": replace(painted, outputs=5)}
    return told | {
        f"{name}, whole {'strokes' if 'brush' in name else 'episodes'}": replace(world, whole=True)
        for name, world in told.items()
    }


WORLDS = _worlds()


def world(name: str, n: int, seed: int) -> Data:
    """A split of the transitions of the robot or the brush; the unit is that of its outputs."""
    told = WORLDS[name]
    table = _drawn(told.make)
    table = replace(
        table,
        Y=table.Y[:, : told.outputs],
        target_names=table.target_names[: told.outputs],
    )
    split = table.split_episodes if told.whole else table.split
    return Data(*split(seed, n_train=n))


@cache
def _drawn(make: Callable[[], Transitions]) -> Transitions:
    """Drawn once in a process: all splits are of the same sample."""
    return make()


def benchmark(name: str, seed: int) -> Data:
    """A random split of one of the paper's tables."""
    X, Y, X_test, Y_test, unit = load(name).split(seed)
    return Data(X, Y, X_test, Y_test, unit)


def artificial(name: str, n: int, seed: int) -> Data:
    """A sample of one of the paper's artificial problems, and test samples of it."""
    problem = TOYS[name]()
    X, y = problem.sample(n, random_state=seed)
    X_test, y_test = problem.sample(N_TEST, random_state=TEST_SEEDS + seed)
    return Data(X, y[:, None], X_test, y_test[:, None], W=problem.components)


def shown(name: str, n: int, seed: int) -> tuple[Array, Array]:
    """One input that counts and four of noise, X (n, 5), with y (n,): to be looked at."""
    if name == "Illustrative data":
        return illustrative().sample(n, random_state=seed)
    X, y = load(name)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(X))[:n]
    noise = rng.standard_normal((len(rows), N_NOISE))
    return np.column_stack([X[rows, :1], noise]), y[rows]
