"""Where the median goes: the network's floor, the transport over it, and the stack over both."""

from __future__ import annotations

from dataclasses import dataclass

import plotly.graph_objects as go

from orchestrator.analysis.summary import CellSummary
from orchestrator.analysis.words import significant
from orchestrator.report.figures.base import INK, Figure, axis, broken, figure, row_px
from orchestrator.report.groups import Group
from orchestrator.report.palette import series

ROW_PX = 40


@dataclass(frozen=True, kw_only=True)
class Parts:
    """A median's parts in milliseconds, from bottom to top; a part is None where its end points were not measured.

    A floor measured above the part that it supports (within its own noise) leaves that part at zero, never below.
    """

    ping: float | None
    tcp_over_ping: float | None
    stack: float | None  # over the tcp floor, but for the client's share
    client: float | None


def parts(cell: CellSummary) -> Parts | None:
    """The parts of a cell's median, or None when it has none."""
    median = cell.distribution.median if cell.distribution else None
    if median is None:
        return None
    floor = cell.tcp_floor if cell.tcp_floor is not None else cell.ping_floor
    over = max(median - (floor or 0.0), 0.0)
    client = None if cell.client_share is None else min(max(cell.client_share * median, 0.0), over)
    return Parts(
        ping=None if cell.ping_floor is None else min(cell.ping_floor, floor or cell.ping_floor),
        tcp_over_ping=None if cell.tcp_floor is None else max(cell.tcp_floor - (cell.ping_floor or 0.0), 0.0),
        stack=over - (client or 0.0),
        client=client,
    )


def floor_bars(group: Group, colours: dict[str, int]) -> Figure | None:
    """One bar per cell, shortest on top; None when the group has no samples."""
    rows = [(cell, part) for cell in group.measured if (part := parts(cell)) is not None]
    if not rows:
        return None
    names = [broken(cell.stack_label) for cell, _ in rows]
    places = list(range(len(rows)))
    stack_colours = [series(colours[cell.stack]) for cell, _ in rows]

    def bar(name: str, values: list[float | None], marker: dict[str, object]) -> go.Bar:
        return go.Bar(
            name=name,
            orientation="h",
            y=places,
            x=[None if value is None else significant(value * group.unit.per_ms) for value in values],
            marker={"line": {"width": 0}, **marker},
            hovertemplate=f"{name}: %{{x:,.4~r}} {group.unit.name}<extra></extra>",
        )

    bars = [
        bar("ping", [part.ping for _, part in rows], {"color": "var(--floor-ping)"}),
        bar("tcp over ping", [part.tcp_over_ping for _, part in rows], {"color": "var(--floor-tcp)"}),
        bar("stack over tcp", [part.stack for _, part in rows], {"color": stack_colours}),
    ]
    if any(part.client is not None for _, part in rows):
        striped = {"shape": "/", "fgcolor": "var(--paper)", "fgopacity": 0.9, "size": 6, "solidity": 0.35}
        bars.append(
            bar("client's share", [part.client for _, part in rows], {"color": stack_colours, "pattern": striped})
        )
    layout = {
        "barmode": "stack",
        "bargap": 0.35,
        "showlegend": False,
        "xaxis": axis(f"median latency, {group.unit.name}", rangemode="tozero"),
        "yaxis": axis(
            range=[len(rows) - 0.5, -0.5],
            tickvals=places,
            ticktext=names,
            tickfont={"color": INK, "size": 12},
            showgrid=False,
            fixedrange=True,
        ),
    }
    label = f"Floor and overhead, {group.title}: each median split into ping, tcp over ping, and stack over tcp."
    return figure(f"floor-{group.slug}", label, bars, layout, 76 + row_px(ROW_PX, names) * len(rows))
