"""Whose the spread between cells is: the share of each effect with its interval."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go

from orchestrator.analysis.shares import Quantity, Shares, Spread
from orchestrator.analysis.words import percent, significant
from orchestrator.report.figures.base import Figure, axis, broken, figure, row_axis, row_px, title_lines
from orchestrator.report.palette import series
from orchestrator.wording.share_words import bounds

ROW_PX = 34
_SYMBOLS = ("diamond", "circle", "square", "triangle-up")


def share_dots(slug: str, of: Shares, titles: Mapping[Quantity, str]) -> Figure | None:
    """A row for each effect, main effects on top, a mark for each quantity; None where no share can be told.

    `titles` are what quantities are called.
    """
    known = [spread for spread in of.spreads if spread.shares]
    if not known:
        return None
    labels = [broken(share.title) for share in known[0].shares]
    title, title_px = title_lines("share of the spread, %")
    row = row_px(ROW_PX + 10 * (len(known) - 1), labels)
    layout = {
        "xaxis": axis(title, range=[-3, 103], tickvals=[0, 25, 50, 75, 100], fixedrange=True),
        "yaxis": row_axis(labels),
        "margin": {"l": 8, "r": 16, "t": 40, "b": 40 + title_px},
    }
    traces = [_dots(place, len(known), spread, titles) for place, spread in enumerate(known)]
    label = f"Shares of the spread between cells: {of.setting}."
    return figure(slug, label, traces, layout, 100 + title_px + row * len(labels))


def _dots(place: int, count: int, spread: Spread, titles: Mapping[Quantity, str]) -> go.Scatter:
    """One quantity, its row a little above or below the others'."""
    offset = 0.2 * (place - (count - 1) / 2)
    shares = [(100 * s.share, 100 * s.interval[0], 100 * s.interval[1]) for s in spread.shares]
    return go.Scatter(
        name=titles[spread.quantity],
        x=[significant(share) for share, _, _ in shares],
        y=[number + offset for number in range(len(shares))],
        mode="markers",
        marker={"symbol": _SYMBOLS[place % len(_SYMBOLS)], "size": 9, "color": series(place)},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [significant(max(0.0, high - share)) for share, _, high in shares],
            "arrayminus": [significant(max(0.0, share - low)) for share, low, _ in shares],
            "color": series(place),
            "thickness": 1.5,
            "width": 4,
        },
        customdata=[f"{percent(s.share)} ({bounds(s.interval)})" for s in spread.shares],
        hovertemplate="%{customdata}",
    )
