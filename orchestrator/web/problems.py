"""What a request gets that cannot be answered: a page in our words, or a document for programs (RFC 9457)."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from orchestrator.errors import InvalidMeasurement, MissingError, OrchError, UsageError
from orchestrator.web.context import context
from orchestrator.web.refused import Refused

_TITLES = {
    400: "That cannot be answered",
    401: "This page needs its token",
    403: "Refused",
    404: "Not here",
    405: "Not possible here",
    409: "Not now",
    413: "Too large",
    421: "Not this page's name",
    422: "This run cannot be judged",
    500: "orch failed",
    503: "Not possible now",
}


def response(request: Request, status: int, message: str, hint: str | None, *, again_s: int | None = None) -> Response:
    """The page or the document; programs get the latter, from `/api/` or because they ask for JSON."""
    headers = None if again_s is None else {"retry-after": str(again_s)}
    title = _TITLES.get(status, "That cannot be answered")
    if is_for_programs(request):
        document = {"type": "about:blank", "title": title, "status": status, "message": message, "hint": hint or None}
        return JSONResponse(document, status_code=status, headers=headers, media_type="application/problem+json")
    values = {"title": title, "message": message, "hint": hint or ""}
    templates = context(request).templates
    return templates.TemplateResponse(request, "problem.html", values, status_code=status, headers=headers)


def is_for_programs(request: Request) -> bool:
    """Whether a program asks, by the place, or by what it accepts."""
    accepted = request.headers.get("accept", "")
    return request.url.path.startswith("/api/") or ("json" in accepted and "html" not in accepted)


def status_of(error: OrchError) -> int:
    """The status of HTTP for an error of orch."""
    if isinstance(error, UsageError):
        return 400
    if isinstance(error, InvalidMeasurement):
        return 422
    return 503 if isinstance(error, MissingError) else 500


def handle(app: FastAPI) -> None:
    """Turn every error that is raised on purpose into an answer; others end in `guard`."""

    async def refused(request: Request, error: Any) -> Response:
        return response(request, error.status, error.message, error.hint, again_s=error.again_s)

    async def of_orch(request: Request, error: Any) -> Response:
        return response(request, status_of(error), error.message, error.hint)

    async def of_http(request: Request, error: Any) -> Response:
        message = "there is no such page" if error.status_code == 404 else str(error.detail)
        return response(request, error.status_code, message, "the list of runs is at /")

    async def of_values(request: Request, error: Any) -> Response:
        told = "; ".join(f"{'.'.join(str(step) for step in of['loc'][1:])}: {of['msg']}" for of in error.errors()[:5])
        return response(request, 400, told or "the request cannot be read", "/api says what each request takes")

    app.add_exception_handler(Refused, refused)
    app.add_exception_handler(OrchError, of_orch)
    app.add_exception_handler(HTTPException, of_http)
    app.add_exception_handler(RequestValidationError, of_values)
