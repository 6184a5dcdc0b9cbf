"""Latency along a numeric axis, and the difference to the reference along the same axis: small multiples of one scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from orchestrator.analysis.axes import TEXTS
from orchestrator.analysis.series import Curves, Gap, Line, Panel
from orchestrator.analysis.terms import Interval
from orchestrator.analysis.words import Unit, significant, unit_for
from orchestrator.report.figures.base import BETTER, INK, Figure, axis, figure, logarithmic, of_series, plain
from orchestrator.report.figures.labels import MARGIN_PX, End, at_ends, needed_px
from orchestrator.report.figures.scales import Range, bars, range_of
from orchestrator.report.palette import dash, series
from orchestrator.report.palette import text as text_colour

_LATENCY_PX = 330
_GAP_PX = 300
_TOP_PX, _BOTTOM_PX = 16, 56
_LONGEST_REFERENCE = 24  # letters of what stands in the title of an axis
_MOST_TICKS = 8
_OF_BYTES = ("bytes", "reply_bytes", "both sizes")  # axes
_NEAREST = 0.07  # of two ticks' labels, as a share of the axis
_FLAT = 0.1  # of the height of all panels: one that is lower could not be read


@dataclass(frozen=True, kw_only=True)
class Scales:
    """What the panels of an axis share: both ranges and units, and the places to label; `gap` is None without any.

    `with_unit` is the title for ticks that are numbers alone.
    """

    name: str
    title: str
    with_unit: str
    x: Range
    places: tuple[float, ...]
    latency: Range
    gap: Range | None
    unit: Unit
    gap_unit: Unit


def scales(curves: Curves) -> Scales:
    """The scales of all panels of an axis."""
    lines = [line for panel in curves.panels for line in panel.lines]
    points = [point for line in lines for point in line.points]
    places = sorted({point.at for point in points})
    latencies = [value for point in points for value in (point.median, *(point.interval or ()))]
    is_log = curves.scale == "log"
    is_log_up = is_log or _are_far_apart(curves)
    differences = [d for panel in curves.panels for gap in panel.gaps for d in gap.points]
    gaps = [value for d in differences for value in (d.difference, *(d.interval or ()))]
    return Scales(
        name=curves.axis,
        title=curves.title,
        with_unit=f"{curves.title}, {curves.unit}" if curves.unit and not _is_said(curves) else curves.title,
        x=range_of(places, is_log=is_log),
        places=tuple(places),
        latency=range_of(latencies if is_log_up else [0.0, *latencies], is_log=is_log_up, is_from_zero=not is_log_up),
        gap=range_of([0.0, *gaps], is_log=False) if gaps else None,
        unit=unit_for(latencies),
        gap_unit=unit_for(abs(value) for value in gaps),
    )


def latency_curves(slug: str, panel: Panel, shared: Scales, colours: dict[str, int]) -> Figure:
    """Each stack's median at each place, with its interval, and its name at the end of its line."""
    traces = [_latencies(line, shared, colours) for line in panel.lines]
    ends = [
        _end(line.label, line.stack, line.points[-1].median, shared.latency, shared.unit, colours)
        for line in panel.lines
    ]
    height_px = _height(ends, _LATENCY_PX)
    layout = {
        "showlegend": False,
        "xaxis": _places(shared),
        "yaxis": _values(_upright(shared), shared.latency, shared.unit),
        "annotations": at_ends(ends, height_px - _TOP_PX - _BOTTOM_PX),
        "margin": {"l": 8, "r": MARGIN_PX, "t": _TOP_PX, "b": _BOTTOM_PX},
    }
    label = f"Median latency by {shared.title}: {panel.title}."
    return figure(slug, label, traces, layout, height_px)


def _upright(shared: Scales) -> str:
    how = " (logarithmic)" if shared.latency.is_log and not shared.x.is_log else ""
    return f"median latency, {shared.unit.name}{how}{BETTER}"


def gap_curves(slug: str, panel: Panel, shared: Scales, colours: dict[str, int]) -> Figure | None:
    """Each difference to the reference with its interval, the line of no difference, and where it is crossed."""
    if shared.gap is None or not panel.gaps:
        return None
    references = list(dict.fromkeys(gap.reference_label for gap in panel.gaps))
    is_named = len(references) == 1 and len(references[0]) <= _LONGEST_REFERENCE
    to = plain(references[0]) if is_named else "reference"
    ends = [
        _end(
            gap.label if len(references) == 1 else f"{gap.label} (to {gap.reference_label})",
            gap.stack,
            gap.points[-1].difference,
            shared.gap,
            shared.gap_unit,
            colours,
        )
        for gap in panel.gaps
    ]
    height_px = _height(ends, _GAP_PX)
    layout = {
        "showlegend": False,
        "xaxis": _places(shared),
        "yaxis": _values(f"difference to {to}, {shared.gap_unit.name}{BETTER}", shared.gap, shared.gap_unit),
        "annotations": at_ends(ends, height_px - _TOP_PX - _BOTTOM_PX),
        "margin": {"l": 8, "r": MARGIN_PX, "t": _TOP_PX, "b": _BOTTOM_PX},
        "shapes": [
            *(band for gap in panel.gaps for band in _crossed(gap, colours)),
            {
                "type": "line",
                "xref": "paper",
                "x0": 0,
                "x1": 1,
                "y0": 0,
                "y1": 0,
                "line": {"color": INK, "width": 1},
            },
        ],
    }
    label = f"Difference of the median latency to {to}, by {shared.title}: {panel.title}."
    return figure(slug, label, [_differences(gap, shared, colours) for gap in panel.gaps], layout, height_px)


