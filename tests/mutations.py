"""Mutations of the source: do the tests of a module notice that one of its lines is wrong?

``tests/mutations.toml`` declares them.  Each one is applied to a copy of the source, and the tests
of its group run until the first failure.  A mutation that no test notices is a survivor.

    python tests/mutations.py --out mutations.jsonl [--only fitting/]

Mutations in the file are not run again.  Every run is a process of its own that is forked from one
that has imported numpy, scipy, scikit-learn and pytest already (not on Windows).
"""

import argparse
import json
import os
import shlex
import shutil
import signal
import sys
import tempfile
import time
import tomllib
from collections import Counter
from pathlib import Path

import numpy  # noqa: F401
import pytest
import scipy.optimize
import scipy.stats  # noqa: F401
import sklearn.utils.estimator_checks  # noqa: F401

ROOT = Path(__file__).parents[1]
#: Seconds after which the tests of a mutation are stopped; it counts as noticed.
LIMIT = 600


def declared():
    """The mutations: file, old text, new text and tests."""
    groups = tomllib.loads((ROOT / "tests" / "mutations.toml").read_text())["group"]
    return [
        {"file": group["file"], "old": old, "new": new, "tests": group["tests"]}
        for group in groups
        for old, new in group["mutations"]
    ]


def mutated(source, mutation):
    """The source of a file with the mutation."""
    if source.count(mutation["old"]) != 1:
        raise ValueError(f"{mutation['file']}: {mutation['old']!r} does not occur once")
    return source.replace(mutation["old"], mutation["new"])


def run_tests(package, tests):
    """Run tests in a forked process with the source ``package``: the exit code of pytest."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(LIMIT)
        sys.path.insert(0, str(package))
        os.environ["PYTHONPATH"] = str(package)  # for processes that tests start
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
        words = shlex.split(tests)
        if "-k" in words:
            at = words.index("-k")
            words = [*words[:at], "-k", " ".join(words[at + 1 :])]
        paths = [str(ROOT / word) if word.startswith("tests/") else word for word in words]
        options = ["-x", "-q", "-p", "no:cacheprovider", "--rootdir", str(ROOT)]
        os._exit(int(pytest.main([*options, "-c", str(ROOT / "pyproject.toml"), *paths])))
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def outcome(package, mutation):
    """'killed', 'survived' or 'stopped', and the seconds of the tests."""
    path = package / "condensity" / mutation["file"]
    source, started = path.read_text(), time.monotonic()
    path.write_text(mutated(source, mutation))
    try:
        code = run_tests(package, mutation["tests"])
    finally:
        path.write_text(source)
    names = {0: "survived", -signal.SIGALRM: "stopped"}
    return names.get(code, "killed"), round(time.monotonic() - started, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", default="", help="files whose path begins so")
    options = parser.parse_args()
    lines = options.out.read_text().splitlines() if options.out.exists() else []
    records = [json.loads(line) for line in lines]
    done = {(r["file"], r["old"], r["new"]) for r in records}
    sys.dont_write_bytecode = True
    passing = {}  # whether the tests pass without a mutation
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "src"
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "src", package, ignore=ignored)
        for mutation in declared():
            key = mutation["file"], mutation["old"], mutation["new"]
            if key in done or not mutation["file"].startswith(options.only):
                continue
            if mutation["tests"] not in passing:
                passing[mutation["tests"]] = run_tests(package, mutation["tests"]) == 0
            found, seconds = "not tested: the tests fail without it", 0.0
            if passing[mutation["tests"]]:
                found, seconds = outcome(package, mutation)
            records.append(mutation | {"outcome": found, "seconds": seconds})
            with options.out.open("a") as file:
                file.write(json.dumps(records[-1]) + "\n")
    print(dict(Counter(r["outcome"] for r in records)), "of", len(records))
    for r in records:
        if r["outcome"] == "survived":
            print(f"{r['file']}: {r['old']} -> {r['new']}  ({r['tests']})")


if __name__ == "__main__":
    main()
