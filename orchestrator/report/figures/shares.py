"""Whose the spread between cells is: the share of each effect with its interval."""

from __future__ import annotations

import plotly.graph_objects as go

from orchestrator.quantities import significant
from orchestrator.questions.shares.find import Shares
from orchestrator.questions.shares.words import text, title
from orchestrator.report.figures.base import Figure, Rows, axis, figure, whiskers
from orchestrator.report.palette import series

_BAND_PX = 24


def share_dots(slug: str, shares: Shares) -> Figure | None:
    """Return a row for each effect, main effects on top; None where no share is known."""
    if not shares.shares:
        return None
    rows = Rows(labels=tuple(map(title, shares.shares)), band_px=_BAND_PX + 10)
    layout = rows.layout(
        axis("share of the spread, %", range=[-3, 103], tickvals=[0, 25, 50, 75, 100], fixedrange=True)
    )
    layout["margin"]["t"] = 36
    layout["showlegend"] = False
    dots = go.Scatter(
        name="median latency",
        x=[significant(100 * share.share) for share in shares.shares],
        y=list(range(len(shares.shares))),
        mode="markers",
        marker={"symbol": "diamond", "size": 9, "color": series(0)},
        error_x=whiskers(
            [share.share for share in shares.shares], [share.interval for share in shares.shares], series(0), 100
        ),
        customdata=list(map(text, shares.shares)),
        hovertemplate="%{customdata}",
    )
    label = f"Shares of the spread between cells: {shares.setting}."
    return figure(slug, label, [dots], layout, rows.height_px(layout))
