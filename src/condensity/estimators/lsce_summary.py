"""What a fitted LSCE tells about itself: tables, lines of progress, warnings."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from condensity._typing import Array
from condensity.data.prepare import TrainingData
from condensity.data.resolution import RecordedValues
from condensity.data.sample import Sample
from condensity.distributions.bounded import Bounds
from condensity.estimators.base import score_columns
from condensity.fitting.scores import Score
from condensity.lsce.configurations import Configuration
from condensity.lsce.fit import EnsembleFit


def configuration_table(data: TrainingData, score: Score, result: EnsembleFit) -> dict[str, Array]:
    """The configurations in scikit-learn's form; scores are minus losses, in the units of y.

    The scores of a split are those of the samples in a fold of the first deal.
    """
    found, folds = result.configurations, data.folds
    table: dict[str, Any] = {
        "param_location": np.array([c.location for c in found]),
        "param_n_components": np.array([c.n_components for c in found]),
        "param_sigma_z": np.array([c.setting.sigma_z for c in found]),
        "param_sigma_y": np.array([c.setting.sigma_y for c in found]),
        "param_penalty": np.array([c.setting.penalty for c in found]),
        "weight": result.weights,
        "is_best": np.array([c is result.best for c in found]),
    }
    by_fold = [(folds / folds.sum(axis=1, keepdims=True)) @ c.losses for c in found]
    losses = score.in_units(np.array(by_fold), np.diag(data.y_scaling.sd))
    return table | score_columns(-losses)


def direction_in_words(weights: Array, names: Sequence[str], most: int = 5) -> str:
    """The heaviest terms of a direction, in the order of their weights."""
    heaviest = np.argsort(-np.abs(weights), kind="stable")[:most]
    terms = " ".join(f"{weights[j]:+.2f} {names[j]}" for j in heaviest)
    return terms if len(names) <= most else f"{terms} ..."


def print_configuration(configuration: Configuration) -> None:
    """A line of progress."""
    s = configuration.setting
    print(
        f"[LSCE] location {configuration.location}, n_components={configuration.n_components}: "
        f"loss at new samples {configuration.loss:.4f} (standardised y), "
        f"sigma {s.sigma_z:.3g} and {s.sigma_y:.3g}, penalty {s.penalty:g}",
        flush=True,
    )


def least_widths(sample: Sample, bounds: Bounds | None, *, heard: bool) -> Array:
    """The floor under the kernels' widths, in the units of y (dy,); warns of atoms if ``heard``."""
    recorded = [RecordedValues.of(column, sample.weight) for column in sample.Y.T]
    if heard:
        _warn_of_atoms(recorded, bounds)
    return np.array([r.least_bandwidth for r in recorded])


def _warn_of_atoms(recorded: Sequence[RecordedValues], bounds: Bounds | None) -> None:
    """Name the values that hold too much of the sample for a density."""
    for j, output in enumerate(recorded):
        if output.atom is not None:
            value, share = output.atom
            unit = ""
            if bounds is not None:
                value = float(bounds.take(np.array([j])).bounded(np.array([value]))[0])
                unit = " (in the coordinate without bounds)"
            where = "" if len(recorded) == 1 else f" in column {j}"
            remedy = (
                "the probability of a value is that of an interval around it (dist.prob), or use "
                "a classifier"
                if output.discrete
                else "model that value apart (a classifier for it, a density for the rest)"
            )
            warnings.warn(
                f"y{where} equals {value + 0.0:g} in {share:.0%} of the sample, which no density "
                f"can show: kernels are kept at least {output.least_bandwidth:.3g} wide{unit}; "
                f"{remedy}, or set min_bandwidth (0 lets the density narrow on repeated values)",
                UserWarning,
                stacklevel=4,
            )


def warn_of_no_room(
    n_components: Any, n_outputs: int, locations: Iterable[str], tried: Iterable[Configuration]
) -> None:
    """Say so where a location was not tried because it needs more directions than are given."""
    left_out = [name for name in locations if name not in {c.location for c in tried}]
    if left_out:
        warnings.warn(
            f"n_components={n_components} leaves no room for location={left_out[0]!r}, which takes "
            f"a direction for each of {n_outputs} outputs; where means depend on x, densities are "
            "much wider without it: give more components, or n_components='auto'; "
            "location='none' says that it is meant",
            UserWarning,
            stacklevel=3,
        )
