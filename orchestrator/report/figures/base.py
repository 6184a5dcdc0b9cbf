"""What all figures share: a plain look in the page's colours, escaped texts, and JSON as small as it can be."""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import plotly.graph_objects as go

from orchestrator.analysis.words import significant
from orchestrator.report.page import pack, shown

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
INK, MUTED, GRID, RULE = "var(--ink)", "var(--muted)", "var(--grid)", "var(--rule)"


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A chart in the page. `packed` is its Plotly JSON as `page.pack` leaves it."""

    slug: str
    label: str  # what a screen reader says of it
    height_px: int
    packed: str


def figure(slug: str, label: str, traces: Iterable[Any], layout: dict[str, Any], height_px: int) -> Figure:
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
    drawn = go.Figure(data=list(traces), layout={**common, **layout})
    document = drawn.to_plotly_json()
    document["layout"].pop("template", None)
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
    return Figure(slug=slug, label=label, height_px=height_px, packed=pack(shown(text, "\\\\")))


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
    texts = [f"{_tick(value)}{suffix}" for value in ticks]
    return axis(
        title,
        type="log",
        range=[log10(low), log10(high)],
        tickmode="array",
        tickvals=ticks,
        ticktext=texts,
        **more,
    )


def log_ticks(low: float, high: float) -> list[float]:
    """Round numbers within the range: even steps where it is narrow, 1-2-5 over a few decades, else powers of ten."""
    if high / low < 2.5:
        return _even_ticks(low, high)
    decades = log10(high / low)
    steps: tuple[float, ...] = (1,)
    if decades < 0.7:
        steps = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
    elif decades < 3:
        steps = (1, 2, 5)
    powers = range(math.floor(log10(low)), math.floor(log10(high)) + 1)
    values = [significant(step * 10.0**power) for power in powers for step in steps]
    return [value for value in values if low <= value <= high]


def _even_ticks(low: float, high: float) -> list[float]:
    wanted = (high - low) / 5
    magnitude = 10.0 ** math.floor(log10(wanted))
    step = next(factor * magnitude for factor in (1, 2, 5, 10) if factor * magnitude >= wanted)
    return [significant(place * step) for place in range(math.ceil(low / step), math.floor(high / step) + 1)]


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


def _tick(value: float) -> str:
    return f"{value:,.6f}".rstrip("0").rstrip(".") if value < 1 else f"{value:,.6g}" if value < 1e6 else f"{value:,.0f}"
