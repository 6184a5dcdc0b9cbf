"""Ratios to the reference: the mean with its interval, and a dot for each block."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from orchestrator.findings.summary import Comparison
from orchestrator.quantities import ratio, significant
from orchestrator.report.figures.base import (
    BETTER,
    INK,
    MUTED,
    Figure,
    Rows,
    beside_row,
    column,
    figure,
    logarithmic,
    upright,
    whiskers,
)
from orchestrator.report.palette import series
from orchestrator.statistics.terms import Interval

_BAND_PX, _RIGHT_PX = 30, 92
_DOTS_BELOW = 0.2  # of a row
_WHAT = {"median": "median latency", "p99": "p99 latency", "throughput": "1 / throughput"}
UNRESOLVED = ("tie", "not resolved", "cannot tell")
_BEYOND_RATIOS = 4.0  # times: an interval that reaches further beyond all ratios is cut, not the scale stretched


def forest(
    slug: str,
    title: str,
    rows: Sequence[Comparison],
    colours: dict[str, int],
    matters: float,
    beside: Sequence[Comparison] = (),
) -> Figure | None:
    """Return the comparisons of one statistic in one group, smallest ratio on top; None when none has a ratio.

    Dotted lines mark the margin that matters: an interval between them is a tie. The scale reaches what is in the
    pictures `beside` this one, too.
    """
    known = sorted((row for row in rows if row.ratio is not None), key=lambda row: row.ratio or 0.0)
    if not known:
        return None
    against = f"relative to {known[0].compared_with}"
    low, high = _extent([*known, *beside], matters)
    axis = logarithmic(f"{_WHAT[known[0].statistic]} {against}{BETTER}", low, high, suffix="×")
    drawn = Rows(labels=tuple(row.stack_label for row in known), band_px=_BAND_PX)
    beside_rows = [
        beside_row((ratio(row.ratio or 0.0), row.standing), place, is_muted=row.standing in UNRESOLVED)
        for place, row in enumerate(known)
    ]
    layout = {
        **drawn.layout(axis, beside_rows, _RIGHT_PX),
        "shapes": [
            *(drawn.ground(place, "var(--tie)") for place, row in enumerate(known) if row.standing in UNRESOLVED),
            *(column(row.interval) for row in known if row.control and row.interval),
            upright(1, color=INK, width=1),
            *(upright(significant(at), color=MUTED, width=1, dash="dot") for at in _margin(matters)),
        ],
    }
    numbers = [colours.get(row.stack, 0) for row in known]
    traces = [_blocks(known, numbers), _means(known, numbers)]
    label = f"Forest plot, {title}: {known[0].statistic} {against}."
    return figure(slug, label, traces, layout, drawn.height_px(layout))


def _means(rows: Sequence[Comparison], numbers: Sequence[int]) -> go.Scatter:
    ratios = [row.ratio or 0.0 for row in rows]
    return go.Scatter(
        x=[significant(value) for value in ratios],
        y=list(range(len(rows))),
        mode="markers",
        marker={"symbol": "diamond", "size": 11, "color": [series(number) for number in numbers]},
        error_x=whiskers(ratios, [row.interval for row in rows], INK),
        customdata=[_interval_text(row) for row in rows],
        hovertemplate="%{x:.3f}× %{customdata}<extra></extra>",
    )


def _blocks(rows: Sequence[Comparison], numbers: Sequence[int]) -> go.Scatter:
    """One dot per block, a little below the mean's line, in the stack's colour."""
    dots = [
        (significant(value), place + _DOTS_BELOW, series(number), block + 1)
        for place, (row, number) in enumerate(zip(rows, numbers, strict=True))
        for block, value in zip(row.blocks, row.by_block, strict=True)
    ]
    return go.Scatter(
        x=[dot[0] for dot in dots],
        y=[dot[1] for dot in dots],
        mode="markers",
        marker={"size": 6, "color": [dot[2] for dot in dots], "opacity": 0.6},
        customdata=[dot[3] for dot in dots],
        hovertemplate="block %{customdata}: %{x:.3f}×<extra></extra>",
    )


def _interval_text(row: Comparison) -> str:
    if row.interval is None:
        return "(no interval: too few blocks)"
    return f"[{significant(row.interval[0], 3):g}, {significant(row.interval[1], 3):g}]"


def _margin(matters: float) -> Interval:
    return 1 / (1 + matters), 1 + matters


def _extent(rows: Sequence[Comparison], matters: float) -> Interval:
    """From the least to the largest of what is drawn, and a little beyond; intervals do not stretch it without end."""
    ratios = [1.0, *_margin(matters)]
    for row in rows:
        ratios += [*([] if row.ratio is None else [row.ratio]), *row.by_block]
    least, most = min(ratios) / _BEYOND_RATIOS, max(ratios) * _BEYOND_RATIOS
    ends = [min(max(end, least), most) for row in rows for end in row.interval or ()]
    low, high = min([*ratios, *ends]), max([*ratios, *ends])
    margin = max((high / low) ** 0.06, 1.01)
    return low / margin, high * margin
