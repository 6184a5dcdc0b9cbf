"""A decision map: round trip across, payload up, a ground for each stack, or set of stacks, that is the fastest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from math import log10
from textwrap import wrap
from typing import Any

import numpy as np
import plotly.graph_objects as go

from orchestrator import quantities
from orchestrator.questions.prediction.network import Floats
from orchestrator.questions.prediction.surface import EVEN, UNSURE, Grid, Surface
from orchestrator.questions.prediction.words import bytes_text
from orchestrator.report.figures.base import Figure, axis, figure, plain, text_at
from orchestrator.report.figures.scales import log_ticks
from orchestrator.report.palette import INK, series

_PLOT_PX, _TOP_PX, _AXIS_PX, _LINE_PX = 260, 8, 56, 18
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LEGEND_LETTERS = 42  # of a line
_MOST_TICKS = 5
_NEARLY = 0.7  # of the longest line of places: there may the letters be
_PAPER = "var(--paper)"


def decision_map(slug: str, title: str, surface: Surface, colours: Mapping[str, int]) -> Figure:
    """Return the map of a surface; a place where fewer than two stacks are predicted stays empty."""
    codes = surface.codes
    grounds = [
        (code, letters, name, marker)
        for code, letters, name, marker in _grounds(surface, colours)
        if (codes == code).any()
    ]
    traces: list[go.Bar | go.Scatter] = []
    annotations: list[dict[str, Any]] = []
    for code, letters, name, marker in grounds:
        runs = list(_runs(codes, code, surface))
        traces.append(_ground(f"{letters}: {name}", runs, marker))
        longest = [run for run in runs if run[2] >= _NEARLY * max(width for _, _, width, _ in runs)]
        x, y, width, _ = longest[len(longest) // 2]
        annotations.append(text_at(f"<b>{letters}</b>", x + width / 2, y, bgcolor=_PAPER, borderpad=1))
    traces += _marks(surface)
    entries = [str(trace.name) for trace in traces]
    legend_px = _LINE_PX * sum(1 + entry.count("<br>") for entry in entries) + 8
    layout = {
        "barmode": "overlay",
        "bargap": 0,
        "showlegend": True,
        "legend": {
            "x": 0,
            "y": -_AXIS_PX / _PLOT_PX,
            "yanchor": "top",
            "xanchor": "left",
            "traceorder": "normal",
            "itemclick": False,
            "itemdoubleclick": False,
            "font": {"color": INK},
        },
        "xaxis": _scale("round trip", surface.rtts, quantities.ms),
        "yaxis": _scale("payload", surface.sizes, bytes_text),
        "margin": {"l": 8, "r": 16, "t": _TOP_PX, "b": _AXIS_PX + legend_px},
        "annotations": annotations,
    }
    label = f"Decision map, {title}: the fastest stack at each round trip and payload."
    return figure(slug, label, traces, layout, _TOP_PX + _PLOT_PX + _AXIS_PX + legend_px)


def _grounds(surface: Surface, colours: Mapping[str, int]) -> Iterator[tuple[int, str, str, dict[str, Any]]]:
    """The code, letters, meaning and marker of every ground that there may be."""
    own = [series(colours[each.stack]) for each in surface.series]
    for place, each in enumerate(surface.series):
        yield 1 << place, _LETTERS[place], f"{each.label} is the fastest", {"color": own[place]}
    for code in sorted(int(code) for code in np.unique(surface.codes) if code > 0 and code & (code - 1)):
        places = [place for place in range(len(own)) if code >> place & 1]
        striped = {"shape": "/", "bgcolor": own[places[0]], "fgcolor": own[places[1]], "size": 8, "solidity": 0.5}
        name = f"{' or '.join(surface.names(code))}, close to each other"
        yield code, "".join(_LETTERS[place] for place in places), name, {"color": own[places[0]], "pattern": striped}
    yield (
        EVEN,
        "=",
        f"no difference that matters: all within {quantities.margin(surface.way.matters)}",
        {"color": "var(--tie)"},
    )
    dotted = {"shape": ".", "bgcolor": "var(--raised)", "fgcolor": "var(--muted)", "size": 6, "solidity": 0.3}
    yield UNSURE, "?", "no significant difference", {"color": "var(--raised)", "pattern": dotted}


def _runs(codes: Grid, code: int, surface: Surface) -> Iterator[tuple[float, float, float, float]]:
    """Left end, middle, width and height of each run of places with this code, on the scale of decimal logarithms."""
    across, up = _edges(surface.rtts), _edges(surface.sizes)
    for line in range(len(surface.sizes)):
        place = 0
        for is_own, group in groupby(codes[:, line] == code):
            end = place + len(list(group))
            if is_own:
                middle, height = (up[line] + up[line + 1]) / 2, up[line + 1] - up[line]
                yield across[place], middle, across[end] - across[place], height
            place = end


def _edges(values: Floats) -> list[float]:
    logs = np.log10(values)
    between = (logs[1:] + logs[:-1]) / 2
    return [float(logs[0]), *between.tolist(), float(logs[-1])]


def _ground(name: str, runs: list[tuple[float, float, float, float]], marker: dict[str, Any]) -> go.Bar:
    return go.Bar(
        name=_wrapped(name),
        orientation="h",
        base=[round(run[0], 4) for run in runs],
        y=[round(run[1], 4) for run in runs],
        x=[round(run[2], 4) for run in runs],
        width=[round(run[3], 4) for run in runs],
        marker={"line": {"width": 0}, **marker},
        hovertemplate=f"{_wrapped(name)}<extra></extra>",
    )


def _wrapped(text: str) -> str:
    return "<br>".join(plain(line) for line in wrap(quantities.unbroken(text), _LEGEND_LETTERS))


def _scale(title: str, values: Floats, text: Callable[[float], str]) -> dict[str, Any]:
    low, high = float(values[0]), float(values[-1])
    ticks = log_ticks(low, high)
    ticks = ticks[:: -(-len(ticks) // _MOST_TICKS)]
    return axis(
        f"{title} (logarithmic)",
        range=[log10(low), log10(high)],
        tickvals=[log10(value) for value in ticks],
        ticktext=[text(value) for value in ticks],
        showgrid=False,
        fixedrange=True,
    )


def _marks(surface: Surface) -> Iterator[go.Scatter]:
    """Cells that were measured, each place once; a held-out one with the largest error of its stacks."""
    way = surface.way
    fitted: dict[tuple[str, int], list[float]] = {}
    for fit in way.fits:
        for cell in fit.cells:
            if cell.rate_mbit == way.rate_mbit:
                fitted.setdefault((cell.placement, cell.size), []).append(float(np.mean(cell.rtt)))
    held_out: dict[tuple[str, int], list[tuple[float, float]]] = {}
    names = {fit.series.id for fit in way.fits}
    for sealed in way.judged.cells if way.judged else ():
        if sealed.series in names and sealed.rate_mbit in (None, way.rate_mbit):
            error = abs(sealed.error)
            held_out.setdefault((sealed.placement, sealed.size), []).append((sealed.rtt, error))
    rim = {"color": INK, "width": 1.5}
    if fitted:
        yield go.Scatter(
            name="measured",
            x=[log10(float(np.mean(rtts))) for rtts in fitted.values()],
            y=[log10(size) for _, size in fitted],
            mode="markers",
            marker={"symbol": "circle", "size": 6, "color": INK, "line": {"color": _PAPER, "width": 1}},
            hovertemplate="measured<extra></extra>",
        )
    if held_out:
        yield go.Scatter(
            name="held out",
            x=[log10(float(np.mean([rtt for rtt, _ in cells]))) for cells in held_out.values()],
            y=[log10(size) for _, size in held_out],
            mode="markers",
            marker={"symbol": "circle", "size": 9, "color": _PAPER, "line": rim},
            customdata=[quantities.off(max(error for _, error in cells)) for cells in held_out.values()],
            hovertemplate="held out: off by %{customdata} at most<extra></extra>",
        )
