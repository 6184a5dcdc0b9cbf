"""Where the median goes: the network's floor, the transport over it, and the stack over both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass

import plotly.graph_objects as go

from orchestrator.findings.summary import CellSummary
from orchestrator.quantities import significant
from orchestrator.report.figures.base import BETTER, Figure, Rows, axis, beside_mark, figure
from orchestrator.report.groups import Group
from orchestrator.report.palette import series

_BAND_PX = 26
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
        return sum(part or 0.0 for part in astuple(self))


def parts(cell: CellSummary) -> Parts | None:
    """Return the parts of a cell's median, or None when it has none."""
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
    """Return one bar per cell, shortest on top; None when the group has no samples.

    The scale is that of the groups `beside` it, too. A bar that would leave the others no room is cut, and marked.
    """
    bars = [(cell, part) for cell in group.measured if (part := parts(cell)) is not None]
    if not bars:
        return None
    unit = group.unit
    stack_colours = [series(colours[cell.stack]) for cell, _ in bars]
    others = [part.total for other in beside for cell in other.measured if (part := parts(cell))]
    end = _end([*(part.total for _, part in bars), *others])

    def bar(name: str, values: list[float | None], marker: Mapping[str, object]) -> go.Bar:
        return go.Bar(
            name=name,
            orientation="h",
            y=list(range(len(bars))),
            x=[None if value is None else significant(value * unit.per_ms) for value in values],
            width=0.9 * _BAND_PX / rows.step_px,
            marker={"line": {"width": 0}, **marker},
            hovertemplate=f"{name}: %{{x:,.4~r}} {unit.name}<extra></extra>",
        )

    rows = Rows(labels=tuple(cell.stack_label for cell, _ in bars), band_px=_BAND_PX)
    striped = {"shape": "/", "fgcolor": "var(--paper)", "fgopacity": 0.9, "size": 6, "solidity": 0.35}
    traces = [
        bar("ping", [part.ping for _, part in bars], {"color": "var(--floor-ping)"}),
        bar("tcp over ping", [part.tcp_over_ping for _, part in bars], {"color": "var(--floor-tcp)"}),
        bar("stack over tcp", [part.stack for _, part in bars], {"color": stack_colours}),
    ]
    if any(part.client is not None for _, part in bars):
        marker = {"color": stack_colours, "pattern": striped}
        traces.append(bar("client's share", [part.client for _, part in bars], marker))
    lengths = [
        beside_mark(
            f"{_CUT} {unit.text(part.total)}" if part.total > end else unit.text(part.total),
            significant(min(part.total, end) * unit.per_ms),
            place,
        )
        for place, (_, part) in enumerate(bars)
    ]
    scale = axis(f"median latency, {unit.name}{BETTER}", range=[0, significant(end * _ROOM * unit.per_ms)])
    layout = {"barmode": "stack", **rows.layout(scale, lengths)}
    label = f"Floor and overhead, {group.title}: each median split into ping, tcp over ping, and stack over tcp."
    is_cut = any(part.total > end for _, part in bars)
    note = f"A bar with {_CUT} is cut: what is written beside it is its length." if is_cut else ""
    return figure(f"floor-{group.slug}", label, traces, layout, rows.height_px(layout), note)


def _end(totals: Sequence[float]) -> float:
    """Where the scale ends: at the longest bar, but for those many times as long as most are."""
    usual = sorted(totals)[len(totals) // 2] * _MOST_LONGER
    return max(total for total in totals if total <= usual)
