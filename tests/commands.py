"""A small table, and a way to run commands on it."""

import csv

import numpy as np
from typer.testing import CliRunner

from condensity.cli import app

COLOURS = np.array(["red", "blue", "green"])
QUICK = ("--components", "1", "--members", "1", "--jobs", "1")


def run(*arguments, code=0, stdin=None):
    """Run a command in this process; its answer, which has ``stdout`` and ``stderr``."""
    result = CliRunner().invoke(app, [str(a) for a in arguments], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.stderr
    if code == 2:
        assert "Traceback" not in result.stderr
        assert result.stdout == ""
    return result


def assert_refused(*arguments, says):
    """Run a command that must refuse in one sentence."""
    stderr = run(*arguments, code=2).stderr
    errors = [line for line in stderr.splitlines() if line.startswith("condensity: ")]
    assert len(errors) == 1
    assert says in errors[0]


def columns(n=60, seed=0):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n)).round(4)
    colour = COLOURS[rng.integers(0, 3, n)]
    y = (a + (colour == "red") + 0.3 * rng.normal(size=n)).round(4)
    return {"a": a, "b, of two": b, "colour": colour, "y": y, "y2": (y + b).round(4)}


def write(path, table, delimiter=","):
    with path.open("w", newline="") as stream:
        lines = csv.writer(stream, delimiter=delimiter)
        lines.writerow(table)
        lines.writerows(zip(*table.values(), strict=True))
    return path


def read(text):
    """The columns of a CSV file as text."""
    header, *rows = csv.reader(text.splitlines())
    return dict(zip(header, zip(*rows, strict=True), strict=True))
