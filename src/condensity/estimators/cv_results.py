"""Tables of held-out scores in the form of scikit-learn's ``cv_results_``; scores are -losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from condensity._typing import Array
from condensity.data.prepare import TrainingData
from condensity.fitting.neighbors import NeighborChoice
from condensity.fitting.scores import SCORES, Score
from condensity.fitting.selection import Choice
from condensity.lsce.fit import EnsembleFit


def candidate_table(choices: list[tuple[int, Choice]], unit: float) -> dict[str, Array]:
    """Scores of bandwidths and penalties, for each number of components that was tried.

    ``unit`` is that of a score in the units of the data.
    """
    rows = [
        (dz, *choice.candidates.bandwidths[i], penalty, choice.losses[i, j])
        for dz, choice in choices
        for i in range(len(choice.candidates.bandwidths))
        for j, penalty in enumerate(choice.candidates.penalties)
    ]
    dz, sigma_z, sigma_y, penalties, losses = zip(*rows, strict=True)
    parameters = {
        "param_n_components": np.array(dz),
        "param_sigma_z": np.array(sigma_z),
        "param_sigma_y": np.array(sigma_y),
        "param_penalty": np.array(penalties),
    }
    return parameters | score_columns(-unit * np.array(losses))


def neighbor_table(choice: NeighborChoice, y_sd: Array) -> dict[str, Array]:
    """Scores of radii and bandwidths in the units of y, which has standard deviations ``y_sd``."""
    epsilon, sigma_y = np.meshgrid(choice.epsilons, choice.bandwidths, indexing="ij")
    losses = choice.losses.reshape(epsilon.size, -1)
    parameters = {"param_epsilon": epsilon.ravel(), "param_bandwidth": sigma_y.ravel()}
    return parameters | score_columns(-SCORES["squared"].in_units(losses, np.diag(y_sd)))


def configuration_table(data: TrainingData, score: Score, result: EnsembleFit) -> dict[str, Array]:
    """Scores of the configurations of LSCE in the units of y.

    The scores of a split are those of the samples in one fold of the first partition.  With many
    samples the configurations are compared on some of the folds only.
    """
    configurations, folds = result.configurations, data.folds
    crossfit = configurations[0].crossfit
    if crossfit is not None:
        folds = folds[~(folds[:, crossfit.held_mass == 0] > 0).any(axis=1)]
    table: dict[str, Any] = {
        "param_location": np.array([c.location for c in configurations]),
        "param_n_components": np.array([c.n_components for c in configurations]),
        "param_sigma_z": np.array([c.setting.sigma_z for c in configurations]),
        "param_sigma_y": np.array([c.setting.sigma_y for c in configurations]),
        "param_penalty": np.array([c.setting.penalty for c in configurations]),
        "weight": result.weights,
        "is_best": np.array([c is result.best for c in configurations]),
    }
    table |= _comparison_columns(data, score, result)
    by_fold = [(folds / folds.sum(axis=1, keepdims=True)) @ c.losses for c in configurations]
    losses = score.in_units(np.array(by_fold), np.diag(data.y_scaling.sd))
    return table | score_columns(-losses)


def _comparison_columns(data: TrainingData, score: Score, result: EnsembleFit) -> dict[str, Array]:
    """The comparison of the configurations with their reference, in the units of y."""
    names = "agreement", "score_difference", "score_difference_se"
    comparison = result.comparison
    if comparison is None:
        return {name: np.full(len(result.configurations), np.nan) for name in names}
    unit = score.unit(np.diag(data.y_scaling.sd)) if score.sign else 1.0
    columns = comparison.agreement, -unit * comparison.excess, unit * comparison.error
    return dict(zip(names, columns, strict=True))


def score_columns(scores: Array) -> dict[str, Array]:
    """The columns of ``scores`` (candidates, folds): mean, deviation, rank, and each fold."""
    mean = scores.mean(axis=1)
    summary: dict[str, Any] = {
        "mean_test_score": mean,
        "std_test_score": scores.std(axis=1),
        "rank_test_score": np.argsort(np.argsort(-mean, kind="stable")) + 1,
    }
    return summary | {f"split{k}_test_score": column for k, column in enumerate(scores.T)}
