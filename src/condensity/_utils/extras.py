"""Import of optional packages, with an error that names the extra to install."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def require(module: str, extra: str, *, otherwise: str = "") -> Any:
    """Import an optional module.

    Parameters
    ----------
    module : str
        Full name of the module.
    extra : str
        Name of the extra ``condensity[extra]`` that installs it.
    otherwise : str, default=""
        Another remedy, appended to the error message.

    Returns
    -------
    module
        The imported module.

    Raises
    ------
    ModuleNotFoundError
        If the package is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.split(".")[0]
        raise ModuleNotFoundError(
            f"the optional package {package} is not installed: "
            f"run pip install 'condensity[{extra}]'{otherwise}",
            name=package,
        ) from error
