"""Cells over runs: a list of them, and for one its picture, its runs, and where it changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from markupsafe import Markup
from starlette.responses import Response

from orchestrator.analysis import words
from orchestrator.analysis.compare import Statistic
from orchestrator.history.filters import Filters
from orchestrator.history.trend import Point, Trend, against_earlier, letter
from orchestrator.report.quantities import DASH
from orchestrator.web.context import Context, context
from orchestrator.web.pages.compare import STATISTICS
from orchestrator.web.pages.runs import Wanted
from orchestrator.web.trend_picture import picture
from orchestrator.web.trends import cells, trends

router = APIRouter(include_in_schema=False)
_MOST_CELLS = 200


@dataclass(frozen=True, kw_only=True)
class Line:
    """A run of a trend, as texts."""

    point: Point
    value: str
    interval: str
    letter: str
    change: str
    verdict: str


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A trend as the page has it: its picture, its runs newest first, and its conditions by letter."""

    of: Trend
    unit: str
    picture: Markup | None
    lines: tuple[Line, ...]
    conditions: tuple[tuple[str, str], ...]
    changes: int


def _shown(of: Context, cell: str, wanted: Filters, statistic: Statistic) -> list[Shown]:
    return [_of(each, number) for number, each in enumerate(trends(of, cell, wanted, statistic))]


def _of(each: Trend, number: int) -> Shown:
    values = [value for point in each.points for value in (point.median, point.p99) if value is not None]
    unit = words.unit_for(values or [1.0])
    told = [(letter(at), "; ".join(of) or "the conditions of the first run") for at, of in enumerate(each.environments)]
    return Shown(
        of=each,
        unit="requests/s" if each.statistic == "throughput" else unit.name,
        picture=picture(each, unit, f"trend-{number}"),
        lines=tuple(_line(point, each, unit) for point in reversed(each.points)),
        conditions=tuple(told) if len(told) > 1 else (),
        changes=sum(point.is_change for point in each.points),
    )


def _line(point: Point, of: Trend, unit: words.Unit) -> Line:
    value, interval = getattr(point, of.statistic), getattr(point, f"{of.statistic}_interval")
    text = words.rate if of.statistic == "throughput" else unit.text
    return Line(
        point=point,
        value=DASH if value is None else text(value),
        interval=DASH if interval is None or words.is_vague(interval) else " – ".join(map(text, interval)),
        letter=letter(point.environment),
        change=DASH if point.change is None else f"{words.factor(point.change)}×",
        verdict=against_earlier(point),
    )


@router.get("/trends")
async def trends_page(
    request: Request,
    wanted: Annotated[Wanted, Depends()],
    cell: Annotated[str, Query(max_length=400)] = "",
    statistic: Statistic = "median",
) -> Response:
    """The cells that runs measured, or one of them over its runs."""
    of = context(request)
    values = {"cell": cell, "statistic": statistic, "statistics": STATISTICS, "wanted": wanted, "most": _MOST_CELLS}
    given = {name: value for name, value in vars(wanted).items() if value and name != "text"}
    if not cell:
        known = await of.work.quick(cells, of, wanted.text or "")
        return of.templates.TemplateResponse(request, "cells.html", {**values, "known": known, "given": given})

    def page() -> Response:
        found = _shown(of, cell, wanted.filters(), statistic)
        return of.templates.TemplateResponse(request, "trends.html", {**values, "found": found, "given": given})

    return await of.work.heavy(page)
