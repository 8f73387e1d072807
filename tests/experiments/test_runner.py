"""Runs that are killed, fail and are resumed end with the records of one that was left alone."""

import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import cells
import condensity
from condensity.experiments import runner
from condensity.experiments.records import Cell, Record, RecordFile
from condensity.experiments.runner import (
    RESULT_CODE,
    VERSIONS,
    Workers,
    local_workers,
    run_cell,
    run_cells,
)

SCRIPT = Path(cells.__file__)


THREADS = Workers(lambda: ThreadPoolExecutor(2), max_pending=2)


def run_here(work, path, chosen=cells.CELLS, **options):
    return run_cells(chosen, work, RecordFile(path), workers=THREADS, **options)


def results(records):
    return {cell: record.results for cell, record in records.items()}


def test_a_run_killed_ten_times_ends_with_the_same_records(tmp_path):
    alone = run_here(cells.draw, tmp_path / "alone.jsonl")
    path, rng = tmp_path / "killed.jsonl", np.random.default_rng(0)
    kills = 0
    while kills < 10:
        process = subprocess.Popen([sys.executable, SCRIPT, path, "2"], start_new_session=True)
        before = path.stat().st_size if path.exists() else 0
        while process.poll() is None and (path.stat().st_size if path.exists() else 0) == before:
            time.sleep(0.005)  # until it has done at least one more
        time.sleep(rng.uniform(0, 0.05))
        assert process.poll() is None, "it was done before it could be killed"
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills += 1
        with path.open("ab") as stream:  # as if it had been in the middle of a line
            stream.write(b'{"study": "st' if kills % 2 else b"")
    subprocess.run([sys.executable, SCRIPT, path, "2"], check=True)
    found = RecordFile(path).read()
    assert results(found) == results(alone)
    assert len(path.read_text().splitlines()) == len(cells.CELLS)  # nothing was done twice


def test_two_runs_do_not_meet_in_one_folder(tmp_path):
    file = RecordFile(tmp_path / "r.jsonl")
    with file.locked(), pytest.raises(OSError, match=r"another run .* choose another folder"):
        run_here(cells.draw, file.path)
    assert not file.path.exists()
    assert len(run_here(cells.draw, file.path)) == len(cells.CELLS)


def test_records_name_the_code_that_made_them():
    name, code = re.fullmatch(r"condensity (\S+) \((\w{8})\), numpy .*", VERSIONS).groups()
    home = Path(condensity.__file__).parent
    found = {path for part in RESULT_CODE for path in home.glob(part)}
    assert {home / "fitting" / "ridge.py", home / "experiments" / "methods.py"} <= found
    shown = home / "experiments" / "result_tables.py"
    assert shown.exists()
    assert shown not in found  # it formats results
    assert (name, code) == (condensity.__version__, runner._code_hash())


def test_what_is_no_number_is_no_result():
    record = run_cell(lambda cell: {"Error_CDE": float("nan")}, cells.CELLS[0])
    assert "JSON" in record.error
    assert record.results == {}


