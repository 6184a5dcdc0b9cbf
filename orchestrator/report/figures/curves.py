"""The metric along an axis: a line per stack, small multiples of one scale, and the difference to the reference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import plotly.graph_objects as go

from orchestrator.findings import grid
from orchestrator.findings.block_values import value_of
from orchestrator.quantities import Unit, digits, significant, unit_for
from orchestrator.questions.axes.axis import TEXTS
from orchestrator.questions.axes.find import Curves, Gap, Panel
from orchestrator.report.figures.base import (
    BETTER,
    MORE_IS_BETTER,
    Figure,
    axis,
    column,
    figure,
    level,
    logarithmic,
    plain,
    upright,
    whiskers,
)
from orchestrator.report.figures.labels import MARGIN_PX, End, at_ends, needed_px
from orchestrator.report.figures.scales import Range, range_of
from orchestrator.report.palette import INK, SERIES, dash, series
from orchestrator.report.palette import text as text_colour
from orchestrator.statistics.terms import Interval
from orchestrator.wording.phrasing import capital
from orchestrator.wording.tables import axis_names

_LATENCY_PX, _GAP_PX = 330, 300
_TOP_PX, _BOTTOM_PX = 16, 60
_LONGEST_REFERENCE = 24  # letters of what the title of an axis holds
_MOST_TICKS = 8
_MOST_HEADS = 6  # of places without a number
_EDGE = 0.2  # of the way between two such places, left of the first and right of the last
_OF_BYTES = ("bytes", "reply_bytes", "both sizes")  # axes
_NEAREST = 0.07  # of two ticks' labels, as a share of the axis

_Value = tuple[float, str, float, Interval | None]
"""Where it is on the axis, that place in words, the value in ms, and its interval."""


@dataclass(frozen=True, kw_only=True)
class _Line:
    """A line with the text at its end; `floor` is a floor's kind, of a stack empty."""

    name: str
    number: int
    values: tuple[_Value, ...]
    end: str
    floor: str = ""


@dataclass(frozen=True, kw_only=True)
class Scales:
    """What the panels of an axis share: both ranges, the unit, and the places to label.

    `with_unit` is the title for ticks that are numbers alone.
    """

    name: str
    title: str
    with_unit: str
    x: Range
    places: tuple[float, ...]
    gap: Range
    unit: Unit


def scales(curves: Curves) -> Scales | None:
    """Return the scales of all panels of an axis; None where nothing is compared along it."""
    differences = [d for panel in curves.panels for gap in panel.gaps for d in gap.points]
    if not differences:
        return None
    places = sorted({point.at for panel in curves.panels for line in panel.lines for point in line.points})
    gaps = [value for d in differences for value in (d.difference, *(d.interval or ()))]
    has_unit = not curves.unit or curves.unit in curves.title
    return Scales(
        name=curves.axis,
        title=curves.title,
        with_unit=curves.title if has_unit else f"{curves.title}, {curves.unit}",
        x=range_of(places, is_log=curves.scale == "log"),
        places=tuple(places),
        gap=range_of([0.0, *gaps], is_log=False),
        unit=unit_for(abs(value) for value in gaps),
    )


def gap_curves(slug: str, panel: Panel, shared: Scales, colours: dict[str, int]) -> Figure | None:
    """Return each difference to the reference with its interval, the line of no difference, and where it is crossed."""
    if not panel.gaps:
        return None
    references = list(dict.fromkeys(gap.reference_label for gap in panel.gaps))
    is_named = len(references) == 1 and len(references[0]) <= _LONGEST_REFERENCE
    to = references[0] if is_named else "reference"
    text = TEXTS[shared.name]
    lines = [
        _Line(
            name=gap.label,
            number=colours[gap.stack],
            values=tuple((point.at, text(point.at), point.difference, point.interval) for point in gap.points),
            end=gap.label if len(references) == 1 else f"{gap.label} (to {gap.reference_label})",
        )
        for gap in panel.gaps
    ]
    return _picture(
        slug,
        f"Difference of the median latency to {to}, by {shared.title}: {panel.title}.",
        lines,
        _places(shared),
        f"difference to {to}, {shared.unit.name}{BETTER}",
        shared.gap,
        shared.unit,
        shared.unit.text,
        [*(shape for gap in panel.gaps for shape in _crossed(gap, colours)), level(0, INK)],
        _GAP_PX,
    )


def _crossed(gap: Gap, colours: dict[str, int]) -> list[dict[str, Any]]:
    """A band over the interval of a crossing, and a line at it."""
    if gap.crossing is None:
        return []
    at = significant(gap.crossing.at)
    return [
        column((gap.crossing.low, gap.crossing.high)),
        upright(at, color=series(colours[gap.stack]), dash="dot"),
    ]


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


