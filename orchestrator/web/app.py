"""The application: its pages, its assets, and what a request gets that has no answer."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from orchestrator.errors import InvalidMeasurement, OrchError, UsageError
from orchestrator.report import palette
from orchestrator.report.page import plotly_library
from orchestrator.web import compare_page, list_page, live_page, run_page, trend_page
from orchestrator.web.site import Site
from orchestrator.workspace import Workspace

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_TITLES = {400: "Not possible", 404: "Not found", 422: "This run cannot be judged"}
_A_DAY = {"cache-control": "max-age=86400"}
_assets = APIRouter(prefix="/assets")


def create_app(workspace: Workspace, hosts: Sequence[str] = LOOPBACK) -> FastAPI:
    """Return the pages over these folders, which change nothing but add reports.

    `hosts`: the names in a Host header that get an answer; others come from DNS rebinding.
    """
    app = FastAPI(title="orch", openapi_url=None)
    app.state.site = Site(workspace)
    for part in (_assets, list_page.router, run_page.router, compare_page.router, trend_page.router, live_page.router):
        app.include_router(part)
    app.mount("/assets", StaticFiles(packages=[("orchestrator.web", "assets")]))
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)
    for kind in (OrchError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, _problem)
    return app


@_assets.get("/colours.css")
def colours() -> Response:
    """Return the colours of reports, light and dark."""
    return Response(palette.css(), media_type="text/css", headers=_A_DAY)


@_assets.get("/plotly.js")
def plotly() -> Response:
    """Return the chart library of reports, compressed as it is stored."""
    headers = {**_A_DAY, "content-encoding": "gzip"}
    return Response(plotly_library(), media_type="text/javascript", headers=headers)


def _problem(request: Request, error: Exception) -> Response:
    status, hint = 400, None
    match error:
        case OrchError():
            status = 400 if isinstance(error, UsageError) else 422 if isinstance(error, InvalidMeasurement) else 500
            message, hint = error.message, error.hint
        case HTTPException():
            status, message = error.status_code, str(error.detail)
        case RequestValidationError():
            first = error.errors()[0]
            message = f"{first['loc'][-1]}: {first['msg']}"
        case _:
            raise error
    site: Site = request.app.state.site
    title = _TITLES.get(status, "Not possible")
    return site.page(request, "problem.html", status=status, title=title, message=message, hint=hint)
