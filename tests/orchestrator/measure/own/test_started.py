"""A service of the person's own as a target: started on a free port, counted with all its processes, and ended."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from orchestrator.experiment.plan.plan import Start
from orchestrator.hosts.base import Pair
from orchestrator.hosts.local.host import LocalHost
from orchestrator.measure.interrupts import Interrupts
from orchestrator.measure.own.started import Started
from orchestrator.measure.target import TrialFailed

pytestmark = pytest.mark.busy

# Listens in a child of its own, which works a little first.
SERVICE = """
import os, socket, sys, time
print("starting", os.environ["MODE"], flush=True)
if os.fork() == 0:
    until = time.process_time() + 0.2
    while time.process_time() < until: pass
    server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
    print("listening", os.getpid(), flush=True)
    while True: server.accept()
os.wait()
"""


@contextmanager
def started(folder: Path, source: str = SERVICE, connections: int = 0, **changes: object) -> Iterator[Started]:
    (folder / "service.py").write_text(source)
    usual = {
        "argv": ("{python}", "service.py", "{port}"),
        "folder": ".",
        "ready": "tcp",
        "ready_at": "",
        "within_s": 20.0,
    }
    start = Start(**{**usual, "env": {"MODE": "a ${HOME}"}, **changes})  # type: ignore[arg-type]
    host = LocalHost(folder / "host", note=lambda _: None)
    pair = Pair((host,), host)
    target = Started(start_as=start, pair=pair, interrupts=Interrupts(), folder=str(folder), connections=connections)
    try:
        target.start()
        yield target
    finally:
        target.end()


@pytest.mark.parametrize(("ready", "at"), [("tcp", ""), ("line", "listening")])
def test_it_answers_when_it_is_ready_is_counted_with_its_children_and_ends_with_them(
    tmp_path: Path, ready: str, at: str
) -> None:
    with started(tmp_path, ready=ready, ready_at=at) as target:
        address = target.await_ready()
        assert address.anonymous
        socket.create_connection((address.host, address.port), timeout=5).close()
        stats = target.stats("start")
        assert stats.cpu_s is not None
        assert stats.cpu_s >= 0.1
        assert (stats.memory_bytes or 0) > 1_000_000
    assert f"starting a {os.environ['HOME']}" in target.last_words()
    child = int(target.last_words().rpartition("listening ")[2])
    until_s = time.monotonic() + 10
    while Path(f"/proc/{child}").exists() and time.monotonic() < until_s:
        time.sleep(0.05)
    assert not Path(f"/proc/{child}").exists()


def test_one_that_dies_is_told_with_its_command_and_its_last_words(tmp_path: Path) -> None:
    with started(tmp_path, "import sys; sys.exit('no configuration')") as target, pytest.raises(TrialFailed) as failed:
        target.await_ready()
    assert failed.value.kind == "responder-died"
    assert "service.py {port}`), whose last words are: no configuration" in failed.value.message


def test_one_that_is_not_ready_in_time_is_told(tmp_path: Path) -> None:
    slow = "import time; time.sleep(60)"
    with started(tmp_path, slow, within_s=0.3) as target, pytest.raises(TrialFailed) as failed:
        target.await_ready()
    assert failed.value.kind == "responder-hung"
    assert "not ready by tcp within 0.3 s" in failed.value.message


@pytest.mark.parametrize(("connections", "kind"), [(40, None), (50, "exhausted")])
def test_one_with_too_few_files_for_its_connections_is_refused(
    tmp_path: Path, connections: int, kind: str | None
) -> None:
    few = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (50, 50))\n{SERVICE}"
    with started(tmp_path, few, connections) as target:
        try:
            target.await_ready()
            failed = None
        except TrialFailed as error:
            failed = error.kind
    assert failed == kind
