"""Descriptions of a model and of its evaluation, as values for JSON and as lines of text."""

from __future__ import annotations

from typing import Any

import numpy as np

from condensity.estimators.fit_messages import direction_in_words
from condensity.tables import Evaluation, TableModel
from condensity.tables.columns import CATEGORY
from condensity.tables.errors import count_noun
from condensity.tables.evaluate import INTERVAL_LEVEL

#: Columns that the description of a model names at most.
COLUMNS_SHOWN = 12


def describe_model(model: TableModel) -> dict[str, Any]:
    """Description of a model as plain values."""
    estimator, names = model.model, model.feature_names
    W = getattr(estimator, "components_", None)
    return {
        "estimator": type(estimator).__name__,
        "targets": list(model.targets),
        "columns": [
            {"name": c.name, "kind": c.kind}
            | ({"categories": list(c.categories)} if c.kind == CATEGORY else {"fill": c.fill})
            for c in model.columns
        ],
        "missing": model.missing,
        "n_inputs": len(names),
        "n_components": None if W is None else len(W),
        "directions": None
        if W is None
        else [dict(zip(names, map(float, w), strict=True)) for w in W],
        "location": getattr(estimator, "location_", None),
        "bounds": getattr(estimator, "bounds_", None),
        "training_rows": model.rows,
        "training_rows_kept": 0 if model.X is None else len(model.X),
        "evaluation": None
        if model.evaluation is None
        else describe_evaluation(model.evaluation, model.targets),
    }


def describe_evaluation(evaluation: Evaluation, targets: tuple[str, ...]) -> dict[str, Any]:
    """An evaluation as plain values."""
    values = vars(evaluation) | {"level": INTERVAL_LEVEL}
    values["coverage"] = {
        name: {"share": share, "standard_error": _coverage_error(evaluation.rows)}
        for name, share in zip(targets, evaluation.coverage, strict=True)
    }
    return {key: value for key, value in values.items() if value is not None}


def _coverage_error(rows: int) -> float:
    """Standard error of the coverage of exact intervals, ``sqrt(level (1 - level) / rows)``."""
    return float(np.sqrt(INTERVAL_LEVEL * (1 - INTERVAL_LEVEL) / max(rows, 1)))


def model_lines(model: TableModel) -> list[str]:
    """Description of a model as lines of text."""
    names, W = model.feature_names, getattr(model.model, "components_", None)
    rows = "" if model.rows is None else f"; {model.rows} training rows"
    lines = [f"density of {' and '.join(model.targets)} given {_columns(model)}{rows}"]
    if W is not None:
        lines.append(
            f"{count_noun(len(W), 'direction')} found among {count_noun(len(names), 'input')} "
            "(weights of the standardised inputs):"
        )
        lines += [f"  z{i + 1} = {direction_in_words(w, names)}" for i, w in enumerate(W)]
    lines += _bounds_lines(model)
    if model.evaluation is None:
        return lines
    return lines + evaluation_lines(model.evaluation, model.targets)


def _bounds_lines(model: TableModel) -> list[str]:
    """A line for bounds that the caller has not given."""
    automatic = isinstance(getattr(model.model, "bounds", None), str)
    if not automatic or model.model.bounds_ is None:
        return []
    (name,) = model.targets
    return [f"{name} > 0: the density is fitted to log {name} (--bounds none switches this off)"]


def _columns(model: TableModel) -> str:
    listed = ", ".join(
        f"{c.name} ({len(c.categories)} categories)" if c.kind == CATEGORY else c.name
        for c in model.columns[:COLUMNS_SHOWN]
    )
    n = len(model.columns)
    if n == 1:
        return listed
    return f"{n} columns: {listed}" + (", ..." if n > COLUMNS_SHOWN else "")


def evaluation_lines(evaluation: Evaluation, targets: tuple[str, ...]) -> list[str]:
    """An evaluation as lines of text."""
    lines = [
        f"held-out error {evaluation.error:.4g} (standard error {evaluation.error_se:.2g}) "
        f"on {evaluation.rows} rows; lower is better"
    ]
    baselines = (
        ("without reduction", evaluation.error_without_reduction, evaluation.reduction_se),
        ("without inputs", evaluation.error_without_inputs, evaluation.inputs_se),
    )
    for name, error, se in baselines:
        if error is not None:
            difference = error - evaluation.error
            change = f"{abs(difference):.2g} {'higher' if difference > 0 else 'lower'}"
            precision = "" if se is None else f", standard error {se:.2g}"
            lines.append(f"  {name} {error:.4g} ({change}{precision})")
    for name, share in zip(targets, evaluation.coverage, strict=True):
        lines.append(
            f"{INTERVAL_LEVEL:.0%} intervals contain {share:.1%} of the held-out values of {name} "
            f"(expected: {INTERVAL_LEVEL:.1%} ± {_coverage_error(evaluation.rows):.1%})"
        )
    return lines
