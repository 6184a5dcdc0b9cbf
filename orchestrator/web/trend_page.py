"""The page `/trends`: the cells that runs measured, and cells over their runs, as `orch runs trend` shows them."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import Response

from orchestrator.findings.compare import Statistic
from orchestrator.history.record import Filters
from orchestrator.history.trend import Point, Trend, figures, letter, step_clause, trend, unit_of
from orchestrator.report.figures.base import Figure
from orchestrator.web import figure
from orchestrator.web.compare_page import STATISTICS
from orchestrator.web.site import Here

router = APIRouter()
_MOST_CELLS, _MOST_TRENDS, _MOST_RUNS = 200, 12, 500


@dataclass(frozen=True, kw_only=True)
class ShownTrend:
    """A trend with its figure; of each run, newest first, the point, its letter, its figures and its step as texts."""

    trend: Trend
    unit: str
    figure: Figure | None
    lines: tuple[tuple[Point, str, tuple[str, str, str], str], ...]
    conditions: tuple[tuple[str, str], ...]
    steps: int


@router.get("/trends")
def trends(request: Request, site: Here, text: str = "", cell: str = "", statistic: Statistic = "median") -> Response:
    """Return the cells with these words, or the trends of the cells of an id, beginning of an id, or stack."""
    if not cell:
        wanted = text.lower().split()
        with site.index() as index:
            known = [each for each in index.cells() if all(word in f"{each[0]} {each[2]}".lower() for word in wanted)]
        return site.page(request, "cells.html", cells=known, most=_MOST_CELLS, text=text)
    with site.index() as index:
        seen = list(index.seen(cell, Filters()).values())[:_MOST_TRENDS]
    if not seen:
        raise HTTPException(404, f"no run measured {cell!r}")
    shown = [_shown(trend(runs[-_MOST_RUNS:], statistic)) for runs in seen]
    return site.page(request, "trends.html", trends=shown, cell=cell, statistic=statistic, statistics=STATISTICS)


def _shown(trend: Trend) -> ShownTrend:
    unit = unit_of(trend)
    environments = [
        (letter(number), "; ".join(differences) or "the conditions of the first run")
        for number, differences in enumerate(trend.environments)
    ]
    return ShownTrend(
        trend=trend,
        unit="requests/s" if trend.statistic == "throughput" else unit.name,
        figure=figure.of_trend(trend, unit),
        lines=tuple(
            (point, letter(point.environment), figures(point, trend.statistic, unit), step_clause(point))
            for point in reversed(trend.points)
        ),
        conditions=tuple(environments) if len(environments) > 1 else (),
        steps=sum(point.step is not None for point in trend.points),
    )
