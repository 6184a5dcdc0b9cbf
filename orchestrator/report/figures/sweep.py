"""A run along its axis: for each operation latency on a log scale, a line per stack, and the floors in grey."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from typing import Any

import plotly.graph_objects as go

from orchestrator.analysis.summary import FloorSummary
from orchestrator.analysis.sweep.grid import FloorLine, Line, Panel, Sweep
from orchestrator.analysis.terms import Interval
from orchestrator.analysis.words import Unit, digits, significant
from orchestrator.report.figures.base import BETTER, Figure, axis, figure, logarithmic, of_series, plain
from orchestrator.report.figures.labels import MARGIN_PX, End, at_ends, needed_px
from orchestrator.report.figures.scales import Range, bars, range_of
from orchestrator.report.palette import SERIES, dash, series
from orchestrator.report.palette import text as text_colour
from orchestrator.wording import axis_names

_LEAST_PX = 330
_TOP_PX, _BOTTOM_PX = 16, 60
_MOST_TICKS = 6
_EDGE = 0.2  # of the way between two places, left of the first and right of the last


def panels(along: Sweep, colours: dict[str, int]) -> Iterator[tuple[str, Figure]]:
    """A title and a figure for each panel that has two places; all have one scale."""
    drawn = [panel for panel in along.panels if len(panel.places) > 1 and _values(panel)]
    if drawn:
        latencies = range_of((value for panel in drawn for value in _values(panel)), is_log=True)
        for number, panel in enumerate(drawn, start=1):
            yield axis_names.title(panel), _figure(f"sweep-{number}", along, panel, latencies, colours)


def _values(panel: Panel) -> list[float]:
    """Every latency that a panel shows, ms."""
    points = [(p, i) for line in panel.lines for p, i in _points(line) if p is not None]
    medians = [point for point, _ in points]
    bounds = [bound for _, interval in points for bound in interval or ()]
    floors = [value for line in panel.floors for floor in line.floors if (value := _floor(floor)) is not None]
    return [value for value in (*medians, *bounds, *floors) if value > 0] if medians else []


def _figure(slug: str, along: Sweep, panel: Panel, latencies: Range, colours: dict[str, int]) -> Figure:
    unit = axis_names.unit(along)
    heads = [axis_names.head(along, panel, place) for place in panel.places]
    ends = [*_ends(panel, latencies, unit, colours)]
    height_px = max(_LEAST_PX, _TOP_PX + _BOTTOM_PX + needed_px(ends))
    shown = list(range(0, len(heads), ceil(len(heads) / _MOST_TICKS)))
    layout = {
        "showlegend": False,
        "xaxis": axis(
            along.factor.title,
            range=[-_EDGE, len(heads) - 1 + _EDGE],
            tickmode="array",
            tickvals=shown,
            ticktext=[plain(heads[place]) for place in shown],
        ),
        "yaxis": logarithmic(
            f"median latency, {unit.name} (logarithmic){BETTER}",
            significant(latencies.low * unit.per_ms),
            significant(latencies.high * unit.per_ms),
        ),
        "annotations": at_ends(ends, height_px - _TOP_PX - _BOTTOM_PX),
        "margin": {"l": 8, "r": MARGIN_PX, "t": _TOP_PX, "b": _BOTTOM_PX},
    }
    traces = [
        *(_floor_trace(line, heads, unit) for line in panel.floors),
        *(_trace(panel, line, heads, unit, colours) for line in panel.lines),
    ]
    return figure(
        slug, f"Median latency by {along.factor.title}: {axis_names.title(panel)}.", traces, layout, height_px
    )


def _points(line: Line) -> list[tuple[float | None, Interval | None]]:
    return [
        (cell.distribution.median, cell.median_interval) if cell and cell.distribution else (None, None)
        for cell in line.cells
    ]


def _floor(floor: FloorSummary | None) -> float | None:
    return floor.distribution.median if floor and floor.distribution else None


def _ends(panel: Panel, latencies: Range, unit: Unit, colours: dict[str, int]) -> Iterator[End]:
    """The name of each line at its last point."""
    for line in panel.lines:
        medians = [median for median, _ in _points(line) if median is not None]
        if medians:
            colour = text_colour(_number(line, colours))
            yield _end(axis_names.name(panel, line), medians[-1], latencies, unit, colour)
    for floor in panel.floors:
        values = [value for value in map(_floor, floor.floors) if value is not None]
        yield _end(_name(panel, floor), values[-1], latencies, unit, "var(--muted)")


def _end(name: str, value: float, latencies: Range, unit: Unit, colour: str) -> End:
    return End(
        name=name, value=f"{digits(value * unit.per_ms)} {unit.name}", colour=colour, share=latencies.share(value)
    )


def _name(panel: Panel, floor: FloorLine) -> str:
    several = sum(other.kind == floor.kind for other in panel.floors) > 1
    return f"{floor.kind} ({axis_names.connection(floor.policy)})" if several else floor.kind


def _number(line: Line, colours: dict[str, int]) -> int:
    """A stack's own colour; another line style for each further way in which it calls."""
    return colours[line.stack] + line.style * SERIES


def _trace(panel: Panel, line: Line, heads: Sequence[str], unit: Unit, colours: dict[str, int]) -> go.Scatter:
    number = _number(line, colours)
    points = [
        (place, median, interval)
        for place, (median, interval) in enumerate(_points(line))
        if median is not None and median > 0
    ]
    return _scatter(
        axis_names.name(panel, line),
        [(place, median) for place, median, _ in points],
        heads,
        unit,
        meta=of_series(number),
        line={"color": series(number), "width": 2, "dash": dash(number)},
        marker={"size": 7, "color": series(number)},
        error_y=bars([(median, interval) for _, median, interval in points], unit.per_ms, series(number)),
    )


def _floor_trace(line: FloorLine, heads: Sequence[str], unit: Unit) -> go.Scatter:
    colour = f"var(--floor-{line.kind})"
    points = [(place, value) for place, floor in enumerate(line.floors) if (value := _floor(floor)) is not None]
    return _scatter(
        line.kind,
        points,
        heads,
        unit,
        meta=of_series(line.kind),
        line={"color": colour, "width": 1.5, "dash": "dot"},
        marker={"size": 5, "color": colour},
    )


def _scatter(
    name: str, points: Sequence[tuple[int, float]], heads: Sequence[str], unit: Unit, **look: Any
) -> go.Scatter:
    return go.Scatter(
        name=plain(name),
        x=[place for place, _ in points],
        y=unit.scaled(value for _, value in points),
        mode="lines+markers",
        customdata=[plain(heads[place]) for place, _ in points],
        hovertemplate=f"{plain(name)}<br>%{{customdata}}: %{{y:,.4~r}} {unit.name}<extra></extra>",
        **look,
    )