def panels(sweep: grid.Sweep, colours: dict[str, int], metric: str) -> Iterator[tuple[str, Figure]]:
    """Yield a title and a figure of the metric for each operation of a run along its axis; all have one scale."""
    unit = axis_names.unit(sweep, metric)
    quantity = {"median": "median latency", "p99": "p99 latency"}.get(metric, "throughput")
    better = MORE_IS_BETTER if metric == "throughput" else BETTER
    every = [(panel, _lines(sweep, panel, colours, metric)) for panel in sweep.panels if len(panel.places) > 1]
    drawn = [(panel, lines) for panel, lines in every if any(line.values and not line.floor for line in lines)]
    shown = [bound for _, lines in drawn for line in lines for *_, v, i in line.values for bound in (v, *(i or ()))]
    if not drawn:
        return
    latencies = range_of((value for value in shown if value > 0), is_log=True)
    for number, (panel, lines) in enumerate(drawn, start=1):
        heads = [plain(axis_names.head(sweep, panel, place)) for place in panel.places]
        places = list(range(0, len(heads), ceil(len(heads) / _MOST_HEADS)))
        across = axis(
            sweep.factor.title,
            range=[-_EDGE, len(heads) - 1 + _EDGE],
            tickmode="array",
            tickvals=places,
            ticktext=[heads[place] for place in places],
        )
        title = axis_names.title(panel)
        yield (
            title,
            _picture(
                f"sweep-{number}",
                f"{capital(quantity)} by {sweep.factor.title}: {title}.",
                lines,
                across,
                f"{quantity}, {unit.name} (logarithmic){better}",
                latencies,
                unit,
                lambda value: digits(value * unit.per_ms),
            ),
        )


def _lines(sweep: grid.Sweep, panel: grid.Panel, colours: dict[str, int], metric: str) -> list[_Line]:
    """The floors and the stacks of a panel, at the places where they have a value above zero; of rates no floors."""
    heads = [axis_names.head(sweep, panel, place) for place in panel.places]
    lines = []
    for floor_line in () if metric == "throughput" else panel.floors:
        several = sum(other.kind == floor_line.kind for other in panel.floors) > 1
        end = f"{floor_line.kind} ({axis_names.connection(floor_line.policy)})" if several else floor_line.kind
        levels = [getattr(floor.distribution, metric, None) if floor else None for floor in floor_line.floors]
        values: tuple[_Value, ...] = tuple((place, heads[place], v, None) for place, v in enumerate(levels) if v)
        lines.append(_Line(name=floor_line.kind, number=0, values=values, end=end, floor=floor_line.kind))
    for line in panel.lines:
        values = tuple(
            (place, heads[place], value, cell.median_interval if metric == "median" else None)
            for place, cell in enumerate(line.cells)
            if cell and (value := value_of(cell, metric))
        )
        # A stack's own colour; another line style for each further way in which it calls.
        number = colours[line.stack] + line.style * SERIES
        name = axis_names.name(panel, line)
        lines.append(_Line(name=name, number=number, values=values, end=name))
    return [line for line in lines if line.values]


def _picture(
    slug: str,
    label: str,
    lines: Sequence[_Line],
    across: dict[str, Any],
    title: str,
    extent: Range,
    unit: Unit,
    text: Callable[[float], str],
    shapes: Sequence[dict[str, Any]] = (),
    least_px: int = _LATENCY_PX,
) -> Figure:
    """Lines over an axis, each with its name and value at its end; high enough for all names."""
    ends = [
        End(
            name=line.end,
            value=f"{text(line.values[-1][2])} {unit.name}",
            colour="var(--muted)" if line.floor else text_colour(line.number),
            share=extent.share(line.values[-1][2]),
        )
        for line in lines
    ]
    height_px = max(least_px, _TOP_PX + _BOTTOM_PX + needed_px(ends))
    low, high = significant(extent.low * unit.per_ms), significant(extent.high * unit.per_ms)
    layout = {
        "xaxis": across,
        "yaxis": logarithmic(title, low, high) if extent.is_log else axis(title, range=[low, high]),
        "annotations": at_ends(ends, height_px - _TOP_PX - _BOTTOM_PX),
        "margin": {"l": 8, "r": MARGIN_PX, "t": _TOP_PX, "b": _BOTTOM_PX},
        "shapes": list(shapes),
    }
    return figure(slug, label, [_trace(line, unit) for line in lines], layout, height_px)


def _trace(line: _Line, unit: Unit) -> go.Scatter:
    colour = f"var(--floor-{line.floor})" if line.floor else series(line.number)
    values = [value for _, _, value, _ in line.values]
    return go.Scatter(
        name=plain(line.name),
        meta={"series": line.floor or line.number},
        x=[significant(place) for place, *_ in line.values],
        y=unit.scaled(values),
        mode="lines+markers",
        line={
            "color": colour,
            "width": 1.5 if line.floor else 2,
            "dash": "dot" if line.floor else dash(line.number),
        },
        marker={"size": 5 if line.floor else 7, "color": colour},
        error_y=whiskers(values, [interval for *_, interval in line.values], colour, unit.per_ms),
        customdata=[plain(text) for _, text, _, _ in line.values],
        hovertemplate=f"{plain(line.name)}<br>%{{customdata}}: %{{y:,.4~r}} {unit.name}<extra></extra>",
    )
