"""Boosted trees of scikit-learn: grown in rounds, and written as arrays.

With few samples, every split is searched among all values.  With many samples, values are sorted
into at most 255 bins first, which is many times faster and no less accurate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import config_context
from threadpoolctl import threadpool_limits

from condensity._typing import Array, Indices, Mask
from condensity.fitting.trees import TreeSum

#: Trees with few samples: learning rate, depth, smallest leaf, shares of samples and inputs.
BOOSTING = {
    "learning_rate": 0.1,
    "max_depth": 4,
    "min_samples_leaf": 5,
    "subsample": 0.7,
    "max_features": 0.5,
}
#: With at least this many samples, values are sorted into bins.
BINNED_ROWS = 1000
#: Trees with many samples: learning rate, depth, smallest leaf, share of inputs, shrinkage.
BINNED_BOOSTING = {
    "learning_rate": 0.1,
    "max_depth": 8,
    "min_samples_leaf": 10,
    "max_features": 0.5,
    "l2_regularization": 1.0,
    "early_stopping": False,
}
#: Leaves of a tree: the square root of the number of samples over ``LEAF_RATIO``, within limits.
LEAF_RATIO, LEAST_LEAVES, MOST_LEAVES = 3.0, 16, 64


def without_trees(n: int) -> Any:
    """A regressor for ``n`` samples, to which trees are added."""
    # Both import rich if it is installed, which takes long: only if they are needed.
    if n < BINNED_ROWS:
        from sklearn.ensemble import GradientBoostingRegressor

        return GradientBoostingRegressor(random_state=0, warm_start=True, **BOOSTING)
    from sklearn.ensemble import HistGradientBoostingRegressor

    leaves = int(np.clip(np.sqrt(n) / LEAF_RATIO, LEAST_LEAVES, MOST_LEAVES))
    return HistGradientBoostingRegressor(
        random_state=0, warm_start=True, max_leaf_nodes=leaves, **BINNED_BOOSTING
    )


def add_trees(model: Any, size: int, X: Array, y: Array, weight: Array) -> None:
    """Add trees to ``model`` until it has ``size`` of them."""
    scaled = weight * (len(weight) / weight.sum())
    count = "max_iter" if hasattr(model, "max_iter") else "n_estimators"
    # Checks of arguments would take a quarter of the time.  Threads would change the order of sums.
    with (
        config_context(assume_finite=True, skip_parameter_validation=True),
        threadpool_limits(limits=1),
    ):
        model.set_params(**{count: size}).fit(X, y, sample_weight=scaled)


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


def trees_of(model: Any, n_trees: int | None = None) -> tuple[float, list[Tree]]:
    """The intercept of a fitted regressor, and its first ``n_trees`` trees; None: all of them."""
    if hasattr(model, "_predictors"):
        tables = [trees[0].nodes for trees in model._predictors[:n_trees]]
        return float(model._baseline_prediction.ravel()[0]), [_binned_tree(t) for t in tables]
    rate = model.learning_rate
    parts = [tree.tree_ for tree in model.estimators_[:n_trees, 0]]
    return float(model.init_.constant_[0, 0]), [
        Tree(
            tree.feature,
            tree.threshold,
            tree.children_left,
            tree.children_right,
            tree.children_left < 0,
            rate * tree.value[:, 0, 0],
            tree.max_depth,
        )
        for tree in parts
    ]


def _binned_tree(nodes: Any) -> Tree:
    """A tree from scikit-learn's table of nodes, which has one record for each node."""
    return Tree(
        nodes["feature_idx"].astype(np.intp),
        nodes["num_threshold"].astype(float),
        nodes["left"].astype(np.intp),
        nodes["right"].astype(np.intp),
        nodes["is_leaf"].astype(bool),
        nodes["value"].astype(float),
        int(nodes["depth"].max()),
    )


def mean_of_trees(fits: Sequence[Sequence[Any]], n_trees: int | None = None) -> TreeSum:
    """The mean over ``fits``, each with one regressor for each output, as arrays.

    Only the first ``n_trees`` of each regressor count; None: all of them.
    """
    by_output = [trees_of(m, n_trees) for models in zip(*fits, strict=True) for m in models]
    intercepts = np.array([intercept for intercept, _ in by_output])
    trees = [tree for _, parts in by_output for tree in parts]
    first = np.cumsum([0, *(len(tree.leaf) for tree in trees)])
    here, start = np.arange(first[-1]), np.repeat(first[:-1], np.diff(first))
    below, above, feature, threshold, leaf, value = (
        np.concatenate([getattr(tree, name) for tree in trees])
        for name in ("below", "above", "feature", "threshold", "leaf", "value")
    )
    n_outputs = len(fits[0])
    return TreeSum(
        intercept=intercepts.reshape(n_outputs, len(fits)).mean(axis=1),
        roots=np.ascontiguousarray(first[:-1].reshape(n_outputs, -1).T),
        depth=max(tree.depth for tree in trees),
        feature=np.where(leaf, 0, feature),
        threshold=threshold,
        below=np.where(leaf, here, start + below),
        above=np.where(leaf, here, start + above),
        value=value / len(fits),
    )
