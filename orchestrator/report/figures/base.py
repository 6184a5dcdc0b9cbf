"""What all figures share: a plain look in the page's colours, escaped texts, and JSON as small as it can be."""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import plotly.graph_objects as go
from markupsafe import Markup

from orchestrator.report.page import pack, shown
from orchestrator.report.static.drawing import drawing
from orchestrator.report.ticks import log_ticks, tick_text

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
INK, MUTED, GRID, RULE = "var(--ink)", "var(--muted)", "var(--grid)", "var(--rule)"
BETTER = " ←\u00a0better"
"""Behind the title of an axis of latencies; of an upright one, which is written upwards, the arrow points down."""
MORE_IS_BETTER = " better\u00a0→"


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A chart in the page: `drawing` as it stands on paper, `packed` its Plotly JSON as `page.pack` leaves it."""

    slug: str
    label: str  # what a screen reader says of it
    height_px: int
    packed: str
    drawing: Markup
    note: str = ""  # what has to be said of it: that a bar is cut, say


def figure(
    slug: str, label: str, traces: Iterable[Any], layout: dict[str, Any], height_px: int, note: str = ""
) -> Figure:
    """A figure of these traces; `layout` is laid over the page's own."""
    common: dict[str, Any] = {
        "template": None,
        "autosize": True,
        "height": height_px,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": 12, "color": INK},
        "separators": ".,",
        "margin": {"l": 8, "r": 16, "t": 28, "b": 40},
        "hoverlabel": {
            "bgcolor": "var(--raised)",
            "bordercolor": RULE,
            "font": {"family": FONT, "size": 12, "color": INK},
            "namelength": -1,
        },
        "legend": {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "font": {"color": INK}},
        "dragmode": False,
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": RULE, "activecolor": INK},
    }
    # Each trace was validated when it was made; `go.Figure` would validate and copy all of them once more.
    document = {
        "data": [trace.to_plotly_json() for trace in traces],
        "layout": go.Layout({**common, **layout}).to_plotly_json(),
    }
    document["layout"].pop("template", None)
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
    still = Markup(drawing(f"still-{slug}", label, document))  # noqa: S704 - escaped there
    return Figure(
        slug=slug, label=label, height_px=height_px, packed=pack(shown(text, "\\\\")), drawing=still, note=note
    )


def of_series(number: int | str) -> dict[str, Any]:
    """What marks a trace as the one of a stack, so that it can be shown alone; floors have a name of their own."""
    return {"series": number}


def row_axis(labels: Sequence[str]) -> dict[str, Any]:
    """An upright axis of rows with these labels, the first one on top."""
    return axis(
        range=[len(labels) - 0.5, -0.5],
        tickvals=list(range(len(labels))),
        ticktext=list(labels),
        tickfont={"color": INK, "size": 12},
        showgrid=False,
        fixedrange=True,
    )


def beside_mark(text: str, x: float, row: float, *, is_left: bool = False) -> dict[str, Any]:
    """A value written beside a mark of a row; `x` is a logarithm on a logarithmic axis."""
    return {
        "text": text,
        "x": x,
        "y": row,
        "xanchor": "right" if is_left else "left",
        "xshift": -8 if is_left else 6,
        "showarrow": False,
        "font": {"size": 11, "color": INK},
    }


def axis(title: str = "", **more: Any) -> dict[str, Any]:
    """An axis that stays in the background; room for its labels is made as they need it."""
    return {
        "title": {"text": title, "font": {"color": MUTED, "size": 12}, "standoff": 8},
        "gridcolor": GRID,
        "linecolor": RULE,
        "tickcolor": RULE,
        "tickfont": {"color": MUTED, "size": 11},
        "zeroline": False,
        "automargin": True,
        "exponentformat": "none",
        **more,
    }


def logarithmic(title: str, low: float, high: float, suffix: str = "", **more: Any) -> dict[str, Any]:
    """A logarithmic axis from `low` to `high` (both above zero) with ticks at 1, 2 and 5 where there is room for them."""
    ticks = log_ticks(low, high)
    texts = [f"{tick_text(value)}{suffix}" for value in ticks]
    return axis(
        title,
        type="log",
        range=[log10(low), log10(high)],
        tickmode="array",
        tickvals=ticks,
        ticktext=texts,
        **more,
    )


def log10(value: float) -> float:
    """The decimal logarithm, in which Plotly gives the range of a logarithmic axis."""
    return math.log10(value)


def plain(text: str) -> str:
    """An experiment's text as Plotly shall show it: Plotly reads tags in every label, so they are escaped."""
    return html.escape(text, quote=False)


_BREAK = re.compile(r" (?=\(|with )")
_LETTERS = 24  # of a line of a label or title, so that they leave room for the chart on a narrow screen
_LINE_PX = 16


def broken(label: str) -> str:
    """A stack's label over two lines or more."""
    parts = _BREAK.sub("\n", label, count=1).split("\n")
    return "<br>".join(
        plain(line) for part in parts for line in wrap(part, _LETTERS, break_long_words=False, break_on_hyphens=False)
    )


def row_px(least: int, labels: Iterable[str]) -> int:
    """How high each row of a chart is whose labels `broken` has made."""
    return max([least, *(_LINE_PX * (label.count("<br>") + 1) for label in labels)])


def title_lines(title: str) -> tuple[str, int]:
    """An axis' title over as many lines as a narrow screen takes, and the pixels that those beyond the first need."""
    lines = wrap(title, 2 * _LETTERS, break_long_words=False, break_on_hyphens=False)
    return "<br>".join(plain(line) for line in lines), _LINE_PX * (len(lines) - 1)
