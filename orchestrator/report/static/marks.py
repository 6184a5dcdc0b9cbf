"""The traces of a figure as SVG: lines, bands, dots with their whiskers, and stacked bars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from orchestrator.report.static.scales import Line, Rows, Scale
from orchestrator.report.static.svg import element, lines_of, number, path, pieces, text

Trace = Mapping[str, Any]

DASHES: dict[str, str | None] = {"solid": None, "dash": "7 4", "dot": "2 3", "dashdot": "7 3 2 3"}
_CAP_PX = 3.0  # half of a whisker's end
_TEXT_ABOVE_PX = 7.0


@dataclass
class Plot:
    """Both axes of a picture, and how far the bars of each row have come."""

    slug: str
    x: Line
    y: Scale
    reached: dict[float, float] = field(default_factory=dict)

    def point(self, x: float, y: float) -> tuple[float, float]:
        """The pixel of a pair of values."""
        return self.x.place(x), self.y.place(y)


def drawn(trace: Trace, plot: Plot) -> str:
    """One trace; a trace that belongs to a series carries its number, so that a script can make the others fade."""
    parts = "".join(_bars(trace, plot) if trace.get("type") == "bar" else _scattered(trace, plot))
    series = (trace.get("meta") or {}).get("series")
    return element("g", parts, data_series=None if series is None else str(series), opacity=trace.get("opacity"))


def stripes(slug: str) -> str:
    """The pattern that lies over the part of a bar that is told apart from the rest."""
    strokes = element("path", d="M-1 1l2-2M0 6l6-6M5 7l2-2", stroke="var(--paper)", stroke_width=2)
    pattern = element("pattern", strokes, id=f"{slug}-stripes", width=6, height=6, patternUnits="userSpaceOnUse")
    return element("defs", pattern)


def has_stripes(traces: Sequence[Trace]) -> bool:
    """Whether a bar among them is striped."""
    return any((trace.get("marker") or {}).get("pattern") for trace in traces)


def _scattered(trace: Trace, plot: Plot) -> Iterator[str]:
    mode = trace.get("mode", "lines")
    line = trace.get("line") or {}
    runs = [[plot.point(x, y) for x, y in piece] for piece in pieces(trace["x"], trace["y"])]
    is_stepped = line.get("shape") == "hv"
    if trace.get("fill") == "toself":
        yield element("path", d="".join(path(run, is_closed=True) for run in runs), fill=str(trace["fillcolor"]))
    elif "lines" in mode:
        yield element(
            "path",
            d="".join(path(run, is_stepped=is_stepped) for run in runs),
            fill="none",
            stroke=str(line.get("color", "var(--ink)")),
            stroke_width=float(line.get("width", 2)),
            stroke_dasharray=DASHES.get(line.get("dash", "solid")),
        )
    for name in ("error_x", "error_y"):
        if trace.get(name):
            yield _whiskers(trace, name, plot)
    if "markers" in mode:
        yield from _dots(trace, plot)
    if "text" in mode:
        yield from _texts(trace, plot)


def _whiskers(trace: Trace, name: str, plot: Plot) -> str:
    of = trace[name]
    parts = []
    for x, y, above, below in zip(trace["x"], trace["y"], of["array"], of["arrayminus"], strict=True):
        if not above and not below:
            continue
        if name == "error_x":
            (low, at), (high, _) = plot.point(x - below, y), plot.point(x + above, y)
            ends = "".join(f"M{number(end)} {number(at - _CAP_PX)}v{number(2 * _CAP_PX)}" for end in (low, high))
            parts.append(f"M{number(low)} {number(at)}H{number(high)}{ends}")
        else:
            (at, low), (_, high) = plot.point(x, y - below), plot.point(x, y + above)
            ends = "".join(f"M{number(at - _CAP_PX)} {number(end)}h{number(2 * _CAP_PX)}" for end in (low, high))
            parts.append(f"M{number(at)} {number(low)}V{number(high)}{ends}")
    colour = str(of.get("color", "var(--ink)"))
    return element("path", d="".join(parts), fill="none", stroke=colour, stroke_width=float(of.get("thickness", 1.5)))


def _dots(trace: Trace, plot: Plot) -> Iterator[str]:
    """Of one look all filled circles are one path: points of no length, with round ends."""
    marker = trace.get("marker") or {}
    size = float(marker.get("size", 6))
    points = [(float(x), float(y)) for x, y in zip(trace["x"], trace["y"], strict=True)]
    colours, symbols = _each(marker.get("color"), len(points)), _each(marker.get("symbol", "circle"), len(points))
    by_colour: dict[str, dict[str, None]] = {}
    for (x, y), colour, symbol in zip(points, colours, symbols, strict=True):
        at_x, at_y = plot.point(x, y)
        if symbol == "circle":
            by_colour.setdefault(colour, {})[f"M{at_x:.0f} {number(at_y)}h0"] = None
        else:
            yield _symbol(symbol, at_x, at_y, size, colour)
    for colour, dots in by_colour.items():
        yield element(
            "path",
            d="".join(dots),
            stroke=colour,
            stroke_width=size,
            stroke_linecap="round",
            opacity=marker.get("opacity"),
        )


def _symbol(symbol: str, x: float, y: float, size: float, colour: str) -> str:
    half = size / 2
    at = f"M{number(x)} {number(y)}"
    if symbol == "circle-open":
        return element("circle", cx=x, cy=y, r=half, fill="none", stroke=colour, stroke_width=2)
    if symbol == "x":
        arms = f"m{-half:g} {-half:g}l{size:g} {size:g}m0 {-size:g}l{-size:g} {size:g}"
        return element("path", d=at + arms, fill="none", stroke=colour, stroke_width=2)
    if symbol == "line-ns":
        return element("path", d=f"{at}m0 {-half:g}v{size:g}", fill="none", stroke=colour, stroke_width=1.5)
    shape = {
        "diamond": f"m0 {-half:g}l{half:g} {half:g}l{-half:g} {half:g}l{-half:g} {-half:g}Z",
        "square": f"m{-half:g} {-half:g}h{size:g}v{size:g}h{-size:g}Z",
        "triangle-up": f"m0 {-half:g}l{half:g} {size:g}h{-size:g}Z",
        "triangle-left": f"m{-half:g} 0l{size:g} {-half:g}v{size:g}Z",
        "triangle-right": f"m{half:g} 0l{-size:g} {-half:g}v{size:g}Z",
    }[symbol]
    return element("path", d=at + shape, fill=colour)


def _texts(trace: Trace, plot: Plot) -> Iterator[str]:
    colour = str((trace.get("textfont") or {}).get("color", "var(--ink)"))
    for x, y, said in zip(trace["x"], trace["y"], trace["text"], strict=True):
        if said:
            at_x, at_y = plot.point(x, y)
            yield text(
                " ".join(lines_of(said)), at_x, at_y - _TEXT_ABOVE_PX, anchor="middle", fill=colour, font_size=11
            )


def _bars(trace: Trace, plot: Plot) -> Iterator[str]:
    """Horizontal bars, each stacked on what came before it in its row; they may begin at a `base`."""
    marker = trace.get("marker") or {}
    values = list(trace["x"])
    bases = _each(trace.get("base"), len(values)) if trace.get("base") is not None else None
    colours = _each(marker.get("color"), len(values))
    high = (plot.y.band_px if isinstance(plot.y, Rows) else 16.0) * float(trace.get("width") or 0.72)
    for place, (value, row, colour) in enumerate(zip(values, trace["y"], colours, strict=True)):
        if value is None:
            continue
        start = float(bases[place]) if bases else plot.reached.get(row, 0.0)
        plot.reached[row] = start + value
        left, right = plot.x.place(start), plot.x.place(start + value)
        box: dict[str, float] = {"x": left, "y": plot.y.place(row) - high / 2, "width": max(right - left, 0.5)}
        yield element("rect", **box, height=high, fill=colour)
        if marker.get("pattern"):
            yield element("rect", **box, height=high, fill=f"url(#{plot.slug}-stripes)")


def _each(value: Any, count: int) -> list[Any]:
    if isinstance(value, list | tuple):
        return list(value)
    return [value if value is not None else "var(--ink)"] * count
