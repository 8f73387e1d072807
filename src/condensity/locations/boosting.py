"""Boosted trees of scikit-learn: grown in rounds, and written as arrays.

With few samples, every split is searched among all values.  With many samples, the values of each
input are sorted into bins first, which is many times faster and no less accurate.  The regressor
learns from the numbers of the bins.  It would sort the values itself, but again in every round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import config_context
from threadpoolctl import threadpool_limits

from condensity._typing import Array, Indices
from condensity.fitting.trees import Tree, TreeSum, joined_trees

#: Trees with few samples: learning rate, depth, smallest leaf, shares of samples and inputs.
BOOSTING = {
    "learning_rate": 0.1,
    "max_depth": 4,
    "min_samples_leaf": 5,
    "subsample": 0.7,
    "max_features": 0.5,
}
#: With at least this many samples, values are sorted into bins, at most ``MOST_BINS`` of them.
BINNED_ROWS, MOST_BINS = 1000, 255
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


@dataclass(frozen=True, eq=False)
class Bins:
    """The bins of every input.  Bin j holds the values above ``cuts[j - 1]`` up to ``cuts[j]``."""

    cuts: Sequence[Array]  # increasing, for each input

    @classmethod
    def of(cls, X: Array) -> Bins:
        """Bins with about equal numbers of the rows of ``X`` (n, dx), cut between two values."""
        cuts = []
        for column in X.T:
            values, first = np.unique(np.sort(column), return_index=True)
            if len(values) > MOST_BINS:
                shares = np.linspace(0, len(column), MOST_BINS + 1)[1:-1]
                inner = np.unique(np.searchsorted(first, shares))
                inner = inner[(inner > 0) & (inner < len(values))]
            else:
                inner = np.arange(1, len(values))
            cuts.append(0.5 * (values[inner - 1] + values[inner]))
        return cls(cuts)

    def numbers(self, X: Array) -> Array:
        """The numbers of the bins of ``X`` (m, dx), as floats."""
        columns = [np.searchsorted(cuts, x) for cuts, x in zip(self.cuts, X.T, strict=True)]
        return np.column_stack(columns).astype(float)

    def thresholds(self, feature: Indices, number: Array) -> Array:
        """The cuts of inputs ``feature`` (m,) that separate bins up to ``number`` (m,)."""
        below = np.floor(number).astype(np.intp)
        return np.array([self.cuts[i][j] for i, j in zip(feature, below, strict=True)])


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
    # Without weights the regressor is faster.
    scaled = None if np.ptp(weight) == 0 else weight * (len(weight) / weight.sum())
    count = "max_iter" if hasattr(model, "max_iter") else "n_estimators"
    # Checks of arguments would take a quarter of the time.  Threads would change the order of sums.
    with (
        config_context(assume_finite=True, skip_parameter_validation=True),
        threadpool_limits(limits=1),
    ):
        model.set_params(**{count: size}).fit(X, y, sample_weight=scaled)


def mean_of_trees(
    fits: Sequence[Sequence[Any]], n_trees: int | None = None, bins: Bins | None = None
) -> TreeSum:
    """The mean over ``fits``, each with one regressor for each output, as arrays.

    Only the first ``n_trees`` of each regressor count; None: all of them.  ``bins`` are those that
    the regressors have learned from, if any.
    """
    by_output = [
        [tree for m in models for tree in _trees_of(m, n_trees, bins)]
        for models in zip(*fits, strict=True)
    ]
    intercept = np.mean([[_intercept_of(m) for m in fit] for fit in fits], axis=0)
    # Regressors with bins store values that are multiplied by the rate.
    rate = 1.0 if bins is not None else fits[0][0].learning_rate
    return joined_trees(by_output, intercept, rate / len(fits))


def _trees_of(model: Any, n_trees: int | None, bins: Bins | None) -> list[Tree]:
    if bins is not None:
        return [_binned_tree(trees[0].nodes, bins) for trees in model._predictors[:n_trees]]
    return [Tree.of(tree.tree_) for tree in model.estimators_[:n_trees, 0]]


def _intercept_of(model: Any) -> float:
    if hasattr(model, "_baseline_prediction"):
        return float(model._baseline_prediction.ravel()[0])
    return float(model.init_.constant_[0, 0])


def _binned_tree(nodes: Any, bins: Bins) -> Tree:
    """A tree from scikit-learn's table of nodes, which has one record for each node."""
    leaf, feature = nodes["is_leaf"].astype(bool), nodes["feature_idx"].astype(np.intp)
    threshold = np.zeros(len(nodes))
    threshold[~leaf] = bins.thresholds(feature[~leaf], nodes["num_threshold"][~leaf])
    return Tree(
        feature,
        threshold,
        nodes["left"].astype(np.intp),
        nodes["right"].astype(np.intp),
        leaf,
        nodes["value"].astype(float),
        int(nodes["depth"].max()),
    )
