"""Commands that are killed, two writers of one file, and a disk that is full."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import condensity
import faults
from commands import columns, write

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")

#: A command, the signal, and the share of its time after which the signal comes.
KILLS = [
    ("fit", "SIGINT", 0.5),
    ("predict", "SIGKILL", 0.9),
    ("report", "SIGTERM", 0.8),
    ("predict", "SIGHUP", 0.2),
    ("fit on two workers", "SIGTERM", 0.7),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faults")
    faults.prepare(folder)
    return folder


@needs_proc
@pytest.mark.parametrize(("name", "kind", "share"), KILLS)
def test_a_killed_command_leaves_its_file_as_it_was_or_complete(name, kind, share, place):
    delay = share * faults.seconds_of(place, name)
    assert faults.kill_once(place, name, getattr(signal, kind), delay) == ""


WRITE_OFTEN = """
import sys, condensity
model = condensity.load(sys.argv[1])
for _ in range(100):
    condensity.save(model, sys.argv[2])
"""


def test_two_writers_of_one_file_leave_a_whole_file(place, tmp_path):
    """Whoever is last wins; a reader sees the one or the other."""
    path = tmp_path / "m.cdn"
    condensity.save(condensity.load(place / "model.cdn"), path)
    words = [sys.executable, "-c", WRITE_OFTEN, place / "model.cdn", path]
    writers = [subprocess.Popen(words) for _ in range(2)]
    n_read = 0
    while any(writer.poll() is None for writer in writers):
        condensity.load(path)
        n_read += 1
    assert [writer.wait() for writer in writers] == [0, 0]
    assert n_read > 0
    assert [p.name for p in tmp_path.iterdir()] == ["m.cdn"]


@needs_proc
@pytest.mark.parametrize("name", ["fit", "predict", "report"])
def test_a_full_disk_is_one_sentence_and_leaves_the_old_file(name, place, tmp_path):
    (tmp_path / "out").mkdir()
    words, path = faults.commands_of(place, tmp_path / "out")[name]
    path.write_text("old")
    stderr = tmp_path / "stderr"
    _, status = os.waitpid(faults.start(words, stderr, largest_file=3000), 0)
    assert os.waitstatus_to_exitcode(status) == 2
    assert "Traceback" not in stderr.read_text()
    assert "File too large" in stderr.read_text().splitlines()[-1]
    assert path.read_text() == "old"
    assert [p.name for p in (tmp_path / "out").iterdir()] == [path.name]


def test_the_program_notices_what_is_wrong(tmp_path):
    """An incomplete file, and a process that leaves a hidden one behind."""
    write(tmp_path / "p.csv", columns(n=3))
    with pytest.raises(ValueError, match="not a readable model file"):
        faults.is_complete("fit", tmp_path / "p.csv")
    assert not faults.is_complete("predict", tmp_path / "p.csv")
    assert not faults.is_complete("report", tmp_path / "p.csv")