def _are_far_apart(curves: Curves) -> bool:
    """Whether on one scale from zero some panel would be flat beside the others."""
    highest = [max(point.median for line in panel.lines for point in line.points) for panel in curves.panels]
    return min(highest) < _FLAT * max(highest)


def _is_said(curves: Curves) -> bool:
    return curves.unit in curves.title


def _places(shared: Scales) -> dict[str, Any]:
    """The axis itself: labelled at the places that were measured, each with its unit, where there is room for them."""
    text = TEXTS[shared.name]
    kept: list[float] = []
    for place in shared.places:
        if not kept or shared.x.share(place) - shared.x.share(kept[-1]) >= _NEAREST:
            kept.append(place)
    named = {"tickvals": [significant(place) for place in kept], "ticktext": [plain(text(p)) for p in kept]}
    if not shared.x.is_log:
        span = [significant(shared.x.low), significant(shared.x.high)]
        if shared.name in _OF_BYTES and len(kept) <= _MOST_TICKS:  # 512 KiB is no round number
            return axis(shared.title, range=span, tickmode="array", **named)
        return axis(shared.with_unit, range=span)
    if len(kept) > _MOST_TICKS:
        return logarithmic(shared.with_unit, shared.x.low, shared.x.high)
    return logarithmic(shared.title, shared.x.low, shared.x.high) | named


def _values(title: str, of: Range, unit: Unit) -> dict[str, Any]:
    low, high = significant(of.low * unit.per_ms), significant(of.high * unit.per_ms)
    return logarithmic(title, low, high) if of.is_log else axis(title, range=[low, high])


def _latencies(line: Line, shared: Scales, colours: dict[str, int]) -> go.Scatter:
    number = colours[line.stack]
    unit = shared.unit
    return _scatter(
        line.label,
        [point.at for point in line.points],
        [(point.median, point.interval) for point in line.points],
        number,
        unit,
        TEXTS[shared.name],
    )


def _differences(gap: Gap, shared: Scales, colours: dict[str, int]) -> go.Scatter:
    return _scatter(
        gap.label,
        [point.at for point in gap.points],
        [(point.difference, point.interval) for point in gap.points],
        colours[gap.stack],
        shared.gap_unit,
        TEXTS[shared.name],
    )


def _scatter(
    name: str,
    places: Sequence[float],
    values: Sequence[tuple[float, Interval | None]],
    number: int,
    unit: Unit,
    text: Any,
) -> go.Scatter:
    colour = series(number)
    return go.Scatter(
        name=plain(name),
        meta=of_series(number),
        x=[significant(place) for place in places],
        y=unit.scaled(value for value, _ in values),
        mode="lines+markers",
        line={"color": colour, "width": 2, "dash": dash(number)},
        marker={"size": 7, "color": colour},
        error_y=bars(values, unit.per_ms, colour),
        customdata=[plain(text(place)) for place in places],
        hovertemplate=f"{plain(name)}<br>%{{customdata}}: %{{y:,.4~r}} {unit.name}<extra></extra>",
    )


def _crossed(gap: Gap, colours: dict[str, int]) -> list[dict[str, Any]]:
    """A band over the interval of a crossing, and a line at it."""
    if gap.crossing is None:
        return []
    upright = {"yref": "paper", "y0": 0, "y1": 1, "layer": "below"}
    at = significant(gap.crossing.at)
    return [
        {
            "type": "rect",
            **upright,
            "x0": significant(gap.crossing.low),
            "x1": significant(gap.crossing.high),
            "line": {"width": 0},
            "fillcolor": "var(--control)",
            "opacity": 0.5,
        },
        {"type": "line", **upright, "x0": at, "x1": at, "line": {"color": series(colours[gap.stack]), "dash": "dot"}},
    ]


def _end(label: str, stack: str, value: float, of: Range, unit: Unit, colours: dict[str, int]) -> End:
    said = f"{unit.text(value)} {unit.name}"
    return End(name=label, value=said, colour=text_colour(colours[stack]), share=of.share(value))


def _height(ends: Sequence[End], least_px: int) -> int:
    """Of a picture that has room for all names beside the ends of its lines."""
    return max(least_px, _TOP_PX + _BOTTOM_PX + needed_px(ends))
