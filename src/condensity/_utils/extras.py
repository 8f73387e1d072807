"""Optional packages: imported when needed, with words that say how to get them."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def require(module: str, extra: str, *, otherwise: str = "") -> Any:
    """Import ``module``, which comes with ``condensity[extra]``, or say so and what else may do."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.split(".")[0]
        raise ModuleNotFoundError(
            f"{package} is needed for this and is not installed: "
            f"run pip install 'condensity[{extra}]'{otherwise}",
            name=package,
        ) from error
