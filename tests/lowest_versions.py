"""The lowest versions that ``pyproject.toml`` declares, as constraints for pip.

python tests/lowest_versions.py > constraints.txt
"""

import re
import tomllib
from pathlib import Path

#: The groups that are installed together; the others need far more time or special machines.
GROUPS = ("plots", "cli", "parquet", "test")


def lowest_versions(project: dict) -> list[str]:
    """``name==version`` for each dependency with a lowest version."""
    optional = project["optional-dependencies"]
    declared = [*project["dependencies"], *(line for group in GROUPS for line in optional[group])]
    found = [re.match(r"([\w-]+)(?:\[.*\])?>=([\d.]+)", line) for line in declared]
    return sorted({f"{match[1]}=={match[2]}" for match in found if match})


if __name__ == "__main__":
    path = Path(__file__).parents[1] / "pyproject.toml"
    print(*lowest_versions(tomllib.loads(path.read_text())["project"]), sep="\n")
