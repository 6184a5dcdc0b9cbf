"""What a killed orch leaves of a database: found by its own note and ended, and everything else of that name left alone."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from orchestrator.cli.machine import hosts
from orchestrator.errors import TeardownIncomplete
from orchestrator.hosts import processes
from orchestrator.hosts.local import postgresql

GONE = 2**22 + 1  # above the greatest id that Linux gives


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def working() -> Iterator[Callable[[Path], subprocess.Popen[bytes]]]:
    """Starts a process with a data folder among its arguments, and notes it there as PostgreSQL does."""
    started: list[subprocess.Popen[bytes]] = []

    def start(data: Path, *, is_named: bool = True) -> subprocess.Popen[bytes]:
        argv = [sys.executable, "-S", "-c", "input()", *([str(data)] if is_named else [])]
        process = subprocess.Popen(argv, stdin=subprocess.PIPE)
        started.append(process)
        while not Path(f"/proc/{process.pid}/cmdline").read_bytes() and process.poll() is None:
            pass  # the kernel has replaced the program, and not written its arguments yet
        (data / "postmaster.pid").write_text(f"{process.pid}\n{data}\n")
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def left(folder: Path, name: str = "orch-postgresql-x", note: str = f"{GONE} 1@x") -> Path:
    """A folder as an orch that is gone has left it; the server's data."""
    data = folder / name / "server" / "data"
    data.mkdir(parents=True)
    (folder / name / "made-by-orch").write_text(note)
    return data


def test_what_an_orch_that_is_gone_has_left_is_ended_and_removed(temporary: Path, working: Callable[..., Any]) -> None:
    server = working(left(temporary))
    left(temporary, "orch-postgresql-y")
    assert postgresql.end_what_is_left() == []
    assert server.wait(10) != 0
    assert list(temporary.iterdir()) == []


def test_the_database_of_an_orch_that_runs_is_left(temporary: Path, working: Callable[..., Any]) -> None:
    server = working(left(temporary, note=f"{os.getpid()} {processes.started_at(os.getpid())}"))
    assert postgresql.end_what_is_left() == []
    assert server.poll() is None
    assert (temporary / "orch-postgresql-x").exists()


def test_a_process_that_has_the_id_of_a_server_by_now_is_spared(temporary: Path, working: Callable[..., Any]) -> None:
    other = working(left(temporary), is_named=False)
    assert postgresql.end_what_is_left() == []
    assert other.poll() is None
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("note", ["", "one two three", "1"])
def test_what_orch_did_not_leave_is_left_alone(temporary: Path, note: str) -> None:
    data = left(temporary, note=note)
    assert postgresql.end_what_is_left() == []
    assert data.exists()


def test_a_server_that_cannot_be_ended_is_named_by_teardown(
    temporary: Path, working: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = left(temporary)
    server = working(data)
    monkeypatch.setattr(processes, "end", lambda find, *_steps, **_options: list(find()))
    monkeypatch.chdir(temporary)
    with pytest.raises(TeardownIncomplete, match=rf"process {server.pid} .*PostgreSQL in {data.parents[1]}, cannot be"):
        hosts.teardown(None)
    assert data.exists()
