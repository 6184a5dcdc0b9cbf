"""The metric along an axis: a line for each stack, in small multiples of one scale."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

import plotly.graph_objects as go

from orchestrator.findings import grid
from orchestrator.findings.block_values import value_of
from orchestrator.quantities import Unit, significant
from orchestrator.report.figures.base import (
    BETTER,
    MORE_IS_BETTER,
    Figure,
    axis,
    figure,
    legend,
    legend_px,
    logarithmic,
    plain,
    whiskers,
)
from orchestrator.report.figures.scales import range_of
from orchestrator.report.palette import SERIES, dash, series
from orchestrator.statistics.terms import Interval
from orchestrator.wording.phrasing import capital
from orchestrator.wording.tables import axis_names

_PLOT_PX = 330
_MOST_HEADS = 6  # of places without a number
_EDGE = 0.2  # of the way between two such places, left of the first and right of the last

_Value = tuple[float, str, float, Interval | None]
"""Where it is on the axis, that place in words, the value in ms, and its interval."""


@dataclass(frozen=True, kw_only=True)
class _Line:
    """A line; `floor` is a floor's kind, of a stack empty."""

    name: str
    number: int
    values: tuple[_Value, ...]
    floor: str = ""


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
    latencies = range_of(value for value in shown if value > 0)
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
        low, high = (significant(bound * unit.per_ms) for bound in (latencies.low, latencies.high))
        layout = {
            "xaxis": across,
            "yaxis": logarithmic(f"{quantity}, {unit.name} (logarithmic){better}", low, high),
            **legend(len(lines)),
        }
        label = f"{capital(quantity)} by {sweep.factor.title}: {title}."
        traces = [_trace(line, unit) for line in lines]
        yield title, figure(f"sweep-{number}", label, traces, layout, _PLOT_PX + legend_px(len(lines)))


def _lines(sweep: grid.Sweep, panel: grid.Panel, colours: dict[str, int], metric: str) -> list[_Line]:
    """The floors and the stacks of a panel, at the places where they have a value above zero; of rates no floors."""
    heads = [axis_names.head(sweep, panel, place) for place in panel.places]
    lines = []
    for floor_line in () if metric == "throughput" else panel.floors:
        several = sum(other.kind == floor_line.kind for other in panel.floors) > 1
        name = f"{floor_line.kind} ({axis_names.connection(floor_line.policy)})" if several else floor_line.kind
        levels = [getattr(floor.distribution, metric, None) if floor else None for floor in floor_line.floors]
        values: tuple[_Value, ...] = tuple((place, heads[place], v, None) for place, v in enumerate(levels) if v)
        lines.append(_Line(name=name, number=0, values=values, floor=floor_line.kind))
    for line in panel.lines:
        values = tuple(
            (place, heads[place], value, cell.median_interval if metric == "median" else None)
            for place, cell in enumerate(line.cells)
            if cell and (value := value_of(cell, metric))
        )
        # A stack's own colour; another line style for each further way in which it calls.
        number = colours[line.stack] + line.style * SERIES
        lines.append(_Line(name=axis_names.name(panel, line), number=number, values=values))
    return [line for line in lines if line.values]


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
