"""Style and script of the pages: our own files, from the package; a page asks nobody else for anything."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources

from fastapi import APIRouter, Request
from starlette.responses import Response

from orchestrator.report import palette
from orchestrator.web.refused import Refused

router = APIRouter(include_in_schema=False)
_KINDS = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_A_DAY = "public, max-age=86400"


@router.get("/assets/{name}")
def asset(request: Request, name: str) -> Response:
    """A file of style or script; for a day where its address names its version."""
    content = read(name)
    if content is None:
        raise Refused(404, "there is no such file", hint="load the page again")
    is_versioned = request.query_params.get("v") == version(name)
    headers = {"cache-control": _A_DAY if is_versioned else "no-cache"}
    return Response(content, media_type=_KINDS[name.rpartition(".")[2]], headers=headers)


@cache
def _names() -> frozenset[str]:
    folder = resources.files("orchestrator.web").joinpath("assets")
    return frozenset(file.name for file in folder.iterdir() if file.name.rpartition(".")[2] in _KINDS)


def read(name: str) -> bytes | None:
    """A file's content; None where there is no such one. The style begins with the colours of reports."""
    return _content(name) if name in _names() else None


@cache
def _content(name: str) -> bytes:
    content = resources.files("orchestrator.web").joinpath("assets", name).read_bytes()
    return palette.css().encode() + content if name == "page.css" else content


@cache
def version(name: str) -> str:
    """What tells a file from an earlier one, for its address."""
    return hashlib.sha256(read(name) or b"").hexdigest()[:12]


def address(name: str) -> str:
    """Where a page finds a file."""
    return f"/assets/{name}?v={version(name)}"