def test_workers_do_not_outlive_a_killed_run(tmp_path):
    process = subprocess.Popen([sys.executable, SCRIPT, tmp_path / "r.jsonl", "2"])
    while not (tmp_path / "r.jsonl").exists():
        time.sleep(0.01)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    if not children.exists():
        process.kill()
        pytest.skip("this system does not tell which processes a process has started")
    workers = [int(pid) for pid in children.read_text().split()]
    assert len(workers) >= 2
    process.kill()
    process.wait()
    deadline = time.monotonic() + 20
    while alive(workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert alive(workers) == []


def alive(pids):
    """Those that still run; the dead may wait for someone to take note of it."""
    found = []
    for pid in pids:
        status = Path(f"/proc/{pid}/stat")
        if status.exists() and status.read_text().rsplit(")", 1)[1].split()[0] != "Z":
            found.append(pid)
    return found


def test_records_do_not_depend_on_the_number_of_workers(tmp_path):
    few = cells.CELLS[:6]
    here = run_here(cells.draw, tmp_path / "here.jsonl", few)
    there = run_cells(few, cells.draw, RecordFile(tmp_path / "b.jsonl"), workers=local_workers(2))
    assert results(here) == results(there)
    assert list(here) == few


def test_a_failing_cell_is_recorded_and_the_rest_goes_on(tmp_path):
    path, heard = tmp_path / "r.jsonl", []
    found = run_here(cells.draw_or_fail, path, report=heard.append)
    failed = {cell for cell, record in found.items() if record.error}
    assert failed == {cell for cell in cells.CELLS if cell.seed == 2}
    assert found[cells.CELLS[2]].error.startswith("ValueError: no x (draw_or_fail, line ")
    assert len(heard) == len(cells.CELLS)
    again = run_here(cells.draw_or_fail, path, report=heard.append)
    assert again == found
    assert len(heard) == len(cells.CELLS)  # nothing was left to do
    mended = run_here(cells.draw, path, retry=True)
    assert not any(record.error for record in mended.values())
    assert mended[cells.CELLS[0]].results == {"value": 0}  # not done again


def test_a_cell_that_kills_its_worker_is_given_up(tmp_path):
    found = run_cells(
        cells.CELLS[:8],
        cells.draw_or_die,
        RecordFile(tmp_path / "r.jsonl"),
        workers=local_workers(1),
    )
    failed = [cell for cell, record in found.items() if record.error]
    assert failed == [cells.CELLS[3]]
    assert found[failed[0]].error == "its worker process died"


def test_only_the_cell_that_kills_its_worker_is_given_up(tmp_path):
    found = run_cells(
        cells.CELLS[:5],
        cells.draw_slowly_or_die,
        RecordFile(tmp_path / "r.jsonl"),
        workers=local_workers(2),
    )
    assert [cell.seed for cell, record in found.items() if record.error] == [1]
    assert found[cells.CELLS[0]].results == {"value": 0}


def test_a_cell_that_wants_to_leave_does_not_end_the_run(tmp_path):
    found = run_here(cells.draw_or_leave, tmp_path / "r.jsonl", cells.CELLS[:3])
    assert [bool(record.error) for record in found.values()] == [False, True, False]


def test_a_record_that_does_not_fit_on_the_disk_leaves_no_stump(tmp_path, monkeypatch):
    file = RecordFile(tmp_path / "r.jsonl")
    file.append(Record(cells.CELLS[0]))
    whole = file.path.read_bytes()
    write = os.write
    monkeypatch.setattr("os.write", lambda handle, data: write(handle, data[:10]))
    with pytest.raises(OSError, match="make room on the disk"):
        file.append(Record(cells.CELLS[1]))
    assert file.path.read_bytes() == whole


def test_cells_run_on_one_thread_and_keep_their_warnings_to_themselves():
    record = run_cell(cells.draw_and_warn, cells.CELLS[0])
    assert record.error is None
    assert set(record.results["threads"]) == {1}
    assert record.seconds > 0


def test_records_come_back_to_the_last_bit(tmp_path):
    file = RecordFile(tmp_path / "deep" / "r.jsonl")
    values = [0.1, 1 / 3, -1e-300, float("nan"), float("inf")]
    record = Record(Cell("s", "µ, \n", "m", 3, 4), {"values": values}, 0.25, "Error: \n ü")
    file.append(record)
    (found,) = file.read().values()
    np.testing.assert_array_equal(found.results["values"], values)
    assert (found.cell, found.seconds, found.error) == (record.cell, 0.25, record.error)
    assert file.path.stat().st_mode & 0o777 == 0o644 & ~os.umask(os.umask(0))


def test_a_file_of_something_else_is_refused(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text('{"study": "s"}\n')
    with pytest.raises(
        ValueError, match=r"line 1 of .* is not a valid record .*: remove that line"
    ):
        RecordFile(path).read()
    assert RecordFile(tmp_path / "none.jsonl").read() == {}
