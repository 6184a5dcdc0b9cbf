"""The page `/trends`: the cells that runs measured, and cells over their runs, as `orch runs trend` shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Request
from starlette.responses import Response

from orchestrator import quantities
from orchestrator.findings.compare import Statistic
from orchestrator.history.trend import Point, Trend, letter, step_clause, trend
from orchestrator.report.figures.base import Figure
from orchestrator.report.markup import DASH
from orchestrator.web import figure
from orchestrator.web.compare_page import STATISTICS
from orchestrator.web.list_page import Conditions
from orchestrator.web.site import Here

router = APIRouter()
_MOST_CELLS, _MOST_TRENDS, _MOST_RUNS = 200, 12, 500


@dataclass(frozen=True, kw_only=True)
class Line:
    """A run of a trend as texts."""

    point: Point
    value: str
    interval: str
    conditions: str
    change: str
    step: str


@dataclass(frozen=True, kw_only=True)
class ShownTrend:
    """A trend with its figure, its runs newest first, and what each letter of conditions means."""

    trend: Trend
    unit: str
    figure: Figure | None
    lines: tuple[Line, ...]
    conditions: tuple[tuple[str, str], ...]
    steps: int


@router.get("/trends")
def trends(
    request: Request,
    site: Here,
    conditions: Annotated[Conditions, Depends()],
    cell: str = "",
    statistic: Statistic = "median",
) -> Response:
    """Return the list of cells, or the trends of the cells of an id, beginning of an id, or stack."""
    given = {name: text for name, text in conditions.given.items() if name != "text"}
    if not cell:
        wanted = conditions.text.lower().split()
        with site.index() as index:
            known = [each for each in index.cells() if all(word in f"{each[0]} {each[2]}".lower() for word in wanted)]
        return site.page(request, "cells.html", cells=known, most=_MOST_CELLS, text=conditions.text, given=given)
    with site.index() as index:
        seen = list(index.seen(cell, conditions.filters()).values())[:_MOST_TRENDS]
    if not seen:
        raise HTTPException(404, f"no run measured {cell!r} under these conditions")
    return site.page(
        request,
        "trends.html",
        trends=[_shown(trend(runs[-_MOST_RUNS:], statistic)) for runs in seen],
        cell=cell,
        statistic=statistic,
        statistics=STATISTICS,
        given=conditions.given,
    )


def _shown(trend: Trend) -> ShownTrend:
    unit = quantities.unit_for([point.median for point in trend.points if point.median is not None] or [1.0])
    environments = [
        (letter(number), "; ".join(differences) or "the conditions of the first run")
        for number, differences in enumerate(trend.environments)
    ]
    return ShownTrend(
        trend=trend,
        unit="requests/s" if trend.statistic == "throughput" else unit.name,
        figure=figure.of_trend(trend, unit),
        lines=tuple(_line(point, trend.statistic, unit) for point in reversed(trend.points)),
        conditions=tuple(environments) if len(environments) > 1 else (),
        steps=sum(point.step is not None for point in trend.points),
    )


def _line(point: Point, statistic: Statistic, unit: quantities.Unit) -> Line:
    value, interval = getattr(point, statistic), getattr(point, f"{statistic}_interval")
    text = quantities.rate if statistic == "throughput" else unit.text
    return Line(
        point=point,
        value=DASH if value is None else text(value),
        interval=DASH if interval is None or quantities.is_vague(interval) else " – ".join(map(text, interval)),
        conditions=letter(point.environment),
        change=DASH if point.change is None else f"{quantities.factor(point.change)}×",
        step=step_clause(point),
    )
