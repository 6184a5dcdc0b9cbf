"""The highest rate of each stack at which its goals hold: what the searches found, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

import plotly.graph_objects as go

from orchestrator.analysis.words import factor, significant
from orchestrator.experiment.read.units import format_rate
from orchestrator.questions.capacity.find import FoundRate, RateComparison
from orchestrator.report.figures.base import (
    INK,
    MORE_IS_BETTER,
    MUTED,
    Figure,
    broken,
    figure,
    logarithmic,
    row_axis,
    row_px,
)
from orchestrator.report.palette import series
from orchestrator.report.static.svg import lines_of, width_of

ROW_PX = 46
_ARROWS = {"below": "triangle-left", "at least": "triangle-right"}
_SIDES = {"below": "below ", "at least": "at least ", "": ""}


def found_rates(
    slug: str,
    title: str,
    found: Sequence[FoundRate],
    comparisons: Sequence[RateComparison],
    colours: dict[str, int],
    beside: Sequence[FoundRate],
) -> Figure | None:
    """The rates of one setting, the highest on top; None when no search of them ended. `title` is `naming.of_rates`.

    An arrow in place of a diamond is a rate known from one side alone. The scale is that of all rates `beside`, too.
    """
    rows = sorted(found, key=lambda one: one.rate_per_s or 0.0, reverse=True)
    values = [value for one in beside for value in _extent(one)]
    if not values or not any(one.rate_per_s for one in rows):
        return None
    labels = [broken(one.stack_label) for one in rows]
    room = max((max(values) / min(values)) ** 0.06, 1.05)
    axis = logarithmic(
        f"highest rate, requests/s (logarithmic){MORE_IS_BETTER}", min(values) / room, max(values) * room
    )
    standings = {row.cell: row for row in comparisons}
    said = [_said(place, one, standings.get(one.cell)) for place, one in enumerate(rows)]
    layout = {
        "showlegend": False,
        "xaxis": axis,
        "yaxis": row_axis(labels),
        "annotations": said,
        "margin": {"l": 8, "r": _room_px(said), "t": 28, "b": 40},
    }
    traces = [_searches(rows, colours), _found(rows, colours)]
    is_one_sided = any(one.side for one in rows)
    note = "An arrow: the rate is known from that side alone." if is_one_sided else ""
    return figure(slug, f"{title}.", traces, layout, 76 + row_px(ROW_PX, labels) * len(rows), note)


def _room_px(said: Sequence[dict[str, Any]]) -> int:
    """How wide the longest text beside a row is, with its distance and a little air."""
    return ceil(max(width_of(line) for note in said for line in lines_of(note["text"]))) + 16


def _extent(one: FoundRate) -> list[float]:
    return [value for value in (one.rate_per_s, *(one.interval or ()), *_held(one)) if value]


def _held(one: FoundRate) -> list[float]:
    return [search.held_per_s for search in one.ended if search.held_per_s]


def _found(rows: Sequence[FoundRate], colours: dict[str, int]) -> go.Scatter:
    shown = [(place, one, one.rate_per_s) for place, one in enumerate(rows) if one.rate_per_s]
    intervals = [one.interval or (rate, rate) for _, one, rate in shown]
    return go.Scatter(
        x=[significant(rate) for _, _, rate in shown],
        y=[place for place, _, _ in shown],
        mode="markers",
        marker={
            "symbol": [_ARROWS.get(one.side, "diamond") for _, one, _ in shown],
            "size": 11,
            "color": [series(colours.get(one.stack, 0)) for _, one, _ in shown],
        },
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [
                significant(max(high - rate, 0.0)) for (_, high), (_, _, rate) in zip(intervals, shown, strict=True)
            ],
            "arrayminus": [
                significant(max(rate - low, 0.0)) for (low, _), (_, _, rate) in zip(intervals, shown, strict=True)
            ],
            "color": INK,
            "thickness": 1.5,
            "width": 5,
        },
        hovertemplate="%{x:,.4g} requests/s<extra></extra>",
    )


def _searches(rows: Sequence[FoundRate], colours: dict[str, int]) -> go.Scatter:
    """A dot for what each search found, a little below the row's line."""
    dots = [
        (significant(value), place + 0.24, series(colours.get(one.stack, 0)))
        for place, one in enumerate(rows)
        for value in _held(one)
    ]
    return go.Scatter(
        x=[dot[0] for dot in dots],
        y=[dot[1] for dot in dots],
        mode="markers",
        marker={"size": 6, "color": [dot[2] for dot in dots], "opacity": 0.6},
        hovertemplate="one search: %{x:,.4g} requests/s<extra></extra>",
    )


def _said(place: int, one: FoundRate, against: RateComparison | None) -> dict[str, Any]:
    """The rate, and how it stands to the reference's, right of the row."""
    rate = "not known" if one.rate_per_s is None else f"{_SIDES[one.side]}{format_rate(one.rate_per_s)}"
    if one.invalid:
        beside = "invalid"
    elif against is None:
        beside = ""
    elif against.ratio is None or against.bound or against.standing == "cannot tell":
        beside = against.standing
    else:
        beside = f"{factor(against.ratio)}× {against.standing}"
    return {
        "text": f"<b>{rate}</b><br>{beside}" if beside else f"<b>{rate}</b>",
        "xref": "paper",
        "x": 1,
        "xanchor": "left",
        "xshift": 6,
        "y": place,
        "showarrow": False,
        "align": "left",
        "font": {"size": 12, "color": MUTED if one.invalid or one.rate_per_s is None else INK},
    }
