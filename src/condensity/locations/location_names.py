"""The values of the parameter ``location``."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_regressor

from condensity.locations.flexible import flexible_location, smooth_location, tree_location
from condensity.locations.location import (
    Locator,
    RegressorLocation,
    constant_location,
    linear_location,
)

#: The locations by name.
LOCATIONS: dict[str, Locator] = {
    "none": constant_location,
    "linear": linear_location,
    "smooth": smooth_location,
    "trees": tree_location,
    "flexible": flexible_location,
}
#: Those that depend on x through directions, and those that "auto" tries.
STRICT = ("none", "linear")
AUTO = (*STRICT, "flexible")
#: The values with which a location that is a function of z is tried.
REDUCED = ("auto", "reduced")


def check_location(value: Any, *, strict: bool = False) -> dict[str, Locator]:
    """The locations that the parameter ``location`` names, or that of a regressor.

    With ``strict``, "auto" tries only locations that depend on x through directions.
    """
    if isinstance(value, str) and value == "auto":
        return {name: LOCATIONS[name] for name in (STRICT if strict else AUTO)}
    if isinstance(value, str) and value == "reduced":
        return {"none": LOCATIONS["none"]}  # its directions are learned without location
    if isinstance(value, str) and value in LOCATIONS:
        return {value: LOCATIONS[value]}
    if not isinstance(value, str | type) and hasattr(value, "fit") and is_regressor(value):
        return {type(value).__name__: RegressorLocation(value)}
    raise ValueError(
        f"location must be 'auto', 'reduced', {', '.join(map(repr, LOCATIONS))} or a regressor "
        f"with fit and predict, got {value!r}"
    )
