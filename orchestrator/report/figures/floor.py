"""Where the median goes: the network's floor, the transport over it, and the stack over both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from orchestrator.analysis.summary import CellSummary
from orchestrator.analysis.words import significant
from orchestrator.report.figures.base import BETTER, Figure, axis, beside_mark, broken, figure, row_axis, row_px
from orchestrator.report.groups import Group
from orchestrator.report.palette import series

ROW_PX = 40
_MOST_LONGER = 5.0  # times as long as the bar in the middle: a longer one is cut
_ROOM = 1.2  # of the axis, for what is written behind the longest bar
_CUT = "⫽"


@dataclass(frozen=True, kw_only=True)
class Parts:
    """A median's parts in milliseconds, from bottom to top; a part is None where its end points were not measured.

    A floor measured above the part that it supports (within its own noise) leaves that part at zero, never below.
    """

    ping: float | None
    tcp_over_ping: float | None
    stack: float | None  # over the tcp floor, but for the client's share
    client: float | None

    @property
    def total(self) -> float:
        """The whole bar."""
        return (self.ping or 0.0) + (self.tcp_over_ping or 0.0) + (self.stack or 0.0) + (self.client or 0.0)

    def up_to(self, end: float) -> Parts:
        """The same parts, what lies beyond `end` left out."""
        left = end
        kept: list[float | None] = []
        for part in (self.ping, self.tcp_over_ping, self.stack, self.client):
            kept.append(None if part is None else min(part, left))
            left -= kept[-1] or 0.0
        ping, over, stack, client = kept
        return Parts(ping=ping, tcp_over_ping=over, stack=stack, client=client)


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


def floor_bars(group: Group, colours: dict[str, int], beside: Sequence[Group] = ()) -> Figure | None:
    """One bar per cell, shortest on top; None when the group has no samples.

    The scale is that of the groups `beside` it, too. A bar that would leave the others no room is cut, and marked.
    """
    rows = [(cell, part) for cell in group.measured if (part := parts(cell)) is not None]
    if not rows:
        return None
    unit = group.unit
    labels = [broken(cell.stack_label) for cell, _ in rows]
    stack_colours = [series(colours[cell.stack]) for cell, _ in rows]
    totals = [part.total for _, part in rows]
    end = _end([*totals, *(p.total for other in beside for cell in other.measured if (p := parts(cell)))])
    cut = [total > end for total in totals]
    shown = [part.up_to(end * 0.97) if is_cut else part for (_, part), is_cut in zip(rows, cut, strict=True)]

    def bar(name: str, values: list[float | None], marker: dict[str, object]) -> go.Bar:
        return go.Bar(
            name=name,
            orientation="h",
            y=list(range(len(rows))),
            x=[None if value is None else significant(value * unit.per_ms) for value in values],
            marker={"line": {"width": 0}, **marker},
            hovertemplate=f"{name}: %{{x:,.4~r}} {unit.name}<extra></extra>",
        )

    bars = [
        bar("ping", [part.ping for part in shown], {"color": "var(--floor-ping)"}),
        bar("tcp over ping", [part.tcp_over_ping for part in shown], {"color": "var(--floor-tcp)"}),
        bar("stack over tcp", [part.stack for part in shown], {"color": stack_colours}),
    ]
    if any(part.client is not None for part in shown):
        striped = {"shape": "/", "fgcolor": "var(--paper)", "fgopacity": 0.9, "size": 6, "solidity": 0.35}
        bars.append(
            bar("client's share", [part.client for part in shown], {"color": stack_colours, "pattern": striped})
        )
    layout = {
        "barmode": "stack",
        "bargap": 0.35,
        "showlegend": False,
        "xaxis": axis(f"median latency, {unit.name}{BETTER}", range=[0, significant(end * _ROOM * unit.per_ms)]),
        "yaxis": row_axis(labels),
        "annotations": [
            beside_mark(f"{_CUT} {unit.text(total)}" if is_cut else unit.text(total), at, place)
            for place, (total, is_cut) in enumerate(zip(totals, cut, strict=True))
            for at in [significant((end * 0.97 if is_cut else total) * unit.per_ms)]
        ],
    }
    label = f"Floor and overhead, {group.title}: each median split into ping, tcp over ping, and stack over tcp."
    height_px = 76 + row_px(ROW_PX, labels) * len(rows)
    note = f"A bar with {_CUT} is cut: what is written beside it is its length." if any(cut) else ""
    return figure(f"floor-{group.slug}", label, bars, layout, height_px, note)


def _end(totals: Sequence[float]) -> float:
    """Where the scale ends: at the longest bar, but for those many times as long as most are."""
    usual = sorted(totals)[len(totals) // 2] * _MOST_LONGER
    return max(total for total in totals if total <= usual)
