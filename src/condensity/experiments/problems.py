"""Data of the experiments: training and test samples by name, size and seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from condensity._typing import Array
from condensity._utils.extras import require
from condensity.datasets import (
    Split,
    Transitions,
    brush,
    illustrative,
    load,
    names,
    robot,
    toy_a,
    toy_b,
)
from condensity.datasets.strokes import strokes

#: Number of test samples of artificial problems (paper, Sec. 3.2).
N_TEST = 1000
#: Number of irrelevant inputs of the illustrations (paper, Sec. 3.1).
N_NOISE = 4
#: Offset of the seeds of test samples, so that they differ from those of training samples.
TEST_SEEDS = 10_000
TOYS = {toy().name: toy for toy in (toy_a, toy_b)}
ILLUSTRATED = ("Illustrative data", "Bone Mineral Density", "Old Faithful")
#: Seed of the transitions.  As in the paper, they are drawn once and split ten times.
WORLD_SEED = 0


@dataclass(frozen=True, eq=False)
class Data:
    """Training and test samples."""

    X: Array  # (n, dx)
    Y: Array  # (n, dy)
    X_test: Array  # (m, dx)
    Y_test: Array  # (m, dy)
    unit: float = 1.0  # factor that converts losses to those of outputs in the paper's unit
    scaling: str = "none"  # parameter ``scaling`` of the subspace searches
    W: Array | None = None  # (dz, dx) the true subspace, if it is known


def check_available(name: str) -> None:
    """Raise the error that the data of a problem would give, without drawing them."""
    if name in names():
        load(name)
    elif name in WORLDS and "brush" in name:
        require("shapely", "brush")
        strokes()
    elif name in WORLDS:
        require("mujoco", "robot")


def in_unit_box(split: Split, X: Array, Y: Array) -> Data:
    """A split with inputs and outputs scaled to [0, 1] by the ranges of all rows ``X``, ``Y``.

    The paper scales its tables in this way before it splits them (docs/choices.md).
    """
    x_low, y_low, x_range, y_range = (
        X.min(axis=0),
        Y.min(axis=0),
        np.ptp(X, axis=0),
        np.ptp(Y, axis=0),
    )
    x_unit = np.where(x_range > 0, x_range, 1.0)
    inputs = ((part - x_low) / x_unit for part in (split.X, split.X_test))
    outputs = ((part - y_low) / y_range for part in (split.Y, split.Y_test))
    (X_train, X_test), (Y_train, Y_test) = inputs, outputs
    return Data(X_train, Y_train, X_test, Y_test)


@dataclass(frozen=True)
class World:
    """Transitions as a problem: their source, their split and their outputs."""

    make: Callable[[], Transitions]
    sizes: tuple[int, ...]  # numbers of training samples
    whole: bool = False  # whether a split keeps episodes together; the paper does not
    outputs: int | None = None  # number of outputs from the first on; None: all


def _worlds() -> dict[str, World]:
    """The paper's problems, then variants with whole episodes and without the binary output."""
    painted = World(partial(brush, random_state=WORLD_SEED), (200, 250, 300))
    paper = {
        f"{k} Joints": World(partial(robot, k, random_state=WORLD_SEED), (n,))
        for k, n in ((2, 100), (4, 200), (9, 500))
    } | {"Simulated brush": painted}
    random_splits = paper | {"Simulated brush without reverse": replace(painted, outputs=5)}
    return random_splits | {
        f"{name}, whole {'strokes' if 'brush' in name else 'episodes'}": replace(world, whole=True)
        for name, world in random_splits.items()
    }


WORLDS = _worlds()


def world_data(name: str, n: int, seed: int) -> Data:
    """One split of the transitions of the robot or the brush."""
    world = WORLDS[name]
    table = _drawn(world.make)
    table = replace(
        table,
        Y=table.Y[:, : world.outputs],
        target_names=table.target_names[: world.outputs],
    )
    split = table.split_episodes if world.whole else table.split
    return in_unit_box(split(seed, n_train=n), table.X, table.Y)


@cache
def _drawn(make: Callable[[], Transitions]) -> Transitions:
    """The transitions, drawn once in a process, because all splits use the same sample."""
    return make()


def benchmark_data(name: str, seed: int) -> Data:
    """One random split of one of the paper's tables, scaled to [0, 1]."""
    table = load(name)
    return in_unit_box(table.split(seed), table.X, table.Y)


def artificial_data(name: str, n: int, seed: int) -> Data:
    """Training and test samples of one of the paper's artificial problems.

    The output is divided by its standard deviation in the training sample, as the paper writes in
    Sec. 2.7.  The inputs have unit variance.
    """
    problem = TOYS[name]()
    X, y = problem.sample(n, random_state=seed)
    X_test, y_test = problem.sample(N_TEST, random_state=TEST_SEEDS + seed)
    sd = y.std()
    Y, Y_test = y[:, None] / sd, y_test[:, None] / sd
    return Data(X, Y, X_test, Y_test, unit=1 / sd, scaling="variance", W=problem.components)


def illustration_data(name: str, n: int, seed: int) -> tuple[Array, Array]:
    """One relevant input and four of noise, X (n, 5), and y (n,)."""
    if name == "Illustrative data":
        return illustrative().sample(n, random_state=seed)
    X, y = load(name)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(X))[:n]
    noise = rng.standard_normal((len(rows), N_NOISE))
    return np.column_stack([X[rows, :1], noise]), y[rows]
