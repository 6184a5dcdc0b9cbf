"""Rows with a dot each: the latency of each stack, and the highest rate of each at which its goals hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log10
from typing import Any

import plotly.graph_objects as go

from orchestrator.experiment.read.units import format_rate
from orchestrator.findings.block_values import value_of
from orchestrator.findings.summary import CellSummary
from orchestrator.quantities import factor, is_vague, per_second, rate, significant
from orchestrator.questions.capacity.find import FoundRate, RateComparison
from orchestrator.report.figures.base import (
    MORE_IS_BETTER,
    Figure,
    figure,
    logarithmic,
    plain,
    text_at,
    upright,
    whiskers,
)
from orchestrator.report.figures.static import Dot, chart
from orchestrator.report.groups import Group
from orchestrator.report.palette import INK, MUTED, series
from orchestrator.wording.phrasing import change
from orchestrator.wording.tables.axis_names import ends

_ROW_PX = 29
_TOP_PX, _BOTTOM_PX = 18, 42
_LETTER_PX = 5.7  # of the smaller text
_BOLD_PX = 7.4  # of a letter of the larger one
_SMALL = 11  # px of a second line, which sets the space between both
_MOST_LETTERS = 26
_COLOURS = {"faster": "var(--pass)", "slower": "var(--warn)", "reference": INK}
_SIDES = {"below": "below ", "at least": "at least ", "": ""}


def dot_figure(
    slug: str,
    label: str,
    rows: Sequence[Dot],
    title: str,
    unit: str,
    beside: Iterable[float] = (),
    floor: float | None = None,
) -> Figure:
    """Return the rows below one another, each between its label and its texts; the scale has room for `beside`, too."""
    values = [*beside, *(value for dot in rows for value in dot.extent), *([floor] if floor else [])]
    room = max((max(values) / min(values)) ** 0.03, 1.03)
    left_px = max(max(len(dot.label) * _BOLD_PX, len(dot.detail) * _LETTER_PX) for dot in rows)
    right_px = max(max(len(dot.text) * _BOLD_PX, len(dot.difference) * _LETTER_PX) for dot in rows)
    layout = {
        "xaxis": logarithmic(title, min(values) / room, max(values) * room),
        "yaxis": {
            "range": [len(rows) - 0.5, -0.5],
            "showticklabels": False,
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
        },
        "margin": {
            "l": round(left_px) + 12,
            "r": round(max(right_px, len("reference") * _LETTER_PX)) + 12,
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
    return figure(slug, label, _traces(rows, unit), layout, height_px, still=chart(rows, label, values, floor))


def _traces(rows: Sequence[Dot], unit: str) -> list[go.Scatter]:
    """The ticks at p99, then what each row is about over them."""
    tails = [(dot.tail, place) for place, dot in enumerate(rows) if dot.tail]
    values = [dot.value for dot in rows]
    ticks = go.Scatter(
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
    )
    large = go.Scatter(
        x=[significant(value) for value in values],
        y=list(range(len(rows))),
        mode="markers",
        marker={"size": 9, "color": [dot.colour for dot in rows]},
        error_x=whiskers(values, [dot.interval for dot in rows], INK),
        cliponaxis=False,  # a mark at the edge is whole
        customdata=[plain(dot.label) for dot in rows],
        hovertemplate=f"%{{customdata}}: %{{x:,.4~r}} {unit}<extra></extra>",
    )
    return [*([ticks] if tails else []), large]


def _beside(first: str, second: str, place: int, *, is_left: bool) -> dict[str, Any]:
    side = "right" if is_left else "left"
    text = f"<b>{plain(first)}</b><br>{plain(second)}"
    x, shift = (0, -6) if is_left else (1, 5)
    return text_at(text, x, place, size=_SMALL, xref="paper", xanchor=side, xshift=shift, align=side)


def _named_floor(at: float) -> dict[str, Any]:
    return text_at("floor", significant(log10(at)), 1, MUTED, _SMALL, yref="paper", yanchor="bottom")


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…"


# ---- latencies


def stack_dots(group: Group, beside: Sequence[Group] = ()) -> Figure | None:
    """Return a row for each cell with a median, the best on top; None without any. The scale is that of `beside`, too."""
    rows = dots(group)
    if not rows:
        return None
    values = [value for other in beside for dot in dots(other) for value in dot.extent]
    values += [value for other in beside if (value := floor_of(other))]
    unit = group.unit.name
    label = f"Median and p99 latency of each stack, {group.title}."
    return dot_figure(
        f"stacks-{group.slug}", label, rows, f"latency, {unit} (logarithmic)", unit, values, floor_of(group)
    )


def dots(group: Group) -> tuple[Dot, ...]:
    """Return the rows: each cell with a median in the group's unit, the value that ranks, and its difference."""
    return tuple(_dot(group, cell) for cell in group.measured if cell.distribution and cell.distribution.median)


