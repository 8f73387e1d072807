"""The run that README.md and docs/cli.md print is what the command prints."""

import shlex
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from commands import run

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "docs/cli.md")


def printed_after(page, command):
    """The arguments of the first command in a page that begins so, and the lines below it."""
    lines = (ROOT / page).read_text().splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith(f"$ condensity {command} "))
    rest = lines[at + 1 :]
    end = next(i for i, line in enumerate(rest) if line.startswith(("$", "```")))
    return shlex.split(lines[at])[2:], rest[:end]


@pytest.mark.skipif(not all((ROOT / page).exists() for page in PAGES), reason="no pages here")
def test_the_printed_run_is_the_real_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = load_diabetes(scaled=False)
    header = ",".join([*data.feature_names, "progression"])
    rows = np.c_[data.data, data.target]
    np.savetxt("diabetes.csv", rows, "%g", ",", header=header, comments="")
    command, expected = printed_after("docs/cli.md", "fit diabetes.csv --target progression")
    assert run(*command, "--jobs", 1).stdout.splitlines() == expected
    assert printed_after("README.md", "fit diabetes.csv --target progression") == (
        command,
        expected,
    )
    command, expected = printed_after("docs/cli.md", "predict diabetes.cdn diabetes.csv")
    answers = run(*command[: command.index("|")]).stdout.splitlines()
    assert answers[: len(expected)] == expected
    assert len(expected) == 3
