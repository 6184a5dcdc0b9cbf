"""The latency of each stack in one picture: a dot at the median with its interval, a tick at p99, a line at the floor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import plotly.graph_objects as go

from orchestrator.findings.block_values import value_of
from orchestrator.findings.summary import CellSummary
from orchestrator.quantities import is_vague, rate, significant
from orchestrator.report.figures.base import (
    INK,
    MUTED,
    Figure,
    figure,
    log10,
    logarithmic,
    plain,
    upright,
    whiskers,
)
from orchestrator.report.groups import Group
from orchestrator.wording.phrasing import change
from orchestrator.wording.tables.axis_names import ends

_ROW_PX = 29
_TOP_PX, _BOTTOM_PX = 18, 42
_LETTER_PX = 5.7  # of the smaller text
_BOLD_PX = 7.4  # of a letter of the larger one
_SMALL = 11  # px of a second line, which sets the space between both
_MOST_LETTERS = 26
_COLOURS = {"faster": "var(--pass)", "slower": "var(--warn)", "reference": INK}


def stack_dots(group: Group, beside: Sequence[Group] = ()) -> Figure | None:
    """Return a row for each cell with a median, the fastest on top; None without any. The scale is that of `beside`, too."""
    cells = [cell for cell in group.measured if cell.distribution and cell.distribution.median]
    if not cells:
        return None
    unit = group.unit
    values = [value * unit.per_ms for each in (group, *beside) for value in _values(each)]
    room = max((max(values) / min(values)) ** 0.03, 1.03)
    floor = _floor(group)
    labels = [_label(cell.stack_label, ends(cell), place) for place, cell in enumerate(cells)]
    letters = max(len(line) for cell in cells for line in (_cut(ends(cell)), _cut(cell.stack_label)))
    standings = [_standing(group, cell) for cell in cells]
    wide = max(len("reference") - 1, *(len(_value(group, cell)) for cell in cells))
    layout = {
        "xaxis": logarithmic(f"latency, {unit.name} (logarithmic)", min(values) / room, max(values) * room),
        "yaxis": {
            "range": [len(cells) - 0.5, -0.5],
            "showticklabels": False,
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
        },
        "margin": {
            "l": round(letters * _LETTER_PX) + 12,
            "r": round(wide * _BOLD_PX) + 12,
            "t": _TOP_PX,
            "b": _BOTTOM_PX,
        },
        "annotations": [
            *labels,
            *(_beside(group, cell, place, standings[place]) for place, cell in enumerate(cells)),
            *([_named_floor(floor * unit.per_ms)] if floor else []),
        ],
        "shapes": [upright(significant(floor * unit.per_ms), color=MUTED, width=1, dash="dot")] if floor else [],
    }
    colours = [_COLOURS.get(standing, MUTED) for standing in standings]
    traces = [_tails(cells, group, colours), _medians(cells, group, colours)]
    label = f"Median and p99 latency of each stack, {group.title}."
    return figure(f"stacks-{group.slug}", label, traces, layout, _ROW_PX * len(cells) + _TOP_PX + _BOTTOM_PX)


def _medians(cells: Sequence[CellSummary], group: Group, colours: Sequence[str]) -> go.Scatter:
    medians = [(cell.distribution.median or 0.0) * group.unit.per_ms if cell.distribution else 0.0 for cell in cells]
    intervals = [None if is_vague(cell.median_interval) else cell.median_interval for cell in cells]
    scaled = [bounds and (bounds[0] * group.unit.per_ms, bounds[1] * group.unit.per_ms) for bounds in intervals]
    return go.Scatter(
        x=[significant(value) for value in medians],
        y=list(range(len(cells))),
        mode="markers",
        marker={"size": 9, "color": list(colours)},
        error_x=whiskers(medians, scaled, INK),
        customdata=[plain(cell.stack_label) for cell in cells],
        hovertemplate=f"%{{customdata}}: median %{{x:,.4~r}} {group.unit.name}<extra></extra>",
    )


def _tails(cells: Sequence[CellSummary], group: Group, colours: Sequence[str]) -> go.Scatter:
    """The ticks at p99, of the cells that have one."""
    known = [
        (cell.distribution.p99 * group.unit.per_ms, place)
        for place, cell in enumerate(cells)
        if cell.distribution and cell.distribution.p99
    ]
    return go.Scatter(
        x=[significant(value) for value, _ in known],
        y=[place for _, place in known],
        mode="markers",
        marker={"symbol": "line-ns-open", "size": 10, "color": [colours[at] for _, at in known], "line": {"width": 2}},
        hovertemplate=f"p99 %{{x:,.4~r}} {group.unit.name}<extra></extra>",
    )


def _standing(group: Group, cell: CellSummary) -> str:
    """What the cell is against the reference: `faster`, `slower`, `reference`, or what leaves it undecided."""
    against = group.against_reference(cell, group.metric)
    if against is not None:
        return str(against.standing)
    return "reference" if group.is_reference(cell) else ""


def _beside(group: Group, cell: CellSummary, place: int, standing: str) -> dict[str, object]:
    """The value that ranks, and below it the difference to the reference."""
    against = group.against_reference(cell, group.metric)
    below = "reference" if standing == "reference" else ""
    if against is not None and against.measured_ratio is not None:
        below = change(against.measured_ratio)
    return {
        "text": _two_lines(_value(group, cell), below),
        "xref": "paper",
        "x": 1,
        "xanchor": "left",
        "xshift": 5,
        "y": place,
        "align": "left",
        "showarrow": False,
        "font": {"size": _SMALL, "color": INK if standing in _COLOURS else MUTED},
    }


def _value(group: Group, cell: CellSummary) -> str:
    """What the result is about: the median, p99, or replies a second."""
    value = value_of(cell, group.metric)
    if value is None:
        return ""
    if group.metric == "throughput":
        return f"{rate(value)} {group.rate_head}"
    return f"{group.unit.text(value)} {group.unit.name}"


def _two_lines(first: str, second: str) -> str:
    return f"<b style='font-size:12px'>{plain(first)}</b><br>{plain(second)}"


def _label(name: str, below: str, place: int) -> dict[str, object]:
    return {
        "text": _two_lines(_cut(name), _cut(below)),
        "xref": "paper",
        "x": 0,
        "xanchor": "right",
        "xshift": -6,
        "y": place,
        "align": "right",
        "showarrow": False,
        "font": {"size": _SMALL, "color": INK},
    }


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…"


def _floor(group: Group) -> float | None:
    """The median of the tcp floor, in ms; that of ping without one."""
    medians = {
        floor.kind: floor.distribution.median
        for floor in group.floors
        if floor.distribution and floor.distribution.median
    }
    return medians.get("tcp") or medians.get("ping")


def _named_floor(at: float) -> dict[str, object]:
    return {
        "text": "floor",
        "x": significant(log10(at)),
        "yref": "paper",
        "y": 1,
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 11, "color": MUTED},
    }


def _values(group: Group) -> Iterator[float]:
    """All that the picture shows of a group, in ms."""
    for cell in group.measured:
        if cell.distribution and cell.distribution.median:
            yield cell.distribution.median
            yield from () if is_vague(cell.median_interval) else cell.median_interval or ()
            yield from (cell.distribution.p99,) if cell.distribution.p99 else ()
    if floor := _floor(group):
        yield floor
