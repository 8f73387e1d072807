"""What is published: the contents of the wheel and of the source archive."""

import json
import tomllib

import pytest

import condensity
from check_distributions import IN_WHEEL, ROOT, build, names_in_archive, names_in_wheel, problems

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    pytest.importorskip("hatchling", reason="hatchling comes with condensity[test]")
    folder = tmp_path_factory.mktemp("dist")
    return folder, build(folder, "hatchling", "build", "-d")


def test_wheel_and_archive_hold_what_they_should(built):
    folder, hashes = built
    (wheel,), (archive,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    assert problems(names_in_wheel(wheel), names_in_archive(archive)) == []
    assert all(f"condensity-{condensity.__version__}" in name for name in hashes)


def test_two_builds_are_the_same_byte_for_byte(built, tmp_path):
    assert build(tmp_path, "hatchling", "build", "-d") == built[1]


def test_what_is_missing_or_too_much_is_named(built):
    folder, _ = built
    (wheel,), (archive,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    names, sources = names_in_wheel(wheel), names_in_archive(archive)
    for name in IN_WHEEL:
        assert f"the wheel lacks {name}" in problems(names - {name}, sources)
    assert problems(names | {"tests/oracles.py"}, sources) == ["the wheel should not contain tests"]
    assert problems(names, sources - {"LICENSE"}) == ["the archive lacks LICENSE"]


def test_groups_name_only_extras_and_tools():
    """The extras are the only lists of packages that users and developers share."""
    extras = PYPROJECT["project"]["optional-dependencies"]
    for name in ("test", "lint", "docs", "bench"):
        assert PYPROJECT["dependency-groups"][name] == [f"condensity[{name}]"]
        assert name in extras


def test_lists_for_the_public_name_no_index():
    for path in [*(ROOT / "requirements").iterdir(), *(ROOT / "recipe").iterdir()]:
        assert "://" not in path.read_text(), path


def test_version_and_requirements_are_the_same_everywhere():
    version = condensity.__version__.partition(".dev")[0]
    needed = PYPROJECT["project"]["dependencies"]
    recipe = (ROOT / "recipe" / "recipe.yaml").read_text()
    codemeta = json.loads((ROOT / "codemeta.json").read_text())
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert f'  version: "{version}"\n' in recipe
    assert (codemeta["version"], codemeta["softwareRequirements"]) == (version, sorted(needed))
    assert all(f"    - {line.replace('>=', ' >=')}\n" in recipe for line in needed)
    assert f"\n## {version}" in (ROOT / "CHANGELOG.md").read_text()
