"""Seeds for estimators that have none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def fill_seeds(estimator: Any, draw: Callable[[], int]) -> Any:
    """Set every ``random_state`` that is None, nested ones too, to a seed from ``draw``.

    The estimator itself is changed and returned.
    """
    seeds = {
        name: draw()
        for name, value in estimator.get_params().items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    return estimator.set_params(**seeds)
