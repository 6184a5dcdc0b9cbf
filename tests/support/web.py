"""The web page over a folder of made-up runs, for a client in the test's process and for a real browser."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from starlette.testclient import TestClient

from orchestrator.cli.machine.serve import listen
from orchestrator.web.app import create_app
from orchestrator.workspace import Workspace
from tests.support.past import a_past_run, slower, with_samples

EVIL = "<script>alert(1)</script>"
RUNS = tuple(f"2026111{day}-025500-made-{day:04x}" for day in range(9))
WITH_SAMPLES = "20261109-025500-samples-00ff"
OLDER = "20261108-025500-samples-00fe"
_PATIENCE_S = 60.0


def made_up(root: Path) -> Workspace:
    """Make runs a day apart: nine judged ones without samples, slower from the sixth on, and two with samples.

    Every other one has a hostile name.
    """
    for day, name in enumerate(RUNS):
        a_past_run(
            root / "results" / name,
            started=f"2026-11-1{day}T02:55:00+00:00",
            experiment=EVIL if day % 2 else "synthetic",
            change=slower(1.4 if day >= 5 else 1.0, noise=0.001 * day),
        )
    with_samples(root / "results" / WITH_SAMPLES)
    with_samples(root / "results" / OLDER)
    return Workspace(root)


def client(workspace: Workspace) -> TestClient:
    """Return a client that names loopback in its Host header; `context` of an answer has what its template got."""
    return TestClient(create_app(workspace), base_url="http://127.0.0.1:8000", follow_redirects=False)


@contextmanager
def served(workspace: Workspace) -> Iterator[str]:
    """Serve the page on a free port of loopback, and give its address."""
    app = create_app(workspace)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none", timeout_graceful_shutdown=1))
    with listen("127.0.0.1", 0) as bound:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
        thread.start()
        deadline = time.monotonic() + _PATIENCE_S
        while not server.started:
            assert thread.is_alive()
            assert time.monotonic() < deadline, "the page did not start"
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{bound.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(_PATIENCE_S)
