#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2025.10.14"]
# ///
"""Sessions for machines without make: ``nox -s tests``. The Makefile runs the same commands."""

import sys
from pathlib import Path

import nox

nox.needs_version = ">=2025.10.14"
nox.options.default_venv_backend = "uv|venv"
ONE_THREAD = {"OMP_NUM_THREADS": "1"}
SOME_TESTS = [
    "tests/test_scorers.py",
    "tests/cli/test_files.py",
    "tests/cli/test_predict.py",
    "tests/distributions/test_univariate.py",
    "tests/io/test_older_files.py",
    "tests/tables/test_frames.py",
]


@nox.session(python=["3.11", "3.12", "3.13", "3.14"])
def tests(session: nox.Session) -> None:
    """Run all tests, or those that are named after ``--``."""
    session.install("--editable", ".[test]")
    session.run("pytest", "--numprocesses=auto", *session.posargs, env=ONE_THREAD)


@nox.session(python="3.11", default=False)
def lowest(session: nox.Session) -> None:
    """Run some tests with the lowest versions of the dependencies."""
    limits = Path(session.create_tmp()) / "constraints.txt"
    command = [sys.executable, "tests/lowest_versions.py"]
    limits.write_text(session.run_install(*command, silent=True, external=True))
    packages = ["pytest", "hypothesis", "pandas", "polars"]
    session.install("--constraint", limits, "--editable", ".[plots,cli,parquet]", *packages)
    quiet = ["-q", "-W", "ignore::DeprecationWarning"]
    session.run("pytest", *quiet, *SOME_TESTS, env=ONE_THREAD)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, types and docstrings."""
    session.install("--editable", ".[dev]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")
    session.run("python", "docs/check_docstrings.py")


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """Build the pages; warnings are errors."""
    session.install("--editable", ".[docs]")
    command = ["sphinx", "-W", "--keep-going", "-b", "html", "docs", "docs/_build/html"]
    session.run("python", "-m", *command, env=ONE_THREAD)


@nox.session(default=False)
def dist(session: nox.Session) -> None:
    """Build wheel and source archive, check them and install the wheel in an empty environment."""
    session.install("build>=1.2", "twine>=6")
    session.run("python", "tests/check_distributions.py")


if __name__ == "__main__":
    nox.main()
