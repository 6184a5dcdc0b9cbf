"""The web page over a folder of made-up runs: asked as programs and browsers ask, and served to a real browser."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from starlette.testclient import TestClient

from orchestrator.web import listening
from orchestrator.web.app import create_app
from orchestrator.workspace import Workspace
from tests.support.past import a_past_run, slower, with_samples

TOKEN = "a-token-of-tests"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
EVIL = "<script>alert(1)</script>"
HERE = "http://127.0.0.1:8000"
RUNS = tuple(f"2026111{day}-025500-made-{day:04x}" for day in range(6))
WITH_SAMPLES = "20261109-025500-samples-00ff"


def made_up(root: Path, runs: int = len(RUNS)) -> Workspace:
    """Judged runs, each a day later, every other one with a hostile name, the sixth slower; and one with samples."""
    for day, name in enumerate(RUNS[:runs]):
        a_past_run(
            root / "results" / name,
            started=f"2026-11-1{day}T02:55:00+00:00",
            experiment=EVIL if day % 2 else "synthetic",
            change=slower(1.4 if day == 5 else 1.0, noise=0.001 * day),
        )
    with_samples(root / "results" / WITH_SAMPLES)
    return Workspace(root)


def client(workspace: Workspace, *, is_loopback: bool = True, session: bool = False) -> TestClient:
    """One that asks as a browser does; with `session` it was shown the token."""
    found = TestClient(create_app(workspace, TOKEN, is_loopback=is_loopback), base_url=HERE, follow_redirects=False)
    if session:
        assert found.get(f"/?token={TOKEN}").status_code == 303
    return found


def form_token(asked: TestClient, page: str) -> str:
    """What a form of that page carries."""
    found = re.search(r'name="form_token" value="(\w+)"', asked.get(page).text)
    assert found, f"{page} has no form"
    return found[1]


@contextmanager
def served(workspace: Workspace) -> Iterator[str]:
    """The page on a free port of loopback; its address, without the token."""
    bound = listening.listen("127.0.0.1", 0)
    names = listening.names("127.0.0.1", bound, ())
    app = create_app(workspace, TOKEN, names=names)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{names.port}"
    finally:
        server.should_exit = True
        thread.join(30)
        bound.close()
