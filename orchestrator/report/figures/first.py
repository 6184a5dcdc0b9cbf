"""The first request of a connection beside the steady state."""

from __future__ import annotations

import plotly.graph_objects as go

from orchestrator.analysis.words import significant
from orchestrator.report.figures.base import (
    BETTER,
    Figure,
    beside_mark,
    broken,
    figure,
    log10,
    logarithmic,
    row_axis,
    row_px,
)
from orchestrator.report.groups import Group
from orchestrator.report.palette import series

ROW_PX = 34


def first_request(group: Group, colours: dict[str, int]) -> Figure | None:
    """A line from the steady median (filled) to the first request (open); None when no first request was kept."""
    rows = [
        (cell, cell.first_request * group.unit.per_ms, of.median * group.unit.per_ms)
        for cell in group.measured
        if cell.first_request is not None and (of := cell.distribution) and of.median is not None
    ]
    if not rows:
        return None
    places = list(range(len(rows)))
    labels = [broken(cell.stack_label) for cell, _, _ in rows]
    colour = [series(colours[cell.stack]) for cell, _, _ in rows]
    traces = [
        go.Scatter(
            x=[significant(steady) for _, _, steady in rows],
            y=places,
            mode="markers",
            marker={"size": 10, "color": colour},
            hovertemplate=f"steady median %{{x}} {group.unit.name}<extra></extra>",
        ),
        go.Scatter(
            x=[significant(first) for _, first, _ in rows],
            y=places,
            mode="markers",
            marker={"size": 10, "symbol": "circle-open", "color": colour, "line": {"width": 2}},
            hovertemplate=f"first request %{{x}} {group.unit.name}<extra></extra>",
        ),
    ]
    values = [value for _, first, steady in rows for value in (first, steady)]
    room = max((max(values) / min(values)) ** 0.22, 1.6)  # on both sides, for what is written there
    layout = {
        "showlegend": False,
        "xaxis": logarithmic(
            f"latency, {group.unit.name} (logarithmic){BETTER}", min(values) / room, max(values) * room
        ),
        "yaxis": row_axis(labels),
        "annotations": [
            beside_mark(group.unit.text(value / group.unit.per_ms), log10(value), place, is_left=value == min(both))
            for place, (_, *both) in enumerate(rows)
            for value in sorted(set(both))
        ],
        "shapes": [
            {"type": "line", "x0": steady, "x1": first, "y0": place, "y1": place, "layer": "below"}
            | {"line": {"color": colour[place], "width": 2}}
            for place, (_, first, steady) in enumerate(rows)
        ],
    }
    label = f"First request of a connection and steady state, {group.title}."
    return figure(f"first-{group.slug}", label, traces, layout, 76 + row_px(ROW_PX, labels) * len(rows))
