"""Sums of regression trees, as arrays.

All nodes of all trees are numbered together.  Node i sends a row to node ``below[i]`` if its value
in column ``feature[i]`` is at most ``threshold[i]``, else to ``above[i]``.  A leaf sends every row
to itself.  So all trees are followed together, one level at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from condensity._typing import Array, Indices, Mask
from condensity._utils.numerics import row_blocks

#: Largest depth, so that a damaged file cannot cause a long loop.
MAX_DEPTH = 100


@dataclass(frozen=True, eq=False)
class TreeSum:
    """A constant and a sum of trees for each output, as a function of x."""

    intercept: Array  # (dy,)
    roots: Indices  # (trees, dy) the first node of each tree
    depth: int  # largest number of levels below a root
    feature: Indices  # (nodes,)
    threshold: Array  # (nodes,)
    below: Indices  # (nodes,)
    above: Indices  # (nodes,)
    value: Array  # (nodes,) of a leaf; other values are not used

    def __post_init__(self) -> None:
        if not 0 <= self.depth <= MAX_DEPTH:
            raise ValueError(f"depth must be from 0 to {MAX_DEPTH}, got {self.depth}")

    def __call__(self, X: Array) -> Array:
        """For the rows of ``X`` (m, dx)."""
        out = np.empty((len(X), len(self.intercept)))
        # The thresholds were learned from inputs in single precision.  A number beyond its range is
        # beyond every threshold.
        with np.errstate(over="ignore"):
            rounded = X.astype(np.float32).astype(float)
        for rows in row_blocks(len(X), 4 * self.roots.size):
            out[rows] = self._block(rounded[rows])
        return out

    def _block(self, X: Array) -> Array:
        node = np.broadcast_to(self.roots, (len(X), *self.roots.shape))
        row = np.arange(len(X))[:, None, None]
        for _ in range(self.depth):
            low = X[row, self.feature[node]] <= self.threshold[node]
            node = np.where(low, self.below[node], self.above[node])
        return np.asarray(self.intercept + self.value[node].sum(axis=1))


@dataclass(frozen=True, eq=False)
class Tree:
    """One regression tree; its nodes are numbered from the root."""

    feature: Indices  # (nodes,)
    threshold: Array  # (nodes,)
    below: Indices  # (nodes,) the next node of rows at or below the threshold
    above: Indices  # (nodes,)
    leaf: Mask  # (nodes,)
    value: Array  # (nodes,)
    depth: int

    @classmethod
    def of(cls, tree: Any) -> Tree:
        """A tree of scikit-learn's forests and of its boosting without bins."""
        below = tree.children_left
        return cls(
            tree.feature,
            tree.threshold,
            below,
            tree.children_right,
            below < 0,
            tree.value[:, 0, 0],
            tree.max_depth,
        )


def joined_trees(by_output: Sequence[Sequence[Tree]], intercept: Array, factor: float) -> TreeSum:
    """The sum of trees, as many for each output, with values times ``factor``."""
    trees = [tree for output in by_output for tree in output]
    first = np.cumsum([0, *(len(tree.leaf) for tree in trees)])
    here, start = np.arange(first[-1]), np.repeat(first[:-1], np.diff(first))
    below, above, feature, threshold, leaf, value = (
        np.concatenate([getattr(tree, name) for tree in trees])
        for name in ("below", "above", "feature", "threshold", "leaf", "value")
    )
    return TreeSum(
        intercept=intercept,
        roots=np.ascontiguousarray(first[:-1].reshape(len(by_output), -1).T),
        depth=max(tree.depth for tree in trees),
        feature=np.where(leaf, 0, feature),
        threshold=threshold,
        below=np.where(leaf, here, start + below),
        above=np.where(leaf, here, start + above),
        value=factor * value,
    )
