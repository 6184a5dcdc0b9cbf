"""A figure's document as one SVG, drawn for a narrow column: 360 pixels wide, labels of rows above their marks.

It reads the part of Plotly's format that our figures use: lines, dots, whiskers, stacked bars, shapes, annotations, and
linear or logarithmic axes. Colours are the page's custom properties, so that it follows the theme as all else does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

from orchestrator.report.static.marks import DASHES, Plot, Trace, drawn, has_stripes, stripes
from orchestrator.report.static.scales import Line, Rows, line, ticks
from orchestrator.report.static.svg import element, lines_of, plain, text, width_of

WIDTH_PX = 360
_LINE_PX = 15
_BAND_PX = 26  # of a row's marks
_TOP_PX = 8
_TICKS_PX = 18
_SIDE_PX = 6
_MOST_RIGHT_PX = 108
_LEGEND_PX = 18
_TITLE_LETTERS = 54
_LABEL_LETTERS = 46  # of bold text, which is wider
_MUTED, _INK, _GRID, _RULE = "var(--muted)", "var(--ink)", "var(--grid)", "var(--rule)"
_ROTATED = "←\u00a0better"  # an axis that is written upwards says so; one that is written above its axis points down
_ON_ROWS_PX = 2.0
RIM: dict[str, Any] = {
    "stroke": "var(--paper)",
    "stroke_width": 3,
    "stroke_linejoin": "round",
    "paint_order": "stroke",
}
"""Of the page's colour, around text that lines may cross."""


def drawing(slug: str, label: str, document: Mapping[str, Any]) -> str:
    """The SVG of a figure; `label` is its title, and what stands in it is its description."""
    layout, traces = document["layout"], list(document["data"])
    notes = [note for note in layout.get("annotations", ()) if note.get("text")]
    is_of_rows = bool(layout.get("yaxis", {}).get("ticktext")) and _is_downwards(layout["yaxis"])
    height, parts = (_of_rows if is_of_rows else _of_lines)(slug, layout, traces, notes)
    ids = f"{slug}-title", f"{slug}-desc"
    said = _described(layout, traces, notes, is_of_rows=is_of_rows)
    return element(
        "svg",
        element("title", plain(label), id=ids[0]),
        element("desc", plain(said), id=ids[1]),
        *parts,
        class_="static",
        viewBox=f"0 0 {WIDTH_PX} {height:.0f}",
        role="img",
        aria_labelledby=" ".join(ids),
        font_family="system-ui, sans-serif",
        font_size=12,
        fill=_INK,
    )


def _is_downwards(axis: Mapping[str, Any]) -> bool:
    given = axis.get("range")
    return given is not None and bool(given[0] > given[1])


Parts = tuple[float, list[str]]


def _of_rows(
    slug: str, layout: Mapping[str, Any], traces: Sequence[Trace], notes: Sequence[Mapping[str, Any]]
) -> Parts:
    """Rows below one another: the label and what is said of the row in a line, the marks below it."""
    y_axis = layout["yaxis"]
    beside = {round(note["y"]): lines_of(note["text"]) for note in notes if note.get("xref") == "paper"}
    legend = _legend(layout, traces, _TOP_PX + 10)
    at = _TOP_PX + (_LEGEND_PX if legend else 0.0)
    tops, labels_at, parts = [], [], []
    for place, label in zip(y_axis["tickvals"], y_axis["ticktext"], strict=True):
        said = " ".join(beside.get(round(place), ()))
        room = max(12, _LABEL_LETTERS - len(said))
        labels_at.append(at)
        lines = wrap(" ".join(lines_of(label)), room) or [""]
        for number, words in enumerate(lines):
            parts.append(text(words, _SIDE_PX, at + 12 + number * _LINE_PX, font_weight="600", **RIM))
        if said:
            parts.append(text(said, WIDTH_PX - _SIDE_PX, at + 12, anchor="end", font_weight="600", **RIM))
        tops.append(at + _LINE_PX * len(lines) + _ON_ROWS_PX)
        at = tops[-1] + _BAND_PX
    rows = Rows(tops_px=tuple(tops), labels_px=tuple(labels_at), band_px=_BAND_PX)
    x = line(layout.get("xaxis", {}), _values(traces, "x"), _SIDE_PX + 8, WIDTH_PX - _SIDE_PX - 8)
    plot = Plot(slug=slug, x=x, y=rows)
    frame = (x.start_px - 8, _TOP_PX, x.end_px + 8, at)
    axis_at = at + 4
    below = [*_shapes(layout, plot, frame, layer="below"), *_columns(layout, x, frame[1], axis_at)]
    inside = [note for note in notes if note.get("xref") != "paper"]
    over = [*_shapes(layout, plot, frame, layer="above"), *_marks(slug, traces, plot), *_notes(inside, plot, frame)]
    titles = _title(layout.get("xaxis", {}), axis_at + _TICKS_PX)
    return axis_at + _TICKS_PX + _LINE_PX * len(titles) + 4, [*below, *over, *parts, *titles, *legend]


