"""Ratios to the reference: the mean with its interval, and a dot for each block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from orchestrator.analysis.summary import Comparison
from orchestrator.analysis.terms import Interval
from orchestrator.analysis.words import ratio, significant
from orchestrator.report.figures.base import (
    BETTER,
    INK,
    MUTED,
    Figure,
    broken,
    figure,
    logarithmic,
    row_axis,
    row_px,
    title_lines,
)
from orchestrator.report.palette import series

ROW_PX = 46
_MOST_TICKS = 5
_WHAT = {"median": "median latency", "p99": "p99 latency", "throughput": "1 / throughput"}
UNTOLD = ("tie", "not resolved", "cannot tell")
_BEYOND_RATIOS = (
    4.0  # times: an interval that reaches further than this beyond all ratios is cut, not the scale stretched
)


def forest(
    slug: str,
    title: str,
    rows: Sequence[Comparison],
    colours: dict[str, int],
    matters: float,
    beside: Sequence[Comparison] = (),
) -> Figure | None:
    """The comparisons of one statistic in one group, smallest ratio on top; None when none has a ratio.

    Dotted lines stand at the margin that matters: an interval between them is a tie. The scale reaches what is in the
    pictures `beside` this one, too.
    """
    known = sorted((row for row in rows if row.ratio is not None), key=lambda row: row.ratio or 0.0)
    if not known:
        return None
    numbers = [colours.get(row.stack, 0) for row in known]
    labels = [broken(row.stack_label) for row in known]
    said, title_px = title_lines(f"{_WHAT[known[0].statistic]} relative to {known[0].compared_with}{BETTER}")
    extent = _extent([*known, *beside], matters)
    cut = [place for place, row in enumerate(known) if row.interval and _is_beyond(row.interval, extent)]
    layout = {
        "showlegend": False,
        "xaxis": _ratio_axis(extent, said),
        "yaxis": row_axis(labels),
        "annotations": [_said(place, row) for place, row in enumerate(known)],
        "margin": {"l": 8, "r": 92, "t": 28, "b": 40 + title_px},
        "shapes": [
            *(_grey(place) for place, row in enumerate(known) if row.standing in UNTOLD),
            *(_envelope(row.interval) for row in known if row.control and row.interval),
            _upright(1, {"color": INK, "width": 1}),
            *(_upright(significant(at), {"color": MUTED, "width": 1, "dash": "dot"}) for at in _margin(matters)),
        ],
    }
    label = f"Forest plot, {title}: {known[0].statistic} relative to {known[0].compared_with}."
    height_px = 80 + title_px + row_px(ROW_PX, labels) * len(known)
    traces = [_blocks(known, numbers), _means(known, numbers)]
    if not cut:
        return figure(slug, label, traces, layout, height_px)
    note = "An arrow at the edge: the interval reaches further than the picture does."
    return figure(slug, label, [*traces, *_arrows(known, cut, extent)], layout, height_px, note)


def _means(rows: Sequence[Comparison], numbers: Sequence[int]) -> go.Scatter:
    """Intervals are drawn as whiskers of unequal arms; a ratio without one stands alone."""
    ratios = [row.ratio or 0.0 for row in rows]
    above = [row.interval[1] - value if row.interval else 0.0 for row, value in zip(rows, ratios, strict=True)]
    below = [value - row.interval[0] if row.interval else 0.0 for row, value in zip(rows, ratios, strict=True)]
    return go.Scatter(
        x=[significant(value) for value in ratios],
        y=list(range(len(rows))),
        mode="markers",
        marker={"symbol": "diamond", "size": 11, "color": [series(number) for number in numbers]},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [significant(value) for value in above],
            "arrayminus": [significant(value) for value in below],
            "color": INK,
            "thickness": 1.5,
            "width": 5,
        },
        customdata=[_interval_text(row) for row in rows],
        hovertemplate="%{x:.3f}× %{customdata}<extra></extra>",
    )


def _blocks(rows: Sequence[Comparison], numbers: Sequence[int]) -> go.Scatter:
    """One dot per block, a little below the mean's line, in the stack's colour."""
    dots = [
        (significant(value), place + 0.24, series(number), block + 1)
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


def _said(place: int, row: Comparison) -> dict[str, Any]:
    """The ratio and its standing, right of the row."""
    text = f"<b>{ratio(row.ratio or 0.0)}</b><br>{row.standing}"
    return {
        "text": text,
        "xref": "paper",
        "x": 1,
        "xanchor": "left",
        "xshift": 6,
        "y": place,
        "showarrow": False,
        "align": "left",
        "font": {"size": 12, "color": MUTED if row.standing in UNTOLD else INK},
    }


def _interval_text(row: Comparison) -> str:
    return (
        f"[{significant(row.interval[0], 3):g}, {significant(row.interval[1], 3):g}]"
        if row.interval
        else "(no interval: too few blocks)"
    )


def _margin(matters: float) -> Interval:
    return 1 / (1 + matters), 1 + matters


def _upright(at: float, line: dict[str, Any]) -> dict[str, Any]:
    return {"type": "line", "x0": at, "x1": at, "yref": "paper", "y0": 0, "y1": 1, "line": line}


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


def _is_beyond(interval: Interval, extent: Interval) -> bool:
    return interval[0] < extent[0] or interval[1] > extent[1]


def _arrows(rows: Sequence[Comparison], cut: Sequence[int], extent: Interval) -> list[go.Scatter]:
    """Arrows where whiskers leave the picture."""
    ends = [
        (significant(extent[side]), place, ("triangle-left", "triangle-right")[side])
        for place in cut
        for side in (0, 1)
        if (interval := rows[place].interval) and (interval[0] < extent[0] if side == 0 else interval[1] > extent[1])
    ]
    return [
        go.Scatter(
            x=[end[0] for end in ends],
            y=[end[1] for end in ends],
            mode="markers",
            marker={"symbol": [end[2] for end in ends], "size": 10, "color": INK},
            cliponaxis=False,
            hoverinfo="skip",
        )
    ]


def _ratio_axis(extent: Interval, title: str) -> dict[str, Any]:
    drawn = logarithmic(title, *extent, suffix="×")
    return drawn | _thinned(drawn["tickvals"], drawn["ticktext"])


def _thinned(values: Sequence[float], texts: Sequence[str]) -> dict[str, Any]:
    """So many ticks at most as stand side by side on a narrow screen, 1 among them where it is one."""
    every = -(-len(values) // _MOST_TICKS)
    first = values.index(1.0) % every if 1.0 in values else 0
    return {"tickvals": list(values[first::every]), "ticktext": list(texts[first::every])}


def _grey(place: int) -> dict[str, Any]:
    """A row whose two stacks these data do not tell apart."""
    return {
        "type": "rect",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": place - 0.46,
        "y1": place + 0.46,
        "line": {"width": 0},
        "layer": "below",
        "fillcolor": "var(--tie)",
    }


def _envelope(interval: Interval) -> dict[str, Any]:
    """A column as wide as a control's interval: how far the reference strays from itself."""
    return {
        "type": "rect",
        "x0": significant(interval[0]),
        "x1": significant(interval[1]),
        "yref": "paper",
        "y0": 0,
        "y1": 1,
        "line": {"width": 0},
        "layer": "below",
        "fillcolor": "var(--control)",
        "opacity": 0.5,
    }
