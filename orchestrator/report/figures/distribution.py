"""Latency by percentile, with a scale that stretches the tail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log10
from typing import Any

import plotly.graph_objects as go

from orchestrator.findings.summary import CellSummary, FloorSummary
from orchestrator.quantities import Unit, significant
from orchestrator.report.figures.base import BETTER, Figure, axis, figure, legend, legend_px, logarithmic, plain
from orchestrator.report.groups import Group
from orchestrator.report.palette import dash, series
from orchestrator.statistics.quantiles import Distribution

PLOT_PX = 344
_DIGITS = 4  # of shares, which are read to 0.01 %; latencies have five
NINES = ((0.0, "min"), (0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9"), (0.9999, "p99.99"))

_Curve = tuple[FloorSummary | CellSummary, Distribution]


def percentile_curve(group: Group, colours: Mapping[str, int], beside: Sequence[Group] = ()) -> Figure | None:
    """Return latency by percentile, each further nine as wide as the one before.

    A sample of rank r of n is at (r - 0.5) / n (Hazen, 1914), so that the slowest has a place, too.
    """
    curves = _curves(group)
    if not curves:
        return None
    far = max(2 * (distribution.n + distribution.failed) for _, distribution in curves)
    low, high = _extent(group, beside)
    ticks = [(1 / (1 - share), text) for share, text in NINES if 1 / (1 - share) <= far]
    x_axis = axis("percentile (each nine gets the same width)", type="log", range=[0, log10(far)])
    x_axis |= {"tickvals": [place for place, _ in ticks], "ticktext": [text for _, text in ticks]}
    layout = {
        "xaxis": x_axis,
        "yaxis": logarithmic(f"latency, {group.unit.name} (logarithmic){BETTER}", low, high),
        **legend(len(curves)),
    }
    label = f"Latency by percentile, {group.title}."
    lines = [_line(each, distribution, group.unit, colours) for each, distribution in curves]
    return figure(f"percentiles-{group.slug}", label, lines, layout, PLOT_PX + legend_px(len(curves)))


def _curves(group: Group) -> list[_Curve]:
    """Floors first, so that the stacks lie on top."""
    every: Sequence[FloorSummary | CellSummary] = (*group.floors, *group.measured)
    return [(each, each.distribution) for each in every if each.distribution and each.distribution.curve]


def _line(
    drawn: FloorSummary | CellSummary, distribution: Distribution, unit: Unit, colours: Mapping[str, int]
) -> go.Scatter:
    """A line; those of floors are thin and grey."""
    number: int | str
    if isinstance(drawn, FloorSummary):
        name, number = f"{drawn.kind} (floor)", drawn.kind
        style: dict[str, Any] = {"color": f"var(--floor-{drawn.kind})", "width": 1.25, "dash": "dot"}
    else:
        name, number = drawn.labels.stack, colours[drawn.stack]
        style = {"color": series(number), "width": 1.75, "dash": dash(number)}
    n = distribution.n + distribution.failed
    return go.Scatter(
        name=plain(name),
        meta={"series": number},
        x=[significant(1 / (1 - share + 0.5 / n), _DIGITS) for share, _ in distribution.curve],
        y=unit.scaled(latency for _, latency in distribution.curve),
        mode="lines",
        line={"shape": "hv", **style},
        hovertemplate=f"%{{fullData.name}}: %{{y}} {unit.name}<extra></extra>",
    )


def _extent(group: Group, beside: Sequence[Group]) -> tuple[float, float]:
    curves = [distribution for each in (group, *beside) for _, distribution in _curves(each)]
    low = min(each.minimum for each in curves) * group.unit.per_ms
    high = max(each.curve[-1][1] for each in curves) * group.unit.per_ms
    return max(low, high * 1e-9) * 0.92, high * 1.08
