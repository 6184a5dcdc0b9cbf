"""The page `/trends`: the cells that runs measured, and cells over their runs, as `orch runs trend` shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
from fastapi import APIRouter, HTTPException, Request
from starlette.responses import Response

from orchestrator.findings.compare import Statistic
from orchestrator.history.record import Filters
from orchestrator.history.trend import Point, Step, Trend, figures, letter, step_clause, trend, unit_of
from orchestrator.quantities import Unit, factor
from orchestrator.report.figures.base import Figure, axis, figure, plain, text_at, upright, whiskers
from orchestrator.report.palette import MUTED, series
from orchestrator.web.compare_page import STATISTICS
from orchestrator.web.site import Here

router = APIRouter()
_MOST_CELLS, _MOST_TRENDS, _MOST_RUNS = 200, 12, 500


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


def _shown(trend: Trend) -> dict[str, Any]:
    """What the page shows of a trend; `lines`: of each run, newest first, its point, letter, figures and step."""
    unit = unit_of(trend)
    environments = [
        (letter(number), "; ".join(differences) or "the conditions of the first run")
        for number, differences in enumerate(trend.environments)
    ]
    return {
        "trend": trend,
        "unit": "requests/s" if trend.statistic == "throughput" else unit.name,
        "figure": of_trend(trend, unit),
        "lines": tuple(
            (point, letter(point.environment), figures(point, trend.statistic, unit), step_clause(point))
            for point in reversed(trend.points)
        ),
        "conditions": environments if len(environments) > 1 else (),
        "steps": sum(point.step is not None for point in trend.points),
    }


# ---- the figure, which the report has none of

_TREND_PX = 220
_MOST_TICKS = 4


def of_trend(trend: Trend, unit: Unit) -> Figure | None:
    """Return a dot for each run with its interval, and a line at each step; None with fewer than two values."""
    per_ms = 1.0 if trend.statistic == "throughput" else unit.per_ms
    name = f"{trend.statistic}, {'requests/s' if trend.statistic == 'throughput' else unit.name}"
    points = [point for point in trend.points if point.value is not None]
    if len(points) < 2:
        return None
    places = list(range(len(points)))
    stride = max(1, -(-len(points) // _MOST_TICKS))
    days = [point.started[:10] for point in points[::stride]]
    steps = [(place - 0.5, point.step) for place, point in enumerate(points) if point.step]
    layout = {
        "showlegend": len(trend.environments) > 1,
        "xaxis": axis("run, oldest first", tickvals=places[::stride], ticktext=days, fixedrange=True),
        "yaxis": axis(name, fixedrange=True),
        "shapes": [upright(at, color=_colour(step), width=1.5, dash="dash") for at, step in steps],
        "annotations": [_step_note(at, step) for at, step in steps],
    }
    traces = [_environment(points, number, per_ms) for number in range(len(trend.environments))]
    label = f"{trend.label}: {trend.statistic} of {len(points)} runs"
    return figure("trend", label, traces, layout, _TREND_PX)


def _environment(points: Sequence[Point], number: int, per_ms: float) -> go.Scatter:
    own = [(place, point) for place, point in enumerate(points) if point.environment == number]
    values = [point.value or 0.0 for _, point in own]
    colour = series(number)
    return go.Scatter(
        mode="lines+markers",
        name=f"conditions {letter(number)}",
        x=[place for place, _ in own],
        y=[value * per_ms for value in values],
        text=[plain(point.run) for _, point in own],
        hovertemplate="%{text}<br>%{y:.4~g}<extra></extra>",
        line={"color": colour, "width": 1},
        marker={"color": colour, "size": 7},
        error_y=whiskers(values, [point.interval for _, point in own], colour, per_ms),
    )


def _step_note(at: float, step: Step) -> dict[str, Any]:
    text = f"{step.verdict} {factor(step.ratio)}×"
    return text_at(text, at, 1, _colour(step), yref="paper", xanchor="right", yanchor="bottom")


def _colour(step: Step) -> str:
    return {"regressed": "var(--fail)", "improved": "var(--pass)"}.get(step.verdict, MUTED)
