"""The templates: everything is escaped, what a reader cannot see is shown, and all pages know a few things."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

from fastapi import Request
from fastapi.templating import Jinja2Templates
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from orchestrator.analysis import words
from orchestrator.report import quantities
from orchestrator.report.page import shown
from orchestrator.web import assets


def templates() -> Jinja2Templates:
    """Templates of the folder `templates`; each has `request`, `form_token`, `may_change` and `here`."""
    environment = Environment(
        loader=PackageLoader("orchestrator.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    environment.globals.update(
        asset=assets.address,
        run_at=run_at,
        count=words.count,
        moment=quantities.moment,
        prose=quantities.prose,
        minute=minute,
        query=query,
    )
    return Jinja2Templates(env=environment, context_processors=[_of_every_page])


def run_at(run: str, below: str = "") -> str:
    """The address of a run's page, or of one below it.

    >>> run_at("a b", "report")
    '/runs/a%20b/report'
    """
    return f"/runs/{quote(run, safe='')}" + (f"/{below}" if below else "")


def minute(stamp: str) -> str:
    """A time in UTC to the minute; a dash where there is none.

    >>> minute("2026-11-21T10:11:12+00:00")
    '2026-11-21 10:11'
    """
    return stamp[:16].replace("T", " ") or quantities.DASH


def query(**values: Any) -> str:
    """The part of an address behind its question mark, of the values that are given; a list gives one each."""
    return urlencode({name: value for name, value in values.items() if value not in (None, "", [], ())}, doseq=True)


def _of_every_page(request: Request) -> dict[str, Any]:
    state = request.scope["state"]
    context = request.app.state.context
    may_change = bool(state.get("may_change"))
    return {
        "may_change": may_change,
        "form_token": context.form_token if may_change else "",
        "here": request.scope["path"],
    }


def _visible(value: Any) -> Any:
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value
