"""What `protos/process.md` promises of a responder that answers from several workers (`workers: N`)."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.kit import IDENTITY, Implementation, Program

pytestmark = [
    pytest.mark.busy,
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="this system does not list a process's children"),
]

THREE: dict[str, Any] = {"knobs": {"workers": "3"}}
NUMBERS = {"a": 1, "b": 2}


def workers_of(program: Program) -> list[int]:
    """All processes that it has started and that have started none."""
    found, parents = [], [program.process.pid]
    while parents:
        listed = [of.read_text().split() for of in Path(f"/proc/{parents[-1]}/task").glob("*/children")]
        children = [int(pid) for of in listed for pid in of]
        if not children:
            found.append(parents[-1])
        del parents[-1]
        parents += children
    return found


def await_refusal(port: int, patience_s: float) -> None:
    """AssertionError where somebody still accepts connections there."""
    deadline = time.monotonic() + patience_s
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=patience_s).close()
        except ConnectionError:
            return
        assert time.monotonic() < deadline, "somebody still answers there"
        time.sleep(0.02)


def test_counts_are_those_of_all_workers(ends: Implementation, sharing: tuple[str, str]):
    with ends.respond(*sharing, **THREE) as responder:
        assert (responder.ready["identity"], responder.ready["workers"]) == (IDENTITY, 3)
        first = responder.stats()
        for _ in range(12):
            with responder.connect() as connection:
                assert connection.ask("identity", {}) == {"identity": IDENTITY}
                if ends.keeps_connections(*sharing):
                    assert connection.ask("add", NUMBERS) == {"sum": 3}
        last = responder.stats()
    assert [first["answered"], first["peers"], len(first["workers"])] == [0, 0, 3]
    assert last["answered"] == (24 if ends.keeps_connections(*sharing) else 12)
    assert last["peers"] == 12
    each = last["workers"]
    assert sum(worker["answered"] for worker in each) == last["answered"]
    assert sum(worker["peers"] for worker in each) >= last["peers"]
    assert sum(worker["cpu_s"] for worker in each) <= last["cpu_s"]
    assert sum(worker["memory_bytes"] for worker in each) <= last["memory_bytes"]
    assert all(after["cpu_s"] >= before["cpu_s"] for before, after in zip(first["workers"], each, strict=True))


ENDINGS: dict[str, tuple[Callable[[Program], None], int]] = {
    "SIGTERM": (lambda program: program.signal(signal.SIGTERM), 0),
    "closed-stdin": (Program.close_stdin, 0),
    "SIGKILL": (lambda program: program.signal(signal.SIGKILL), -signal.SIGKILL),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_worker_is_left_however_it_ends(ends: Implementation, sharing: tuple[str, str], ending: str):
    end, status = ENDINGS[ending]
    with ends.respond(*sharing, **THREE) as responder, responder.connect() as connection:
        connection.ask("add", NUMBERS)
        end(responder)
        assert responder.status() == status
        await_refusal(responder.ready["port"], ends.patience_s)


def test_a_worker_that_dies_ends_it(ends: Implementation, sharing: tuple[str, str]):
    with ends.respond(*sharing, **THREE) as responder:
        os.kill(workers_of(responder)[0], signal.SIGKILL)
        assert responder.status() == 1
        assert "worker" in responder.said
        await_refusal(responder.ready["port"], ends.patience_s)
