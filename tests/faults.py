"""Commands that are killed at random moments, and what must be left of them.

A killed command leaves its output file as it was, or complete.  Other signals than SIGKILL also
remove partial files, end all processes and give the exit code of the signal.  No traceback is
printed, and the records of experiments stay readable.

    python tests/faults.py --kills 200 --out faults.jsonl
"""

import argparse
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

from joblib.externals.loky import process_executor

import condensity
import condensity.cli
import condensity.explorer
from commands import columns, write
from condensity.__main__ import main as main_of_condensity
from condensity.experiments.records import RecordFile

SIGNALS = ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP")
#: Seconds in which all processes of a killed command must end.
PATIENCE = 60
#: Rows of the table to predict.
ROWS = 1000


def prepare(folder):
    """The files that the commands need."""
    write(folder / "train.csv", columns(n=60))
    write(folder / "new.csv", columns(n=ROWS, seed=1))
    quick = "--components", "1", "--members", "1", "--test-share", "0"
    fit = "fit", folder / "train.csv", "--target", "y", "--exclude", "y2", *quick
    assert run_to_the_end([*fit, "--out", folder / "model.cdn"]) == 0


def commands_of(folder, out):
    """The commands that are killed, with the file or the folder that each of them writes."""
    model, new, train = (folder / name for name in ("model.cdn", "new.csv", "train.csv"))
    fit = "fit", train, "--target", "y", "--exclude", "y2", "--components", "1", "--members", "1"
    return {
        "fit": ([*fit, "--jobs", "1", "--out", out / "m.cdn"], out / "m.cdn"),
        "predict": (["predict", model, new, "--out", out / "p.csv"], out / "p.csv"),
        "report": (["report", model, "--out", out / "r.html"], out / "r.html"),
        "fit on two workers": ([*fit, "--jobs", "2", "--out", out / "m.cdn"], out / "m.cdn"),
        "reproduce": (
            ["reproduce", "illustration", "--quick", "--jobs", "2", "--out", out / "all"],
            out / "all",
        ),
    }


def start(words, stderr, largest_file=None):
    """Start a command in a session of its own: the number of its process.

    Its files may have at most ``largest_file`` bytes, as on a disk that is full.

    The process is forked from this one, which has imported everything, so most of its time is that
    of the command itself.
    """
    pid = os.fork()
    if pid:
        return pid
    os.setsid()
    if largest_file is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(stderr, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    sys.stdout, sys.stderr = (open(number, "w") for number in (1, 2))  # noqa: SIM115
    sys.argv = ["condensity", *map(str, words)]
    code = 0
    try:
        main_of_condensity()
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        traceback.print_exc()
        code = 1
    stop_workers()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 1)


def stop_workers():
    """What the interpreter does at its end.

    Other exit functions must not run in a forked process: they would remove temporary folders of
    the first one.
    """
    process_executor._python_exit()


def run_to_the_end(words):
    """Run a command: its exit code."""
    return os.waitstatus_to_exitcode(os.waitpid(start(words, os.devnull), 0)[1])


def is_complete(name, path):
    """Whether the output of a command is whole."""
    if name.startswith("fit"):
        return hasattr(condensity.load(path).model, "predict_dist")
    if name == "predict":
        return len(path.read_text().splitlines()) == ROWS + 1
    if name == "report":
        return path.read_text().rstrip().endswith("</html>")
    RecordFile(path / "quick" / "records.jsonl").read()  # an error if a record is damaged
    pages = list(path.rglob("*.html"))
    return all(page.read_text().rstrip().endswith("</html>") for page in pages)


def members_of(session):
    """The processes of a session that are alive."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def seconds_of(folder, name):
    """The time that a command takes if it is not killed."""
    with tempfile.TemporaryDirectory() as out:
        started = time.monotonic()
        words, path = commands_of(folder, Path(out))[name]
        assert run_to_the_end(words) == 0, name
        assert is_complete(name, path)
    return time.monotonic() - started


def kill_once(folder, name, number, delay):
    """Start a command, send it a signal after ``delay`` seconds: what is wrong, or nothing."""
    with tempfile.TemporaryDirectory() as place:
        out, messages = Path(place) / "out", Path(place) / "stderr"
        out.mkdir()
        words, path = commands_of(folder, out)[name]
        if path.suffix:
            path.write_text("old")
        pid = start(words, messages)
        time.sleep(delay)
        os.kill(pid, number)
        end = time.monotonic() + PATIENCE
        while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            if time.monotonic() > end:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                return "it does not end"
            time.sleep(0.02)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        return problem(name, number, pid, code, messages.read_text(), out, path)


def problem(name, number, pid, code, stderr, out, path):
    """What is wrong after a command has ended, or nothing."""
    end = time.monotonic() + PATIENCE
    if number == signal.SIGKILL:  # idle workers end by themselves after five minutes
        for worker in members_of(pid):
            os.kill(worker, signal.SIGKILL)
    while members_of(pid):
        if time.monotonic() > end:
            return f"{len(members_of(pid))} processes survive"
        time.sleep(0.1)
    if "Traceback" in stderr:
        return f"a traceback: {stderr.splitlines()[-1]}"
    if code not in (0, -number, 128 + number):
        return f"exit code {code}: {stderr[-200:]}"
    as_before = bool(path.suffix) and path.read_bytes() == b"old"
    if not as_before and path.exists() and not is_complete(name, path):
        return "the file is not complete"
    extra = [p.name for p in out.rglob("*") if p.name.startswith(".")]
    if extra and number != signal.SIGKILL:
        return f"files are left: {extra}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng, counts = random.Random(options.seed), Counter()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        prepare(folder)
        quick, slow = ("fit", "predict", "report"), ("fit on two workers", "reproduce")
        seconds = {name: seconds_of(folder, name) for name in quick + slow}
        names = [*(quick * 6), *slow]  # the slow ones start processes, which takes most of the time
        print(seconds, flush=True)
        for k in range(options.kills):
            name, kind = names[k % len(names)], SIGNALS[k // len(names) % len(SIGNALS)]
            delay = rng.uniform(0, 1.1 * seconds[name])
            found = kill_once(folder, name, getattr(signal, kind), delay)
            record = {"command": name, "signal": kind, "delay": round(delay, 2), "problem": found}
            counts[name, kind, bool(found)] += 1
            if options.out:
                with options.out.open("a") as file:
                    file.write(json.dumps(record) + "\n")
            if found:
                print(record, flush=True)
    print({" ".join(map(str, key)): count for key, count in counts.items()})


if __name__ == "__main__":
    main()
