"""Descriptions of a model and of its evaluation, as values for JSON and as lines of text."""

from __future__ import annotations

from typing import Any

import numpy as np

from condensity.cli.messages import readable
from condensity.estimators.fit_messages import direction_in_words
from condensity.tables import Evaluation, TableModel
from condensity.tables.columns import CATEGORY, DATE, Column
from condensity.tables.dates import date_text
from condensity.tables.errors import count_noun
from condensity.tables.evaluate import BY_OUTPUT, INTERVAL_LEVEL
from condensity.targets import WithAtoms

#: Rows of which an evaluation may be.
HELD_OUT, NEW, TRAINING = "held-out", "new", "training"
#: Words before the value of a baseline.
IGNORED = "ignoring the inputs "
#: Standard errors by which a loss must be lower to count.
SURE = 2.0
#: Locations that depend on the inputs through the directions alone.
THROUGH_DIRECTIONS = {"none", "linear", "reduced"}
#: Columns that the description of a model names at most.
COLUMNS_SHOWN = 12


def describe_model(model: TableModel) -> dict[str, Any]:
    """Description of a model as plain values."""
    names = model.feature_names
    estimator, atoms = _density_and_atoms(model)
    W = getattr(estimator, "components_", None)
    return {
        "estimator": type(model.model).__name__,
        "atoms": atoms,
        "targets": list(model.targets),
        "columns": [
            {"name": c.name, "kind": c.kind}
            | ({"categories": list(c.categories)} if c.kind == CATEGORY else {"fill": c.fill})
            | _range_of(c)
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
        "held_out_rows_kept": 0 if model.X_test is None else len(model.X_test),
        "evaluation": None
        if model.evaluation is None
        else describe_evaluation(model.evaluation, model.targets),
    }


def _density_and_atoms(model: TableModel) -> tuple[Any, list[float] | None]:
    """The estimator of the density, and the values with a probability of their own, if any."""
    estimator = model.model
    if isinstance(estimator, WithAtoms):
        return estimator.density_, estimator.atoms_.tolist()
    return estimator, None


def _range_of(column: Column) -> dict[str, Any]:
    """Smallest and largest number or date in the training rows, if they are known."""
    if not column.low:
        return {}
    ends: list[Any] = [column.low[-1], column.high[-1]]
    if column.kind == DATE:
        ends = [date_text(column.first + end) for end in ends]
    return {"range": ends}


def describe_evaluation(evaluation: Evaluation, targets: tuple[str, ...]) -> dict[str, Any]:
    """An evaluation as plain values."""
    values = vars(evaluation) | {"level": INTERVAL_LEVEL}
    for key in BY_OUTPUT:
        numbers = values[key]
        values[key] = numbers and dict(zip(targets, numbers, strict=True))
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
    names, (density, atoms) = model.feature_names, _density_and_atoms(model)
    W = getattr(density, "components_", None)
    rows = "" if model.rows is None else f"; {readable(model.rows)} training rows"
    lines = [f"density of {' and '.join(model.targets)} given {_columns(model)}{rows}"]
    if W is not None:
        lines.append(f"{directions_in_words(model, len(W))} (weights of the standardised inputs):")
        lines += [f"  z{i + 1} = {direction_in_words(w, names)}" for i, w in enumerate(W)]
    if atoms is not None:
        values = ", ".join(f"{atom:g}" for atom in atoms) or "none"
        lines.append(f"values of {model.targets[0]} with a probability of their own: {values}")
    lines += _bounds_lines(model)
    if model.evaluation is None:
        return lines
    return lines + evaluation_lines(model.evaluation, model.targets)


def directions_in_words(model: TableModel, k: int) -> str:
    """What the directions of a model mean for its density.

    They are enough if the density depends on the inputs through them alone, and if it is not worse
    on held-out rows than the same estimator without reduction.
    """
    sums, be = count_noun(k, "weighted sum"), "is" if k == 1 else "are"
    n = len(model.feature_names)
    start = f"{sums} of the {count_noun(n, 'input')}"
    others = other_inputs(_density_and_atoms(model)[0], k)
    if others:
        return f"{start} {'matters' if k == 1 else 'matter'} most; {others}"
    evaluation = model.evaluation
    if evaluation is None or evaluation.error_without_reduction is None or k == n:
        return f"{start} {be} used"
    loss = evaluation.error - evaluation.error_without_reduction
    if loss > SURE * (evaluation.reduction_se or 0.0):
        return f"{start} {be} used; without reduction the squared loss is lower"
    return f"{start} {be} enough"


def other_inputs(estimator: Any, k: int) -> str:
    """What else of the inputs a density depends on than its ``k`` directions, or nothing."""
    table = getattr(estimator, "cv_results_", {})
    if "param_location" not in table:
        return ""
    used = np.asarray(table["weight"]) > 0
    locations = np.asarray(table["param_location"])[used]
    if not set(locations.tolist()) <= THROUGH_DIRECTIONS:
        return "a prediction from all inputs takes part too"
    if (np.asarray(table["param_n_components"])[used] > k).any():
        return "densities with more of them take part too"
    return ""


def _bounds_lines(model: TableModel) -> list[str]:
    """A line for bounds that the caller has not given."""
    density, _ = _density_and_atoms(model)
    automatic = isinstance(getattr(density, "bounds", None), str)
    if not automatic or density.bounds_ is None:
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


def evaluation_lines(
    evaluation: Evaluation, targets: tuple[str, ...], rows: str = HELD_OUT
) -> list[str]:
    """An evaluation as lines of text; ``rows`` says which rows it is of."""
    lines = [f"on {readable(evaluation.rows)} {rows} rows (errors: lower is better):"]
    for j, name in enumerate(targets):
        prefix = f"  {name}: " if len(targets) > 1 else "  "
        if evaluation.median_error is not None:
            lines += [prefix + _typical_line(evaluation, j)]
        lines.append(
            f"{prefix}{INTERVAL_LEVEL:.0%} intervals contain {evaluation.coverage[j]:.1%} of the "
            f"{rows} values of {name} (expected: {INTERVAL_LEVEL:.1%} "
            f"± {_coverage_error(evaluation.rows):.1%})"
        )
        if evaluation.crps is not None:
            lines += [prefix + _crps_line(evaluation, j)]
    return [*lines, *_squared_loss_lines(evaluation)]


def _typical_line(evaluation: Evaluation, j: int) -> str:
    """The error of the median and the width of the intervals of one target, in its unit."""
    assert evaluation.median_error is not None
    assert evaluation.interval_width is not None
    error, width = evaluation.median_error[j], evaluation.interval_width[j]
    baseline = _of_output(evaluation.median_error_without_inputs, j)
    wide = _of_output(evaluation.interval_width_without_inputs, j)
    ignoring = "" if baseline is None else f" ({IGNORED}{readable(baseline, 3)})"
    than = "" if wide is None else f" ({readable(wide, 3)})"
    return (
        f"typical error of the median {readable(error, 3)}{ignoring}; {INTERVAL_LEVEL:.0%} "
        f"intervals are {readable(width, 3)} wide on average{than}"
    )


def _crps_line(evaluation: Evaluation, j: int) -> str:
    assert evaluation.crps is not None
    score, other = evaluation.crps[j], _of_output(evaluation.crps_without_inputs, j)
    line = f"CRPS {readable(score, 3)}"
    if other is None:
        return line
    difference = _difference(other - score, _of_output(evaluation.crps_inputs_se, j))
    return f"{line} ({IGNORED}{readable(other, 3)}: {difference})"


def _squared_loss_lines(evaluation: Evaluation) -> list[str]:
    lines = [f"  squared loss {evaluation.error:.4g} (standard error {evaluation.error_se:.2g})"]
    baselines = (
        ("without reduction", evaluation.error_without_reduction, evaluation.reduction_se),
        ("without inputs", evaluation.error_without_inputs, evaluation.inputs_se),
    )
    return lines + [
        f"    {name} {error:.4g} ({_difference(error - evaluation.error, se)})"
        for name, error, se in baselines
        if error is not None
    ]


def _of_output(values: tuple[float, ...] | None, j: int) -> float | None:
    return None if values is None else values[j]


def _difference(difference: float, se: float | None) -> str:
    change = f"{readable(abs(difference), 2)} {'higher' if difference > 0 else 'lower'}"
    return change if se is None else f"{change}, standard error {readable(se, 2)}"
