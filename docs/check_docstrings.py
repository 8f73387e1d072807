"""Validate the docstrings of the public interface with numpydoc.

Run by ``make lint``.  Every public class, method and function must describe its parameters and its
result.  Every public class must have the sections See Also and Examples, and every estimator must
have References.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate

MODULES = (
    "condensity",
    "condensity.conformal",
    "condensity.datasets",
    "condensity.distributions",
    "condensity.explorer",
    "condensity.inspection",
    "condensity.metrics",
    "condensity.plots",
    "condensity.scorers",
    "condensity.tables",
    "condensity.targets",
)
#: Public classes that are returned but not exported by a package.
RETURNED = ("condensity.estimators.published_lsce.PublishedLSCE",)
#: Rules of numpydoc that must hold.
RULES = {
    *("GL02", "GL03", "GL05", "GL06", "GL07", "GL08", "GL10"),
    *("SS01", "SS02", "SS03", "SS04", "SS06"),
    *("PR01", "PR02", "PR03", "PR04", "PR06", "PR07", "PR08", "PR09", "PR10"),
    *("RT01", "RT03", "RT04", "RT05", "YD01", "SA02", "SA04"),
}


def interface() -> Iterator[tuple[str, Any]]:
    """Public objects with the path they are validated by."""
    for module_name in MODULES:
        module = import_module(module_name)
        for name in module.__all__:
            if not isinstance(getattr(module, name), ModuleType):
                yield f"{module_name}.{name}", getattr(module, name)
    for path in RETURNED:
        module_name, _, name = path.rpartition(".")
        yield path, getattr(import_module(module_name), name)


def methods(owner: type) -> Iterator[str]:
    """Names of the public methods that this library defines and documents."""
    for name, _ in inspect.getmembers(owner, inspect.isroutine):
        function = inspect.unwrap(getattr(owner, name))
        ours = getattr(function, "__module__", "") or ""
        own = ours.startswith("condensity") and has_docstring(owner, name)
        if own and not name.startswith("_"):
            yield name


def has_docstring(owner: type, name: str) -> bool:
    """Whether the docstring stands here: an overriding method may inherit it."""
    if not inspect.getdoc(getattr(owner, name)):
        return True  # and numpydoc reports that it is missing
    return bool(getattr(owner, name).__doc__)


def missing_sections(owner: type) -> list[str]:
    """Sections that the docstring of a public class lacks."""
    sections = NumpyDocString(inspect.getdoc(owner) or "")
    needed = ["See Also", "Examples"]
    if hasattr(owner, "fit"):
        needed.append("References")
    return [section for section in needed if not sections[section]]


def errors() -> Iterator[str]:
    """One line for every rule that is broken."""
    seen: set[int] = set()
    for path, found in interface():
        if id(found) in seen:
            continue
        seen.add(id(found))
        paths = [path]
        if inspect.isclass(found):
            paths += [f"{path}.{name}" for name in methods(found)]
            yield from (f"{path}: no section {s}" for s in missing_sections(found))
        for one in paths:
            for code, message in validate(one)["errors"]:
                if code in RULES:
                    yield f"{one}: {code} {message}"


def main() -> int:
    """Print all errors; the exit code is 1 if there are any."""
    lines = sorted(set(errors()))
    print("\n".join(lines) or "docstrings: no errors")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
