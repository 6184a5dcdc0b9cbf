"""Latency by percentile, with a scale that stretches the tail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10

import plotly.graph_objects as go

from orchestrator.quantities import significant
from orchestrator.report.figures.base import BETTER, Figure, axis, figure, legend, legend_px, logarithmic, plain
from orchestrator.report.groups import Group
from orchestrator.report.palette import dash, series
from orchestrator.statistics.quantiles import Distribution

PLOT_PX = 344
_DIGITS = 4  # of shares, which are read to 0.01 %; latencies have five
NINES = ((0.0, "min"), (0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9"), (0.9999, "p99.99"))


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One line: of a stack, or of a floor."""

    name: str
    distribution: Distribution
    style: dict[str, object]
    series: int | str


def percentile_curve(group: Group, colours: dict[str, int], beside: Sequence[Group] = ()) -> Figure | None:
    """Return latency by percentile, each further nine as wide as the one before.

    A sample of rank r of n is at (r - 0.5) / n (Hazen, 1914), so that the slowest has a place, too.
    """
    curves = _curves(group, colours)
    if not curves:
        return None
    far = max(2 * (curve.distribution.n + curve.distribution.failed) for curve in curves)
    low, high = _extent(group, colours, beside)
    lines = [
        _line(
            curve,
            [significant(_nines(share, curve.distribution), _DIGITS) for share, _ in curve.distribution.curve],
            group.unit.scaled(latency for _, latency in curve.distribution.curve),
            hover="%{y} " + group.unit.name,
        )
        for curve in curves
    ]
    ticks = [(1 / (1 - share), text) for share, text in NINES if 1 / (1 - share) <= far]
    x_axis = axis("percentile (each nine gets the same width)", type="log", range=[0, log10(far)])
    x_axis |= {"tickvals": [place for place, _ in ticks], "ticktext": [text for _, text in ticks]}
    layout = {
        "xaxis": x_axis,
        "yaxis": logarithmic(f"latency, {group.unit.name} (logarithmic){BETTER}", low, high),
        **legend(len(curves)),
    }
    label = f"Latency by percentile, {group.title}."
    return figure(f"percentiles-{group.slug}", label, lines, layout, PLOT_PX + legend_px(len(curves)))


def _nines(share: float, distribution: Distribution) -> float:
    return 1 / (1 - share + 0.5 / (distribution.n + distribution.failed))


def _curves(group: Group, colours: dict[str, int]) -> list[Curve]:
    """Floors first, thin and grey, so that the stacks lie on top."""
    curves: list[Curve] = []
    for floor in group.floors:
        if floor.distribution and floor.distribution.curve:
            colour = "var(--floor-ping)" if floor.kind == "ping" else "var(--floor-tcp)"
            style: dict[str, object] = {"color": colour, "width": 1.25, "dash": "dot"}
            curves.append(
                Curve(name=f"{floor.kind} (floor)", distribution=floor.distribution, style=style, series=floor.kind)
            )
    for cell in group.measured:
        if cell.distribution and cell.distribution.curve:
            number = colours[cell.stack]
            style = {"color": series(number), "width": 1.75, "dash": dash(number)}
            curves.append(Curve(name=cell.stack_label, distribution=cell.distribution, style=style, series=number))
    return curves


def _line(curve: Curve, x: list[float], y: list[float], hover: str) -> go.Scatter:
    return go.Scatter(
        name=plain(curve.name),
        meta={"series": curve.series},
        x=x,
        y=y,
        mode="lines",
        line={"shape": "hv", **curve.style},
        hovertemplate="%{fullData.name}: " + hover + "<extra></extra>",
    )


def _extent(group: Group, colours: dict[str, int], beside: Sequence[Group]) -> tuple[float, float]:
    curves = [curve.distribution for each in (group, *beside) for curve in _curves(each, colours)]
    low = min(each.minimum for each in curves) * group.unit.per_ms
    high = max(each.curve[-1][1] for each in curves) * group.unit.per_ms
    return max(low, high * 1e-9) * 0.92, high * 1.08