def _of_lines(
    slug: str, layout: Mapping[str, Any], traces: Sequence[Trace], notes: Sequence[Mapping[str, Any]]
) -> Parts:
    """Two axes of numbers; what Plotly writes beside the upright one stands above it."""
    x_axis, y_axis = layout.get("xaxis", {}), layout.get("yaxis", {})
    height = float(layout.get("height", 300))
    margin = layout.get("margin", {})
    right = min(float(margin.get("r", 16)), _MOST_RIGHT_PX)
    legend = _legend(layout, traces, 12)
    above = _upright_title(y_axis, 12 + (_LEGEND_PX if legend else 0))
    titles_px = _LINE_PX * len(_title(x_axis, 0))
    top = max(_TOP_PX, 6 + _LINE_PX * len(above) + (_LEGEND_PX if legend else 0))
    bottom = height - _TICKS_PX - titles_px - 4
    y = line(y_axis, _values(traces, "y"), bottom, top)
    named = y_axis.get("tickvals") is not None and y_axis.get("ticktext") is not None
    y_ticks = ticks(y_axis, y, is_upright=not named or len(y_axis["tickvals"]) < 12)
    left = _SIDE_PX + max((width_of(said, 11) for _, said in y_ticks), default=0.0) + 4
    x = line(x_axis, _values(traces, "x"), left, WIDTH_PX - right)
    plot = Plot(slug=slug, x=x, y=y)
    frame = (left, top, WIDTH_PX - right, bottom)
    grid = [element("path", d=f"M{left:.1f} {y.place(v):.1f}H{frame[2]:.1f}", stroke=_GRID) for v, _ in y_ticks]
    beside = [text(said, left - 4, y.place(v) + 4, anchor="end", fill=_MUTED, font_size=11) for v, said in y_ticks]
    parts = [
        *grid,
        *_columns(layout, x, top, bottom),
        *_shapes(layout, plot, frame, layer="below"),
        *beside,
        *_marks(slug, traces, plot),
        *_shapes(layout, plot, frame, layer="above"),
        *_notes(notes, plot, frame),
        *above,
        *_title(x_axis, bottom + _TICKS_PX),
        *legend,
    ]
    return height, parts


def _marks(slug: str, traces: Sequence[Trace], plot: Plot) -> Iterator[str]:
    if has_stripes(traces):
        yield stripes(slug)
    for trace in traces:
        yield drawn(trace, plot)


def _columns(layout: Mapping[str, Any], x: Line, top: float, bottom: float) -> Iterator[str]:
    """The grid and the texts of the horizontal axis."""
    for value, said in ticks(layout.get("xaxis", {}), x):
        at = x.place(value)
        yield element("path", d=f"M{at:.1f} {top:.1f}V{bottom:.1f}", stroke=_GRID)
        half = width_of(said, 11) / 2
        middle = min(max(at, half), WIDTH_PX - half)
        yield text(said, middle, bottom + 13, anchor="middle", fill=_MUTED, font_size=11)
    yield element("path", d=f"M{x.start_px:.1f} {bottom:.1f}H{x.end_px:.1f}", stroke=_RULE)


def _title(axis: Mapping[str, Any], at: float) -> list[str]:
    """The title of a horizontal axis, over as many lines as it takes."""
    said = " ".join(lines_of((axis.get("title") or {}).get("text") or ""))
    lines = wrap(said, _TITLE_LETTERS)
    middle = WIDTH_PX / 2
    return [
        text(words, middle, at + 12 + number * _LINE_PX, anchor="middle", fill=_MUTED)
        for number, words in enumerate(lines)
    ]


def _upright_title(axis: Mapping[str, Any], at: float) -> list[str]:
    said = " ".join(lines_of((axis.get("title") or {}).get("text") or "")).replace(_ROTATED, "↓ better")
    lines = wrap(said, _TITLE_LETTERS)
    return [text(words, _SIDE_PX, at + number * _LINE_PX, fill=_MUTED) for number, words in enumerate(lines)]


