"""The benchmark scripts fit the library: they import, and the parts that they replace exist."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import condensity

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "benchmarks"
PAGE = ROOT / "docs" / "benchmarks.md"
pytestmark = pytest.mark.skipif(not SCRIPTS.is_dir(), reason="the benchmarks are not here")


def python(code, *arguments):
    """What a program prints that runs among the scripts."""
    path = os.pathsep.join([str(Path(condensity.__file__).parents[1]), str(SCRIPTS)])
    command = [sys.executable, "-c", code, *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": path}
    done = subprocess.run(command, env=environment, cwd=SCRIPTS, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_script_can_be_imported():
    names = sorted(path.stem for path in SCRIPTS.glob("*.py"))
    code = """
import importlib, sys
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:  # packages of condensity[bench]
        if error.name not in ("jax", "pymanopt"):
            raise
"""
    python(code, *names)


def test_the_parts_that_are_replaced_or_timed_exist():
    code = """
from pathlib import Path
from pkgutil import resolve_name
import ablation, stages, condensity
for _, parts in ablation.WITHOUT.values():
    for target in parts:
        owner, _, name = target.rpartition(".")
        assert hasattr(resolve_name(owner), name), target
root = Path(condensity.__file__).parent
paths = [path for room in stages.ROOMS for path in (root / room).glob("*.py")]
texts = {path.name: path.read_text() for path in paths}
for file, name in stages.STAGES.values():
    assert f"def {name}(" in texts[file], (file, name)
"""
    python(code)


@pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not here")
def test_the_page_has_the_frame_that_the_script_writes(tmp_path):
    copy = tmp_path / "benchmarks.md"
    copy.write_text(PAGE.read_text())
    python("import sys, bench; from pathlib import Path; bench.write(Path(sys.argv[1]), {})", copy)
    assert copy.read_text() == PAGE.read_text()
