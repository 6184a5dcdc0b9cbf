"""The latency of each stack in one picture: a dot at the median with its interval, a tick at p99, a line at the floor."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from orchestrator.findings.block_values import value_of
from orchestrator.findings.summary import CellSummary
from orchestrator.quantities import is_vague, rate, significant
from orchestrator.report.figures.base import Figure, figure, log10, logarithmic, plain, upright, whiskers
from orchestrator.report.figures.static import Dot, chart
from orchestrator.report.groups import Group
from orchestrator.report.palette import INK, MUTED
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
    """Return a row for each cell with a median, the best on top; None without any. The scale is that of `beside`, too."""
    rows, floor = dots(group), floor_of(group)
    if not rows:
        return None
    unit = group.unit
    values = [value for each in (group, *beside) for dot in dots(each) for value in dot.extent]
    values += [value for each in (group, *beside) if (value := floor_of(each))]
    room = max((max(values) / min(values)) ** 0.03, 1.03)
    left_px = max(max(len(dot.label) * _BOLD_PX, len(dot.detail) * _LETTER_PX) for dot in rows)
    wide = max(len("reference") - 1, *(len(dot.text) for dot in rows))
    layout = {
        "xaxis": logarithmic(f"latency, {unit.name} (logarithmic)", min(values) / room, max(values) * room),
        "yaxis": {
            "range": [len(rows) - 0.5, -0.5],
            "showticklabels": False,
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
        },
        "margin": {
            "l": round(left_px) + 12,
            "r": round(wide * _BOLD_PX) + 12,
            "t": _TOP_PX,
            "b": _BOTTOM_PX,
        },
        "annotations": [
            *(_beside(dot.label, dot.detail, place, is_left=True) for place, dot in enumerate(rows)),
            *(_beside(dot.text, dot.difference, place, is_left=False) for place, dot in enumerate(rows)),
            *([_named_floor(floor)] if floor else []),
        ],
        "shapes": [upright(significant(floor), color=MUTED, width=1, dash="dot")] if floor else [],
    }
    height_px = _ROW_PX * len(rows) + _TOP_PX + _BOTTOM_PX
    label = f"Median and p99 latency of each stack, {group.title}."
    still = chart(rows, label, floor, values)
    return figure(f"stacks-{group.slug}", label, _traces(rows, unit.name), layout, height_px, still=still)


def dots(group: Group) -> tuple[Dot, ...]:
    """Return the rows: each cell with a median in the group's unit, the value that ranks, and its difference."""
    return tuple(_dot(group, cell) for cell in group.measured if cell.distribution and cell.distribution.median)


def _dot(group: Group, cell: CellSummary) -> Dot:
    per_ms, distribution = group.unit.per_ms, cell.distribution
    against = group.against_reference(cell, group.metric)
    standing = "reference" if group.is_reference(cell) else ""
    difference = standing
    if against is not None:
        standing, ratio = str(against.standing), against.measured_ratio
        difference = "" if ratio is None else change(ratio)
    bounds = None if is_vague(cell.median_interval) else cell.median_interval
    median, p99 = (getattr(distribution, name) for name in ("median", "p99"))
    return Dot(
        label=_cut(cell.stack_label),
        detail=_cut(ends(cell)),
        value=median * per_ms,
        interval=bounds and (bounds[0] * per_ms, bounds[1] * per_ms),
        tail=p99 * per_ms if p99 else None,
        text=_value(group, cell),
        difference=difference,
        colour=_COLOURS.get(standing, MUTED),
    )


def _traces(rows: Sequence[Dot], unit: str) -> list[go.Scatter]:
    """The ticks at p99, and the medians over them."""
    tails = [(dot.tail, place) for place, dot in enumerate(rows) if dot.tail]
    medians = [dot.value for dot in rows]
    return [
        go.Scatter(
            x=[significant(value) for value, _ in tails],
            y=[place for _, place in tails],
            mode="markers",
            marker={
                "symbol": "line-ns-open",
                "size": 10,
                "color": [rows[place].colour for _, place in tails],
                "line": {"width": 2},
            },
            hovertemplate=f"p99 %{{x:,.4~r}} {unit}<extra></extra>",
        ),
        go.Scatter(
            x=[significant(value) for value in medians],
            y=list(range(len(rows))),
            mode="markers",
            marker={"size": 9, "color": [dot.colour for dot in rows]},
            error_x=whiskers(medians, [dot.interval for dot in rows], INK),
            customdata=[plain(dot.label) for dot in rows],
            hovertemplate=f"%{{customdata}}: median %{{x:,.4~r}} {unit}<extra></extra>",
        ),
    ]


def _value(group: Group, cell: CellSummary) -> str:
    """What the result is about: the median, p99, or replies a second."""
    value = value_of(cell, group.metric)
    if value is None:
        return ""
    if group.metric == "throughput":
        return f"{rate(value)} {group.rate_head}"
    return f"{group.unit.text(value)} {group.unit.name}"


def _beside(first: str, second: str, place: int, *, is_left: bool) -> dict[str, object]:
    """Two lines beside a row, the first one bold."""
    side = "right" if is_left else "left"
    return {
        "text": f"<b style='font-size:12px'>{plain(first)}</b><br>{plain(second)}",
        "xref": "paper",
        "x": 0 if is_left else 1,
        "xanchor": side,
        "xshift": -6 if is_left else 5,
        "y": place,
        "align": side,
        "showarrow": False,
        "font": {"size": _SMALL, "color": INK},
    }


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…"


def floor_of(group: Group) -> float | None:
    """Return the median of the tcp floor, or that of ping without one, in the group's unit."""
    medians = {
        floor.kind: floor.distribution.median * group.unit.per_ms
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
