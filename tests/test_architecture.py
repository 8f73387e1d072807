"""The house: imports point one way, files stay small, the public names are as announced."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import condensity

ROOT = Path(condensity.__file__).parent
LAYERS = {  # what each room may use of the others
    "_typing": set(),
    "_utils": {"_typing"},
    "adapters": {"_typing", "_utils"},
    "distributions": {"_typing", "_utils", "adapters"},
    "data": {"_typing", "_utils", "distributions"},
    "fitting": {"_typing", "_utils", "distributions", "data"},
    "subspaces": {"_typing", "data"},
    "locations": {"_typing", "_utils", "fitting"},
    "members": {"_typing", "_utils", "distributions", "data", "fitting", "locations"},
    "lsce": {
        "_typing",
        "_utils",
        "distributions",
        "data",
        "fitting",
        "subspaces",
        "locations",
        "members",
    },
    "metrics": {"_typing", "_utils", "distributions", "subspaces"},
    "cross_prediction": {"_typing", "_utils", "distributions"},
    "scorers": {"_typing", "_utils", "distributions", "metrics"},
    "datasets": {"_typing", "_utils", "distributions"},
    "estimators": {
        "_typing",
        "_utils",
        "distributions",
        "data",
        "fitting",
        "subspaces",
        "locations",
        "members",
        "lsce",
        "metrics",
    },
    "conformal": {"_typing", "_utils", "distributions", "estimators"},
    "targets": {"_typing", "_utils", "data", "distributions", "estimators", "fitting"},
    "tables": {
        "_typing",
        "_utils",
        "data",
        "distributions",
        "estimators",
        "lsce",
        "metrics",
        "targets",
    },
    "io": {
        "_typing",
        "_utils",
        "data",
        "distributions",
        "estimators",
        "fitting",
        "locations",
        "members",
        "tables",
        "targets",
    },
    "inspection": {"_typing", "_utils", "distributions", "fitting", "locations", "members"},
    "rail_stages": {"_typing", "_utils", "estimators"},
    "skpro_regressor": {"_utils", "estimators"},
    "plots": {"_typing", "_utils", "distributions", "estimators", "inspection", "metrics"},
    "explorer": {
        "__version__",
        "_typing",
        "_utils",
        "data",
        "distributions",
        "estimators",
        "fitting",
        "io",
        "locations",
        "members",
        "metrics",
    },
    "experiments": {
        "_typing",
        "_utils",
        "datasets",
        "distributions",
        "estimators",
        "io",
        "metrics",
        "plots",
    },
    "demo": {"_utils", "datasets", "estimators", "explorer", "lsce", "metrics", "plots", "tables"},
    "cli": {
        "datasets",
        "distributions",
        "_typing",
        "_utils",
        "demo",
        "estimators",
        "experiments",
        "explorer",
        "io",
        "lsce",
        "tables",
        "targets",
    },
    "__main__": {"_utils", "cli"},
}
FILES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")
PURE_ROOMS = {"distributions", "fitting", "subspaces"}
ADAPTERS = {"lazy.py"}  # to Dask
PURE = [
    path
    for path in FILES
    if path.relative_to(ROOT).parts[0] in PURE_ROOMS and path.name not in ADAPTERS
]


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            yield from ((alias.name, []) for alias in node.names)


def rooms_used(path):
    for module, names in imports_of(path):
        if module == "condensity":
            yield from names
        elif module.startswith("condensity."):
            yield module.split(".")[1]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_one_way(path):
    room = path.relative_to(ROOT).parts[0].removesuffix(".py")
    assert set(rooms_used(path)) - {room} <= LAYERS[room]


@pytest.mark.parametrize("path", PURE, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_mathematics_needs_only_numpy_and_scipy(path):
    outside = {module.split(".")[0] for module, _ in imports_of(path)} - set(
        sys.stdlib_module_names
    )
    assert outside <= {"numpy", "scipy", "condensity"}


def lines_of_code(path):
    """Lines without docstrings: a documented function is not a longer one."""
    source = path.read_text()
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    owners = [node for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)]
    docs = [n.body[0] for n in owners if ast.get_docstring(n, clean=False) is not None]
    return len(source.splitlines()) - sum(d.end_lineno - d.lineno + 1 for d in docs)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_files_fit_in_one_head(path):
    assert lines_of_code(path) <= 300


def test_no_two_modules_have_the_same_name():
    names = [path.name for path in FILES if path.name != "__init__.py"]
    assert sorted(set(names)) == sorted(names)


def test_no_room_is_crowded():
    for room in (path for path in ROOT.iterdir() if path.is_dir()):
        assert len(list(room.glob("*.py"))) <= 17, room.name


def test_every_module_has_its_row_in_the_architecture():
    page = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text()
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    listed = {name.rpartition(".")[2] for row in rows for name in re.findall(r"`([\w.]+)`", row)}
    modules = {path.stem for path in FILES if path.stem != "__init__"}
    assert modules == listed


def defined_names(path):
    """Public classes, functions and type aliases of a module."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (
                t.id for t in node.targets if isinstance(t, ast.Name) and not t.id.isupper()
            )


def test_every_public_name_is_defined_once():
    names = [name for path in FILES for name in defined_names(path) if not name.startswith("_")]
    twice = {name for name in names if names.count(name) > 1}
    assert twice <= {"load"}  # a model file, and a dataset: both are public


SCRIPTS = sorted((ROOT / "explorer" / "template").glob("*.js"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: p.name)
def test_scripts_fit_in_one_head_too(path):
    assert len(path.read_text().splitlines()) <= 300


def test_every_public_name_exists_and_is_documented():
    for name in condensity.__all__:
        assert getattr(condensity, name).__doc__


def test_importing_the_library_imports_no_extra():
    # Not pandas, which comes with scikit-learn where it is installed.
    extras = [
        "matplotlib",
        "rich",
        "polars",
        "pooch",
        "typer",
        "requests",
        "skpro",
        "torch",
        "qp",
        "rail",
        "mujoco",
        "shapely",
        "playwright",
        "dask",
        "distributed",
    ]
    code = f"import sys, condensity; print([m for m in {extras} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_importing_the_library_imports_only_the_rooms_it_offers():
    # What draws, writes pages, runs experiments or commands is imported when it is asked for.
    rooms = (
        "plots",
        "inspection",
        "explorer",
        "experiments",
        "cli",
        "demo",
        "adapters",
        "skpro_regressor",
        "rail_stages",
    )
    heavy = [f"condensity.{room}" for room in rooms]
    code = f"import sys, condensity; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
