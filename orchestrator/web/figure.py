"""The figure of a cell over runs, which the report has none of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from orchestrator.history.trend import Point, Step, Trend, letter
from orchestrator.quantities import Unit, factor
from orchestrator.report.figures.base import Figure, axis, figure, plain, text_at, upright, whiskers
from orchestrator.report.palette import MUTED, series

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
