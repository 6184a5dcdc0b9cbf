"""A run folder whose journal grows as the run of a test's choice would make it, and the web page over it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from starlette.responses import Response

from orchestrator.experiment.plan.plan import Plan
from orchestrator.hosts.processes import started_at
from orchestrator.measure.interrupts import SESSION
from orchestrator.results.folder import RunFolder
from orchestrator.results.manifest import TrialRecord
from orchestrator.web import jobs, live
from orchestrator.web.app import create_app
from orchestrator.workspace import Workspace
from tests.support.plans import plan

TOKEN = "a token of a test"
ASSETS = Path(live.__file__).parent / "assets"
PATIENCE_S = 60.0


class Growing:
    """A run of two stacks and two blocks in `results/`, begun by this very process, or by the one that is named."""

    def __init__(self, root: Path, planned: Plan | None = None) -> None:
        self.plan = planned or plan("tcp", "rest")
        self.folder = RunFolder.create(self.plan, command=["orch", "run"], root=root / "results")
        self.id = self.folder.id

    def session(self, pid: int | None = None) -> None:
        pid = pid or os.getpid()
        self.folder.append({"event": SESSION, "pid": pid, "started": started_at(pid)})

    def stage(self, name: str) -> None:
        self.folder.append({"event": "stage", "stage": name})

    def block(self, number: int, attempt: int = 0) -> None:
        self.folder.append({"event": "block", "block": number, "attempt": attempt})

    def block_end(self, number: int, attempt: int = 0) -> None:
        self.folder.append({"event": "block-end", "block": number, "attempt": attempt})

    def trial(self, index: int, median_ms: float | None = 1.0, *, attempt: int = 0, is_ok: bool = True) -> None:
        planned = self.plan.trials[index]
        now_ns = time.time_ns()
        record = TrialRecord(
            index=index,
            block=planned.block,
            cell=planned.cell,
            attempt=attempt,
            outcome="ok" if is_ok else "failed",
            started_wall_ns=now_ns - 10**9,
            ended_wall_ns=now_ns,
            overhead_s=0.1,
        )
        median_ns = None if median_ms is None else median_ms * 1e6
        self.folder.append({"event": "trial", "trial": asdict(record), "records": {}, "median_ns": median_ns})

    def measuring(self) -> Growing:
        """Up to the first block."""
        self.session()
        self.stage("measure")
        self.block(0)
        return self

    def end(self, state: str = "complete") -> None:
        """As a run ends: the last event, then nobody holds the folder."""
        self.folder.append({"event": "end", "state": state, "at": "2026-11-23T10:00:00+00:00"})

    def let_go(self) -> None:
        self.folder.release()


def app_of(workspace: Workspace) -> FastAPI:
    """The page, with the routers of the live view, whether or not it has them by itself."""
    app = create_app(workspace, TOKEN)
    paths = {getattr(route, "path", "") for route in app.routes}
    if "/live/{run}" not in paths:
        app.include_router(live.router)
    if "/start" not in paths:
        app.include_router(jobs.router)
    if "/assets/{name}" not in paths:
        app.add_api_route("/assets/{name}", _asset)
    return app


def _asset(name: str) -> Response:
    kinds = {"live.js": "text/javascript", "live.css": "text/css"}
    return Response((ASSETS / name).read_bytes(), media_type=kinds[name])


@contextmanager
def served(workspace: Workspace) -> Iterator[str]:
    """The page on a free port of loopback; its address."""
    server = uvicorn.Server(
        uvicorn.Config(app_of(workspace), host="127.0.0.1", port=0, log_level="error", timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + PATIENCE_S
    while not server.started:
        assert thread.is_alive()
        assert time.monotonic() < deadline, "the page did not start"
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE_S)


def until(condition: Any, what: str) -> Any:
    """What the condition gives as soon as it is true."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        with suppress(AssertionError):
            if found := condition():
                return found
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.02)
