"""The page `/`: a list of runs with a search and filters, and boxes to choose runs to compare."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from orchestrator.history.filters import Filters, moment_of
from orchestrator.web.site import Here

router = APIRouter()
PER_PAGE = 50


@dataclass(frozen=True)
class Conditions:
    """The conditions of a list of runs, as an address gives them; all that are given must hold."""

    text: str = ""
    since: str = ""
    until: str = ""

    @property
    def given(self) -> dict[str, str]:
        """The conditions that are not empty."""
        return {name: text.strip() for name, text in vars(self).items() if text.strip()}

    def filters(self) -> Filters:
        """Return the conditions as the index reads them; UsageError for an invalid date."""
        given: dict[str, Any] = dict(self.given)
        given["since"] = moment_of(given.get("since"), "since")
        given["until"] = moment_of(given.get("until"), "until", is_end=True)
        return Filters(**given)


@router.get("/")
def runs(
    request: Request,
    site: Here,
    conditions: Annotated[Conditions, Depends()],
    page: Annotated[int, Query(ge=1, le=100_000)] = 1,
) -> Response:
    """Return one page of the list, newest run first."""
    filters = conditions.filters()
    with site.index() as (index, troubles):
        total = index.count(filters)
        pages = max(1, -(-total // PER_PAGE))
        page = min(page, pages)
        listed = index.runs(replace(filters, limit=PER_PAGE, offset=(page - 1) * PER_PAGE))
    return site.page(
        request,
        "runs.html",
        runs=listed,
        total=total,
        page=page,
        pages=pages,
        troubles=troubles,
        given=conditions.given,
    )
