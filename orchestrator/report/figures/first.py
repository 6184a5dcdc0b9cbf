"""The first request of a connection beside the steady state."""

from __future__ import annotations

import plotly.graph_objects as go

from orchestrator.analysis.words import significant
from orchestrator.report.figures.base import INK, Figure, axis, broken, figure, logarithmic, row_px
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
    layout = {
        "showlegend": False,
        "xaxis": logarithmic(f"latency, {group.unit.name} (logarithmic)", min(values) * 0.85, max(values) * 1.15),
        "yaxis": axis(
            range=[len(rows) - 0.5, -0.5],
            tickvals=places,
            ticktext=labels,
            tickfont={"color": INK, "size": 12},
            showgrid=False,
            fixedrange=True,
        ),
        "shapes": [
            {"type": "line", "x0": steady, "x1": first, "y0": place, "y1": place, "layer": "below"}
            | {"line": {"color": colour[place], "width": 2}}
            for place, (_, first, steady) in enumerate(rows)
        ],
    }
    label = f"First request of a connection and steady state, {group.title}."
    return figure(f"first-{group.slug}", label, traces, layout, 76 + row_px(ROW_PX, labels) * len(rows))
