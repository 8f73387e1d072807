"""Cells on a Dask cluster: the records are those of a run at home, whoever dies on the way."""

import os
import signal
import socket
import time

import pytest
from typer.testing import CliRunner

import cells
from condensity.cli import app
from condensity.experiments.dask_workers import dask_client, dask_workers
from condensity.experiments.records import RecordFile
from condensity.experiments.reproduce import records_of
from condensity.experiments.runner import CellNotRunError, run_cell, run_cells

dask = pytest.importorskip("dask", reason="dask is not installed")
distributed = pytest.importorskip("distributed", reason="dask is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # those of the cluster as it comes and goes


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes; a cell whose worker died is not given to another by Dask."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(**options) as cluster,
    ):
        yield cluster


@pytest.fixture
def client(cluster):
    with dask_client(cluster.scheduler_address) as client:
        client.wait_for_workers(1)  # one may not be back yet
        yield client


def results(records):
    return {cell: (record.results, record.error) for cell, record in records.items()}


def alone(work, chosen):
    return results({cell: run_cell(work, cell) for cell in chosen})


def test_records_are_those_of_a_run_at_home(client, tmp_path):
    path, heard = tmp_path / "r.jsonl", []
    chosen = cells.CELLS[:5]
    found = run_cells(
        chosen,
        cells.draw_or_fail,
        RecordFile(path),
        workers=dask_workers(client),
        report=heard.append,
    )
    assert results(found) == alone(cells.draw_or_fail, chosen)
    assert sum(record.error is not None for record in heard) == 1
    more = cells.CELLS[:7]
    again = run_cells(more, cells.draw_or_fail, RecordFile(path), workers=dask_workers(client))
    assert results(again) == alone(cells.draw_or_fail, more)
    assert len(path.read_text().splitlines()) == 7  # nothing was done twice


def test_a_worker_that_is_killed_costs_nothing(client, tmp_path):
    def kill(record):
        if len(heard) == 3:
            worker = sorted(client.run(os.getpid).values())[0]
            os.kill(worker, signal.SIGKILL)
        heard.append(record)

    heard, path, chosen = [], tmp_path / "r.jsonl", cells.CELLS[:12]
    found = run_cells(
        chosen, cells.draw, RecordFile(path), workers=dask_workers(client), report=kill
    )
    assert results(found) == alone(cells.draw, chosen)
    assert len(path.read_text().splitlines()) == len(chosen)


def reproduce(*arguments):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)])


def test_the_command_gives_the_same_records(cluster, tmp_path):
    quick = ["illustration", "--quick", "--only", "Illustrative data"]
    address = cluster.scheduler_address
    done = reproduce(*quick, "--dask", address, "--out", tmp_path / "there")
    assert done.exit_code == 0, done.output
    assert "3 cells, 3 to do" in done.output
    here = reproduce(*quick, "--jobs", 1, "--out", tmp_path / "here")
    assert here.exit_code == 0, here.output
    there, here = (records_of(tmp_path / name, quick=True).read() for name in ("there", "here"))
    assert results(there) == results(here)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nowhere", "http://127.0.0.1:8787"])
def test_an_address_without_a_scheduler_is_refused(address, tmp_path, monkeypatch):
    monkeypatch.setattr("condensity.experiments.dask_workers.CONNECT_TIMEOUT", 0.5)
    done = reproduce("artificial", "--quick", "--dask", address, "--out", tmp_path)
    assert done.exit_code == 2
    assert f"condensity: no Dask scheduler answers at '{address}'" in done.output
    assert "start one with 'dask scheduler'" in done.output
    assert len(done.output.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_server_of_another_kind_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr("condensity.experiments.dask_workers.CONNECT_TIMEOUT", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        done = reproduce("artificial", "--quick", "--dask", address, "--out", tmp_path)
    assert done.exit_code == 2
    assert "no Dask scheduler answers" in done.output


class Unreadable:
    """Work that another machine would not know."""

    def __reduce__(self):
        return int, ("no number",)


def test_cells_that_the_cluster_cannot_read_end_the_run(client, tmp_path):
    file = RecordFile(tmp_path / "r.jsonl")
    with pytest.raises(CellNotRunError, match="seed 0 could not be run"):
        run_cells(cells.CELLS[:1], Unreadable(), file, workers=dask_workers(client))


def test_an_interrupted_run_does_not_wait(client, tmp_path):
    def interrupt(record):
        raise KeyboardInterrupt

    slow = [cell for cell in cells.CELLS if cell.seed < 2][:2]
    begun = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        run_cells(
            slow,
            cells.draw_or_stay,
            RecordFile(tmp_path / "r.jsonl"),
            workers=dask_workers(client),
            report=interrupt,
        )
    assert time.perf_counter() - begun < cells.STAY


def test_only_the_cell_that_kills_its_workers_is_given_up(client, tmp_path):
    chosen = cells.CELLS[:4]
    file = RecordFile(tmp_path / "r.jsonl")
    # Slowly: Dask does not start a worker again that dies while it is still being started.
    found = run_cells(chosen, cells.draw_slowly_or_die, file, workers=dask_workers(client))
    assert [cell.seed for cell, record in found.items() if record.error] == [1]
    assert found[cells.CELLS[1]].error == "its worker process died"
