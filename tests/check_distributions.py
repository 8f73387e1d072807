"""Build wheel and source archive, check their contents, and try the wheel in an empty environment.

    python tests/check_distributions.py

Needs the packages build and twine.  ``make dist`` runs it.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: Two builds with the same date are the same, byte for byte.
DATE = {"SOURCE_DATE_EPOCH": "1735689600"}
#: A wheel holds the package and what describes it, an archive also what tests and documents it.
IN_WHEEL = (
    "condensity/__init__.py",
    "condensity/py.typed",
    "condensity/datasets/humanoid.xml",
    "condensity/explorer/template/explorer.html",
    "condensity/explorer/template/main.js",
)
IN_ARCHIVE = (
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "docs/index.md",
    "examples/plot_first_look.py",
    "pyproject.toml",
    "tests/oracles.py",
    *(f"src/{name}" for name in IN_WHEEL),
)
TRIAL = """
import importlib.metadata
import numpy as np
import condensity
assert condensity.__version__ == importlib.metadata.version("condensity")
assert "site-packages" in condensity.__file__
rng = np.random.default_rng(0)
X = rng.standard_normal((60, 3))
model = condensity.LSCDE(random_state=0).fit(X, X[:, 0] + 0.1 * rng.standard_normal(60))
assert np.isfinite(model.predict_dist(X).interval(0.9)).all()
print("fitted with condensity", condensity.__version__)
"""


def run(*command: object, **options: object) -> None:
    """Run a command; its failure ends this program."""
    subprocess.run(list(map(str, command)), check=True, **options)


def names_in_wheel(path: Path) -> set[str]:
    """Names of the files in a wheel."""
    with zipfile.ZipFile(path) as wheel:
        return set(wheel.namelist())


def names_in_archive(path: Path) -> set[str]:
    """Names of the files in a source archive, without their common folder."""
    with tarfile.open(path) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


def problems(wheel: set[str], archive: set[str]) -> list[str]:
    """What is missing in the two lists of files, and what should not be there."""
    found = [f"the wheel lacks {name}" for name in IN_WHEEL if name not in wheel]
    found += [f"the archive lacks {name}" for name in IN_ARCHIVE if name not in archive]
    modules = {p.relative_to(ROOT / "src").as_posix() for p in (ROOT / "src").rglob("*.py")}
    found += [f"the wheel lacks {name}" for name in sorted(modules - wheel)]
    folders = {name.partition("/")[0] for name in wheel}
    found += [
        f"the wheel should not contain {name}"
        for name in sorted(folders)
        if name != "condensity" and not name.endswith(".dist-info")
    ]
    if not any(name.endswith("licenses/LICENSE") for name in wheel):
        found.append("the wheel lacks its licence")
    kinds = {Path(name).suffix for name in wheel}
    found += [f"the wheel should not contain {kind}" for kind in kinds & {".pyc", ".cdn", ".png"}]
    return found


def build(folder: Path, *command: str) -> dict[str, str]:
    """Build both into a folder; their hashes by name."""
    env = {**os.environ, **DATE}
    command = (sys.executable, "-m", *command, str(folder))
    run(*command, env=env, cwd=ROOT, stdout=subprocess.DEVNULL)
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.iterdir())}


def main() -> None:
    """Build, check, install and try."""
    dist = ROOT / "dist"
    for old in dist.glob("condensity-*"):
        old.unlink()
    hashes = build(dist, "build", "--outdir")
    with tempfile.TemporaryDirectory() as folder:
        again = build(Path(folder), "build", "--outdir")
        assert again == hashes, "a second build gives other files"
    (wheel,), (archive,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    found = problems(names_in_wheel(wheel), names_in_archive(archive))
    assert not found, "\n".join(found)
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, archive)
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / ("Scripts" if os.name == "nt" else "bin") / "python"
        run(python, "-m", "pip", "install", "--quiet", wheel, cwd=folder)
        run(python, "-c", TRIAL, cwd=folder)
        run(python, "-m", "pip", "install", "--quiet", f"{wheel}[cli]", cwd=folder)
        run(python, "-m", "condensity", "--version", cwd=folder)
        again = ["--quiet", "--no-deps", "--force-reinstall", archive]
        run(python, "-m", "pip", "install", *again, cwd=folder)
        run(python, "-c", TRIAL, cwd=folder)
    for name, digest in hashes.items():
        print(f"{digest}  dist/{name}")


if __name__ == "__main__":
    main()
