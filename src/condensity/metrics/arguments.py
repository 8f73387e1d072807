"""The check that all losses and diagnostics of densities begin with."""

from __future__ import annotations

from typing import Any

from condensity.distributions.base import Distribution


def check_distribution(dist: Any) -> Distribution:
    """Return ``dist``, or raise a ``TypeError`` if it is not a ``Distribution``."""
    if not isinstance(dist, Distribution):
        raise TypeError(
            f"dist must be a Distribution, as predict_dist returns it, got {type(dist).__name__}: "
            "pass model.predict_dist(X)"
        )
    return dist
