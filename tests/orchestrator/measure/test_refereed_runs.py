"""Real runs beside real load generators, where they are installed; and what is left when one is ended rudely."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from orchestrator.hosts.load_generators import look
from orchestrator.hosts.processes import RUN_MARK, marked
from orchestrator.referee.generators import GHZ, OHA, WRK, Tool
from orchestrator.referee.relay import Relay
from orchestrator.results.folder import RunFolder, verify

ORCH = [sys.executable, "-c", "from orchestrator.cli.main import main; main()"]
PATIENCE_S = 110.0
COMPLETED = (0, 5)  # on a busy machine a check of the numbers may fail; what is tested here is the way to them

REST = "stacks: [{protocol: rest, responder: starlette}]\n"
TLS = "stacks: [{protocol: rest, responder: starlette-granian}]\ntls: tls1.3\n"
GRPC = "stacks: [{protocol: grpc, responder: grpc-aio}]\n"


def experiment(folder: Path, stacks: str, repeats: int = 3, more: str = "") -> Path:
    path = folder / "beside.yaml"
    path.write_text(
        f"name: beside\nquestion: Do both agree?\noperations: add\nrepeats: {repeats}\n{stacks}{more}"
        "load: {concurrency: 2, requests: 100}\nwarmup: {requests: 5, at_least: 0s}\n"
    )
    return path


def orch(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*ORCH, *words], cwd=folder, text=True, capture_output=True, timeout=PATIENCE_S, check=False)


def needs(tool: Tool) -> pytest.MarkDecorator:
    generator = look(tool)
    return pytest.mark.skipif(bool(generator.why), reason=f"{generator.why} (make referee)")


CASES = [
    pytest.param(WRK, REST, "", marks=needs(WRK), id="wrk"),
    pytest.param(OHA, REST, "", marks=needs(OHA), id="oha"),
    pytest.param(OHA, REST, "connection: per-request\n", marks=needs(OHA), id="oha-per-request"),
    pytest.param(OHA, TLS, "", marks=needs(OHA), id="oha-tls"),
    pytest.param(GHZ, GRPC, "", marks=needs(GHZ), id="ghz"),
    pytest.param(GHZ, GRPC, "tls: tls1.3\n", marks=needs(GHZ), id="ghz-tls"),
]


@pytest.mark.alone
@pytest.mark.busy
@pytest.mark.parametrize(("tool", "stacks", "more"), CASES)
def test_a_run_beside_it_has_its_figures_and_its_output(tool: Tool, stacks: str, more: str, tmp_path: Path) -> None:
    path = experiment(tmp_path, stacks, more=more)
    done = orch(tmp_path, "run", str(path), "--referee", tool.name, "--json")
    assert done.returncode in COMPLETED, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    run = RunFolder.open("latest", root=tmp_path / "results")
    turns = run.manifest().turns
    assert [(turn.failure, turn.tool) for turn in turns] == [("", tool.name)] * 3
    assert [turn.came_first for turn in turns] == [False, True, False]
    checks = json.loads((run.path / "checks.json").read_text())
    (cell,) = (check["evidence"] for check in checks["checks"] if check["name"] == "referee" and check["cell"])
    assert cell["rounds"] == 3
    assert cell["median_ms"]["ratio"] > 0
    assert {turn.raw for turn in turns} <= set(verify(run))
    assert "referee" in (tmp_path / document["report"]).read_text()


@pytest.mark.alone
@pytest.mark.busy
@needs(WRK)
def test_ctrl_c_leaves_no_process(tmp_path: Path) -> None:
    path = experiment(tmp_path, REST)
    words = [*ORCH, "run", str(path), "--referee", "wrk"]
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + PATIENCE_S
        while not list((tmp_path / "results").glob("*/staging/host/wrk.lua")):  # written right before wrk is started
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.1)
        (run,) = (tmp_path / "results").iterdir()
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=PATIENCE_S) == 130
    assert marked(RUN_MARK, run.name) == []


def test_a_relay_passes_on_and_keeps_what_was_written(tmp_path: Path) -> None:
    import socket
    from threading import Thread

    large = bytes(range(256)) * 4096

    def answer(listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                while chunk := connection.recv(1 << 16):
                    connection.sendall(chunk)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        Thread(target=answer, args=(listener,), daemon=True).start()
        relay = Relay("127.0.0.1", listener.getsockname()[1])
        try:
            for written in (b"one", large):
                with socket.create_connection(("127.0.0.1", relay.port), timeout=20) as client:
                    Thread(target=client.sendall, args=(written,), daemon=True).start()
                    back = b""
                    while len(back) < len(written):
                        back += client.recv(1 << 16)
                    assert back == written
            assert relay.sent == [b"one", large]
        finally:
            relay.close()
            listener.shutdown(socket.SHUT_RDWR)
