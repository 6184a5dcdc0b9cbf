"""Raw timings in time order. What it leaves out, its caption says: nothing of the extremes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import plotly.graph_objects as go

from orchestrator.analysis.summary import CellSummary, Strip
from orchestrator.analysis.words import Unit, significant
from orchestrator.report.figures.base import BETTER, RULE, Figure, axis, figure, logarithmic
from orchestrator.report.groups import Group, slowest_reply
from orchestrator.report.palette import series

HEIGHT_PX = 200
_DIGITS = 4  # of bins and seconds: a strip is 200 pixels high; the slowest keep five


def time_strip(cell: CellSummary, group: Group, colours: dict[str, int], beside: Sequence[Group] = ()) -> Figure | None:
    """One cell's timings, on the latency axis that its group and those `beside` it share; None when there are none."""
    if cell.strip is None or not cell.strip.bins:
        return None
    colour = series(colours[cell.stack])
    low, high = _extent(group, beside)
    starts = [next(bins)[0] for _, bins in groupby(cell.strip.bins, key=lambda entry: entry[1])]
    layout = {
        "showlegend": False,
        "margin": {"l": 8, "r": 8, "t": 24, "b": 32},
        "xaxis": axis("seconds of measuring", rangemode="tozero", nticks=6),
        "yaxis": logarithmic(f"{group.unit.name}{BETTER}", low, high),
        "shapes": [
            {"type": "line", "x0": at, "x1": at, "yref": "paper", "y0": 0, "y1": 1, "layer": "below"}
            | {"line": {"color": RULE, "width": 1, "dash": "dot"}}
            for at in map(significant, starts[1:])
        ],
    }
    label = f"Timings in time order, {cell.stack_label}, {group.title}."
    slug = f"strip-{group.slug}-{group.cells.index(cell)}"
    traces = [_band(cell.strip, group.unit, colour), *_lines(cell.strip, group.unit, colour)]
    return figure(slug, label, traces, layout, HEIGHT_PX)


def _band(strip: Strip, unit: Unit, colour: str) -> go.Scatter:
    """Minimum to p99 of each bin: one polygon per trial, so that nothing is drawn across the pause between two."""
    x: list[float | None] = []
    y: list[float | None] = []
    for _, entries in groupby(strip.bins, key=lambda entry: entry[1]):
        bins = list(entries)
        seconds = [significant(entry[0], _DIGITS) for entry in bins]
        x += [*seconds, *reversed(seconds), None]
        y += [
            *unit.scaled((entry[4] for entry in bins), _DIGITS),
            *reversed(unit.scaled((entry[2] for entry in bins), _DIGITS)),
            None,
        ]
    return go.Scatter(
        x=x, y=y, mode="lines", fill="toself", fillcolor=colour, line={"width": 0}, opacity=0.28, hoverinfo="skip"
    )


def _lines(strip: Strip, unit: Unit, colour: str) -> list[go.Scatter]:
    x: list[float | None] = []
    y: list[float | None] = []
    for _, entries in groupby(strip.bins, key=lambda entry: entry[1]):
        bins = list(entries)
        x += [*(significant(entry[0], _DIGITS) for entry in bins), None]
        y += [*unit.scaled((entry[3] for entry in bins), _DIGITS), None]
    median = go.Scatter(
        x=x,
        y=y,
        mode="lines",
        line={"color": colour, "width": 1.5},
        hovertemplate=f"median %{{y}} {unit.name}<extra></extra>",
    )
    slowest = go.Scatter(
        x=[significant(seconds, _DIGITS) for seconds, _ in strip.slowest],
        y=unit.scaled(latency for _, latency in strip.slowest),
        mode="markers",
        marker={"color": colour, "size": 3.5},
        hovertemplate=f"%{{y}} {unit.name}<extra></extra>",
    )
    return [median, slowest]


def _extent(group: Group, beside: Sequence[Group]) -> tuple[float, float]:
    cells = [cell for each in (group, *beside) for cell in each.measured]
    low = min(cell.distribution.minimum for cell in cells if cell.distribution) * group.unit.per_ms
    high = max(slowest_reply(cell) for cell in cells) * group.unit.per_ms
    return max(low, high * 1e-9) * 0.85, high * 1.2
