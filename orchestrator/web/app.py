"""The application: its routers, its templates, and what stands around every request."""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.templating import Jinja2Templates
from jinja2 import Environment, PackageLoader, StrictUndefined

from orchestrator.web.context import Context
from orchestrator.workspace import Workspace


def create_app(workspace: Workspace, token: str, *, is_loopback: bool = True) -> FastAPI:
    """The page over these folders. It reads them at each request, and keeps nothing but what it started."""
    app = FastAPI(title="orch", docs_url=None, redoc_url=None)
    app.state.context = Context(workspace=workspace, token=token, templates=_templates(), is_loopback=is_loopback)
    return app


def _templates() -> Jinja2Templates:
    environment = Environment(
        loader=PackageLoader("orchestrator.web"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    return Jinja2Templates(env=environment)
