"""Real runs of streams of which something goes wrong: what is lost on the way is counted, and other cells go on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from orchestrator.experiment.plan.planning import make_plan
from orchestrator.measure import run as measure
from orchestrator.results.folder import RunFolder
from orchestrator.summarise import summarise
from orchestrator.workspace import Workspace
from tests.support.ends import responder
from tests.support.event_relay import FRAMES, GRPC, Faults, event_relay
from tests.support.hosts import Told

pytestmark = [pytest.mark.alone, pytest.mark.busy, pytest.mark.slow]

EXPERIMENT = """\
name: broken
question: What becomes of events that are lost on the way?
stacks:
  - {protocol: websocket, external: "localhost:RELAYED"}
  - {protocol: grpc, external: "localhost:CUT"}
  - {protocol: sse, external: "localhost:REFUSING"}
  - {protocol: sse, responder: uvicorn}
operations: [{events: {per_second: 100/s, bytes: 50 B}}]
load: {concurrency: 2, duration: 400ms}
warmup: {at_least: 100ms}
timeout: 5s
repeats: 2
"""


class Refusing(BaseHTTPRequestHandler):
    """Says who it is, and has no events for anybody."""

    def do_GET(self) -> None:
        is_asked_who = self.path.startswith("/identity")
        body = b'data: {"identity":"full"}\n\n' if is_asked_who else b"no room for another subscriber"
        self.send_response(200 if is_asked_who else 503)
        self.send_header("Content-Type", "text/event-stream" if is_asked_who else "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the library's name
        pass


@contextmanager
def refusing() -> Iterator[int]:
    """The port of a server that refuses every subscription."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def ends_of(cell: str) -> str:
    """Protocol and responder of a cell's id."""
    return "-".join(cell.split("-")[:2])


def test_what_a_relay_does_is_counted_and_cut_and_refused_streams_fail_their_cells_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    faults = Faults(dropped=frozenset({7, 8, 20}), repeated=frozenset({9}), held=frozenset({5, 12}))
    told = Told()
    with (
        responder("websocket", "by hand") as (_, websocket),
        responder("grpc", "by hand", implementation="grpc-aio") as (_, grpc),
        event_relay(websocket["port"], faults, FRAMES) as relayed,
        event_relay(grpc["port"], Faults(last=30), GRPC) as cut,
        refusing() as full,
    ):
        text = EXPERIMENT
        for name, port in (("RELAYED", relayed), ("CUT", cut), ("REFUSING", full)):
            text = text.replace(name, str(port))
        Path("broken.yaml").write_text(text)
        result = measure.start(make_plan(Path("broken.yaml")), Workspace(), command=["orch", "run"], listener=told)
    run = RunFolder(result.folder)
    failed = {
        (ends_of(trial.cell), trial.failure.kind, trial.failure.message)
        for trial in run.journal_state().trials
        if trial.failure is not None
    }
    assert {stack for stack, _, _ in failed} == {"grpc-external", "sse-external"}, failed
    assert any(kind == "closed" and "every stream ended before it was over" in said for _, kind, said in failed), failed
    assert any("HTTP 503" in said and "no room for another subscriber" in said for _, _, said in failed), failed
    summary = summarise(run)
    of = {ends_of(cell.id): cell.stream for cell in summary.cells if cell.stream is not None}
    lossy, whole = of["websocket-external"], of["sse-uvicorn"]
    names = ("offered", "sent", "delivered", "dropped", "duplicated", "reordered", "wrong")
    assert [getattr(whole, name) for name in names] == [160, 160, 160, 0, 0, 0, 0]
    assert [getattr(lossy, name) for name in names] == [160, None, 148, 12, 4, 8, 0]
    said = [check for check in summary.checks if check.name == "event stream" and "websocket" in str(check.cell)]
    assert {check.verdict for check in said} == {"fail"}  # 7.5 % dropped: p99 is among them
    assert any(
        "12 never came" in check.explanation and "8 came behind a later one" in check.explanation for check in said
    )
