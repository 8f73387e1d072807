"""Commands as processes of their own: signals, closed streams, pipes, lost workers, memory."""

import importlib
import os
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import numpy as np
import pytest

from commands import assert_refused, columns, write
from condensity.cli.messages import plain_errors
from condensity.cli.signals import StoppedBySignal

app_module = importlib.import_module("condensity.cli.app")  # the package has an object of this name
COMMAND = [sys.executable, "-m", "condensity"]
needs_proc = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc")


def children(pid):
    """Numbers of the processes that a process has started, and of those that these have."""
    try:
        own = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except FileNotFoundError:
        return []
    return [int(n) for child in own for n in (child, *children(child))]


def workers_of(pid):
    """The children that compute; another one keeps track of resources."""
    commands = {child: Path(f"/proc/{child}/cmdline").read_bytes() for child in children(pid)}
    return [child for child, command in commands.items() if b"popen_loky" in command]


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_for(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.05)


def start_fit(tmp_path):
    """A fit that takes long, and the numbers of its two workers."""
    table = write(tmp_path / "t.csv", columns(n=600))
    fit = [*COMMAND, "fit", table, "--target", "y", "--jobs", "2", "--out", tmp_path / "m.cdn"]
    process = subprocess.Popen(fit, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: len(workers_of(process.pid)) == 2)
    return process, workers_of(process.pid)


@needs_proc
def test_a_signal_ends_the_workers_too(tmp_path):
    process, workers = start_fit(tmp_path)
    process.send_signal(signal.SIGTERM)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 128 + signal.SIGTERM
    assert stderr.splitlines()[-1] == "condensity: stopped"
    assert "Traceback" not in stderr
    wait_for(lambda: not any(alive(pid) for pid in workers))
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def fail_in_cleanup(error):
    try:
        raise StoppedBySignal(143)
    finally:
        raise error


def test_a_signal_whose_cleanup_fails_is_still_a_signal(monkeypatch, capsys):
    """A pool of workers that is being started when the signal arrives cannot be joined."""

    def fit(standalone_mode):
        fail_in_cleanup(RuntimeError("cannot join thread before it is started"))

    monkeypatch.setattr(app_module, "app", fit)
    with pytest.raises(SystemExit) as stopped:
        app_module.run_app()
    assert stopped.value.code == 143
    assert capsys.readouterr().err == "condensity: stopped\n"


@pytest.mark.parametrize("error", [BrokenProcessPool(), OSError("closed"), ValueError("none")])
def test_an_error_of_the_cleanup_is_not_printed_instead_of_the_signal(error, capsys):
    with pytest.raises(StoppedBySignal) as stopped, plain_errors():
        fail_in_cleanup(error)
    assert stopped.value.code == 143
    assert capsys.readouterr().err == ""


def test_other_errors_are_not_taken_for_a_signal(monkeypatch):
    def fit(standalone_mode):
        raise RuntimeError("a defect")

    monkeypatch.setattr(app_module, "app", fit)
    with pytest.raises(RuntimeError, match="a defect"):
        app_module.run_app()


@needs_proc
def test_a_worker_that_is_killed_is_one_sentence(tmp_path):
    process, workers = start_fit(tmp_path)
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "Traceback" not in stderr
    assert "a worker process was ended by the system" in stderr


def test_a_signal_leaves_no_partial_file(folder, tmp_path):
    """Predictions of a table that never ends are stopped in the middle."""
    out = tmp_path / "p.csv"
    predict = [*COMMAND, "predict", folder / "model.cdn", "-", "--out", out, "--block-rows", "300"]
    process = subprocess.Popen(
        predict, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
    )
    header, *rows = (folder / "new.csv").read_text().splitlines()
    process.stdin.write("\n".join([header, *rows * 30]) + "\n")
    process.stdin.flush()
    wait_for(lambda: list(tmp_path.iterdir()))  # the partial file
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGHUP
    assert list(tmp_path.iterdir()) == []


def shell(command, **options):
    return subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, timeout=120, **options
    )


def test_closed_standard_input_is_one_sentence(tmp_path):
    python = f"'{sys.executable}' -m condensity"
    result = shell(f"{python} fit - --target y --out '{tmp_path}/m.cdn' <&-")
    assert result.returncode == 2
    assert result.stderr == "condensity: standard input is closed: name a file\n"


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="needs /dev/stdout")
def test_dev_stdout_may_be_a_pipe_or_a_file(folder, tmp_path):
    predict = f"'{sys.executable}' -m condensity predict {folder}/model.cdn {folder}/new.csv"
    plain = shell(predict).stdout
    assert plain.startswith("y_mean")
    assert shell(f"{predict} --out /dev/stdout | cat").stdout == plain
    shell(f"{predict} --out /dev/stdout > {tmp_path}/p.csv")
    assert (tmp_path / "p.csv").read_text() == plain


def test_more_draws_than_memory_holds_are_refused(folder):
    predict = ("predict", folder / "model.cdn", folder / "new.csv", "--sample")
    assert_refused(*predict, 10**9, says="--sample 1000000000 gives 1000000000 numbers")
    two = ("predict", folder / "two.cdn", folder / "new.csv", "--sample")
    assert_refused(*two, 60_000, says="gives 120000 numbers for each row, the maximum is 100000")


def test_memory_that_runs_out_is_one_sentence(monkeypatch, folder):
    """A real allocation that no machine can serve."""
    from condensity.cli import predict_command

    monkeypatch.setattr(predict_command, "read_model", lambda path: np.empty(2**50))
    assert_refused("predict", "m", folder / "new.csv", says="memory ran out (Unable to allocate")
