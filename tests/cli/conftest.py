"""A model fitted by the command."""

import pytest

import condensity
from commands import QUICK, columns, run, write


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """``train.csv``, ``new.csv`` and, fitted to the first, ``model.cdn`` and ``two.cdn``."""
    where = tmp_path_factory.mktemp("cli")
    write(where / "train.csv", columns())
    write(where / "new.csv", columns(n=30, seed=1))
    fit = ("fit", where / "train.csv", *QUICK, "--test-share", 0)
    run(*fit, "--target", "y", "--exclude", "y2", "--out", where / "model.cdn")
    run(*fit, "--target", "y", "--target", "y2", "--out", where / "two.cdn")
    return where


@pytest.fixture(scope="session")
def model(folder):
    return condensity.load(folder / "model.cdn")
