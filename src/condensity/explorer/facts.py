"""What a model is, in words and numbers for the reader."""

from __future__ import annotations

from typing import Any

import numpy as np

from condensity.explorer.exported_model import Readable
from condensity.lsce.averaged import Ensemble


def facts(
    model: Any, readable: Readable, *, n_inputs: int, n_train: int | None, version: str
) -> list[list[str]]:
    """Pairs of what and how much, those that the model has; inputs as the reader sets them."""
    density, rows = readable.density, [["Model", type(model).__name__]]
    inner = getattr(model, "density_", None)
    if inner is not None:
        rows.append(["Steps", f"{type(model.reducer_).__name__}, {type(inner).__name__}"])
        model = _Both(model, inner)
    add = rows.append
    numbers = int(model.n_features_in_)
    add(["Inputs", f"{n_inputs}" + (f", as {numbers} numbers" if numbers > n_inputs else "")])
    add(["Outputs", str(len(density.y_scaling.mean))])
    if n_train is not None:
        add(["Training samples", f"{n_train}"])
    if readable.summary is not None:
        add(["Directions, d_z", str(len(readable.summary.offset))])
    if isinstance(density, Ensemble):
        members, parts = sum(len(part.members) for _, part in density.parts), len(density.parts)
        add(["Members", f"{members}" + (f" in {parts} configurations" if parts > 1 else "")])
    add(["Gaussians", str(density.width)])
    for label, name in (
        ("Centres", "n_centers_"),
        ("Location", "location_"),
        ("Bandwidths σ_z, σ_y", "bandwidth_"),
        ("Radius ε", "epsilon_"),
        ("Penalty", "penalty_"),
        ("Stretch", "stretch_"),
        ("Cross-validated score", "cv_score_"),
        ("Agreement on directions", "subspace_agreement_"),
    ):
        value = getattr(model, name, None)
        if name == "subspace_agreement_" and value is not None:
            value = value[: len(readable.summary.offset)] if readable.summary else None
        if value is not None and not (isinstance(value, float) and np.isnan(value)):
            add([label, _said(value)])
    add(["condensity", version])
    return rows


class _Both:
    """Attributes of the one, and where it has none, of the other."""

    def __init__(self, first: Any, second: Any) -> None:
        self._two = (first, second)

    def __getattr__(self, name: str) -> Any:
        first, second = self._two
        return getattr(first, name, getattr(second, name, None))


def _said(value: Any) -> str:
    if isinstance(value, str | bool):
        return str(value)
    return ", ".join(f"{number:.4g}" for number in np.ravel(value))
