"""Whose the spread between cells is: the share of each effect with its interval."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go

from orchestrator.quantities import percent, significant
from orchestrator.questions.shares.find import Quantity, Shares, Spread
from orchestrator.questions.shares.words import bounds
from orchestrator.questions.shares.words import title as share_title
from orchestrator.report.figures.base import Figure, Rows, axis, figure, whiskers
from orchestrator.report.palette import series

_BAND_PX = 24
_SYMBOLS = ("diamond", "circle", "square", "triangle-up")


def share_dots(slug: str, of: Shares, titles: Mapping[Quantity, str]) -> Figure | None:
    """Return a row for each effect, main effects on top, a mark for each quantity; None where no share is known.

    `titles` are what quantities are called.
    """
    known = [spread for spread in of.spreads if spread.shares]
    if not known:
        return None
    rows = Rows(labels=tuple(share_title(share) for share in known[0].shares), band_px=_BAND_PX + 10 * (len(known) - 1))
    layout = rows.layout(
        axis("share of the spread, %", range=[-3, 103], tickvals=[0, 25, 50, 75, 100], fixedrange=True)
    )
    layout["margin"]["t"] = 36
    layout["showlegend"] = len(known) > 1
    traces = [_dots(place, len(known), spread, titles) for place, spread in enumerate(known)]
    label = f"Shares of the spread between cells: {of.setting}."
    return figure(slug, label, traces, layout, rows.height_px(layout))


def _dots(place: int, count: int, spread: Spread, titles: Mapping[Quantity, str]) -> go.Scatter:
    """One quantity, its row a little above or below the others'."""
    offset = 0.2 * (place - (count - 1) / 2)
    return go.Scatter(
        name=titles[spread.quantity],
        x=[significant(100 * share.share) for share in spread.shares],
        y=[number + offset for number in range(len(spread.shares))],
        mode="markers",
        marker={"symbol": _SYMBOLS[place % len(_SYMBOLS)], "size": 9, "color": series(place)},
        error_x=whiskers(
            [share.share for share in spread.shares], [share.interval for share in spread.shares], series(place), 100
        ),
        customdata=[f"{percent(share.share)} ({bounds(share.interval)})" for share in spread.shares],
        hovertemplate="%{customdata}",
    )
