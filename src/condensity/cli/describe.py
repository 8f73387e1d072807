"""What a model is and how well it does, for machines and for readers."""

from __future__ import annotations

from typing import Any

import numpy as np

from condensity.estimators.lsce_summary import direction_in_words
from condensity.tables.evaluate import LEVEL
from condensity.tables.frames import CATEGORY
from condensity.tables.model import TableModel, Verdict


def described(model: TableModel) -> dict[str, Any]:
    """The model as plain values."""
    inner, names = model.model, model.feature_names
    W = getattr(inner, "components_", None)
    return {
        "estimator": type(inner).__name__,
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
        "location": getattr(inner, "location_", None),
        "training_rows": model.rows,
        "training_rows_kept": 0 if model.X is None else len(model.X),
        "evaluation": None if model.verdict is None else judged(model.verdict, model.targets),
    }


def judged(verdict: Verdict, targets: tuple[str, ...]) -> dict[str, Any]:
    """The verdict as plain values."""
    told = vars(verdict) | {"level": LEVEL}
    told["coverage"] = {
        name: {"share": share, "standard_error": _coverage_error(verdict.rows)}
        for name, share in zip(targets, verdict.coverage, strict=True)
    }
    return {key: value for key, value in told.items() if value is not None}


def _coverage_error(rows: int) -> float:
    """The standard error of the share that exact intervals would hold."""
    return float(np.sqrt(LEVEL * (1 - LEVEL) / max(rows, 1)))


def in_words(model: TableModel) -> list[str]:
    """The model in sentences."""
    names, W = model.feature_names, getattr(model.model, "components_", None)
    rows = "" if model.rows is None else f", fitted to {model.rows} rows"
    lines = [f"{' and '.join(model.targets)} given {_columns(model)}{rows}"]
    if W is not None:
        lines.append(f"d_z = {len(W)} of {len(names)} dimensions kept (standardised inputs):")
        lines += [f"  z{i + 1} = {direction_in_words(w, names)}" for i, w in enumerate(W)]
    return lines + ([] if model.verdict is None else verdict_in_words(model.verdict, model.targets))


def _columns(model: TableModel) -> str:
    told = ", ".join(
        f"{c.name} ({len(c.categories)} categories)" if c.kind == CATEGORY else c.name
        for c in model.columns[:12]
    )
    n = len(model.columns)
    return f"{n} columns: {told}" + (", ..." if n > 12 else "") if n > 1 else told


def verdict_in_words(verdict: Verdict, targets: tuple[str, ...]) -> list[str]:
    """The verdict in sentences."""
    lines = [
        f"held-out error {_digits(verdict.error)} (standard error {verdict.error_se:.2g}) "
        f"at {verdict.rows} rows, lower is better"
    ]
    others = (
        ("without reduction", verdict.error_without_reduction, verdict.reduction_se),
        ("without inputs", verdict.error_without_inputs, verdict.inputs_se),
    )
    for name, value, se in others:
        if value is not None:
            more = value - verdict.error
            by = f"{abs(more):.2g} {'more' if more > 0 else 'less'}"
            error = "" if se is None else f", standard error {se:.2g}"
            lines.append(f"  {name} {_digits(value)} ({by}{error})")
    for name, share in zip(targets, verdict.coverage, strict=True):
        se = _coverage_error(verdict.rows)
        lines.append(
            f"{LEVEL:.0%} intervals hold {share:.1%} of the held-out {name} "
            f"(exact ones: {LEVEL:.1%} ± {se:.1%})"
        )
    return lines


def _digits(value: float) -> str:
    return f"{value:.4g}"
