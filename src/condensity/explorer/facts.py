"""Facts about a model for the card "The model"."""

from __future__ import annotations

from typing import Any

import numpy as np

from condensity.explorer.exported_model import ExportedModel
from condensity.members.averaged import Ensemble

#: Labels on the page, and the attributes of estimators that they show.
ATTRIBUTES = (
    ("Centres", "n_centers_"),
    ("Location", "location_"),
    ("Bandwidths σ_z, σ_y", "bandwidth_"),
    ("Radius ε", "epsilon_"),
    ("Penalty", "penalty_"),
    ("Stretch", "stretch_"),
    ("Cross-validated score", "cv_score_"),
    ("Agreement on directions", "subspace_agreement_"),
)
#: Locations in words; a regressor of the user has the name of its class.
LOCATIONS_IN_WORDS = {
    "none": "none (a constant)",
    "reduced": "smooth function of the directions",
    "smooth": "smooth (Gaussian process)",
    "trees": "boosted trees",
    "flexible": "flexible (linear, smooth, trees)",
}


def facts(
    model: Any, exported: ExportedModel, *, n_inputs: int, n_train: int | None, version: str
) -> list[list[str]]:
    """Pairs of a label and a value; ``n_inputs`` counts a column of categories once."""
    density, rows = exported.density, [["Model", type(model).__name__]]
    inner = getattr(model, "density_", None)
    if inner is not None:
        rows.append(["Steps", f"{type(model.reducer_).__name__}, {type(inner).__name__}"])
    numbers = int(model.n_features_in_)
    as_numbers = f", as {numbers} numbers" if numbers > n_inputs else ""
    rows.append(["Inputs", f"{n_inputs}{as_numbers}"])
    rows.append(["Outputs", str(len(density.y_scaling.mean))])
    if n_train is not None:
        rows.append(["Training samples", f"{n_train}"])
    if exported.summary is not None:
        rows.append(["Directions, d_z", str(len(exported.summary.offset))])
    if isinstance(density, Ensemble):
        members, parts = sum(len(part.members) for _, part in density.parts), len(density.parts)
        in_parts = f" in {parts} configurations" if parts > 1 else ""
        rows.append(["Members", f"{members}{in_parts}"])
    rows.append(["Gaussians", str(density.width)])
    for label, name in ATTRIBUTES:
        value = getattr(model, name, getattr(inner, name, None))
        if name == "subspace_agreement_" and value is not None:
            value = value[: len(exported.summary.offset)] if exported.summary else None
        if value is not None and not (isinstance(value, float) and np.isnan(value)):
            rows.append([label, _format_value(value)])
    rows.append(["condensity", version])
    return rows


def _format_value(value: Any) -> str:
    if isinstance(value, str | bool):
        return LOCATIONS_IN_WORDS.get(str(value), str(value))
    return ", ".join(f"{number:.4g}" for number in np.ravel(value))
