"""Probabilities of a few classes given x: a weighted average of three models.

The models are the frequencies of the classes, a multinomial logistic regression, and boosted trees,
both on standardised inputs.  The penalty, the number of trees, and the weights of the average
minimise the log loss at samples that were left out.  Every model is shrunk to the frequencies by
the weight of one sample, so that no probability is zero.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import log_softmax, softmax

from condensity._typing import Array, Indices
from condensity.data.sample import Scaling
from condensity.fitting.simplex import minimise_on_simplex
from condensity.fitting.trees import Tree, TreeSum, joined_trees

if TYPE_CHECKING:
    from sklearn.ensemble import GradientBoostingClassifier

#: Inverse penalties of the logistic regression.
STRENGTHS = (0.01, 0.1, 1.0, 10.0)
#: Numbers of boosting steps, and the options of the trees.
STEPS = (10, 20, 40, 60, 80, 100)
BOOSTING = {"learning_rate": 0.1, "max_depth": 3, "min_samples_leaf": 5, "subsample": 0.7}
#: Models with less weight are left out of the average.
NEGLIGIBLE = 0.02


@dataclass(frozen=True, eq=False)
class LogisticModel:
    """Multinomial logistic regression: ``softmax(intercept + x slope)`` for standardised x."""

    name: ClassVar[str] = "logistic"
    scaling: Scaling
    intercept: Array  # (C,)
    slope: Array  # (dx, C)

    def __call__(self, X: Array) -> Array:
        """Probabilities for the rows of ``X`` (m, dx): (m, C)."""
        return np.asarray(softmax(self.intercept + self.scaling.apply(X) @ self.slope, axis=1))


@dataclass(frozen=True, eq=False)
class TreeModel:
    """Boosted trees: the softmax of a sum of trees of standardised x for each class."""

    name: ClassVar[str] = "trees"
    scaling: Scaling
    trees: TreeSum

    def __call__(self, X: Array) -> Array:
        """Probabilities for the rows of ``X`` (m, dx): (m, C)."""
        return np.asarray(softmax(self.trees(self.scaling.apply(X)), axis=1))


@dataclass(frozen=True, eq=False)
class ClassProbabilities:
    """Probabilities of C classes: an average of models, with weights that sum to one."""

    frequencies: Array  # (C,)
    weights: tuple[float, ...]  # of the frequencies, then of the models
    models: tuple[LogisticModel | TreeModel, ...]

    def __call__(self, X: Array) -> Array:
        """Probabilities for the rows of ``X`` (m, dx): (m, C)."""
        out = np.tile(self.weights[0] * self.frequencies, (len(X), 1))
        for weight, model in zip(self.weights[1:], self.models, strict=True):
            out += weight * model(X)
        return np.asarray(out / out.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class LabelledSample:
    """Inputs, classes and weights, of which only the ratios matter."""

    X: Array  # (n, dx)
    label: Indices  # (n,) from 0 to C - 1
    weight: Array  # (n,) > 0
    n_classes: int

    def take(self, rows: Indices) -> LabelledSample:
        """Some of the samples."""
        return LabelledSample(self.X[rows], self.label[rows], self.weight[rows], self.n_classes)

    @property
    def frequencies(self) -> Array:
        """Shares of the classes, with one more sample that is spread evenly: (C,)."""
        counts = np.bincount(self.label, self.weight * self.unit, minlength=self.n_classes)
        return np.asarray((counts + 1 / self.n_classes) / (counts.sum() + 1))

    @property
    def scaling(self) -> Scaling:
        """Standardisation of the inputs."""
        return Scaling.of(self.X, self.weight / self.weight.sum())

    @property
    def unit(self) -> float:
        """Factor of the weights that makes their mean one."""
        return len(self.weight) / float(self.weight.sum())

    def shrunk(self, probabilities: Array) -> Array:
        """Probabilities shrunk to the frequencies by the weight of one sample."""
        n = len(self.label)
        return (n * probabilities + self.frequencies) / (n + 1)

    def loss(self, probabilities: Array) -> float:
        """Mean log loss of probabilities (n, C) of the samples."""
        own = probabilities[np.arange(len(self.label)), self.label]
        return float(np.average(-np.log(own), weights=self.weight))


def fit_class_probabilities(
    sample: LabelledSample, folds: Sequence[tuple[Indices, Indices]], seed: int
) -> tuple[ClassProbabilities, dict[str, float]]:
    """The average of the models, and the held-out log loss of each and of the average."""
    frequencies = _held_out(sample, folds, lambda train, X: np.tile(train.frequencies, (len(X), 1)))
    logistic = {c: _held_out(sample, folds, _Logistic(c)) for c in STRENGTHS}
    trees = _held_out_trees(sample, folds, seed)
    strength = min(logistic, key=lambda c: sample.loss(logistic[c]))
    n_steps = min(trees, key=lambda k: sample.loss(trees[k]))
    tables = np.array([frequencies, logistic[strength], trees[n_steps]])
    weights = _average_weights(tables, sample)
    losses = {
        name: sample.loss(table)
        for name, table in zip(("frequencies", "logistic", "trees"), tables, strict=True)
    }
    losses["average"] = sample.loss(np.tensordot(weights, tables, axes=1))
    models: list[Any] = []
    if weights[1] > 0:
        models.append((weights[1], fit_logistic(sample, strength)))
    if weights[2] > 0:
        models.append((weights[2], fit_trees(sample, n_steps, seed)))
    # The models are shrunk to the frequencies: this is a part of the weights.
    kept = len(sample.label) / (len(sample.label) + 1)
    shares = tuple(float(kept * weight) for weight, _ in models)
    average = ClassProbabilities(
        sample.frequencies, (1.0 - sum(shares), *shares), tuple(model for _, model in models)
    )
    return average, losses


def _average_weights(tables: Array, sample: LabelledSample) -> Array:
    """Weights of the tables (models, n, C) whose average has the smallest log loss."""
    own = tables[:, np.arange(len(sample.label)), sample.label]
    share = sample.weight / sample.weight.sum()

    def loss(v: Array) -> tuple[float, Array]:
        mixed = v @ own
        return float(-share @ np.log(mixed)), -(own / mixed) @ share

    weights = minimise_on_simplex(loss, len(own))
    weights[weights < NEGLIGIBLE] = 0.0
    return np.asarray(weights / weights.sum())


def _held_out(
    sample: LabelledSample, folds: Sequence[tuple[Indices, Indices]], predict: Any
) -> Array:
    """Probabilities of all samples by models that were fitted without their fold, (n, C)."""
    out = np.empty((len(sample.label), sample.n_classes))
    for train, test in folds:
        part = sample.take(train)
        out[test] = part.shrunk(predict(part, sample.X[test]))
    return out


def _held_out_trees(
    sample: LabelledSample, folds: Sequence[tuple[Indices, Indices]], seed: int
) -> dict[int, Array]:
    """The same for boosted trees after each number of steps."""
    out = {k: np.empty((len(sample.label), sample.n_classes)) for k in STEPS}
    for train, test in folds:
        part = sample.take(train)
        present = np.unique(part.label)
        if len(present) < 2:
            stages = {k: _one_class(part, len(test)) for k in STEPS}
        else:
            scaling, model = _boosted(part, STEPS[-1], seed)
            staged = enumerate(model.staged_predict_proba(scaling.apply(sample.X[test])), 1)
            stages = {k: _all_classes(p, present, part) for k, p in staged if k in STEPS}
        for k, probabilities in stages.items():
            out[k][test] = part.shrunk(probabilities)
    return out


@dataclass(frozen=True)
class _Logistic:
    """Fits a logistic regression and predicts."""

    strength: float

    def __call__(self, train: LabelledSample, X: Array) -> Array:
        return fit_logistic(train, self.strength)(X)


def fit_logistic(sample: LabelledSample, strength: float) -> LogisticModel:
    """Multinomial logistic regression; a class without samples has the probability zero."""
    scaling = sample.scaling
    present = np.unique(sample.label)
    intercept = np.full(sample.n_classes, -np.inf)
    slope = np.zeros((sample.X.shape[1], sample.n_classes))
    if len(present) < 2:
        intercept[present] = 0.0
        return LogisticModel(scaling, intercept, slope)
    from sklearn.linear_model import LogisticRegression  # it imports rich if installed

    model = LogisticRegression(C=strength, max_iter=1000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of slow convergence: the held-out loss decides
        model.fit(scaling.apply(sample.X), sample.label, sample.weight * sample.unit)
    # For two classes, scikit-learn has the coefficients of the second one only.
    two = len(present) == 2
    intercept[present] = np.append(0.0, model.intercept_) if two else model.intercept_
    slope[:, present] = (np.vstack([0 * model.coef_, model.coef_]) if two else model.coef_).T
    return LogisticModel(scaling, intercept, slope)


def fit_trees(sample: LabelledSample, n_steps: int, seed: int) -> TreeModel:
    """Boosted trees for a sample that has all classes."""
    scaling, model = _boosted(sample, n_steps, seed)
    return TreeModel(scaling, _trees_of(model, sample))


def _boosted(
    sample: LabelledSample, n_steps: int, seed: int
) -> tuple[Scaling, GradientBoostingClassifier]:
    from sklearn.ensemble import GradientBoostingClassifier  # it imports rich if installed

    # Trees round inputs to single precision: dates in seconds would lose what varies.
    scaling = sample.scaling
    model = GradientBoostingClassifier(n_estimators=n_steps, random_state=seed, **BOOSTING)
    model.fit(scaling.apply(sample.X), sample.label, sample.weight * sample.unit)
    return scaling, model


def _trees_of(model: GradientBoostingClassifier, sample: LabelledSample) -> TreeSum:
    """The trees of a classifier that has seen all classes, one sum for each class."""
    prior = log_softmax(np.log(model.init_.class_prior_))
    by_class = [[Tree.of(tree.tree_) for tree in column] for column in model.estimators_.T]
    if sample.n_classes == 2:  # one sum of trees: the log odds of the second class
        odds = joined_trees(by_class, np.array([prior[1] - prior[0]]), model.learning_rate)
        return both_sides(odds)
    return joined_trees(by_class, prior, model.learning_rate)


def both_sides(odds: TreeSum) -> TreeSum:
    """Sums of trees for two classes whose difference is ``odds``: its halves with both signs."""
    n = len(odds.value)
    return TreeSum(
        intercept=0.5 * np.append(-odds.intercept, odds.intercept),
        roots=np.hstack([odds.roots, odds.roots + n]),
        depth=odds.depth,
        feature=np.tile(odds.feature, 2),
        threshold=np.tile(odds.threshold, 2),
        below=np.append(odds.below, odds.below + n),
        above=np.append(odds.above, odds.above + n),
        value=0.5 * np.append(-odds.value, odds.value),
    )


def _all_classes(probabilities: Array, present: Indices, sample: LabelledSample) -> Array:
    """Probabilities of all classes from those of the classes that are present."""
    out = np.zeros((len(probabilities), sample.n_classes))
    out[:, present] = probabilities
    return out


def _one_class(sample: LabelledSample, m: int) -> Array:
    """Certainty of the only class of a sample, (m, C)."""
    out = np.zeros((m, sample.n_classes))
    out[:, sample.label[0]] = 1.0
    return out