def _dot(group: Group, cell: CellSummary) -> Dot:
    per_ms, distribution = group.unit.per_ms, cell.distribution
    against = group.against_reference(cell, group.metric)
    standing = "reference" if cell.id in group.references else ""
    difference = standing
    if against is not None:
        standing, ratio = str(against.standing), against.measured_ratio
        difference = "" if ratio is None else change(ratio)
    bounds = None if is_vague(cell.median_interval) else cell.median_interval
    median, p99 = (getattr(distribution, name) for name in ("median", "p99"))
    return Dot(
        label=_cut(cell.labels.stack),
        detail=_cut(ends(cell)),
        value=median * per_ms,
        interval=bounds and (bounds[0] * per_ms, bounds[1] * per_ms),
        tail=p99 * per_ms if p99 else None,
        text=_value(group, cell),
        difference=difference,
        colour=_COLOURS.get(standing, MUTED),
    )


def _value(group: Group, cell: CellSummary) -> str:
    """What the result is about: the median, p99, or replies a second."""
    value = value_of(cell, group.metric)
    if value is None:
        return ""
    if group.metric == "throughput":
        return f"{rate(value)} {per_second(each.kind for each in group.cells)}"
    return f"{group.unit.text(value)} {group.unit.name}"


def floor_of(group: Group) -> float | None:
    """Return the median of the tcp floor, or that of ping without one, in the group's unit."""
    medians = {
        floor.kind: floor.distribution.median * group.unit.per_ms
        for floor in group.floors
        if floor.distribution and floor.distribution.median
    }
    return medians.get("tcp") or medians.get("ping")


# ---- rates


def found_rates(
    slug: str,
    title: str,
    rates: Sequence[FoundRate],
    comparisons: Sequence[RateComparison],
    colours: dict[str, int],
    beside: Sequence[FoundRate],
) -> Figure | None:
    """Return the rates of one setting, the highest on top; None when no search ended.

    The scale is that of all rates `beside`, too.
    """
    standings = {row.cell: row for row in comparisons}
    ordered = sorted(rates, key=lambda rate: rate.rate_per_s or 0.0, reverse=True)
    rows = [_rate_dot(rate, standings.get(rate.cell), colours) for rate in ordered if rate.rate_per_s]
    if not rows:
        return None
    values = [value for rate in beside if rate.rate_per_s for value in _rate_dot(rate, None, colours).extent]
    axis = f"highest rate, requests/s (logarithmic){MORE_IS_BETTER}"
    return dot_figure(slug, f"{title}.", rows, axis, "requests/s", values)


def _rate_dot(rate: FoundRate, against: RateComparison | None, colours: dict[str, int]) -> Dot:
    difference = "invalid" if rate.invalid else ""
    if against is not None and not rate.invalid:
        is_bound = against.ratio is None or against.bound or against.standing == "cannot tell"
        difference = against.standing if is_bound else f"{factor(against.ratio or 1.0)}× {against.standing}"
    return Dot(
        label=_cut(rate.stack_label),
        value=rate.rate_per_s or 0.0,
        interval=rate.interval,
        text=f"{_SIDES[rate.side]}{format_rate(rate.rate_per_s or 0.0)}",
        difference=difference,
        colour=series(colours.get(rate.stack, 0)),
    )
