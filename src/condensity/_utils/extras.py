"""Import of optional packages, with an error that names what to install."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires
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
            f"run pip install {packages_of(extra, package)}{otherwise}",
            name=package,
        ) from error


def packages_of(extra: str, package: str) -> str:
    """The packages of an extra as arguments of ``pip install``.

    They are named themselves, and not as ``condensity[extra]``, because pip finds that name only
    where the library is published.

    Parameters
    ----------
    extra : str
        Name of the extra.
    package : str
        Package to name if the metadata of the library are missing.

    Returns
    -------
    str
        Quoted requirements, separated by spaces.
    """
    try:
        lines = requires("condensity") or []
    except PackageNotFoundError:
        lines = []
    named = [line.partition(";")[0].strip() for line in lines if line.endswith(f"'{extra}'")]
    return " ".join(f"'{name}'" for name in named or [package])
