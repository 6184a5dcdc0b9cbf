"""What all figures share: a plain look in the page's colours, escaped texts, and axes."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import plotly.graph_objects as go

from orchestrator.quantities import significant
from orchestrator.report.figures.scales import log_ticks, tick_text
from orchestrator.report.page import pack, shown
from orchestrator.report.palette import GRID, INK, MUTED, RULE
from orchestrator.statistics.terms import Interval

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
BETTER = " ←\u00a0better"
"""Behind the title of an axis of latencies; of an upright one, which is written upwards, the arrow points down."""
MORE_IS_BETTER = " better\u00a0→"
_MOST_TICKS = 5  # side by side on a narrow screen
_TITLE_LETTERS = 48  # of a line of an axis' title


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A chart in the page: `document` is its Plotly JSON, `label` what a screen reader says."""

    slug: str
    label: str
    height_px: int
    document: str
    still: str = ""  # the same as an SVG, where there is one, for a reader without scripts

    @property
    def packed(self) -> str:
        """The document as the page's script unpacks it."""
        return pack(self.document)


def figure(
    slug: str,
    label: str,
    traces: Iterable[Any],
    layout: dict[str, Any],
    height_px: int,
    still: str = "",
) -> Figure:
    """Return a figure of these traces; `layout` is laid over the page's own."""
    common: dict[str, Any] = {
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
        "showlegend": False,
        "dragmode": False,
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": RULE, "activecolor": INK},
    }
    # Each trace was validated when it was made; `go.Figure` would validate and copy all of them once more.
    document = {
        "data": [trace.to_plotly_json() for trace in traces],
        "layout": go.Layout({**common, **layout}, template=None).to_plotly_json(),
    }
    document["layout"].pop("template", None)
    text = shown(json.dumps(document, separators=(",", ":"), ensure_ascii=False), "\\\\")
    return Figure(slug=slug, label=label, height_px=height_px, document=text, still=still)


def legend(names: int) -> dict[str, Any]:
    """Return the part of a layout that names its lines, above the plot; a figure is `legend_px` higher for it."""
    return {
        "showlegend": True,
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": 1.0,
            "yanchor": "bottom",
            "font": {"color": INK},
            "itemclick": False,
        },
        "margin": {"l": 8, "r": 16, "t": legend_px(names), "b": 60},
    }


def legend_px(names: int) -> int:
    """Return how much room a legend takes on a phone, with two names in a row."""
    return 12 + 20 * -(-names // 2)


_UPWARDS = {"yref": "paper", "y0": 0, "y1": 1, "layer": "below"}


def upright(at: float, **line: Any) -> dict[str, Any]:
    """Return a line from the bottom of the plot to its top."""
    return {"type": "line", "x0": at, "x1": at, **_UPWARDS, "line": line}


def text_at(text: str, x: float, y: float, colour: str = INK, size: int = 12, **more: Any) -> dict[str, Any]:
    """Return a text at a place of the plot."""
    return {"text": text, "x": x, "y": y, "showarrow": False, "font": {"size": size, "color": colour}, **more}


def whiskers(
    values: Sequence[float], intervals: Sequence[Interval | None], colour: str, times: float = 1.0
) -> dict[str, Any]:
    """Return error bars of unequal arms, `times` as long; none where there is no interval."""
    pairs = list(zip(values, intervals, strict=True))
    return {
        "type": "data",
        "symmetric": False,
        "array": [significant(max(i[1] - value, 0.0) * times) if i else 0.0 for value, i in pairs],
        "arrayminus": [significant(max(value - i[0], 0.0) * times) if i else 0.0 for value, i in pairs],
        "color": colour,
        "thickness": 1.5,
        "width": 4,
    }


def axis(title: str = "", **more: Any) -> dict[str, Any]:
    """Return an axis that stays in the background; room for its labels is made as they need it."""
    lines = wrap(title, _TITLE_LETTERS, break_long_words=False, break_on_hyphens=False)
    text = "<br>".join(plain(line) for line in lines)
    return {
        "title": {"text": text, "font": {"color": MUTED, "size": 12}, "standoff": 8},
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
    """Return a logarithmic axis from `low` to `high` (both above zero) with few ticks at round numbers, 1 among them."""
    ticks = log_ticks(low, high)
    every = -(-len(ticks) // _MOST_TICKS)
    first = ticks.index(1.0) % every if 1.0 in ticks else 0
    texts = [f"{tick_text(value)}{suffix}" for value in ticks]
    return axis(
        title,
        type="log",
        range=[math.log10(low), math.log10(high)],
        tickmode="array",
        tickvals=ticks[first::every],
        ticktext=texts[first::every],
        **more,
    )


def plain(text: str) -> str:
    """Return an experiment's text as Plotly shall show it: Plotly reads tags in every label, so they are escaped."""
    return html.escape(text, quote=False)
