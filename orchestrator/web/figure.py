"""Figures of the pages, as Plotly draws them from JSON; colours are names of the page's own (`report.palette`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from orchestrator.history.trend import Point, Step, Trend, letter
from orchestrator.quantities import Unit, factor
from orchestrator.report.page import shown
from orchestrator.report.palette import GRID, INK, MUTED, series
from orchestrator.web.live_view import View

_ROW_PX, _TREND_PX = 34, 220
_MOST_ROWS = 24
_LOGARITHMIC_FROM = 5.0  # the largest latency over the smallest
_MOST_TICKS = 4


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Traces and a layout of Plotly, and what a screen reader says."""

    label: str
    data: Sequence[Mapping[str, Any]]
    layout: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for the page's script."""
        return {"data": self.data, "layout": self.layout}


def of_trend(trend: Trend, unit: Unit) -> Figure | None:
    """Return a dot for each run with its interval, and a line at each step; None with fewer than two values."""
    times = 1.0 if trend.statistic == "throughput" else unit.per_ms
    name = f"{trend.statistic}, {'requests/s' if trend.statistic == 'throughput' else unit.name}"
    points = [point for point in trend.points if getattr(point, trend.statistic) is not None]
    if len(points) < 2:
        return None
    places = list(range(len(points)))
    stride = max(1, -(-len(points) // _MOST_TICKS))
    steps = [(place, point.step) for place, point in enumerate(points) if point.step]
    layout = {
        **_layout(_TREND_PX),
        "showlegend": len(trend.environments) > 1,
        "xaxis": _axis(
            "run, oldest first", tickvals=places[::stride], ticktext=[point.started[:10] for point in points[::stride]]
        ),
        "yaxis": _axis(name),
        "shapes": [_step_line(place, step) for place, step in steps],
        "annotations": [_step_note(place, step) for place, step in steps],
    }
    data = [_environment(trend, points, number, times) for number in range(len(trend.environments))]
    return Figure(label=f"{trend.label}: {trend.statistic} of {len(points)} runs", data=data, layout=layout)


def _environment(trend: Trend, points: Sequence[Point], number: int, times: float) -> dict[str, Any]:
    """The runs under the same conditions."""
    own = [(place, point) for place, point in enumerate(points) if point.environment == number]
    values = [getattr(point, trend.statistic) for _, point in own]
    intervals = [
        getattr(point, f"{trend.statistic}_interval") or (value, value)
        for (_, point), value in zip(own, values, strict=True)
    ]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": f"conditions {letter(number)}",
        "x": [place for place, _ in own],
        "y": [value * times for value in values],
        "text": [escape(shown(point.run)) for _, point in own],
        "hovertemplate": "%{text}<br>%{y:.4~g}<extra></extra>",
        "line": {"color": series(number), "width": 1},
        "marker": {"color": series(number), "size": 7},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [max(high - value, 0.0) * times for value, (_, high) in zip(values, intervals, strict=True)],
            "arrayminus": [max(value - low, 0.0) * times for value, (low, _) in zip(values, intervals, strict=True)],
            "color": series(number),
            "thickness": 1,
        },
    }


def _step_line(place: int, step: Step) -> dict[str, Any]:
    line = {"color": _colour(step), "width": 1.5, "dash": "dash"}
    return {"type": "line", "x0": place - 0.5, "x1": place - 0.5, "y0": 0, "y1": 1, "yref": "paper", "line": line}


def _step_note(place: int, step: Step) -> dict[str, Any]:
    text = f"{step.verdict} {factor(step.ratio)}×"
    at = {"x": place - 0.5, "y": 1, "yref": "paper", "xanchor": "right", "yanchor": "bottom"}
    return {**at, "text": text, "showarrow": False, "font": {"color": _colour(step)}}


def _colour(step: Step) -> str:
    return {"regressed": "var(--fail)", "improved": "var(--pass)"}.get(step.verdict, MUTED)


def of_trials(view: View) -> Figure | None:
    """Return a row for each of the first cells, with a dot for each of its trials; None before the first latency."""
    points = [point for point in view.points if point.row < _MOST_ROWS and point.median_ms]
    if not points:
        return None
    rows = [row for row in view.rows[:_MOST_ROWS] if row.median_ms is not None]
    latencies = [point.median_ms for point in points if point.median_ms]
    is_log = max(latencies) > _LOGARITHMIC_FROM * min(latencies)
    dots = {
        "type": "scatter",
        "mode": "markers",
        "x": latencies,
        "y": [point.row for point in points],
        "text": [f"trial {point.trial}" for point in points],
        "hovertemplate": "%{text}: %{x:.3~g} ms<extra></extra>",
        "marker": {"color": series(0), "size": 9, "opacity": 0.6},
    }
    medians = {
        "type": "scatter",
        "mode": "markers",
        "x": [row.median_ms for row in rows],
        "y": [place for place, row in enumerate(view.rows[:_MOST_ROWS]) if row.median_ms is not None],
        "hovertemplate": "median %{x:.3~g} ms<extra></extra>",
        "marker": {"color": INK, "size": 18, "symbol": "line-ns-open", "line": {"width": 2}},
    }
    labels = [escape(shown(row.label)) for row in view.rows[:_MOST_ROWS]]
    title = f"median of each trial, ms ({'logarithmic' if is_log else 'linear'} axis)"
    layout = {
        **_layout(_ROW_PX * len(labels) + 80),
        "showlegend": False,
        "xaxis": _axis(title, type="log" if is_log else "linear"),
        "yaxis": _axis("", tickvals=list(range(len(labels))), ticktext=labels, range=[len(labels) - 0.5, -0.5]),
    }
    return Figure(label=f"Median latency of {len(points)} trials", data=[dots, medians], layout=layout)


def _layout(height_px: int) -> dict[str, Any]:
    return {
        "height": height_px,
        "margin": {"l": 8, "r": 16, "t": 24, "b": 40},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "system-ui, sans-serif", "size": 12, "color": INK},
        "hoverlabel": {"bgcolor": "var(--raised)", "font": {"color": INK}},
        "dragmode": False,
    }


def _axis(title: str, **more: Any) -> dict[str, Any]:
    look = {"gridcolor": GRID, "zeroline": False, "automargin": True, "fixedrange": True, "exponentformat": "none"}
    return {**look, "title": {"text": title, "font": {"color": MUTED}}, "tickfont": {"color": MUTED}, **more}
