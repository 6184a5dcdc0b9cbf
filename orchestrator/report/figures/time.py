"""The raw timings of a cell in time order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import plotly.graph_objects as go

from orchestrator.findings.summary import CellSummary, Strip
from orchestrator.quantities import Unit, significant
from orchestrator.report.figures.base import BETTER, Figure, axis, figure, logarithmic, upright
from orchestrator.report.groups import Group
from orchestrator.report.palette import RULE, series

_STRIP_PX = 200
_DIGITS = 4  # of bins and seconds: a strip is 200 pixels high; the slowest keep five


def time_strip(cell: CellSummary, group: Group, colours: dict[str, int], beside: Sequence[Group] = ()) -> Figure | None:
    """Return one cell's timings, on the latency axis that its group and those `beside` it share; None without any."""
    if cell.details.strip is None or not cell.details.strip.bins:
        return None
    colour = series(colours[cell.stack])
    low, high = _extent(group, beside)
    starts = [next(bins)[0] for _, bins in groupby(cell.details.strip.bins, key=lambda entry: entry[1])]
    layout = {
        "margin": {"l": 8, "r": 8, "t": 24, "b": 32},
        "xaxis": axis("seconds of measuring", rangemode="tozero", nticks=6),
        "yaxis": logarithmic(f"{group.unit.name}{BETTER}", low, high),
        "shapes": [upright(significant(at), color=RULE, width=1, dash="dot") for at in starts[1:]],
    }
    label = f"Timings in time order, {cell.labels.stack}, {group.title}."
    slug = f"strip-{group.slug}-{group.cells.index(cell)}"
    return figure(slug, label, _strip_traces(cell.details.strip, group.unit, colour), layout, _STRIP_PX)


def _strip_traces(strip: Strip, unit: Unit, colour: str) -> list[go.Scatter]:
    """A band from minimum to p99, one polygon per trial; the medians, a line per trial; and the slowest."""
    band_x: list[float | None] = []
    band_y: list[float | None] = []
    line_x: list[float | None] = []
    line_y: list[float | None] = []
    for _, entries in groupby(strip.bins, key=lambda entry: entry[1]):
        bins = list(entries)
        seconds = [significant(entry[0], _DIGITS) for entry in bins]
        low, middle, high = (unit.scaled((entry[column] for entry in bins), _DIGITS) for column in (2, 3, 4))
        band_x += [*seconds, *reversed(seconds), None]
        band_y += [*high, *reversed(low), None]
        line_x += [*seconds, None]
        line_y += [*middle, None]
    return [
        go.Scatter(
            x=band_x,
            y=band_y,
            mode="lines",
            fill="toself",
            fillcolor=colour,
            line={"width": 0},
            opacity=0.28,
            hoverinfo="skip",
        ),
        go.Scatter(
            x=line_x,
            y=line_y,
            mode="lines",
            line={"color": colour, "width": 1.5},
            hovertemplate=f"median %{{y}} {unit.name}<extra></extra>",
        ),
        go.Scatter(
            x=[significant(seconds, _DIGITS) for seconds, _ in strip.slowest],
            y=unit.scaled(latency for _, latency in strip.slowest),
            mode="markers",
            marker={"color": colour, "size": 3.5},
            hovertemplate=f"%{{y}} {unit.name}<extra></extra>",
        ),
    ]


def _extent(group: Group, beside: Sequence[Group]) -> tuple[float, float]:
    cells = [cell for each in (group, *beside) for cell in each.measured]
    low = min(cell.distribution.minimum for cell in cells if cell.distribution) * group.unit.per_ms
    replies = (cell.details.replies or cell.distribution for cell in cells)
    high = max((reply.maximum if reply else None) or 0.0 for reply in replies) * group.unit.per_ms
    return max(low, high * 1e-9) * 0.85, high * 1.2
