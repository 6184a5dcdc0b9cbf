"""The templates of the pages, and the functions that they use."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

from fastapi import Request
from fastapi.templating import Jinja2Templates
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from orchestrator import quantities
from orchestrator.report import comparison, markup
from orchestrator.report.page import shown
from orchestrator.wording.reasons import spread_source, why


def templates() -> Jinja2Templates:
    """Return the templates; all text is escaped, and invisible characters appear as their codes."""
    environment = Environment(
        loader=PackageLoader("orchestrator.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    environment.globals.update(
        run_at=run_at,
        live_at=live_at,
        query=query,
        count=quantities.count,
        percent=quantities.percent,
        ms=quantities.ms,
        minute=minute,
        prose=markup.prose,
        row_ratio=comparison.ratio,
        row_interval=comparison.interval,
        row_values=comparison.values,
        why=why,
        spread_source=spread_source,
    )
    return Jinja2Templates(env=environment, context_processors=[_here])


def run_at(run: str, below: str = "") -> str:
    """Return the address of a run's page, or of one below it.

    >>> run_at("a b", "report")
    '/runs/a%20b/report'
    """
    return f"/runs/{quote(run, safe='')}" + (f"/{below}" if below else "")


def live_at(run: str) -> str:
    """Return the address of the page that follows a run."""
    return f"/live/{quote(run, safe='')}"


def minute(stamp: str) -> str:
    """Return a time in UTC to the minute; a dash for no time.

    >>> minute("2026-11-21T10:11:12+00:00")
    '2026-11-21 10:11'
    """
    return stamp[:16].replace("T", " ") or markup.DASH


def query(**values: Any) -> str:
    """Return the query of an address, without empty values; a list gives a parameter for each entry.

    >>> query(run=["a", "b"], tag="")
    'run=a&run=b'
    """
    return urlencode({name: value for name, value in values.items() if value not in (None, "", [], ())}, doseq=True)


def _here(request: Request) -> dict[str, Any]:
    return {"here": request.url.path}


def _visible(value: Any) -> Any:
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value