def _shapes(
    layout: Mapping[str, Any], plot: Plot, frame: tuple[float, float, float, float], *, layer: str
) -> Iterator[str]:
    left, top, right, bottom = frame
    for shape in layout.get("shapes", ()):
        if shape.get("layer", "above") != layer:
            continue
        is_wide, is_high = shape.get("xref") == "paper", shape.get("yref") == "paper"
        x0, x1 = (left, right) if is_wide else (plot.x.place(shape["x0"]), plot.x.place(shape["x1"]))
        y0, y1 = (top, bottom) if is_high else (plot.y.place(shape["y0"]), plot.y.place(shape["y1"]))
        stroke = shape.get("line") or {}
        if shape["type"] == "rect":
            if isinstance(plot.y, Rows) and not is_high:
                y0 = plot.y.labels_px[plot.y.row((shape["y0"] + shape["y1"]) / 2)]
            yield element(
                "rect",
                x=min(x0, x1),
                y=min(y0, y1),
                width=max(abs(x1 - x0), 0.5),
                height=abs(y1 - y0),
                fill=str(shape.get("fillcolor", "none")),
                opacity=shape.get("opacity"),
            )
        else:
            yield element(
                "path",
                d=f"M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}",
                stroke=str(stroke.get("color", _INK)),
                stroke_width=float(stroke.get("width", 2)),
                stroke_dasharray=DASHES.get(stroke.get("dash", "solid")),
            )


_ANCHORS = {"left": "start", "center": "middle", "right": "end"}


def _notes(notes: Sequence[Mapping[str, Any]], plot: Plot, frame: tuple[float, float, float, float]) -> Iterator[str]:
    """Annotations; those in the picture lie on a rim of the page's colour, so that lines below them hide nothing."""
    left, top, right, bottom = frame
    for note in notes:
        is_beside, is_of_frame = note.get("xref") == "paper", note.get("yref") == "paper"
        # Plotly takes an annotation's place on a logarithmic axis as a logarithm.
        x = left + note["x"] * (right - left) if is_beside else plot.x.share(note["x"])
        if is_of_frame:
            y = bottom - note["y"] * (bottom - top)
        else:
            y = plot.y.share(note["y"]) if isinstance(plot.y, Line) else plot.y.place(note["y"])
        font = note.get("font") or {}
        lines = lines_of(note["text"])
        first = y + 4 - (len(lines) - 1) * _LINE_PX / 2 - float(note.get("yshift", 0))
        anchor = _ANCHORS.get(note.get("xanchor", "center"), "middle")
        at = x + float(note.get("xshift", 0))
        at = min(at, WIDTH_PX - width_of(max(lines, key=len), 11) - 1) if anchor == "start" and not is_beside else at
        for number, words in enumerate(lines):
            yield text(
                words,
                at,
                first + number * _LINE_PX,
                anchor=anchor,
                fill=str(font.get("color", _INK)),
                font_size=11,
                **({} if is_beside else RIM),
            )


def _legend(layout: Mapping[str, Any], traces: Sequence[Trace], at: float) -> list[str]:
    """Names of traces with their colours, in a line; nothing where the layout has no legend."""
    named = [trace for trace in traces if trace.get("name") and trace.get("showlegend", True)]
    if layout.get("showlegend") is False or len(named) < 2:
        return []
    x, parts = float(_SIDE_PX), []
    for trace in named:
        said = " ".join(lines_of(trace["name"]))
        colour = (trace.get("marker") or {}).get("color") or (trace.get("line") or {}).get("color")
        parts.append(element("rect", x=x, y=at - 8, width=9, height=9, fill=str(colour)))
        parts.append(text(said, x + 13, at, fill=_MUTED, font_size=11))
        x += width_of(said, 11) + 26
    return parts


def _described(
    layout: Mapping[str, Any], traces: Sequence[Trace], notes: Sequence[Mapping[str, Any]], *, is_of_rows: bool
) -> str:
    """What a picture shows, for who cannot see it: each row with what stands beside it, or the names of the lines."""
    if not is_of_rows:
        return "; ".join(dict.fromkeys(" ".join(lines_of(t["name"])) for t in traces if t.get("name"))) or "One series."
    said: dict[int, list[str]] = {}
    for note in notes:
        said.setdefault(round(note["y"]), []).append(" ".join(lines_of(note["text"])))
    names = zip(layout["yaxis"]["tickvals"], layout["yaxis"]["ticktext"], strict=True)
    rows = [
        " ".join((" ".join(lines_of(label)) + ":", ", ".join(said.get(round(at), ())))).strip(": ")
        for at, label in names
    ]
    return re.sub(r"\s+", " ", "; ".join(rows))


def _values(traces: Sequence[Trace], axis: str) -> list[float]:
    """All values along an axis, those of stacked bars added up; used where a layout has no range."""
    found: list[float] = []
    sums: dict[float, float] = {}
    for trace in traces:
        if trace.get("type") == "bar" and axis == "x":
            if trace.get("base") is not None:
                found += [start + value for start, value in zip(trace["base"], trace["x"], strict=True)]
                continue
            for row, value in zip(trace["y"], trace["x"], strict=True):
                sums[row] = sums.get(row, 0.0) + (value or 0.0)
        else:
            found += [float(value) for value in trace.get(axis) or () if value is not None]
    return [*found, *sums.values(), *([0.0] if sums else [])]
