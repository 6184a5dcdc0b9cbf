"""A cell over runs as a static picture: a dot for each run with its interval, and a line where it changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from orchestrator.analysis.words import Unit, factor, rate
from orchestrator.history.trend import Point, Trend, letter
from orchestrator.report.palette import series
from orchestrator.report.static.drawing import drawing
from orchestrator.report.ticks import even_ticks, tick_text

_HEIGHT_PX = 280
_ROOM = 0.08  # of the values' range, above and below
_MOST_TICKS = 4
_MUTED, _FAIL, _PASS = "var(--muted)", "var(--fail)", "var(--pass)"


def picture(of: Trend, unit: Unit, slug: str) -> Markup | None:
    """The SVG; None with fewer than two runs that have a value. Runs stand at even distances, oldest first."""
    placed = [
        (place, point, value) for place, point in enumerate(of.points) if (value := _value(point, of)) is not None
    ]
    if len(placed) < 2:
        return None
    times = 1.0 if of.statistic == "throughput" else unit.per_ms
    bounds = [bound for _, point, value in placed for bound in (value, *(_interval(point, of) or ()))]
    low, high = min(bounds) * times, max(bounds) * times
    room = (high - low or high or 1.0) * _ROOM
    extent = (low - room, high + room)
    traces = [_line(of, placed, number, times) for number in range(len(of.environments))]
    name = "requests/s ↑ better" if of.statistic == "throughput" else f"{of.statistic}, {unit.name} ↓ better"
    ticks = even_ticks(*extent)
    where = _ticked([point for _, point, _ in placed], [place for place, _, _ in placed])
    layout: dict[str, Any] = {
        "height": _HEIGHT_PX,
        "showlegend": len(of.environments) > 1,
        "margin": {"l": 8, "r": 16, "t": 16, "b": 40},
        "xaxis": {
            "range": [-0.5, len(of.points) - 0.5],
            "tickvals": [place for place, _ in where],
            "ticktext": [text for _, text in where],
            "title": {"text": "run, oldest first"},
        },
        "yaxis": {
            "range": list(extent),
            "tickvals": ticks,
            "ticktext": [
                rate(tick) if times == 1.0 and of.statistic == "throughput" else tick_text(tick) for tick in ticks
            ],
            "title": {"text": name},
        },
        "shapes": [_mark(place, point) for place, point, _ in placed if point.is_change],
        "annotations": [_note(place, point, extent[1]) for place, point, _ in placed if point.is_change],
    }
    label = f"{of.label}: {of.statistic} over {len(placed)} runs."
    return Markup(drawing(slug, label, {"data": traces, "layout": layout}))  # noqa: S704 - escaped there


def _value(point: Point, of: Trend) -> float | None:
    value: float | None = getattr(point, of.statistic)
    return value


def _interval(point: Point, of: Trend) -> tuple[float, float] | None:
    found: tuple[float, float] | None = getattr(point, f"{of.statistic}_interval")
    return found


def _line(of: Trend, placed: Sequence[tuple[int, Point, float]], number: int, times: float) -> dict[str, Any]:
    mine = [each for each in placed if each[1].environment == number]
    intervals = [_interval(point, of) or (value, value) for _, point, value in mine]
    return {
        "type": "scatter",
        "name": f"conditions {letter(number)}",
        "mode": "lines+markers",
        "x": [place for place, _, _ in mine],
        "y": [value * times for _, _, value in mine],
        "line": {"color": series(number), "width": 1},
        "marker": {"color": series(number), "size": 6},
        "error_y": {
            "array": [max(high - value, 0.0) * times for (_, _, value), (_, high) in zip(mine, intervals, strict=True)],
            "arrayminus": [
                max(value - low, 0.0) * times for (_, _, value), (low, _) in zip(mine, intervals, strict=True)
            ],
            "color": series(number),
            "thickness": 1,
        },
    }


def _mark(place: int, point: Point) -> dict[str, Any]:
    colour = _FAIL if point.verdict == "regressed" else _PASS
    at = {"x0": place - 0.5, "x1": place - 0.5, "y0": 0, "y1": 1, "yref": "paper"}
    return {"type": "line", **at, "line": {"color": colour, "width": 1.5, "dash": "dash"}, "layer": "below"}


def _note(place: int, point: Point, top: float) -> dict[str, Any]:
    colour = _FAIL if point.verdict == "regressed" else _PASS
    said = point.verdict if point.ratio is None else f"{point.verdict} {factor(point.ratio)}×"
    return {
        "text": said,
        "x": place - 0.5,
        "y": top,
        "xanchor": "right",
        "xshift": -3,
        "yshift": -8,
        "font": {"color": colour},
    }


def _ticked(points: Sequence[Point], places: Sequence[int]) -> list[tuple[int, str]]:
    """A few runs with their days."""
    step = max(1, -(-len(points) // _MOST_TICKS))
    return [(places[at], points[at].started[:10]) for at in range(0, len(points), step)]
