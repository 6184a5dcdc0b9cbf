"""The list of runs: what `orch runs` lists, with its filters, a search, and boxes to compare."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from orchestrator.history.filters import Filters, moment_of, require_verdict
from orchestrator.history.index import Index
from orchestrator.history.live import live
from orchestrator.history.record import VALIDITIES, Listed
from orchestrator.web.context import Context, context

router = APIRouter(include_in_schema=False)
PER_PAGE = 50
MOST_PAGES = 100_000


@dataclass(frozen=True)
class Wanted:
    """Which runs are asked for; each condition that is given must hold."""

    text: Annotated[str | None, Query(max_length=200, description="words to be found in a run")] = None
    experiment: Annotated[str | None, Query(max_length=200, description="name of the experiment")] = None
    stack: Annotated[str | None, Query(max_length=200, description="id or label of a stack")] = None
    placement: Annotated[str | None, Query(max_length=200, description="name of a placement")] = None
    host: Annotated[str | None, Query(max_length=200, description="provider, or part of a host's name or CPU")] = None
    since: Annotated[str | None, Query(max_length=40, description="a day or a time in UTC: begun then or later")] = None
    until: Annotated[str | None, Query(max_length=40, description="likewise: begun by then")] = None
    verdict: Annotated[str | None, Query(max_length=20, description="valid, warned, invalid or not judged")] = None
    tag: Annotated[str | None, Query(max_length=100, description="a tag")] = None

    def filters(self) -> Filters:
        """As the index takes them; UsageError for a date or a verdict that is none. What is empty is not asked for."""
        given: dict[str, Any] = {name: text.strip() or None for name, text in vars(self).items() if text is not None}
        since, until = given.pop("since", None), given.pop("until", None)
        require_verdict(given.get("verdict"), "verdict")
        return Filters(**given, since=moment_of(since, "since"), until=moment_of(until, "until", is_end=True))


@dataclass(frozen=True, kw_only=True)
class Listing:
    """A page of runs, newest first: `of` is how many there are on all pages."""

    runs: tuple[Listed, ...]
    of: int
    page: int
    pages: int
    troubles: tuple[str, ...]


def listing(of: Context, wanted: Filters, page: int, per_page: int = PER_PAGE) -> Listing:
    """The runs of that page, from 1, or of the last one."""

    def read(index: Index, troubles: tuple[str, ...]) -> Listing:
        every = index.count(wanted)
        pages = max(1, -(-every // per_page))
        place = min(page, pages)
        found = index.runs(replace(wanted, limit=per_page, offset=(place - 1) * per_page))
        return Listing(runs=tuple(map(live, found)), of=every, page=place, pages=pages, troubles=troubles)

    return of.runs.read(("listing", wanted, page, per_page), read)


@router.get("/")
async def runs(
    request: Request,
    wanted: Annotated[Wanted, Depends()],
    page: Annotated[int, Query(ge=1, le=MOST_PAGES)] = 1,
) -> Response:
    """The list, a page of it."""
    of = context(request)
    found = await of.work.quick(listing, of, wanted.filters(), page)
    given = {name: value for name, value in vars(wanted).items() if value}
    values = {
        "found": found,
        "wanted": wanted,
        "given": given,
        "verdicts": VALIDITIES,
        "has_filters": bool(given.keys() - {"text"}),
    }
    return of.templates.TemplateResponse(request, "runs.html", values)
