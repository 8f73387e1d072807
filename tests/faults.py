"""Commands that are killed at random moments, and what must be left of them.

A killed command leaves its output file as it was, or complete.  Other signals than SIGKILL also
remove partial files and give the exit code of the signal.  No process survives, no traceback is
printed, and a killed run of experiments continues where it stopped.

    python tests/faults.py --kills 200 --out faults.jsonl
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import condensity
from commands import columns, write
from condensity.experiments.records import RecordFile

SIGNALS = ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP")
#: Seconds in which all processes of a killed command must end.
PATIENCE = 60


def prepare(folder):
    """The files that the commands need."""
    write(folder / "train.csv", columns(n=150))
    write(folder / "new.csv", columns(n=3000, seed=1))
    fit = command("fit", folder / "train.csv", "--target", "y", "--components", "1")
    subprocess.run([*fit, "--members", "2", "--out", folder / "model.cdn"], check=True)


def command(*words):
    return [sys.executable, "-m", "condensity", *map(str, words)]


def commands_of(folder, out):
    """The commands that are killed, with the file that each of them writes."""
    model, new = folder / "model.cdn", folder / "new.csv"
    fit = ("fit", folder / "train.csv", "--target", "y", "--components", "1", "--jobs", "2")
    return {
        "fit": (command(*fit, "--members", "2", "--out", out / "m.cdn"), out / "m.cdn"),
        "predict": (command("predict", model, new, "--out", out / "p.csv"), out / "p.csv"),
        "report": (command("report", model, "--out", out / "r.html"), out / "r.html"),
        "reproduce": (
            command("reproduce", "illustration", "--quick", "--jobs", "2", "--out", out / "all"),
            out / "all",
        ),
    }


def is_complete(name, path):
    """Whether the output of a command is whole."""
    if name == "fit":
        return hasattr(condensity.load(path).model, "predict_dist")
    if name == "predict":
        return len(path.read_text().splitlines()) == 3001
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
        subprocess.run(words, capture_output=True, check=True)
        assert is_complete(name, path)
    return time.monotonic() - started


def kill_once(folder, name, number, delay):
    """Start a command, send it a signal after ``delay`` seconds: what is wrong, or nothing."""
    with tempfile.TemporaryDirectory() as place:
        out = Path(place)
        words, path = commands_of(folder, out)[name]
        old = path.suffix != ""
        if old:
            path.write_text("old")
        process = subprocess.Popen(
            words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
        )
        time.sleep(delay)
        process.send_signal(number)
        try:
            stderr = process.communicate(timeout=PATIENCE)[1].decode()
        except subprocess.TimeoutExpired:
            for pid in members_of(process.pid):
                os.kill(pid, signal.SIGKILL)
            return "it does not end"
        return problem(name, number, process, stderr, out, path)


def problem(name, number, process, stderr, out, path):
    """What is wrong after a command has ended, or nothing."""
    end = time.monotonic() + PATIENCE
    while members_of(process.pid):
        if time.monotonic() > end:
            return f"{len(members_of(process.pid))} processes survive"
        time.sleep(0.1)
    if "Traceback" in stderr:
        return f"a traceback: {stderr.splitlines()[-1]}"
    if process.returncode not in (0, -number, 128 + number):
        return f"exit code {process.returncode}: {stderr[-200:]}"
    whole = path.suffix and path.exists() and path.read_bytes() == b"old"
    if not whole and path.exists() and not is_complete(name, path):
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
        names = list(commands_of(folder, folder))
        seconds = {name: seconds_of(folder, name) for name in names}
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
