"""The application: its routers, its templates, and what stands around every request."""

from __future__ import annotations

from fastapi import FastAPI

from orchestrator import __version__
from orchestrator.web import api, assets, jobs, live, problems
from orchestrator.web.context import Context
from orchestrator.web.guard import Guard
from orchestrator.web.index import Runs
from orchestrator.web.judged import JudgedRuns
from orchestrator.web.names import Names
from orchestrator.web.pages import changes, compare, documentation, files, run, runs, trends
from orchestrator.web.templating import templates
from orchestrator.workspace import Workspace

ABOUT = """What `orch serve` shows, for programs: runs, their cells and checks, comparisons, and cells over runs.

Reading is free on loopback, and needs `Authorization: Bearer TOKEN` elsewhere; whatever changes something always does. A
request that cannot be answered gets `application/problem+json` with `message` and `hint`."""


def create_app(workspace: Workspace, token: str, *, is_loopback: bool = True, names: Names | None = None) -> FastAPI:
    """The page over these folders. It reads them at each request, and keeps nothing but what it started.

    `names`: what it answers to; by default this machine's own, at any port.
    """
    app = FastAPI(
        title="orch",
        version=__version__,
        description=ABOUT,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    found = Context(
        workspace=workspace,
        token=token,
        templates=templates(),
        is_loopback=is_loopback,
        names=names or Names(),
        runs=Runs(workspace),
        judged=JudgedRuns(workspace),
    )
    app.state.context = found
    for part in (assets, runs, run, changes, files, compare, trends, documentation, live, jobs, api):
        app.include_router(part.router)
    problems.handle(app)
    app.add_middleware(Guard, context=found)
    return app
