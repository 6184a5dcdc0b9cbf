"""Latency distributions by rank: the ECDF, and the same samples as a percentile curve that stretches the tail."""

from __future__ import annotations

import plotly.graph_objects as go

from orchestrator.analysis.summary import Distribution
from orchestrator.analysis.words import significant
from orchestrator.report.figures.base import Figure, axis, figure, log10, logarithmic, plain
from orchestrator.report.groups import Group
from orchestrator.report.palette import dash, series

HEIGHT_PX = 380
NINES = ((0.0, "min"), (0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9"), (0.9999, "p99.99"))


def ecdf(group: Group, colours: dict[str, int]) -> Figure | None:
    """The share of requests at or below each latency, latency logarithmic; None when there are no samples.

    Requests without a right reply are among those shares: a curve with failures ends below 100 %.
    """
    curves = _curves(group, colours)
    if not curves:
        return None
    lines = [
        _line(
            name,
            group.unit.scaled(latency for _, latency in of.curve),
            [significant(share) for share, _ in of.curve],
            style,
            hover=f"%{{y:.2%}} of {group.samples} within %{{x}} {group.unit.name}",
        )
        for name, of, style in curves
    ]
    layout = {
        "showlegend": False,
        "xaxis": logarithmic(f"latency, {group.unit.name} (logarithmic)", *_extent(group, curves)),
        "yaxis": axis(f"share of {group.samples}", range=[0, 1.01], tickformat=".0%", fixedrange=True),
    }
    label = f"Latency distribution (ECDF), {group.title}."
    return figure(f"ecdf-{group.slug}", label, lines, layout, HEIGHT_PX)


def percentile_curve(group: Group, colours: dict[str, int]) -> Figure | None:
    """Latency by percentile, each further nine as wide as the one before.

    A sample of rank r of n stands at (r - 0.5) / n (Hazen, 1914), so that the slowest has a place, too.
    """
    curves = _curves(group, colours)
    if not curves:
        return None
    lines = [
        _line(
            name,
            [significant(1 / (1 - share + 0.5 / (of.n + of.failed))) for share, _ in of.curve],
            group.unit.scaled(latency for _, latency in of.curve),
            style,
            hover="%{y} " + group.unit.name,
        )
        for name, of, style in curves
    ]
    far = max(2 * (of.n + of.failed) for _, of, _ in curves)
    ticks = [(1 / (1 - share), text) for share, text in NINES if 1 / (1 - share) <= far]
    x_axis = axis("percentile (each nine gets the same width)", type="log", range=[0, log10(far)])
    x_axis |= {"tickvals": [place for place, _ in ticks], "ticktext": [text for _, text in ticks]}
    layout = {
        "showlegend": False,
        "xaxis": x_axis,
        "yaxis": logarithmic(f"latency, {group.unit.name} (logarithmic)", *_extent(group, curves)),
    }
    label = f"Latency by percentile, {group.title}."
    return figure(f"percentiles-{group.slug}", label, lines, layout, HEIGHT_PX)


Curve = tuple[str, Distribution, dict[str, object]]


def _curves(group: Group, colours: dict[str, int]) -> list[Curve]:
    """Floors first, thin and grey, so that the stacks lie on top."""
    found: list[Curve] = []
    for floor in group.floors:
        if floor.distribution and floor.distribution.curve:
            colour = "var(--floor-ping)" if floor.kind == "ping" else "var(--floor-tcp)"
            found.append((f"{floor.kind} (floor)", floor.distribution, {"color": colour, "width": 1.25, "dash": "dot"}))
    for cell in group.measured:
        if cell.distribution and cell.distribution.curve:
            number = colours[cell.stack]
            style = {"color": series(number), "width": 1.75, "dash": dash(number)}
            found.append((cell.stack_label, cell.distribution, style))
    return found


def _line(name: str, x: list[float], y: list[float], style: dict[str, object], hover: str) -> go.Scatter:
    return go.Scatter(
        name=plain(name),
        x=x,
        y=y,
        mode="lines",
        line={"shape": "hv", **style},
        hovertemplate="%{fullData.name}: " + hover + "<extra></extra>",
    )


def _extent(group: Group, curves: list[Curve]) -> tuple[float, float]:
    low = min(of.minimum for _, of, _ in curves) * group.unit.per_ms
    high = max(of.curve[-1][1] for _, of, _ in curves) * group.unit.per_ms
    return max(low, high * 1e-9) * 0.92, high * 1.08
