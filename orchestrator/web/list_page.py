"""The page `/`: the newest result with its chart, then runs and a search."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from orchestrator.errors import OrchError
from orchestrator.history.record import Filters, Listed
from orchestrator.report.charts import Charts
from orchestrator.web.site import Here, Site
from orchestrator.wording.answer import answer

router = APIRouter()
PER_PAGE = 50
_MOST_PICTURES = 2
_MOST_TRIED = 5  # runs in progress, or without samples, that may be newer


def _newest(site: Site, listed: Sequence[Listed]) -> dict[str, Any] | None:
    for run in listed[:_MOST_TRIED]:
        with suppress(OrchError):
            summary = site.judged(run.id).summary
            return {"run": run, "answer": answer(summary), "pictures": Charts(summary).first[:_MOST_PICTURES]}
    return None


@router.get("/")
def runs(request: Request, site: Here, text: str = "", page: Annotated[int, Query(ge=1, le=100_000)] = 1) -> Response:
    """Return one page of the list, newest run first; `text` as `Filters` has it."""
    filters = Filters(text=text)
    with site.index() as index:
        total = index.count(filters)
        pages = max(1, -(-total // PER_PAGE))
        page = min(page, pages)
        listed = index.runs(replace(filters, limit=PER_PAGE, offset=(page - 1) * PER_PAGE))
    return site.page(
        request,
        "runs.html",
        runs=listed,
        newest=None if text.strip() or page > 1 else _newest(site, listed),
        total=total,
        page=page,
        pages=pages,
        text=text.strip(),
    )
